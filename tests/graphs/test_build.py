"""`build_graph` refuses what it cannot build, and masks the key that it built the model with."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgeward.graphs.build import build_graph, chat_model_for, registry_for, with_secrets
from edgeward.policies.yaml_file import ConfigError
from edgeward.profiles.equipment import Equipment, equip
from edgeward.profiles.schema import AgentProfile
from edgeward.profiles.scripted import ScriptedModel
from tests.fakes import ALLOW_ALL, answers, ask, turn

KEY = "sk-of-nobody-0123456789abcdef"
PLAIN = {"id": "a", "name": "Ada"}


def test_no_model() -> None:
    """Without a model and without a profile there is nothing to ask, and that is said at once."""
    with pytest.raises(ValueError, match="no model: give `model=`"):
        build_graph("react")


@pytest.mark.parametrize("steps", [0, -3])
def test_step_bound_below_one(steps: int) -> None:
    """A bound that would let no run do anything is refused when the graph is built."""
    with pytest.raises(ValueError, match=f"max_steps is {steps}; it must be 1 or more"):
        build_graph("react", model=ScriptedModel(), max_steps=steps)


def test_model_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`PROVIDER:NAME` is a model with the provider's key of the environment, no profile needed."""
    monkeypatch.chdir(tmp_path)
    for name in ("LLM_API_KEY", "LLM_MODEL_ID", "LLM_BASE_URL", "AGENT_LAB_LLM_PROVIDER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DEEPSEEK_API_KEY", KEY)
    model, secrets = chat_model_for(None, "deepseek:deepseek-chat")
    assert getattr(model, "model_name", "") == "deepseek-chat"
    assert secrets == {"llm_api_key": KEY}
    assert KEY not in repr(model)


def test_env_that_is_given_is_the_only_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings handed over take the place of the process's: its keys are not looked at."""
    monkeypatch.setenv("DEEPSEEK_API_KEY", KEY)
    with pytest.raises(ConfigError, match=r"llm\.api_key"):
        chat_model_for(None, "deepseek:deepseek-chat", env={})


def test_model_of_the_profile() -> None:
    """A profile's model is built with its key; a model that is given needs none of it."""
    block = {"provider": "deepseek", "model": "deepseek-chat", "api_key": KEY}
    profile = AgentProfile.from_mapping({**PLAIN, "llm": block})
    assert chat_model_for(profile, None, env={})[1] == {"llm_api_key": KEY}
    given = ScriptedModel()
    assert chat_model_for(profile, given, env={}) == (given, {})
    other, secrets = chat_model_for(profile, "groq:m", env={"GROQ_API_KEY": "k" * 20})
    assert secrets == {"llm_api_key": "k" * 20}
    assert getattr(other, "model_name", "") == "m"


def test_the_key_is_masked() -> None:
    """The model's key is masked wherever it turns up; a placeholder such as EMPTY is a word."""
    masked = with_secrets(ALLOW_ALL, {"llm_api_key": KEY}).current.redactor.secrets(
        f"Bearer:{KEY}!"
    )
    assert KEY not in masked[0]
    assert "[REDACTED:" in masked[0]
    plain = with_secrets(ALLOW_ALL, {"llm_api_key": "EMPTY"})
    assert plain.redactor.secrets("the EMPTY list")[0] == "the EMPTY list"


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def test_tools_of_the_profile_and_of_the_caller(tmp_path: Path) -> None:
    """Both are the agent's, the profile's own can be left out, and two of one name are refused."""
    code = "def tell(what: str) -> str:\n    'Tell it.'\n    return what\n"
    (tmp_path / "mine.py").write_text(code, encoding="utf-8")
    profile = AgentProfile.from_mapping(
        {**PLAIN, "tools": {"python": ["mine.py:tell"]}}, base_dir=tmp_path
    )
    assert sorted(registry_for(equip(profile), [add]).tools) == ["add", "tell"]
    assert sorted(registry_for(Equipment(), [add]).tools) == ["add"]
    with pytest.raises(ConfigError, match=r"the `tools` argument"):
        registry_for(equip(profile), [add, add])


def test_bound_of_the_profile_and_of_the_caller() -> None:
    """A run stops at the profile's bound on tool rounds, or at the caller's, which beats it."""
    profile = AgentProfile.from_mapping({**PLAIN, "cognitive": {"max_steps_per_cycle": 2}})
    for given, rounds in ((None, 2), (1, 1), (3, 3)):
        turns = [turn(("add", {"a": n, "b": 1}, f"c{n}")) for n in range(5)]
        graph = build_graph(
            "react",
            profile=profile,
            policy=ALLOW_ALL,
            model=ScriptedModel(turns=turns),
            tools=[add],
            max_steps=given,
        )
        messages = graph.invoke(ask())["messages"]
        assert sum(text == f"{n + 1}" for n, (_, text) in enumerate(answers(messages))) == rounds
