"""One tool a question, then an answer; examples pick the tool."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from edgeward import AgentConfig, AgentProfile, ReActAgent
from edgeward.profiles.llm import (
    LLMProviderError,
)
from edgeward.profiles.local_prompt import question
from tests.fakes import policy

from .conftest import ONLY, PICK, pick

pytest.importorskip("xllamacpp", reason="the extra `local` is not installed", exc_type=ImportError)


def toss() -> str:
    """Toss a coin."""
    return "heads"


def turn(*statuses: str) -> list[Any]:
    """A question, and rounds of a tool that ended so."""
    talk: list[Any] = [SystemMessage("Be brief."), HumanMessage("Which number?")]
    for number, status in enumerate(statuses):
        call = {"name": "pick", "args": {"number": number}, "id": f"c{number}"}
        talk.append(AIMessage("", tool_calls=[call]))
        talk.append(ToolMessage("so", tool_call_id=f"c{number}", name="pick", status=status))
    return talk


@pytest.mark.parametrize(
    ("statuses", "rounds", "may"),
    [
        ((), 1, True),
        ((), 0, False),
        (("success",), 1, False),
        (("success",), 2, True),
        (("error",), 1, True),
        (("error", "error", "error"), 1, False),
        (("error", "success"), 1, False),
    ],
)
def test_after_its_rounds_of_tools_the_model_has_to_answer(statuses, rounds, may):
    """A failed round may be tried again, but not for ever."""
    assert bool(question(turn(*statuses), [PICK], rounds=rounds).choose) is may


def test_a_new_question_has_rounds_of_its_own():
    """What an earlier turn used does not count."""
    talk = [*turn("success"), AIMessage("One."), HumanMessage("And now?")]
    assert question(talk, [PICK], rounds=1).choose


def test_no_two_messages_of_one_role_follow_each_other():
    """Many models' templates take turns only; results are the user's side."""
    asked = question(turn("success", "error"), [PICK], rounds=3)
    for wire in (asked.choose, asked.answer):
        roles = [message["role"] for message in wire]
        assert roles[0] == "system"
        assert all(one != other for one, other in itertools.pairwise(roles))
        assert roles[-1] == "user"
    assert "pick(number: integer, mode: fast|slow, on?: boolean)" in asked.choose[0]["content"]


def test_an_image_is_refused(made):
    """These models read text; an image is not passed over in silence."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgoAAAAN"}}
    message = HumanMessage([{"type": "text", "text": "what is it?"}, image])
    with pytest.raises(LLMProviderError, match="reads text only"):
        made().invoke([message])


async def test_a_whole_run_uses_one_tool_and_answers(made):
    """Through the agent: the guard decides the call, the tool runs, words end it."""
    model = made(local={"examples": ONLY}, max_tokens=120)
    bare = AgentProfile.from_mapping({"id": "bot", "name": "Helper"})
    config = AgentConfig(profile=bare, llm=model, tools=[pick, toss], policy="allow_all")
    async with ReActAgent(config) as agent:
        result = await agent.run("Which number?")
    assert [step.kind for step in result.steps][:2] == ["tool_call", "tool_result"]
    assert result.steps[-1].kind == "answer"
    assert [call.name for step in result.steps for call in step.tool_calls] == ["pick"]


async def test_a_refused_call_does_not_run(made):
    """The policy stands behind this model as behind any other."""
    ran: list[int] = []

    def note(number: int) -> str:
        """Note a number."""
        ran.append(number)
        return "noted"

    model = made(local={"examples": {"note": ["a number"]}}, max_tokens=120)
    bare = AgentProfile.from_mapping({"id": "bot", "name": "Helper"})
    words = policy({"note": "block"})
    config = AgentConfig(profile=bare, llm=model, tools=[note], policy=words)
    async with ReActAgent(config) as agent:
        result = await agent.run("Which number?")
    assert ran == []
    assert any(step.tool_results for step in result.steps)


def test_the_nearest_example_picks_the_tool(made):
    """By meaning, not by words; `answer` is a name too."""
    examples = {
        "pick": ["choose a number", "give me some number"],
        "toss": ["throw a coin", "heads or tails?"],
        "answer": ["hello", "who are you?"],
    }
    model = made(local={"examples": examples}, max_tokens=200)
    bound = model.bind_tools([PICK, convert_to_openai_tool(toss)])
    assert bound.invoke("Flip the penny, please.").tool_calls[0]["name"] == "toss"
    assert bound.invoke("Select a figure at random.").tool_calls[0]["name"] == "pick"
    assert bound.invoke("Good morning!", max_tokens=8).tool_calls == []
    assert bound.invoke("Good morning!", max_tokens=8).text


def test_without_the_tool_there_is_no_way_to_it(made):
    """An example of a tool that the agent has not does not matter."""
    model = made(local={"examples": {"gone": ["a number"]}}, max_tokens=8)
    assert model.bind_tools([PICK]).invoke("a number").tool_calls == []
