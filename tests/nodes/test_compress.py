"""compress: what goes and what stays, to the message, for every budget (D070-D075, C04 ...)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.checkpoint.memory import InMemorySaver

from edgeward.nodes import compress
from edgeward.nodes._base import CallModel, Here, Result
from edgeward.nodes._fit import trimmed
from edgeward.nodes._messages import MessageLog
from edgeward.nodes._sizes import text_tokens
from edgeward.policies.yaml_file import ConfigError
from tests.fakes import ALLOW_ALL, Recorder, agent_graph, ask, on, turn


def said(text: str, *ids: str) -> AIMessage:
    return AIMessage(text, tool_calls=[{"name": "t", "args": {}, "id": i} for i in ids])


def result(call_id: str, text: str = "r" * 40) -> ToolMessage:
    return ToolMessage(text, tool_call_id=call_id)


def spec(limit: int, **more: Any) -> compress.Spec:
    """A spec with a budget of `limit` tokens, below what a file may ask for."""
    fields = {"prune_protect": 0, "prune_minimum": 0, "reserved_buffer": 0, **more}
    return compress.Spec.model_construct(
        kind="compress", context_limit=limit, enable_summary=False, **fields
    )


def step(messages: Sequence[BaseMessage], using: compress.Spec, reply: Any = None) -> Result | None:
    """Drive one step; gives what it ended in. `reply` answers (or fails) the summary."""
    running = compress.step(using, {"messages": list(messages)}, Here(policy=ALLOW_ALL))
    try:
        asked = next(running)
        assert isinstance(asked, CallModel)
        if isinstance(reply, Exception):
            running.throw(reply)
        else:
            running.send(reply)
    except StopIteration as stop:
        return stop.value  # type: ignore[no-any-return]
    raise AssertionError("a second model call")


def after(messages: Sequence[BaseMessage], using: compress.Spec, reply: Any = None) -> MessageLog:
    """The messages as they are after the step."""
    ended = step(messages, using, reply)
    assert ended is not None
    return MessageLog(messages).merged(ended.update.get("messages", []))


def fits_a_provider(messages: Sequence[BaseMessage]) -> bool:
    """Whether each call has all its results directly after it, and each result its call."""
    open_ids: set[str] = set()
    for message in messages:
        if isinstance(message, ToolMessage):
            if message.tool_call_id not in open_ids:
                return False
            open_ids.discard(message.tool_call_id)
            continue
        if open_ids:
            return False
        if isinstance(message, AIMessage):
            open_ids = {str(call["id"]) for call in message.tool_calls}
    return not open_ids


HISTORY = [
    SystemMessage("system " * 5),
    HumanMessage("first " * 5),
    said("calls", "c1", "c2"),
    result("c1"),
    result("c2"),
    AIMessage("answer " * 5),
    HumanMessage("second " * 5),
]
LONG = [*HISTORY, said("", "c3"), result("c3"), said("", "c4", "c5"), result("c5"), result("c4")]
WITHOUT_CALL = [SystemMessage("s"), HumanMessage("u"), result("c1"), result("c2"), *HISTORY[5:]]
HALF = [
    SystemMessage("s"),
    HumanMessage("u"),
    said("", "c2"),
    result("c1"),
    result("c2"),
    *LONG[5:],
]


@pytest.mark.parametrize("history", [HISTORY, LONG, WITHOUT_CALL, HALF], ids=["a", "b", "c", "d"])
def test_c04_every_budget(history: list[BaseMessage]) -> None:
    """No cut parts a call from its results; the system message and the task stay."""
    total = sum(map(compress.tokens, history))
    for limit in range(total):
        kept = after(history, spec(limit))
        assert fits_a_provider(kept), (limit, kept)
        assert kept[0] is history[0]
        assert [m for m in kept if m.type == "human"][-1].text.startswith("second")
        assert not isinstance(kept[1], ToolMessage)


def test_within_the_limit() -> None:
    """A history that fits is left alone: no call, no write."""
    total = sum(map(compress.tokens, LONG))
    ended = step(LONG, spec(total))
    assert ended == Result("done")


def test_d072_newest_tokens_are_protected() -> None:
    """At least `prune_protect` tokens of the newest turns stay, word for word."""
    turns = [HumanMessage("task"), *(AIMessage("a" * 400, id=f"{n}") for n in range(20))]
    each = compress.tokens(turns[1])
    kept = after(turns, spec(15 * each, prune_protect=5 * each))
    assert kept[1:] == turns[16:]
    kept = after(turns, spec(15 * each, prune_protect=5 * each + 1))
    assert kept[1:] == turns[15:]


def test_d073_result_never_falls_under_the_floor() -> None:
    """At least `prune_minimum` tokens stay, whatever is protected."""
    turns = [HumanMessage("task"), *(AIMessage("a" * 400, id=f"{n}") for n in range(20))]
    each = compress.tokens(turns[1])
    kept = after(turns, spec(15 * each, prune_protect=2 * each, prune_minimum=7 * each))
    assert kept[1:] == turns[14:]
    for minimum in range(0, 12 * each, 37):
        kept = after(turns, spec(15 * each, prune_minimum=minimum))
        assert sum(map(compress.tokens, kept)) >= minimum


def test_result_fits_the_limit() -> None:
    """What stays fits the limit where turns are small enough, whatever is protected."""
    turns = [HumanMessage("task"), *(AIMessage("a" * 400) for _ in range(20))]
    kept = after(turns, spec(600, prune_protect=10_000, reserved_buffer=100))
    assert sum(map(compress.tokens, kept)) <= 500


def test_protection_that_does_not_fit_leaves_room_for_steps() -> None:
    """Where more is protected than there is room, half is kept: not a prune for every step."""
    turns = [HumanMessage("task"), *(AIMessage("a" * 400) for _ in range(20))]
    kept = after(turns, spec(1_000, prune_protect=10_000))
    assert sum(map(compress.tokens, kept)) <= 700


@pytest.mark.parametrize("total", [107_999, 108_000, 108_001])
def test_d071_prunes_when_total_and_buffer_pass_the_limit(total: int) -> None:
    """With the default numbers nothing happens up to 108,000 tokens; at 108,001 it prunes."""
    using = compress.Spec(kind="compress", enable_summary=False)
    part = AIMessage("a" * 4 * (1_000 - 3))
    assert compress.tokens(part) == 1_000
    rest = HumanMessage("a" * 4 * (total - 107_000 - 3))
    history = [*[part] * 107, rest]
    assert sum(map(compress.tokens, history)) == total
    kept = after(history, using)
    assert (kept == history) is (total <= 108_000)
    if total > 108_000:
        assert 40_000 <= sum(map(compress.tokens, kept)) < 41_000
        assert kept == history[-len(kept) :]


def test_d071_prompt_and_tools_count() -> None:
    """What the system prompt and the tools' descriptions take is a part of the total."""
    using = compress.Spec(kind="compress", enable_summary=False)
    history = [AIMessage("a" * 4 * 997)] * 107
    for overhead, prunes in ((1_000, False), (1_001, True)):
        here = Here(policy=ALLOW_ALL, overhead=overhead)
        with pytest.raises(StopIteration) as stop:
            next(compress.step(using, {"messages": history}, here))
        assert bool(stop.value.value.update) is prunes


def test_d070_smallest_context_limit(strategy_file: Callable[[str], Path]) -> None:
    """1,024 tokens are taken, 1,023 refused; 128,000 is the default."""
    assert compress.Spec(kind="compress").context_limit == 128_000
    assert compress.Spec(kind="compress", context_limit=1_024).context_limit == 1_024
    with pytest.raises(ValueError, match="1024"):
        compress.Spec(kind="compress", context_limit=1_023)


SUMMARY = AIMessage("they met", response_metadata={"finish_reason": "stop"})


def with_summary(limit: int = 60, **more: Any) -> compress.Spec:
    return spec(limit, **more).model_copy(update={"enable_summary": True})


def test_d074_one_summary_or_none() -> None:
    """With a summary exactly one message stands for what went; without, none does."""
    for using, count in ((with_summary(), 1), (spec(60), 0)):
        kept = after(LONG, using, SUMMARY)
        assert len([m for m in kept if m.name == compress.SUMMARY_NAME]) == count
        assert fits_a_provider(kept)


def test_summary() -> None:
    """The summary stands in place of what it sums up, and does not speak as the user."""
    kept = after(LONG, with_summary(), SUMMARY)
    (summary,) = [m for m in kept if m.name == compress.SUMMARY_NAME]
    assert isinstance(summary, AIMessage)
    assert "they met" in summary.text
    assert fits_a_provider(kept)


@pytest.mark.parametrize(
    "reply",
    [
        RuntimeError("down"),
        AIMessage(""),
        AIMessage(" \n"),
        AIMessage("Error: context_length_exceeded"),
        AIMessage("cut o", response_metadata={"finish_reason": "length"}),
        AIMessage("cut o", response_metadata={"stop_reason": "max_tokens"}),
    ],
    ids=repr,
)
def test_c47_failed_summary(reply: Any) -> None:
    """A summary that fails, is empty, cut off or an error text leaves the history as it was."""
    ended = step(LONG, with_summary(), reply)
    assert ended is not None
    assert "messages" not in ended.update
    again = compress.step(with_summary(), {"messages": LONG, **ended.update}, Here(ALLOW_ALL))
    with pytest.raises(StopIteration) as stop:  # one failure a run: nothing is asked again
        next(again)
    assert stop.value.value == Result("done")
    read = list(trimmed(LONG, ended.update["run"]))
    assert fits_a_provider(read)
    assert sum(map(compress.tokens, read)) < sum(map(compress.tokens, LONG))
    assert LONG[0] in read
    assert LONG[6] in read


@pytest.mark.parametrize(
    "text",
    [
        *("ERROR 500: overloaded", "[ERROR] timeout", "**Error** - too long", "Exception: boom"),
        *(
            "openai.BadRequestError: Error code: 400",
            '{"error": {"code": 429}}',
            "Connection error.",
        ),
        *("An internal error has occurred.", "Traceback (most recent call last):\n  File"),
        *("HTTP 503 Service Unavailable", "429: Too Many Requests", "Internal Server Error"),
        *("<html><head><title>502</title>", "<!DOCTYPE html>", "Request timed out."),
        *("Rate limit exceeded. Try again in 20 s.", "context_length_exceeded"),
        *("This model's maximum context length is 8192 tokens.", "Unauthorized"),
        *("N/A", "null", "...", "```\n```", "{}", "[]", "(none)"),
    ],
)
def test_c47_a_failure_in_any_words_is_no_summary(text: str) -> None:
    """Neither the words of a provider, a proxy or a program, nor those for nothing."""
    ended = step(LONG, with_summary(), AIMessage(text))
    assert ended is not None
    assert "messages" not in ended.update


@pytest.mark.parametrize(
    "text",
    [
        "Errors in the report were fixed by Ann; invoice 12 is open.",
        "Error rates: 3 % on Monday; Ann wants them below 2 %.",
        "404 invoices were read; 3 are open.",
        "None of the invoices is paid.",
        "Nothing was decided: who pays inv-2 is open.",
        "HTML templates were discussed.",
        "The request failed at first, then Ann sent it.",
        "Unauthorized access by Bob was found.",
        "Connection to db.corp was opened.",
        "Exceptions to the rule: Bob may pay up to 500.",
    ],
)
def test_c47_a_summary_that_speaks_of_failures_is_one(text: str) -> None:
    """What the conversation was about may well be errors."""
    (summary,) = [m for m in after(LONG, with_summary(), AIMessage(text)) if m.name]
    assert text[:20] in summary.text


def test_an_answer_of_signs_costs_what_it_is_long() -> None:
    """A search that went back over it again and again would not end."""
    for sign in ("-", "a.", "\n", "5"):
        assert compress.ERROR.match(sign * 200_000) is None
        assert compress.NOTHING.fullmatch(sign * 200_000) is None


def test_c26_summaries_do_not_grow() -> None:
    """Ten compactions in a row keep one summary, below its size limit."""
    messages: list[BaseMessage] = [HumanMessage("task")]
    for number in range(10):
        messages += [said("x" * 4_000, f"c{number}"), result(f"c{number}", "y" * 4_000)]
        messages = list(after(messages, with_summary(500), AIMessage("s" * 50_000)))
        summaries = [m for m in messages if m.name == compress.SUMMARY_NAME]
        assert len(summaries) <= 1
        assert all(compress.tokens(m) < 100 for m in summaries)


def test_c26_nothing_left_to_shorten() -> None:
    """Where the rest cannot shrink, no second summary of the same is asked for."""
    messages = [HumanMessage("task"), said("", "c1"), result("c1", "y" * 9_000)]
    first = after([*messages[:1], AIMessage("z" * 400), *messages[1:]], with_summary(), SUMMARY)
    ended = compress.step(with_summary(), {"messages": list(first)}, Here(policy=ALLOW_ALL))
    with pytest.raises(StopIteration) as stop:
        next(ended)
    assert stop.value.value == Result("done")


def test_what_the_summary_is_asked_with() -> None:
    """Names, ids and open questions are asked for; calls, with their arguments, are shown."""
    running = compress.step(with_summary(), {"messages": list(LONG)}, Here(policy=ALLOW_ALL))
    asked = next(running)
    assert isinstance(asked, CallModel)
    assert not asked.tools
    text = asked.messages[-1].text
    assert all(word in text for word in ("name", "id", "questions are open", "[calls t {}]"))


def test_what_is_summed_up_fits_the_model() -> None:
    """A history far beyond the context is cut for the summary, the longest messages first."""
    history = [HumanMessage("task"), *(AIMessage("b" * 40_000) for _ in range(50))]
    history.insert(1, AIMessage("the name is Ada"))
    using = compress.Spec(kind="compress", context_limit=8_192)
    asked = next(compress.step(using, {"messages": history}, Here(policy=ALLOW_ALL)))
    assert isinstance(asked, CallModel)
    assert sum(map(compress.tokens, asked.messages)) < 8_192
    assert "the name is Ada" in asked.messages[-1].text


def test_a_summary_is_asked_for_only_where_it_gains_something() -> None:
    """What is hardly longer than the summary would be is left until there is more of it."""
    using = compress.Spec(kind="compress", context_limit=8_192, prune_protect=0, prune_minimum=0)
    history = [HumanMessage("x" * 4 * 6_900), AIMessage("y" * 80), AIMessage("z" * 80)]
    assert step(history, using) == Result("done")


def test_each_message_is_counted_once() -> None:
    """Over many steps a thread is not measured again and again."""
    log, measured = MessageLog(), 0

    def size(message: BaseMessage) -> int:
        nonlocal measured
        measured += 1
        return 1

    for number in range(100):
        log = log.merged([AIMessage("x", id=f"m{number}")])
        assert log.sum_of(size) == number + 1
    assert measured == 100
    shorter = log.merged([RemoveMessage(id="m7")])
    assert shorter.sum_of(size) == 99


def test_summary_holds_no_secret() -> None:
    """A key in the summary is masked."""
    kept = after(LONG, with_summary(), AIMessage("use sk-proj-TESTTESTTESTTESTTEST"))
    assert "sk-proj" not in str(kept)


@pytest.mark.parametrize(
    "message",
    [
        HumanMessage("text <|endoftext|> and <|im_start|>"),
        HumanMessage("\ud800"),
        HumanMessage([{"type": "text", "text": "x"}, "y", {"type": "image_url", "image_url": "z"}]),
        AIMessage([{"type": "thinking", "thinking": "x"}]),
        AIMessage("", tool_calls=[{"name": "t", "args": {"a": float("nan")}, "id": "c"}]),
        RemoveMessage(id="x"),
    ],
    ids=ascii,
)
def test_c91_counting_never_raises(message: BaseMessage) -> None:
    """Control tokens, odd letters, blocks and odd arguments are counted like any text."""
    assert compress.tokens(message) > 0


def test_c91_counting_chinese() -> None:
    """Ten thousand Chinese characters are not taken for a quarter of it."""
    assert compress.tokens(HumanMessage("汉" * 10_000)) >= 5_000
    assert compress.tokens(HumanMessage("abcd" * 10_000)) <= 12_000


@pytest.mark.parametrize("kind", ["image", "image_url", "input_image", "file"])
def test_images_are_counted_as_images(kind: str) -> None:
    """An image is a flat sum, never its bytes as text, wherever a provider wants it to stand."""
    data = "A" * 400_000
    block = {"type": kind, "image_url": {"url": f"data:image/png;base64,{data}"}, "data": data}
    source = {"type": kind, "source": {"type": "base64", "data": data}}
    for one in (block, source):
        assert compress.tokens(HumanMessage(["look", one])) == 3 + 1 + 1_000


@pytest.mark.parametrize("text", ["你好世界" * 250, "привет мир" * 100, "สวัสดี" * 160])
def test_other_scripts_are_not_under_counted(text: str) -> None:
    """A thousand Chinese characters are not 250 tokens, nor are other scripts."""
    assert text_tokens(text) >= len(text) * 0.9


@pytest.mark.parametrize(
    "fields",
    ["context_limit: 1000", "prune_protect: -1", "reserved_buffer: 128000"],
)
def test_budget_that_cannot_be(fields: str, strategy_file: Callable[[str], Path]) -> None:
    """A budget in which nothing fits is one clear error at load."""
    nodes = f"nodes: {{c: {{kind: compress, {fields}}}}}"
    text = f"strategy: s\nstart: c\n{nodes}\nedges: {{c.done: end}}\n"
    with pytest.raises(ConfigError, match=r"strategy\.yaml:3"):
        agent_graph(["x"], strategy=strategy_file(text))


def test_one_summary_a_step(strategy_file: Callable[[str], Path]) -> None:
    """In a run each round asks for at most one summary, and values keep their origin (I10)."""
    text = (
        "strategy: s\nstart: act\nnodes:\n  act: act\n  guard: guard\n  tool: tool\n"
        "  shorten: {kind: compress, context_limit: 1024, prune_protect: 0, prune_minimum: 0,"
        " reserved_buffer: 900}\n"
        "edges: {act.call: guard, act.answer: end, act.limit: end, guard.allow: tool,"
        " guard.block: act, tool.done: shorten, shorten.done: act}\n"
    )

    def reply(messages: list[BaseMessage]) -> Any:
        if messages[-1].text.startswith(compress.ASK):
            return "they read evil@x.example"
        return turn(("read", {"what": "evil@x.example " * 20}, "c1"))

    graph = agent_graph(
        [reply] * 30,
        tools=[Recorder().tool("read")],
        strategy=strategy_file(text),
        checkpointer=InMemorySaver(),
        order="call",
        max_steps=6,
    )
    graph.invoke(ask("read my mail"), on())
    values = graph.get_state(on()).values
    model: Any = graph.nodes["act"].bound._ruled.current.work.model  # type: ignore[attr-defined]
    summaries = [m for m in model.requests if m[-1].text.startswith(compress.ASK)]
    assert 0 < len(summaries) <= 6
    assert fits_a_provider(values["messages"])
    users = [entry for entry in values["ledger"] if entry["source"] == "user"]
    assert "evil" not in str(users)
