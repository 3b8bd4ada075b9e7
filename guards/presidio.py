"""Presidio as one more detector of personal data: an optional package, loaded on first use.

Nothing is downloaded here: without a model Presidio's own patterns look, over a blank language;
with one, the model has to be installed. What it finds is masked; no verdict depends on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from .masks import Span

MAX_CHARS = 200_000
"""Characters that are looked at in one piece; a longer text is read in several."""

_EXTRA = "`presidio` needs an extra: pip install 'edgeward[presidio]'"


@dataclass(frozen=True, slots=True)
class Presidio:
    """Finds these entities (`PERSON`, `LOCATION`) in texts of one language."""

    entities: tuple[str, ...]
    language: str = "en"
    model: str = ""
    score: float = 0.5

    def check(self) -> None:
        """Build the analyzer now, so that what is missing is said when a policy loads.

        Raises:
            ValueError: the extra or the model is missing, or an entity is unknown.
        """
        known = _engine(self.language, self.model).get_supported_entities(self.language)
        if unknown := sorted(set(self.entities).difference(known)):
            raise ValueError(
                f"Presidio finds no {', '.join(unknown)} here; it finds: {', '.join(sorted(known))}"
                + ("" if self.model else "; people and places need a `model`")
            )

    def __call__(self, text: str) -> Iterator[Span]:
        engine = _engine(self.language, self.model)
        for start in range(0, len(text), MAX_CHARS):
            found = engine.analyze(
                text[start : start + MAX_CHARS],
                language=self.language,
                entities=list(self.entities),
                score_threshold=self.score,
            )
            for hit in found:
                yield start + hit.start, start + hit.end, hit.entity_type.lower()


@cache
def _engine(language: str, model: str) -> Any:
    try:
        import spacy
        from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
        from presidio_analyzer.nlp_engine import NlpEngineProvider, SpacyNlpEngine
    except ImportError as error:
        raise ValueError(_EXTRA) from error
    if model and not spacy.util.is_package(model):
        raise ValueError(
            f"the spaCy model {model!r} is not installed: see `python -m spacy download`"
        )
    if model:
        models = [{"lang_code": language, "model_name": model}]
        settings = {"nlp_engine_name": "spacy", "models": models}
        nlp = NlpEngineProvider(nlp_configuration=settings).create_engine()
    else:
        nlp = SpacyNlpEngine(models=[{"lang_code": language, "model_name": ""}])
        nlp.nlp = {language: spacy.blank(language)}
    registry = RecognizerRegistry(supported_languages=[language])
    registry.load_predefined_recognizers(languages=[language], nlp_engine=nlp if model else None)
    if not model:
        registry.remove_recognizer("SpacyRecognizer")  # it would promise names, and find none
    return AnalyzerEngine(registry=registry, nlp_engine=nlp, supported_languages=[language])
