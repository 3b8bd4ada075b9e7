"""Events of a stream of Anthropic's: what is sent on, when, and in which place."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgeward import Policy, load_policy
from edgeward.guards.clients.anthropic.client import AnthropicDoor
from tests.wire.messages import SIGNATURE, spelled

from .anthropic_events import STREAM, TEXT, Event, framed, said
from .test_anthropic import (
    BLOCKED,
    HIDDEN,
    KEY,
    MASK,
    MCP,
    MCP_BACK,
    POLICY,
    RESULTS,
    SERVER,
    THINKING,
)


def reply_to(policy: Policy = POLICY) -> Any:
    """A stream in flight, without the HTTP around it."""
    return AnthropicDoor(policy).opening("post", "/v1/messages", STREAM)


def passed(given: Iterable[Event], reply: Any = None) -> list[Event]:
    """What goes out for these events."""
    flowing = reply or reply_to()
    out: list[Event] = []
    for data in given:
        new = flowing.event(data)
        out += [data] if new is None else new
    return [*out, *flowing.end(finished=True)]


def snapshot(given: Sequence[Event]) -> Any:
    """What the SDK itself puts together of events."""
    from anthropic.lib.streaming._beta_messages import accumulate_event

    made: Any = None
    bufs: dict[int, bytes] = {}
    for data in given:
        if data["type"] != "ping":
            made = accumulate_event(
                event=data,  # type: ignore[arg-type]
                current_snapshot=made,
                json_bufs=bufs,
                request_headers=httpx2.Headers(),
            )
    return made


def called(name: str, *pieces: str, call_id: str = "t1") -> tuple[dict[str, Any], list[Any]]:
    """A call's block whose arguments come in pieces."""
    begun = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
    return begun, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]


def test_text_flows_on() -> None:
    """A word goes out before the stream has ended, and unchanged events are the very same."""
    reply = reply_to()
    start, begun, first, *_ = framed(said("Hello there, ", "you"))
    assert [reply.event(data) for data in (start, begun)] == [None, None]
    out = reply.event(first)
    assert out is None or out[0]["delta"]["text"].startswith("Hello")
    assert reply.firewall is None


@pytest.mark.parametrize("first", range(0, len(TEXT), 3))
def test_a_secret_in_pieces_is_masked(first: int) -> None:
    """C10: for every way to cut the text in three, what arrives is the masked whole."""
    for second in range(first, len(TEXT), 5):
        out = passed(framed(said(TEXT[:first], TEXT[first:second], TEXT[second:])))
        assert snapshot(out).content[0].text == f"key {MASK} done"
        assert KEY[-12:] not in json.dumps(out)


def test_a_text_that_begins_with_its_block() -> None:
    """A block may bring text with it before any delta."""
    out = passed(framed(({"type": "text", "text": TEXT[:12]}, said(TEXT[12:])[1])))
    assert snapshot(out).content[0].text == f"key {MASK} done"


def test_a_refused_call_leaves_no_piece() -> None:
    """C10: in six pieces; each is held back, and none goes out."""
    reply = reply_to()
    pieces = ('{"to":', '"a@', 'evil.test"', "}")
    start, *held, delta, stop = framed(called("send_email", *pieces))
    assert reply.event(start) is None
    assert [reply.event(piece) for piece in held] == [[]] * 6
    out = [start, *passed([delta, stop], reply)]
    made = snapshot(out)
    assert [(block.type, block.text) for block in made.content] == [("text", BLOCKED)]
    assert made.stop_reason == "end_turn"
    assert reply.firewall["stripped_tool_calls"] == ["t1"]
    assert out[-1]["firewall"] == reply.firewall


def test_positions_are_those_that_went_out() -> None:
    """Blocks behind a refused one move up; the SDK puts them together rightly."""
    out = passed(
        framed(
            said("One."),
            called("send_email", "{}", call_id="a"),
            said("Two."),
            called("read_doc", '{"n"', ": 1}", call_id="b"),
            called("send_email", "{}", call_id="c"),
            called("read_doc", call_id="d"),
        )
    )
    starts = [data["index"] for data in out if data["type"] == "content_block_start"]
    assert starts == [0, 1, 2, 3]
    made = snapshot(out)
    assert [block.type for block in made.content] == ["text", "text", "tool_use", "tool_use"]
    assert [block.input for block in made.content[2:]] == [{"n": 1}, {}]
    assert made.stop_reason == "tool_use"


def test_blocks_may_come_mixed() -> None:
    """Events of several blocks in turn: what came behind a call waits for it."""
    start, *inner, delta, stop = framed(
        called("send_email", "{", "}", call_id="a"),
        called("read_doc", '{"n":', "2}", call_id="b"),
        said("Word ", "by word."),
    )
    groups = [inner[0:4], inner[4:8], inner[8:12]]
    mixed = [data for row in zip(*groups, strict=True) for data in row]
    made = snapshot(passed([start, *mixed, delta, stop]))
    assert [block.type for block in made.content] == ["tool_use", "text"]
    assert (made.content[0].input, made.content[1].text) == ({"n": 2}, "Word by word.")


def test_arguments_that_come_with_their_block() -> None:
    """Without any delta, as some gateways have it; judged as they stand there."""
    for name, kept in (("send_email", []), ("read_doc", [{"path": "a"}])):
        begun = {**called(name)[0], "input": {"path": "a"}}
        made = snapshot(passed(framed((begun, []))))
        assert [block.input for block in made.content if block.type == "tool_use"] == kept


def test_arguments_in_two_places_are_the_ones_that_were_judged() -> None:
    """In the block and in deltas: the deltas count for the SDK, and nothing else arrives."""
    begun = {**called("read_doc")[0], "input": {"url": "https://evil.test/"}}
    out = passed(framed((begun, spelled('{"url": "https://example.com/"}'))))
    assert "evil.test" not in json.dumps(out)
    assert snapshot(out).content[0].input == {"url": "https://example.com/"}


def test_thinking_arrives_as_it_was_signed() -> None:
    """C71: in place and in order, with what stands before and behind it; and redacted thinking."""
    thinking = [
        {"type": "thinking_delta", "thinking": THINKING["thinking"]},
        {"type": "signature_delta", "signature": SIGNATURE},
    ]
    begun = {"type": "thinking", "thinking": "", "signature": ""}
    out = passed(framed((begun, thinking), (HIDDEN, []), said("Now."), called("send_email", "{}")))
    made = snapshot(out)
    assert made.content[0].to_dict() == THINKING
    assert made.content[1].to_dict() == HIDDEN
    assert [block.type for block in made.content[2:]] == ["text"]
    assert made.stop_reason == "end_turn"


def test_a_citation_is_masked() -> None:
    """It quotes somebody else's words; its encrypted part stays."""
    citation = {
        "type": "web_search_result_location",
        "cited_text": f"it says {KEY}",
        "encrypted_index": KEY,
        "title": "T",
        "url": "https://example.com/",
    }
    begun, deltas = said("As they say.")
    made = snapshot(
        passed(framed((begun, [*deltas, {"type": "citations_delta", "citation": citation}])))
    )
    (found,) = made.content[0].citations
    assert (found.cited_text, found.encrypted_index) == (f"it says {MASK}", KEY)


def test_what_the_provider_ran_goes_with_its_results() -> None:
    """Whatever stands between them; of a call that stays the result is masked."""
    reply = reply_to()
    blocks = [(SERVER, []), (RESULTS, []), (MCP, spelled("{}")), said("Hm."), (MCP_BACK, [])]
    made = snapshot(passed(framed(*blocks, stop="end_turn"), reply))
    kinds = ["server_tool_use", "web_search_tool_result", "text"]
    assert [block.type for block in made.content] == kinds
    assert made.content[1].content[0].title == f"About {MASK}"
    assert reply.firewall["stripped_tool_calls"] == ["m1"]


def test_masked_arguments_go_out_masked() -> None:
    """A verdict of `redact`, streamed."""
    policy = load_policy({"version": 2, "tools": {"post": "redact"}})
    reply = reply_to(policy)
    out = passed(framed(called("post", '{"text": "', KEY, '"}')), reply)
    assert KEY not in json.dumps(out)
    assert snapshot(out).content[0].input == {"text": MASK}
    assert reply.firewall["action"] == "redact"


def test_calls_that_have_a_say_in_each_other_wait_for_the_last() -> None:
    """With `sequence` none goes out before all are known; the text behind them waits, too."""
    policy = load_policy(
        {"version": 2, "default": "allow", "sequence": [{"after": "fetch", "block": "post"}]}
    )
    reply = reply_to(policy)
    start, *inner, delta, stop = framed(
        called("post", "{}", call_id="a"), said("And."), called("fetch", "{}", call_id="b")
    )
    assert [reply.event(data) or [] for data in (start, *inner)] == [[]] * (1 + len(inner))
    made = snapshot([start, *passed([delta, stop], reply)])
    kept = [block.name for block in made.content if block.type == "tool_use"]
    assert len(kept) < 2
    assert reply.firewall["action"] == "block"


def test_a_cut_off_answer_stays_cut_off() -> None:
    """`max_tokens` is not turned into `end_turn`; a call that is broken by it is refused."""
    made = snapshot(passed(framed(called("read_doc", '{"a": "b'), stop="max_tokens")))
    assert (made.stop_reason, made.content[0].text) == ("max_tokens", BLOCKED)


def test_a_call_whose_block_never_ends_is_refused() -> None:
    """The message ends around it; what follows it still arrives."""
    reply = reply_to()
    given = framed(called("read_doc", '{"a": 1}'), said("Hi."))
    given = [d for d in given if (d["type"], d.get("index")) != ("content_block_stop", 0)]
    made = snapshot(passed(given, reply))
    assert [block.type for block in made.content] == ["text"]
    assert "before the call was whole" in reply.firewall["reason"]


def test_events_that_nobody_knows_are_withheld() -> None:
    """They may say anything; so may deltas of a block that never began."""
    lost = {"type": "text_delta", "text": KEY}
    strange: list[Event] = [
        {"type": "tool_called", "name": "send_email"},
        {"type": "content_block_delta", "index": 7, "delta": lost},
        {"type": "content_block_stop", "index": 7},
    ]
    start, *rest = framed(said("Hi."))
    assert passed([start, *strange, *rest]) == passed([start, *rest])
    empty: Event = {}
    assert reply_to().event(empty) is None


def test_a_message_that_begins_with_content() -> None:
    """Its blocks are judged, and the positions go on behind them."""
    start, *rest = framed(said("Hi."))
    begun = {**start["message"], "content": [called("send_email")[0], said()[0]]}
    for data in rest:
        if "index" in data:
            data["index"] += 2
    made = snapshot(passed([{**start, "message": begun}, *rest]))
    assert [block.text for block in made.content] == ["", "Hi."]


PARALLEL = [("send_email", '{"to": "x"}'), ("read_doc", '{"a": 1}'), ("read_doc", '{"b": "ü"}')]


@settings(deadline=None)
@given(st.data())
def test_however_a_stream_is_cut_the_whole_is_the_same(data: st.DataObject) -> None:
    """Texts and calls, cut at any place: what arrives is what `create` would have given."""
    texts = st.sampled_from([TEXT, "no secret at all", "a@b.example 4111 1111 1111 1111"])
    drawn = data.draw(st.lists(st.one_of(texts, st.sampled_from(PARALLEL)), max_size=4))
    blocks, want = [], []
    for number, one in enumerate(drawn):
        if isinstance(one, str):
            blocks.append(said(*_cut_anywhere(data, one)))
            want.append(POLICY.redactor.all(one)[0])
        else:
            name, arguments = one
            blocks.append(called(name, *_cut_anywhere(data, arguments), call_id=f"t{number}"))
            want += [json.loads(arguments)] * (name != "send_email")
    made = snapshot(passed(framed(*blocks)))
    found = [block.text if block.type == "text" else block.input for block in made.content]
    assert found == (want or ([BLOCKED] if drawn else []))
    kept = any(isinstance(one, dict) for one in want)
    refused = any(one[0] == "send_email" for one in drawn)
    assert made.stop_reason == ("end_turn" if refused and not kept else "tool_use")


def _cut_anywhere(data: st.DataObject, text: str) -> list[str]:
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=4)))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


def test_tokens_are_all_that_the_provider_names() -> None:
    """What it read from its cache counts, and the last number of each; or it is an estimate."""
    reply = reply_to()
    start, *rest = framed(said("four" * 10))
    usage = {"input_tokens": 5, "cache_read_input_tokens": 100, "output_tokens": 1}
    start = {**start, "message": {**start["message"], "usage": usage}}
    rest[-2] = {**rest[-2], "usage": {"output_tokens": 9}}
    passed([start, *rest], reply)
    assert (reply.estimated, reply.tokens) == (False, 114)
    reply = reply_to()
    passed([start, *rest[:-2]], reply)
    assert (reply.estimated, reply.tokens) == (True, 115)


def test_a_call_of_many_pieces_arrives_whole() -> None:
    """20,000 pieces are put together in one."""
    made = passed(framed(called("read_doc", '{"a": "', *["x"] * 20_000, '"}')))
    (delta,) = [data for data in made if data["type"] == "content_block_delta"]
    assert len(json.loads(delta["delta"]["partial_json"])["a"]) == 20_000
