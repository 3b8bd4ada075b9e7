"""What the OpenAI door adds to a request, to a reply and to a streamed token, beside the SDK's own.

CPU time of this process, the least of several rounds: no network, no HTTP. Nothing here asserts a
time; run it with `pytest -m benchmark -s -n 0`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from edgeward import load_policy
from edgeward.guards.clients._wire import _Pipe, guarded_body
from edgeward.guards.clients.openai.client import OpenAIDoor

pytestmark = pytest.mark.benchmark

POLICY = load_policy(
    {
        "version": 1,
        "tool_denylist": ["send_email"],
        "egress_allowlist": ["example.com"],
        "arg_rules": [
            {"name": f"rule_{n}", "reason": "not wanted", "regex": rf"forbidden[-_ ]{n}\b"}
            for n in range(18)
        ],
    }
)
"""Twenty rules."""

PROSE = "The quick brown fox jumps over the lazy dog and reads the report again. "
FRAME = {"id": "chatcmpl-1", "created": 1, "model": "m"}
ROUNDS = 7


def least_us(run: Callable[[], object], times: int) -> float:
    """Microseconds of CPU that one run takes."""
    found = []
    for _ in range(ROUNDS):
        started = time.process_time()
        for _ in range(times):
            run()
        found.append((time.process_time() - started) / times * 1e6)
    return min(found)


def chunk(text: str) -> dict[str, Any]:
    """A chunk with a word."""
    choice = {"index": 0, "delta": {"content": text}, "logprobs": None, "finish_reason": None}
    return {**FRAME, "object": "chat.completion.chunk", "choices": [choice]}


def test_a_request_and_its_reply() -> None:
    """2 KB of prose, seen before and new each time; a reply with a call that is judged."""
    door = OpenAIDoor(POLICY, ())
    body = {"messages": [{"role": "user", "content": (PROSE * 28)[:2_000]}]}
    fresh = iter(range(10_000))

    def new() -> object:
        text = f"{next(fresh)} " + body["messages"][0]["content"]
        return door.opening("post", "/chat/completions", {"messages": [{"content": text}]})

    seen = least_us(lambda: door.opening("post", "/chat/completions", body), 200)
    function = {"name": "read", "arguments": json.dumps({"text": PROSE})}
    call = {"id": "c1", "type": "function", "function": function}
    message = {"role": "assistant", "content": PROSE * 4, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    data = {**FRAME, "object": "chat.completion", "choices": [choice]}
    raw = json.dumps(data).encode()

    def whole() -> object:
        opened = door.opening("post", "/chat/completions", body)
        assert opened is not None
        return guarded_body(raw, opened)

    with openai.OpenAI(api_key="k") as sdk:
        own = least_us(lambda: _read(sdk, data, ChatCompletion), 100)
    both = least_us(whole, 100)
    print(f"\nrequest seen before {seen:.0f} us, new {least_us(new, 50):.0f} us")
    print(f"reply {both - seen:.0f} us (the SDK reads it in {own:.0f} us)")


def test_a_streamed_token() -> None:
    """From bytes to bytes, at the beginning of a stream and far into it."""
    door = OpenAIDoor(POLICY, ())
    words = [f"{word} " for word in (PROSE * 200).split()]
    frames = [f"data: {json.dumps(chunk(word))}\n\n".encode() for word in words]
    costs = {}
    for length in (200, 2_000):
        found = []
        for _ in range(ROUNDS):
            opened = door.opening("post", "/chat/completions", {"stream": True})
            assert opened is not None
            pipe = _Pipe(opened)
            started = time.process_time()
            for frame in frames[:length]:
                pipe.feed(frame)
            found.append((time.process_time() - started) / length * 1e6)
        costs[length] = min(found)
    with openai.OpenAI(api_key="k") as sdk:
        own = least_us(lambda: _read(sdk, chunk("word "), ChatCompletionChunk), 100)
    each = ", ".join(f"{cost:.1f} us in {length}" for length, cost in costs.items())
    print(f"\ntoken {each} (the SDK reads one in {own:.1f} us)")


def _read(sdk: Any, data: dict[str, Any], kind: type[Any]) -> object:
    return sdk._process_response_data(data=data, cast_to=kind, response=None)
