"""Chunks of a stream of OpenAI's: what is sent on, when, and in which place."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgeward import Policy
from edgeward.guards.clients._wire import Reply
from edgeward.guards.clients.openai.client import OpenAIDoor

from .openai_chunks import STREAM, called, chunk, joined
from .openai_ways import ASKED
from .test_openai import BLOCKED, KEY, MASK, POLICY

TEXT = f"key {KEY} done"


def reply_to(body: dict[str, Any] = STREAM, policy: Policy = POLICY) -> Reply:
    """A stream in flight, without the HTTP around it."""
    opened = OpenAIDoor(policy, ()).opening("post", "/chat/completions", body)
    assert opened is not None
    return opened


def passed(chunks: Iterable[dict[str, Any]], reply: Reply | None = None) -> list[dict[str, Any]]:
    """What goes out for these chunks."""
    flowing = reply or reply_to()
    out = []
    for data in chunks:
        new = flowing.event(data)
        out += [data] if new is None else new
    return [*out, *flowing.end(finished=True)]


def test_text_flows_on() -> None:
    """A word goes out before the stream has ended, and unchanged chunks are the very same."""
    reply = reply_to()
    first = chunk(content="Hello there, ")
    out = reply.event(first)
    assert out is None or joined(out).text
    assert reply.firewall is None


@pytest.mark.parametrize("first", range(0, len(TEXT), 3))
def test_a_secret_in_pieces_is_masked(first: int) -> None:
    """C10: for every way to cut the text in three, what arrives is the masked whole."""
    for second in range(first, len(TEXT), 5):
        pieces = (TEXT[:first], TEXT[first:second], TEXT[second:])
        out = passed([*(chunk(content=piece) for piece in pieces), chunk("stop")])
        assert joined(out).text == f"key {MASK} done"
        assert KEY[-12:] not in json.dumps(out)


SIX = [
    called(0, "send_", id="c1", type="function"),
    called(0, "email"),
    called(0, "", '{"to":'),
    called(0, "", '"a@'),
    called(0, "", 'evil.test"'),
    called(0, "", "}"),
]


def test_a_refused_call_leaves_no_piece() -> None:
    """C10: in six pieces; each is held back, and none goes out."""
    reply = reply_to()
    assert [reply.event(piece) for piece in SIX] == [[]] * 6
    out = passed([chunk("tool_calls")], reply)
    assert joined(out).calls == []
    assert joined(out).text == BLOCKED
    assert joined(out).finish == "stop"


@pytest.mark.parametrize("blank", ["\n", " ", "\n\n  "])
def test_blanks_are_no_answer(blank: str) -> None:
    """Where only they are left beside refused calls, the block message is the answer."""
    out = passed([chunk(content=blank), *SIX, chunk("tool_calls")])
    assert joined(out).text.strip() == BLOCKED
    assert joined(out).finish == "stop"


def test_a_call_that_may_run_goes_out_whole() -> None:
    """In one piece, before the chunk that ends the choice."""
    pieces = [called(0, "read_", id="c1"), called(0, "doc", '{"a"'), called(0, "", ":1}")]
    call, last = passed([*pieces, chunk("tool_calls")])
    (made,) = call["choices"][0]["delta"]["tool_calls"]
    assert made["function"] == {"name": "read_doc", "arguments": '{"a":1}'}
    assert (made["index"], made["id"]) == (0, "c1")
    assert last["choices"][0]["finish_reason"] == "tool_calls"


PARALLEL = [("send_email", '{"to": "x"}'), ("read_doc", '{"a": 1}'), ("read_doc", '{"b": 2}')]
KEPT = [("read_doc", '{"a": 1}'), ("read_doc", '{"b": 2}')]


def cut(text: str, parts: int = 3) -> list[str]:
    """A text in pieces."""
    size = -(-len(text) // parts)
    return [text[at : at + size] for at in range(0, len(text), size)]


def test_parallel_calls_may_come_mixed() -> None:
    """The pieces of three calls in turn; what stays keeps its order and is numbered anew."""
    heads = [called(n, name, id=f"c{n}") for n, (name, _) in enumerate(PARALLEL)]
    rows = zip(*(cut(arguments) for _, arguments in PARALLEL), strict=True)
    pieces = [called(n, "", piece) for row in rows for n, piece in enumerate(row)]
    out = passed([*heads, *pieces, chunk("tool_calls")])
    assert joined(out).calls == KEPT
    numbers = [c["choices"][0]["delta"]["tool_calls"][0]["index"] for c in out[:2]]
    assert numbers == [0, 1]


def test_calls_stand_in_the_order_of_their_positions() -> None:
    """As a program puts them together, whichever begins first; what comes first is judged first."""
    pieces = [called(n, name, a, id=f"c{n}") for n, (name, a) in enumerate(PARALLEL)]
    out = passed([*reversed(pieces), chunk("tool_calls")])
    assert joined(out).calls == KEPT


@pytest.mark.parametrize("place", [None, 0])
def test_servers_that_number_their_calls_badly(place: int | None) -> None:
    """Without positions, or with one for all: an id or a name begins a new call."""
    pieces = []
    for number, (name, arguments) in enumerate(PARALLEL):
        pieces.append(called(place, name, id=f"c{number}"))
        pieces += [called(place, "", piece) for piece in cut(arguments)]
    assert joined(passed([*pieces, chunk("tool_calls")])).calls == KEPT


def test_calls_without_ids() -> None:
    """Some local servers give none; a name begins a new call."""
    pieces = [called(None, name, arguments) for name, arguments in PARALLEL]
    assert joined(passed([*pieces, chunk("tool_calls")])).calls == KEPT


def test_every_choice_is_held_back_by_itself() -> None:
    """One is emptied, the other is not; each ends as it should."""
    chunks = []
    for number, name in enumerate(("send_email", "read_doc")):
        piece = called(0, name, "{}", id=f"c{number}")
        piece["choices"][0]["index"] = number
        chunks += [piece, chunk("tool_calls", number)]
    out = [choice for data in passed(chunks) for choice in data["choices"]]
    ends = {c["index"]: c["finish_reason"] for c in out if c["finish_reason"]}
    assert ends == {0: "stop", 1: "tool_calls"}
    said = [c["delta"]["content"] for c in out if c["delta"].get("content")]
    assert said == [BLOCKED]


def test_two_choices_in_one_chunk() -> None:
    """What of a chunk may go out does; the rest of it waits."""
    both = chunk(content="Hello there, ")
    both["choices"] += called(0, "send_email", "{}", id="c1")["choices"]
    both["choices"][1]["index"] = 1
    out = passed([both, chunk("stop"), chunk("tool_calls", 1)])
    assert "send_email" not in json.dumps(out)


def test_the_old_function_call_in_pieces() -> None:
    """Held back like any other."""
    for name, kept in (("send_email", []), ("read_doc", [("read_doc", "{}")])):
        pieces = [
            chunk(function_call={"name": name, "arguments": ""}),
            chunk(function_call={"arguments": "{}"}),
            chunk("function_call"),
        ]
        got = joined(passed(pieces))
        assert got.calls == kept
        assert got.finish == ("function_call" if kept else "stop")


def test_fields_that_a_call_carries_stay() -> None:
    """C34: a signature beside the function, which the provider wants back."""
    extra = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    (out, _) = passed([called(0, "read_doc", "{}", id="c1", **extra), chunk("tool_calls")])
    assert out["choices"][0]["delta"]["tool_calls"][0]["extra_content"] == extra["extra_content"]


def test_a_cut_off_answer_stays_cut_off() -> None:
    """`length` is not turned into `stop`; a call that is broken by it is refused."""
    got = joined(passed([called(0, "read_doc", '{"a": "b', id="c1"), chunk("length")]))
    assert (got.calls, got.finish, got.text) == ([], "length", BLOCKED)


def test_text_in_the_last_chunk_comes_before_its_end() -> None:
    """Some servers send text, calls and the reason in one chunk."""
    last = chunk("tool_calls", content="Hi.", tool_calls=[])
    last["choices"][0]["delta"]["tool_calls"] = [
        {"index": 0, "id": "c1", "function": {"name": "read_doc", "arguments": "{}"}}
    ]
    out = passed([last])
    assert joined(out).text == "Hi."
    assert joined(out).calls == [("read_doc", "{}")]
    assert [c["choices"][0]["finish_reason"] for c in out] == [None] * (len(out) - 1) + [
        "tool_calls"
    ]


def test_reasoning_and_lists_of_parts_are_masked_too() -> None:
    """DeepSeek's field, and Mistral's content of parts."""
    parts = [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]
    chunks = [
        chunk(reasoning_content=TEXT[:10]),
        chunk(reasoning_content=TEXT[10:]),
        chunk(content=[*parts, {"type": "text", "text": TEXT}]),
        chunk("stop"),
    ]
    out = json.dumps(passed(chunks))
    assert KEY not in out
    assert out.count(MASK) == 2


@settings(deadline=None)
@given(st.data())
def test_however_a_stream_is_cut_the_whole_is_the_same(data: st.DataObject) -> None:
    """Text and calls, cut at any place: what arrives is what `create` would have given."""
    text = data.draw(st.sampled_from([TEXT, "no secret at all", "a@b.example 4111 1111 1111 1111"]))
    calls = data.draw(st.lists(st.sampled_from(PARALLEL), max_size=3))
    chunks = [chunk(content=piece) for piece in _cut_anywhere(data, text)]
    for number, (name, arguments) in enumerate(calls):
        chunks.append(called(number, id=f"c{number}"))
        chunks += [called(number, piece) for piece in _cut_anywhere(data, name)]
        chunks += [called(number, "", piece) for piece in _cut_anywhere(data, arguments)]
    got = joined(passed([*chunks, chunk("tool_calls" if calls else "stop")]))
    assert got.text == POLICY.redactor.all(text)[0]
    assert got.calls == [call for call in calls if call[0] != "send_email"]


def _cut_anywhere(data: st.DataObject, text: str) -> list[str]:
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


@settings(deadline=None)
@given(st.integers(1, 40))
def test_however_the_bytes_are_cut_the_events_are_the_same(size: int) -> None:
    """The pieces in which a connection delivers them mean nothing."""
    from edgeward.guards.clients._sse import EventReader, data_of

    data = b": ping\n\nevent: a\r\ndata: {}\r\n\r\ndata: 1\ndata: 2\n\ndata: [DONE]\n\nrest"
    reader = EventReader()
    cuts = [data[at : at + size] for at in range(0, len(data), size)]
    found = [event for piece in cuts for event in reader.feed(piece)] + [reader.rest()]
    assert [data_of(raw) for raw in found] == [None, b"{}", b"1\n2", b"[DONE]", None]
    assert b"".join(found) == data


def test_an_estimate_says_that_it_is_one() -> None:
    """A provider that gives no number."""
    reply: Any = reply_to()
    passed([chunk(content="four" * 10), chunk("stop")], reply)
    assert (reply.estimated, reply.tokens) == (True, (40 + len("user" + "Go on.")) // 4)


def test_what_cannot_be_looked_into_does_not_arrive() -> None:
    """Choices that are no list, or no objects."""
    odd = {**chunk(), "choices": {"0": chunk()["choices"][0]}}
    assert passed([odd]) == []
    assert passed([{**odd, "choices": ["send_email"]}]) == []
    for choices in (odd["choices"], ["send_email"]):
        assert reply_to(ASKED).whole({"choices": choices})["choices"] == []


@pytest.mark.parametrize("beside", ["message", "text"])
def test_a_choice_that_repeats_what_it_said(beside: str) -> None:
    """Some servers send the whole so far beside each piece: it does not go around the guard."""
    said: Any = f"key {KEY}"
    if beside == "message":
        said = {"content": said, "tool_calls": [{"function": {"name": "send_email"}}]}
    chunks = [chunk(content="Hi, "), chunk(content=f"key {KEY}"), chunk("stop")]
    for one in chunks:
        one["choices"][0][beside] = said
    out = passed(chunks)
    assert joined(out).text == f"Hi, key {MASK}"
    assert not any(beside in choice for one in out for choice in one["choices"])


def test_a_whole_choice_that_says_it_twice() -> None:
    """Of a choice that holds more than its message only the message arrives."""
    message = {"role": "assistant", "content": "Hi."}
    choice = {"index": 0, "message": message, "delta": {"content": KEY}, "text": KEY}
    odd = {"index": 1, "message": [{"content": KEY}]}
    out = reply_to(ASKED).whole({"choices": [choice, odd]})
    assert out["choices"] == [{"index": 0, "message": message}, {"index": 1}]


def test_a_call_of_many_pieces_arrives_whole() -> None:
    """20,000 pieces are put together in one."""
    pieces = [called(0, "", "x") for _ in range(20_000)]
    begin, end = called(0, "read_doc", '{"a": "', id="c1"), called(0, "", '"}')
    (call, _) = passed([begin, *pieces, end, chunk("tool_calls")])
    made = call["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"]
    assert len(json.loads(made)["a"]) == 20_000
