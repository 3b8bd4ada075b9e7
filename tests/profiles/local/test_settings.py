"""The package that a local model needs, and its settings in a profile."""

from __future__ import annotations

import sys

import pytest

from edgeward import AgentProfile
from edgeward.policies.yaml_file import ConfigValidationError
from edgeward.profiles.llm import (
    LLMBlock,
    LLMConfigError,
    build_model,
    resolve_llm,
)
from tests.wire.server import Fail
from tests.wire.ways import KEY, WAYS, ask

pytest.importorskip("xllamacpp", reason="the extra `local` is not installed", exc_type=ImportError)


class _Libgomp:
    """A machine without libgomp: the package is there and does not load."""

    def find_spec(self, name, path=None, target=None):
        if name == "xllamacpp":
            raise ImportError("libgomp.so.1: cannot open shared object file: No such file")


def test_without_libgomp_the_message_is_the_command_that_helps(made, monkeypatch):
    """Slim containers lack it, and the package does not bring it along."""
    import importlib.util

    spec = importlib.util.find_spec("xllamacpp")
    monkeypatch.delitem(sys.modules, "xllamacpp", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: spec)
    monkeypatch.setattr(sys, "meta_path", [_Libgomp(), *sys.meta_path])
    with pytest.raises(LLMConfigError, match="apt-get install -y libgomp1"):
        made()


def test_local_settings_go_with_a_local_model_only():
    """A key that would do nothing is a mistake."""
    llm = {"provider": "openai", "local": {"threads": 2}}
    with pytest.raises(ConfigValidationError, match=r"agent\.llm.*local"):
        AgentProfile.from_mapping({"id": "bot", "name": "Helper", "llm": llm})


@pytest.mark.parametrize(
    "local",
    [
        {"threads": 0},
        {"context_tokens": 10},
        {"sha256": "abc"},
        {"download": 1},
        {"tool_rounds": -1},
        {"examples": {"a": "b"}},
        {"gpu": 1},
    ],
)
def test_local_settings_are_strict(local):
    """Ranges, types and names."""
    llm = {"provider": "local", "model": "m.gguf", "local": local}
    with pytest.raises(ConfigValidationError, match=r"agent\.llm\.local"):
        AgentProfile.from_mapping({"id": "bot", "name": "Helper", "llm": llm})


@WAYS
def test_a_local_model_stands_in_for_a_service(wire, weights, way):
    """As the fallback of one that is down: it needs no key and no network."""
    wire.script(Fail(503))
    block = LLMBlock.model_validate(
        {
            "provider": "openai",
            "model": "m",
            "api_key": KEY,
            "base_url": wire.openai_url,
            "max_retries": 0,
            "fallback": {"provider": "local", "model": str(weights), "max_tokens": 4},
        }
    )
    model = build_model(resolve_llm(block, {}))
    answer = ask(model, "hello", way)
    assert answer.text
    assert answer.response_metadata["fallback"]["model"] == "tiny"
    model.close()
