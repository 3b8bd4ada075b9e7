"""What stands beside the text of a reply does not go around the guard: logs of tokens, citations,
fields and events that nobody knows yet."""

from __future__ import annotations

import json
from typing import Any

import pytest

from edgeward import load_policy
from edgeward.guards.clients.anthropic.client import AnthropicDoor
from edgeward.guards.clients.openai.client import OpenAIDoor

KEY = "sk-abcdefghijklmnopqrstuvwxyz123456"
POLICY = load_policy({"version": 2, "default": "allow"})
OPENAI, ANTHROPIC = OpenAIDoor(POLICY, ()), AnthropicDoor(POLICY)


def whole(door: Any, url: str, data: dict[str, Any]) -> dict[str, Any]:
    """A reply, as it goes out."""
    return door.opening("post", url, {"messages": [], "input": "x"}).whole(data)


def streamed(door: Any, url: str, *events: dict[str, Any]) -> list[dict[str, Any]]:
    """The events of a reply, as they go out."""
    opened = door.opening("post", url, {"messages": [], "input": "x", "stream": True})
    out: list[dict[str, Any]] = []
    for event in events:
        made = opened.event(event)
        out += [event] if made is None else made
    return out + opened.end(finished=True)


def tokens(text: str) -> list[dict[str, Any]]:
    """A log of tokens that spells a text."""
    return [
        {"token": char, "logprob": 0, "bytes": [ord(char)], "top_logprobs": []} for char in text
    ]


def spelled(logged: Any) -> str:
    """What a log spells."""
    return "".join(token["token"] for token in logged or ())


MESSAGES: dict[str, dict[str, Any]] = {
    "citation": {"annotations": [{"type": "url_citation", "url_citation": {"title": KEY}}]},
    "next year": {"thoughts": KEY},
    "parsed": {"parsed": {"a": [KEY]}},
    "ran there": {"executed_tools": [{"output": KEY}]},
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_chat_completions_other_fields(name: str) -> None:
    """Of a message, of a delta, beside the choices; what is clean stays as it is."""
    more = MESSAGES[name]
    frame: dict[str, Any] = {"object": "chat.completion", "citations": [KEY], "note": "fine"}
    message = {"role": "assistant", "content": "x", **more}
    reply = whole(
        OPENAI, "/chat/completions", {**frame, "choices": [{"index": 0, "message": message}]}
    )
    chunk = {**frame, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}
    events = streamed(OPENAI, "/chat/completions", chunk, {**frame, "choices": []})
    assert KEY not in json.dumps([reply, events])
    assert reply["note"] == "fine"
    assert reply["firewall"]["action"] == "redact"


def test_a_text_of_a_field_that_nobody_knows_flows_as_others_do() -> None:
    """Cut anywhere, it is masked as a whole."""
    chunks = [{"choices": [{"index": 0, "delta": {"thoughts": char}}]} for char in f"a {KEY} b"]
    events = streamed(OPENAI, "/chat/completions", *chunks)
    said = "".join(e["choices"][0]["delta"].get("thoughts", "") for e in events)
    assert said == "a [REDACTED:openai_key] b"


@pytest.mark.parametrize("field", ["content", "refusal"])
def test_a_log_of_tokens_tells_no_more_than_its_text(field: str) -> None:
    """Whole and in pieces; also where it comes without the text that it spells."""
    clean = {"index": 0, "logprobs": {field: tokens("fine")}}
    for text, log, left in (("fine", "fine", "fine"), ("fine", KEY, ""), (KEY, KEY, "")):
        choice = {**clean, "message": {field: text}, "logprobs": {field: tokens(log)}}
        made = whole(OPENAI, "/chat/completions", {"choices": [choice]})["choices"][0]
        assert spelled((made["logprobs"] or {}).get(field)) == left
    for delta in ({}, {field: ""}, {field: "word "}):
        chunks = [
            {"choices": [{"index": 0, "delta": delta, "logprobs": {field: tokens(char)}}]}
            for char in KEY
        ]
        out = streamed(OPENAI, "/chat/completions", *chunks)
        logs = [c["logprobs"] or {} for e in out for c in e["choices"] if "logprobs" in c]
        assert "".join(spelled(log.get(field)) for log in logs) == ""


def test_what_stands_beside_a_response() -> None:
    """Annotations, parts and items of unknown kinds, logs: whole and streamed."""
    cited = {"type": "url_citation", "title": KEY, "url": "https://a.example"}
    parts: list[Any] = [
        {"type": "output_text", "text": "x", "annotations": [cited], "logprobs": []},
        {"type": "next_year", "said": KEY},
        {"type": "output_text", "text": "x", "logprobs": tokens(KEY)},
        KEY,
    ]
    item = {"type": "message", "id": "m", "role": "assistant", "content": parts, "more": KEY}
    made = whole(OPENAI, "/responses", {"id": "r", "output": [item]})
    events = streamed(
        OPENAI,
        "/responses",
        {"type": "response.created", "response": {"id": "r", "output": [item]}},
        {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}},
        {"type": "response.output_text.annotation.added", "output_index": 0, "annotation": cited},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.output_item.added", "output_index": 1, "item": KEY},
        {"type": "response.output_item.done", "output_index": 1, "item": KEY},
        {"type": "response.completed", "response": {"id": "r", "output": [item, KEY]}},
    )
    assert KEY not in json.dumps([made, events])


def test_pieces_of_a_text_of_a_kind_that_is_not_known_are_withheld(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Masked one by one they would add up; that is said once."""
    kind = "response.next_year.delta"
    pieces = [{"type": kind, "output_index": 0, "delta": char} for char in KEY]
    assert streamed(OPENAI, "/responses", *pieces) == []
    start = {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "text", "text": ""},
    }
    deltas = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "next_delta", "text": char}}
        for char in KEY
    ]
    assert streamed(ANTHROPIC, "/v1/messages", start, *deltas) == [start]
    assert [record.levelname for record in caplog.records] == ["WARNING"] * 2


def test_what_stands_beside_a_message_of_anthropics() -> None:
    """Other fields of a text, whole and streamed; what a delta says beside its text is left out."""
    block = {"type": "text", "text": "x", "more": KEY, "citations": [{"cited_text": KEY}]}
    made = whole(ANTHROPIC, "/v1/messages", {"content": [block]})
    said = {"type": "text_delta", "text": "word ", "more": KEY}
    events = streamed(
        ANTHROPIC,
        "/v1/messages",
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": said, "more": KEY},
        {"type": "content_block_stop", "index": 0},
    )
    assert KEY not in json.dumps([made, events])
    pieces = [event["delta"]["text"] for event in events if "delta" in event]
    assert "".join(pieces) == "xword "
