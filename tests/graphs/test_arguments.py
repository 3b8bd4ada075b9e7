"""An argument of a type that it may not have is refused where it is given, in one line."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest

from edgeward import (
    AgentConfig,
    AgentProfile,
    Firewall,
    FirewallCallbackHandler,
    FirewallGoogleGenerativeAI,
    FirewallMiddleware,
    FirewallOpenAI,
    PolicyFile,
    ReActAgent,
    RunContext,
    ScriptedModel,
    SimpleAgent,
    ToolRegistry,
    build_graph,
    check_tool_calls,
    create_agent,
    guard_tools,
    load_policy,
    load_strategy,
    open_checkpointer,
    review_mcp,
    scan_and_redact,
)

PROFILE = AgentProfile.from_mapping({"id": "bot", "name": "Bot"})
CLIENT: Any = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=print)))
SECRET = b"hunter2-hunter2"


def search(query: str) -> str:
    """Find pages."""
    return query


def agent(**fields: Any) -> Callable[[Any], ReActAgent]:
    """What builds an agent with one of its fields as given."""
    (name,) = fields
    whole: dict[str, Any] = {"profile": PROFILE, "llm": ScriptedModel(turns=["x"])}
    return lambda given: ReActAgent(AgentConfig(**{**whole, name: given}))


def graph(name: str) -> Callable[[Any], object]:
    """What builds a graph with one of its arguments as given."""
    model = ScriptedModel(turns=["x"])
    whole: dict[str, Any] = {"strategy": "react", "profile": PROFILE, "model": model}
    return lambda given: build_graph(**{**whole, name: given})


FIELDS = [
    "policy",
    "llm",
    "tools",
    "tool_registry",
    "allowed_code",
    "checkpointer",
    "store",
    "spending",
    "use_tools",
    "use_memory",
    "use_rag",
    "memory",
    "memory_backend",
    "compressor",
    "storage_path",
    "logger",
    "log_dir",
    "use_logger",
    "use_reflection",
    "use_compressor",
    "reflect_after_run",
    "save_outcome",
    "save_trajectory",
    "extra_instructions",
    "max_substeps_per_step",
    "max_steps",
    "load_env",
    "dotenv_path",
    "profile",
    "rag",
]
ARGUMENTS = [
    "strategy",
    "profile",
    "policy",
    "model",
    "tools",
    "checkpointer",
    "store",
    "max_steps",
    "spending",
]
ENTRIES: dict[str, tuple[str, Callable[[Any], object]]] = {
    **{f"AgentConfig {name}": (name, agent(**{name: None})) for name in FIELDS},
    **{f"build_graph {name}": (name, graph(name)) for name in ARGUMENTS},
    "ReActAgent": ("config", ReActAgent),
    "create_agent": ("config", create_agent),
    "create_agent strategy": ("strategy", lambda given: create_agent("assistant", strategy=given)),
    "load_policy": ("policy", load_policy),
    "load_strategy": ("strategy", load_strategy),
    "open_checkpointer": ("checkpointer", open_checkpointer),
    "from_yaml": ("profile", AgentProfile.from_yaml),
    "review_mcp": ("profile", review_mcp),
    "PolicyFile": ("policy", PolicyFile),
    "Firewall": ("policy", Firewall),
    "FirewallOpenAI": ("policy", lambda given: FirewallOpenAI(CLIENT, given)),
    "FirewallGemini": ("policy", lambda given: FirewallGoogleGenerativeAI(CLIENT, given)),
    "FirewallCallbackHandler": ("policy", FirewallCallbackHandler),
    "FirewallMiddleware": ("policy", FirewallMiddleware),
    "guard_tools policy": ("policy", lambda given: guard_tools([], given)),
    "guard_tools": ("tools", guard_tools),
    "guard_tools one": ("a tool", lambda given: guard_tools([given])),
    "ToolRegistry": ("tools", ToolRegistry),
    "check_tool_calls": ("tool_calls", lambda given: check_tool_calls(given, load_policy())),
    "check_tool_calls policy": ("policy", lambda given: check_tool_calls([], given)),
    "scan_and_redact": ("text", lambda given: scan_and_redact(given, load_policy())),
    "scan_and_redact policy": ("policy", lambda given: scan_and_redact("a", given)),
}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("wrong", [7.5, object()], ids=["number", "object"])
def test_the_argument_its_type_and_what_is_allowed_are_named(entry: str, wrong: object) -> None:
    """And nothing from the depths; no such value may become a part of an agent."""
    name, given_to = ENTRIES[entry]
    with pytest.raises(TypeError, match=rf"^{name}\b.*{type(wrong).__name__}") as refused:
        given_to(wrong)
    said = str(refused.value)
    assert "allowed: " in said or "give " in said
    assert "\n" not in said


def test_the_value_is_not_said() -> None:
    """It may be a key that was put into the wrong place."""
    with pytest.raises(TypeError) as refused:
        build_graph("react", profile=PROFILE, model=SECRET)  # type: ignore[arg-type]
    assert "hunter2" not in str(refused.value)


def test_a_class_is_told_from_what_it_makes() -> None:
    """The slip of a missing pair of brackets."""
    with pytest.raises(TypeError, match="model is the class ScriptedModel; allowed: "):
        build_graph("react", profile=PROFILE, model=ScriptedModel)  # type: ignore[arg-type]


@pytest.mark.parametrize("one", [search, guard_tools([search], "allow_all")[0]])
def test_one_tool_is_no_list(one: Any) -> None:
    """Neither a function nor a LangChain tool, which could be gone through field by field."""
    for entry in ("AgentConfig tools", "build_graph tools", "ToolRegistry", "guard_tools"):
        with pytest.raises(TypeError, match=r"^tools is of type .*; allowed: a list"):
            ENTRIES[entry][1](one)


def test_what_create_agent_takes() -> None:
    """A profile by name or ready-made, a configuration's fields, and a strategy in any form."""
    fields = {"profile": PROFILE, "llm": ScriptedModel(turns=["x"]), "load_env": False}
    strategy = load_strategy("simple")
    for config in (AgentConfig(**fields), MappingProxyType(fields)):
        with create_agent(config, strategy=strategy) as built:
            assert built.run_sync("Hello").final_answer == "x"
    scripted = {"id": "bot", "name": "Bot", "llm": {"provider": "scripted"}}
    with create_agent(AgentProfile.from_mapping(scripted)) as built:
        assert isinstance(built, ReActAgent)


@pytest.mark.parametrize("kind", [list, tuple, set, frozenset, dict.fromkeys])
def test_any_collection_of_globs_says_what_code_may_run(kind: Callable[[Any], Any]) -> None:
    """Their order says nothing."""
    fields = {"profile": PROFILE, "llm": ScriptedModel(turns=["x"]), "load_env": False}
    with SimpleAgent(AgentConfig(**fields, allowed_code=kind(["tools.py:*"]))) as built:
        assert built.run_sync("Hello").final_answer == "x"


def test_a_path_for_an_agent_says_who_takes_one() -> None:
    """`ReActAgent("profile.yaml")` names `create_agent`."""
    with pytest.raises(TypeError, match=r"config is of type str; .*create_agent takes a profile"):
        ReActAgent("assistant")  # type: ignore[arg-type]


def test_a_call_as_a_mapping_says_what_is_one() -> None:
    """`check_tool_calls` takes objects, as agent-defender's does."""
    call: Any = {"id": "c1", "function": {"name": "search", "arguments": "{}"}}
    with pytest.raises(TypeError, match=r"a tool call is of type dict; allowed: edgeward.ToolCall"):
        check_tool_calls([call], load_policy())


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("context", {"user": "eva"}), ("max_steps", "3"), ("task", None)],
)
def test_what_a_run_is_given(name: str, wrong: Any) -> None:
    """A mapping for a context, a text for a number, no task: said before anything runs."""
    given: dict[str, Any] = {"task": "Hello", "context": RunContext(), name: wrong}
    with SimpleAgent(AgentConfig(profile=PROFILE, llm=ScriptedModel(turns=["x"]))) as built:
        with pytest.raises(TypeError, match=f"^{name} is of type .*; allowed: "):
            built.run_sync(given.pop("task"), **given)
        assert built.run_sync("Hello").final_answer == "x"
