"""Events that are like one before go out as if each had been read: same bytes in, same events."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgeward import load_policy
from edgeward.guards.clients._alike import Alike, Word
from edgeward.guards.clients._sse import EventReader, data_of
from edgeward.guards.clients._wire import _Pipe
from edgeward.guards.clients.anthropic.client import AnthropicDoor
from edgeward.guards.clients.openai.client import OpenAIDoor
from edgeward.guards.patterns import searchable

POLICY = load_policy({"version": 2, "default": "allow", "tools": {"send": "block"}, "results": {}})
DOOR = OpenAIDoor(POLICY, ())

PIECES = st.one_of(
    st.sampled_from(
        ["word ", "assistant", "m", "sk-", "0", " ", "a@b.example ", "![x](", ")", "é"]
    ),
    st.text(min_size=0, max_size=4),
)
NOISES = st.sampled_from(["", "a", "Bc9", '"', "é"])


def chat(text: str, *, choice: int, noise: str) -> dict[str, Any]:
    """A chunk with a piece of a content."""
    made: dict[str, Any] = {"id": "m", "object": "chat.completion.chunk", "created": 1}
    delta = {"content": text}
    made["choices"] = [{"index": choice, "delta": delta, "logprobs": None, "finish_reason": None}]
    return {**made, "obfuscation": noise} if noise else made


def anthropic(text: str, *, choice: int, noise: str) -> dict[str, Any]:
    """An event with a piece of a block."""
    delta = {"type": "text_delta", "text": text}
    return {"type": "content_block_delta", "index": choice, "delta": delta}


def responses(text: str, *, choice: int, noise: str) -> dict[str, Any]:
    """An event with a piece of an item."""
    place = {"item_id": f"i{choice}", "output_index": choice, "content_index": 0}
    kind = "response.output_text.delta"
    more = {"delta": text, "logprobs": [], "obfuscation": noise, "sequence_number": len(noise)}
    return {"type": kind, **place, **more}


def before(make: Any) -> list[dict[str, Any]]:
    """What a stream begins with, so that its pieces have a place."""
    if make is anthropic:
        block = {"type": "text", "text": ""}
        start = "content_block_start"
        return [{"type": start, "index": n, "content_block": block} for n in (0, 1)]
    if make is responses:
        item = {"type": "message", "role": "assistant", "content": []}
        kind = "response.output_item.added"
        return [{"type": kind, "output_index": n, "item": {**item, "id": f"i{n}"}} for n in (0, 1)]
    return []


def call() -> list[dict[str, Any]]:
    """A call that begins while text flows, and is whole at once."""
    start = {"type": "tool_use", "id": "t", "name": "send", "input": {}}
    return [
        {"type": "content_block_start", "index": 2, "content_block": start},
        {"type": "content_block_stop", "index": 2},
    ]


def out(make: Any, data: bytes, size: int, *, tries: int) -> list[Any]:
    """The events that go out when bytes come in pieces of a size."""
    door: Any = AnthropicDoor(POLICY) if make is anthropic else DOOR
    urls = {anthropic: "/v1/messages", responses: "/responses", chat: "/chat/completions"}
    pipe = _Pipe(door.opening("post", urls[make], {"stream": True, "max_tokens": 9}))
    pipe._alike._tries = tries
    pieces = [pipe.feed(data[at : at + size]) for at in range(0, len(data), size)]
    reader = EventReader()
    raw = [*reader.feed(b"".join([*pieces, pipe.end()])), reader.rest()]
    return [json.loads(text) for text in map(data_of, raw) if text is not None]


@pytest.mark.parametrize("make", [chat, anthropic, responses])
@settings(deadline=None, max_examples=60)
@given(
    st.lists(
        st.tuples(PIECES, st.sampled_from([0, 0, 0, 1]), st.sampled_from(["", "a", "Bc9", '"']))
    ),
    st.booleans(),
    st.integers(0, 60),
    st.sampled_from([1, 7, 100, 10_000]),
)
def test_what_goes_out_is_the_same(
    make: Any, pieces: list[tuple[str, int, str]], ascii_only: bool, at: int, size: int
) -> None:
    """With the frames of events kept, and with each event read as JSON."""
    events = [make(text, choice=choice, noise=noise) for text, choice, noise in pieces]
    if make is anthropic and at < len(events):
        events[at:at] = call()
    data = b"".join(
        f"data: {json.dumps(event, ensure_ascii=ascii_only)}\n\n".encode("utf-8", "surrogatepass")
        for event in [*before(make), *events]
    )
    assert out(make, data, size, tries=16) == out(make, data, size, tries=0)


def learnt(raw: bytes, path: tuple[str | int, ...] = ("t",)) -> Alike:
    """What is known after one event; every piece goes out in capitals."""
    alike = Alike()
    text = data_of(raw)
    assert text is not None
    alike.learn(raw, text, Word(path, str.upper))
    return alike


@pytest.mark.parametrize(
    ("first", "then", "passed"),
    [
        (b'{"t":"a"}', b'{"t":"b c"}', b'{"t":"B C"}'),
        (b'{"t": "a", "r": "a"}', b'{"t": "b", "r": "a"}', b'{"t": "B", "r": "a"}'),
        (b'{"t":"a","p":"x1"}', b'{"t":"b","p":"yy"}', b'{"t":"B","p":"yy"}'),
        (b'{"t":"a","created":1}', b'{"t":"b","created":20}', b'{"t":"B","created":20}'),
        (b'{"t":"a","created":1}', b'{"t":"b","created":"2"}', None),
        (b'{"t":"a","created":1}', b'{"t":"b","created":2.5}', None),
        (b'{"t":"a","p":"x"}', b'{"t":"b","p":"y z"}', None),
        (b'{"t":"a"}', b'{"t":"b\\n"}', None),
        (b'{"t":"a"}', b'{"t":"\xff"}', None),
        (b'{"t":"a"}', b'{"t":"b\x01"}', None),
        (b'{"t":"a"}', b'{"t":""}', None),
        (b'{"t":"a"}', b'{"t":"b","u":"c"}', None),
        (b'{"t":"a"}', b'{"t":"b"} ', None),
        (b'{"t":"a","t":"c"}', b'{"t":"b","t":"c"}', None),
        (b'{"t":"a","p":{"p":"x"}}', b'{"t":"b","p":{"p":"y"}}', None),
    ],
)
def test_only_what_differs_in_a_known_place_is_like_it(
    first: bytes, then: bytes, passed: bytes | None
) -> None:
    """Anything else is read as JSON: escapes, other fields, other types, what is no UTF-8."""
    got = learnt(b"data: " + first + b"\n\n").passed(b"data: " + then + b"\n\n")
    assert got == (None if passed is None else b"data: " + passed + b"\n\n")


def test_a_piece_that_is_held_back_leaves_no_event() -> None:
    """And one that goes out as it came is the same bytes."""
    alike, raw = Alike(), b'data: {"t":"a"}\n\n'
    alike.learn(raw, b'{"t":"a"}', Word(("t",), {"a": "a", "b": ""}.get))
    assert alike.passed(raw) is raw
    assert alike.passed(b'data: {"t":"b"}\n\n') == b""
    assert alike.passed(b'data: {"t":"c"}\n\n') is None


@pytest.mark.parametrize("make", [chat, anthropic, responses])
def test_half_a_character_ends_no_stream(make: Any) -> None:
    """What a server parts between two events stands there as unreadable; the rest goes on."""
    half, other = "\ud83d", "\ude00"
    texts = ["word ", half, other, " and ", half, "word "]
    events = [*before(make), *(make(text, choice=0, noise="") for text in texts)]
    data = b"".join(f"data: {json.dumps(event)}\n\n".encode() for event in events)
    found = json.dumps(out(make, data, 10_000, tries=16))
    assert json.dumps(searchable(half))[1:-1] in found
    assert found == json.dumps(out(make, data, 10_000, tries=0))


def test_learning_ends() -> None:
    """A stream of ever other frames is not taken to pieces for ever."""
    alike = Alike()
    for number in range(100):
        text = f'{{"t":"a","n":{number}}}'.encode()
        alike.learn(b"data: " + text + b"\n\n", text, Word(("t",), str.upper))
    assert len(alike._frames) == 4
    assert alike._tries == 0
