"""What a model call takes is estimated at the cost of what is new, and of the whole thread."""

from __future__ import annotations

import sys
from collections import Counter
from types import FrameType
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from edgeward.graphs.build import build_graph
from edgeward.nodes import _sizes
from edgeward.nodes._sizes import tokens_of
from edgeward.profiles.scripted import ScriptedModel
from tests.fakes import ask, turn

LIMITED = {"version": 2, "default": "allow", "limits": {"tokens": 10**9}}
ROUNDS = 60


class Uncounted(ScriptedModel):
    """A model whose provider does not say what a reply used; it keeps what it was asked."""

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> Any:
        result = super()._generate(messages, *args, **kwargs)
        for generation in result.generations:
            generation.message.usage_metadata = None
        asked.append(list(messages))
        return result


asked: list[list[BaseMessage]] = []


def played(policy: Any, **options: Any) -> list[AIMessage]:
    """The replies of a run of many rounds."""
    asked.clear()
    turns = [turn(("look", {"what": f"{n}"}, f"c{n}"), text=f"round {n}") for n in range(ROUNDS)]

    def look(what: str) -> str:
        """Looks."""
        return f"there was {what}, and much else"

    model = Uncounted(turns=[*turns, "done"], order="call")
    graph = build_graph(
        "react", model=model, tools=[look], policy=policy, max_steps=ROUNDS + 1, **options
    )
    messages = graph.invoke(ask(), {"recursion_limit": 10 * ROUNDS})["messages"]
    return [m for m in messages if isinstance(m, AIMessage)]


@pytest.mark.parametrize("policy", [LIMITED, {"version": 2, "default": "allow"}])
@pytest.mark.parametrize("boundary", [True, False])
def test_an_estimate_is_that_of_all_that_was_asked(policy: dict[str, Any], boundary: bool) -> None:
    """System message, marks and all, with limits and without, between marks or plain."""
    replies = played({**policy, "results": {"boundary": boundary}})
    assert len(replies) == len(asked) == ROUNDS + 1
    tools = None
    for reply, messages in zip(replies, asked, strict=True):
        assert reply.usage_metadata is not None
        more = reply.usage_metadata["input_tokens"] - tokens_of(messages)
        tools = more if tools is None else tools
        assert more == tools  # what the tools take is the same for each


@pytest.mark.parametrize("boundary", [True, False])
def test_a_message_is_measured_once(boundary: bool) -> None:
    """The last step of a long run measures as much as its tenth."""
    measured: Counter[int] = Counter()
    step = 0

    def seen(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal step
        if event == "call":
            code = frame.f_code
            step += code is Uncounted._generate.__code__
            measured[step] += code.co_filename == _sizes.__file__

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        played({**LIMITED, "results": {"boundary": boundary}})
    finally:
        sys.setprofile(before)
    assert 0 < measured[10] == measured[ROUNDS - 1] < 60
