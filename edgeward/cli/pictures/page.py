"""A story as one HTML page: no script, nothing fetched, secrets masked, everything escaped.

Nothing in the page comes from the story but through `Writer.text`, which masks secrets once more,
shows control characters as escapes, and escapes markup. The page's policy (`Content-Security-
Policy`) lets it load nothing and run nothing; the one style sheet is named by its hash.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from importlib.resources import files

from ...guards.redact import Redactor
from .calls import CallWriter
from .story import Seal, Step, Story
from .writing import Writer, tag

STEP_TITLES = {
    "user": "The user",
    "answer": "The model answers",
    "plan": "The plan",
    "summary": "The conversation so far was summed up",
    "decision": "A call",
    "result": "A tool's result",
    "note": "The log",
}
FILTERS = ("allow", "redact", "ask", "block")


def page_of(story: Story) -> str:
    """The page."""
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return "".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            '<meta name="referrer" content="no-referrer">\n',
            f"<style>{style}</style>\n",
            *_Page(story).parts(),
            "</html>\n",
        ]
    )


class _Page:
    """The parts of one page."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._write = Writer(Redactor())
        self._calls = CallWriter(self._write)
        self._threads = list(dict.fromkeys(step.thread for step in story.steps))

    def parts(self) -> Iterator[str]:
        title = self._write.text(self._story.title)
        yield f"<title>{title}: a run under Edgeward</title>\n</head>\n<body>\n"
        yield '<a class="skip" href="#steps">To the steps</a>\n<header>\n'
        yield f'<p class="over">A run under Edgeward</p>\n<h1>{title}</h1>\n'
        yield self._facts()
        yield self._counts()
        if self._story.seal is not None:
            yield self._seal(self._story.seal)
        yield f'</header>\n{_filter()}<main id="steps">\n'
        left_out = self._story.told - len(self._story.steps)
        if left_out:
            noun = "step is" if left_out == 1 else "steps are"
            yield f'<p class="cut">{left_out} earlier {noun} left out: <code>--limit</code>.</p>\n'
        if not self._story.steps:
            yield "<p>Nothing happened.</p>\n"
        yield from self._sections()
        yield "</main>\n</body>\n"

    def _facts(self) -> str:
        rows = []
        for label, texts in self._story.facts.items():
            shown = ", ".join(self._write.name(text) for text in list(texts)[:FACTS_SHOWN])
            more = len(texts) - FACTS_SHOWN
            rows.append((label, shown + (f" and {more} more" if more > 0 else "")))
        times = [step.time for step in self._story.steps if step.time]
        if times:
            ends = dict.fromkeys([self._write.time(times[0]), self._write.time(times[-1])])
            rows.append(("time", " to ".join(ends)))
        return tag("dl", "".join(f"<dt>{label}</dt><dd>{text}</dd>" for label, text in rows))

    def _counts(self) -> str:
        counts = self._story.words
        others = {word: n for word, n in counts.items() if word not in FILTERS}
        items = [(word, counts[word]) for word in FILTERS] + sorted(others.items())
        listed = "".join(f"<li><b>{n}</b> {self._write.word(word)}</li>" for word, n in items)
        return f'<ul class="counts" aria-label="Verdicts">{listed}</ul>\n'

    def _seal(self, seal: Seal) -> str:
        kind = {True: "ok", False: "bad", None: "none"}[seal.holds]
        return f'<p class="seal {kind}">{self._write.text(seal.text)}</p>\n'

    def _sections(self) -> Iterator[str]:
        """A section for each thread, in the order in which they were first heard of."""
        several = len(self._threads) > 1
        if several:
            links = "".join(
                f'<li><a href="#thread-{n}">{self._thread(name)}</a></li>'
                for n, name in enumerate(self._threads)
            )
            yield f'<nav aria-label="Threads"><ul>{links}</ul></nav>\n'
        of: dict[str, list[Step]] = {name: [] for name in self._threads}
        for step in self._story.steps:
            of[step.thread].append(step)
        for number, (name, steps) in enumerate(of.items()):
            title = f"Thread {self._thread(name)}" if several else "Time line"
            yield f'<section id="thread-{number}">\n<h2>{title}</h2>\n<ol class="steps">\n'
            self._calls.begin()
            for step in steps:
                yield self._step(step)
            yield "</ol>\n</section>\n"

    def _thread(self, name: str) -> str:
        return self._write.name(name) if name else "(none)"

    def _step(self, step: Step) -> str:
        count = len(step.calls)
        proposed = f"The model proposes {count if count > 1 else 'a'} call{'s' * (count > 1)}"
        title = self._write.text(step.title) or STEP_TITLES.get(step.kind, proposed)
        said = f'<p class="said">{self._write.text(step.text)}</p>' if step.text.strip() else ""
        calls = "".join(map(self._calls.write, step.calls))
        top = f'<div class="top"><h3>{title}</h3>{self._write.time(step.time)}</div>'
        return f'<li class="{step.kind}">{top}{said}{calls}</li>\n'


FACTS_SHOWN = 5
"""Texts of one fact that stand at the top of the page."""


def _filter() -> str:
    boxes = "".join(
        f'<label><input type="checkbox" id="show-{word}" checked> {word}</label>'
        for word in FILTERS
    )
    return f'<fieldset class="filter"><legend>Show calls</legend>{boxes}</fieldset>\n'
