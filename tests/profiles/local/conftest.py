"""A local model whose weights are noise, made and closed, and tools for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool

from edgeward.profiles.llm import (
    LLMBlock,
    build_model,
    resolve_llm,
)
from tests.profiles.tiny_gguf import write


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model of noise."""
    return write(tmp_path_factory.mktemp("models") / "tiny.gguf")


@pytest.fixture
def made(weights: Path):
    """Make models of the file; they are closed in the end."""
    models: list[Any] = []

    def model(file: Path | str = weights, **options: Any) -> Any:
        local = {"threads": 1, "context_tokens": 4096, **options.pop("local", {})}
        fields = {"provider": "local", "model": str(file), "local": local, "max_tokens": 400}
        block = LLMBlock.model_validate({**fields, **options}, strict=False)
        models.append(build_model(resolve_llm(block, {})))
        return models[-1]

    yield model
    for one in models:
        one.close()


def pick(number: int, mode: Literal["fast", "slow"], on: bool = True) -> str:
    """Pick a number."""
    return f"{number} {mode} {on}"


PICK = convert_to_openai_tool(pick)
ONLY = {"pick": ["a number"]}
"""Examples by which every question is for one tool."""
