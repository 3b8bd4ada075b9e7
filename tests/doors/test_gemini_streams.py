"""Streams of the Gemini door: what is sent on, when, and what becomes of one that does not end."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Sequence
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgeward import load_policy
from edgeward.guards.clients._exchange import Door
from edgeward.guards.clients.gemini.wire import Call
from tests.wire.gemini import answer
from tests.wire.server import Events, Say, Wire

from . import gemini_ways as ways
from .gemini_ways import ASKED
from .test_gemini import BLOCKED, KEY, MAIL, MASK, POLICY, READ, called

TEXT = f"key {KEY} done"


@pytest.fixture(autouse=True)
async def closed() -> AsyncIterator[None]:
    """No connection outlives its test."""
    yield
    await ways.close_all()


def passed(pieces: Sequence[dict[str, Any]], policy: Any = POLICY) -> list[dict[str, Any]]:
    """What goes out for these pieces, without the HTTP around them."""
    call = Call(Door(policy))
    _, reply = call.opened({"contents": [{"role": "user", "parts": [{"text": "Go on."}]}]})
    out = [reply.event(piece) for piece in pieces] + [call.end(finished=True)]
    return [piece for piece in out if piece is not None]


def parts_of(out: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """All parts of what went out."""
    return [p for piece in out for one in piece["candidates"] for p in one["content"]["parts"]]


def text_of(out: Sequence[dict[str, Any]]) -> str:
    """The text of what went out."""
    return "".join(part.get("text", "") for part in parts_of(out))


def texts(*pieces: str, finish: str = "STOP") -> list[dict[str, Any]]:
    """A stream of texts; the last piece says why it ends."""
    last = len(pieces) - 1
    return [answer([{"text": t}], finish=finish if n == last else "") for n, t in enumerate(pieces)]


@pytest.mark.parametrize("first", range(len(TEXT)))
def test_a_secret_in_pieces_is_masked(first: int) -> None:
    """C10: for every way to cut the text in three, what arrives is the masked whole."""
    for second in range(first, len(TEXT)):
        out = passed(texts(TEXT[:first], TEXT[first:second], TEXT[second:]))
        assert text_of(out) == f"key {MASK} done"
        assert KEY[-12:] not in json.dumps(out)


@settings(deadline=None, max_examples=150)
@given(st.data())
def test_every_cut_gives_the_masked_whole(data: st.DataObject) -> None:
    """Whatever is said and however it is cut, with thoughts and calls before it or none."""
    words = st.sampled_from([KEY, "a.b@example.com", "hello", "4111 1111 1111 1111", "-", "sk-"])
    said = " ".join(data.draw(st.lists(words, min_size=1, max_size=8)))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(said)), max_size=6)))
    pieces = [said[a:b] for a, b in zip([0, *cuts], [*cuts, len(said)], strict=True)]
    before = [answer([{"text": f"I have {KEY}", "thought": True}, called("read_doc")], finish="")]
    out = passed(before * data.draw(st.integers(0, 1)) + texts(*pieces))
    spoken = [part for part in parts_of(out) if not part.get("thought")]
    assert "".join(p.get("text", "") for p in spoken) == POLICY.redactor.all(said)[0]
    assert KEY not in json.dumps(out)


def test_text_flows_on() -> None:
    """A word goes out before the stream has ended."""
    call = Call(Door(POLICY))
    _, reply = call.opened({"contents": []})
    out = reply.event(answer([{"text": "Hello there, "}], finish=""))
    assert out is not None
    assert text_of([out]).startswith("Hello")
    assert call.firewall is None


def test_order_stays() -> None:
    """Text, call, text: what was held back of the first goes out before the call."""
    pieces = [{"text": "Reading"}, called("read_doc"), {"text": "Done"}]
    out = passed([answer([part], finish="") for part in pieces])
    assert parts_of(out) == pieces


def test_a_stream_without_an_end_gives_what_is_whole() -> None:
    """The text that was held back, and no call that never became whole."""
    piece = {"functionCall": {"name": "read_doc", "willContinue": True}}
    out = passed([answer([{"text": "Fine"}], finish=""), answer([piece], finish="")])
    assert text_of(out) == "Fine"
    assert "functionCall" not in json.dumps(out)


PIECES: list[dict[str, Any]] = [
    {"name": "send_email", "id": "c1", "willContinue": True},
    {"partialArgs": [{"jsonPath": "$.to[0].mail", "stringValue": "a@", "willContinue": True}]},
    {"partialArgs": [{"jsonPath": "$.to[0].mail", "stringValue": "example.com"}]},
    {
        "partialArgs": [
            {"jsonPath": "$['n']", "numberValue": 3},
            {"jsonPath": "$.b", "boolValue": 0},
        ]
    },
    {},
]
for _piece in PIECES[1:4]:
    _piece["willContinue"] = True


def partial(name: str) -> list[dict[str, Any]]:
    """A call in pieces."""
    return [
        answer([{"functionCall": {**p, **({"name": name} if "name" in p else {})}}], finish="")
        for p in PIECES
    ]


def test_a_call_in_pieces_is_judged_whole() -> None:
    """Arguments that are streamed are put together; what is refused leaves no piece."""
    out = passed([*partial("read_doc"), answer([{"text": ""}])])
    arguments = {"to": [{"mail": "a@example.com"}], "n": 3, "b": 0}
    whole = {"name": "read_doc", "id": "c1", "args": arguments}
    assert [p for p in parts_of(out) if "functionCall" in p] == [{"functionCall": whole}]
    out = passed([*partial("send_email"), answer([{"text": ""}])])
    assert text_of(out) == BLOCKED
    assert "send_email" not in json.dumps(out)
    cut = passed(partial("read_doc")[:4])
    assert parts_of(cut) == [{"text": BLOCKED}]


@pytest.mark.parametrize("path", ["to", "$", "$.a..b", "$[0]", "$.a[99999999]", "$.a[", None])
def test_a_piece_that_fits_nowhere_is_refused(path: Any) -> None:
    """No guess is made about where a value belongs."""
    first = {"name": "read_doc", "willContinue": True}
    last = {"partialArgs": [{"jsonPath": path, "stringValue": "x"}]}
    out = passed([answer([{"functionCall": p}], finish="") for p in (first, last)])
    assert "functionCall" not in json.dumps(out)


def test_the_sdk_goes_on_with_one_reply() -> None:
    """A secret that is split where the SDK continues by another request is masked all the same."""
    call = Call(Door(POLICY))
    body = {"contents": [{"role": "user", "parts": [{"text": "Go on."}]}]}
    _, reply = call.opened(body)
    first = answer([{"text": f"key {KEY[:15]}"}], finish="CONTINUATION")
    first["candidates"][0]["continuationToken"] = "dG9rZW4="
    out = [reply.event(first, whole=True)]
    assert reply.goes_on
    _, again = call.opened({**body, "continuationToken": "dG9rZW4="})
    assert again is reply
    out.append(reply.event(answer([{"text": f"{KEY[15:]} done"}]), whole=True))
    assert text_of([piece for piece in out if piece]) == f"key {MASK} done"


@pytest.mark.parametrize("way", ways.STREAMED, ids=lambda way: way.__name__)
async def test_a_stream_that_breaks_off(way: ways.Way, wire: Wire) -> None:
    """The error is the SDK's own; what was held back goes nowhere."""
    wire.script(Say("Fine. " * 9, calls=[READ], cut_after=2))
    with pytest.raises(httpx.HTTPError):
        await way(wire, POLICY)


def test_nobody_reads_on(wire: Wire) -> None:
    """The stream is closed; the decision is on what was seen."""
    wire.script(Say("Fine. " * 9, calls=[MAIL]))
    stream = ways.client(wire, POLICY).models.generate_content_stream(**ASKED)
    next(stream)
    stream.close()
    assert stream.firewall["action"] == "allow"
    with pytest.raises(StopIteration):
        next(stream)


async def test_nobody_reads_on_async(wire: Wire) -> None:
    """The same for an async stream."""
    wire.script(Say("Fine. " * 9, calls=[MAIL]))
    stream = await ways.client(wire, POLICY).aio.models.generate_content_stream(**ASKED)
    await anext(stream)
    await stream.aclose()
    assert stream.firewall["action"] == "allow"


def test_usage_stays_in_its_piece(wire: Wire) -> None:
    """C76: the pieces with usage arrive, the last one with the finish."""
    wire.script(
        Events(
            [
                answer([{"text": "Fine."}], finish=""),
                {"usageMetadata": {"totalTokenCount": 18}},
                answer([{"text": ""}]),
            ]
        )
    )
    found = list(ways.client(wire, POLICY).models.generate_content_stream(**ASKED))
    assert [p.usage_metadata.total_token_count for p in found if p.usage_metadata] == [18]
    assert found[-1].candidates[0].finish_reason.name == "STOP"


_called_by_the_sdk = pytest.mark.skipif(
    sys.version_info < (3, 11),
    reason="the SDK for Python 3.10 calls no function whose annotations are texts",
)


@_called_by_the_sdk
def test_functions_that_the_sdk_calls_run_where_their_call_has_passed(wire: Wire) -> None:
    """Automatic function calling, whole and streamed, in a chat and without."""
    runs: list[str] = []

    def read_doc(path: str) -> str:
        """Read a document."""
        runs.append(path)
        return "read"

    def send_email(to: str) -> str:
        """Send a mail."""
        runs.append(to)
        return "sent"

    guarded = ways.client(wire, POLICY)
    config = {"tools": [read_doc, send_email]}
    chat = guarded.chats.create(model="m", config=config)
    asks: list[Any] = [
        lambda: ways.whole(guarded.models.generate_content(**ASKED, config=config)),
        lambda: ways.joined(guarded.models.generate_content_stream(**ASKED, config=config)),
        lambda: ways.whole(chat.send_message("Go on.")),
        lambda: ways.joined(chat.send_message_stream("Go on.")),
    ]
    for ask in asks:
        runs.clear()
        wire.script(Say(calls=[MAIL, READ]), Say("Fine."))
        got = ask()
        assert (runs, got.text) == (["a.md"], "Fine.")
        assert got.firewall["action"] == "block"
        assert "send_email" not in json.dumps(wire.requests[-1].body["contents"])
    assert "send_email" not in str(chat.get_history())


@_called_by_the_sdk
async def test_they_do_so_async(wire: Wire) -> None:
    """The same below `aio`."""
    runs: list[str] = []

    async def read_doc(path: str) -> str:
        """Read a document."""
        runs.append(path)
        return "read"

    async def send_email(to: str) -> str:
        """Send a mail."""
        runs.append(to)
        return "sent"

    aio = ways.client(wire, POLICY).aio
    config = {"tools": [read_doc, send_email]}
    wire.script(Say(calls=[MAIL, READ]), Say("Fine."), Say(calls=[MAIL, READ]), Say("Fine."))
    got = ways.whole(await aio.models.generate_content(**ASKED, config=config))
    assert (runs, got.firewall["action"]) == (["a.md"], "block")
    chat = aio.chats.create(model="m", config=config)
    got = await ways.joined_async(await chat.send_message_stream("Go on."))
    assert (runs, got.firewall["action"]) == (["a.md"] * 2, "block")


def test_what_waits_behind_a_call_keeps_its_order() -> None:
    """With `sequence` no call goes out before all are known, nor does what follows it, however many
    pieces that comes in."""
    rule = {"name": "mail", "after": "read_doc", "block": ["send_mail"]}
    policy = load_policy({"version": 2, "default": "allow", "sequence": [rule]})
    said = [[{"text": "One. "}], [called("other", n=1)], [{"text": "Two"}], [{"text": ". "}]]
    said += [[called("other", n=2)], [{"text": "Three."}]]
    pieces = [answer(parts, finish="") for parts in said[:-1]] + [answer(said[-1], finish="STOP")]
    call = Call(Door(policy))
    _, reply = call.opened({"contents": [{"role": "user", "parts": [{"text": "Go on."}]}]})
    out = [parts_of([made]) if (made := reply.event(one)) else [] for one in pieces]
    assert out[1:-1] == [[]] * 4
    went = [p.get("text") or p["functionCall"]["args"]["n"] for parts in out for p in parts]
    joined = "".join(str(one) for one in went)
    assert joined == "One. 1Two. 2Three."
