"""What a door adds to a request and to a streamed token, beside agent-defender where that works.

CPU time of this process, the least of several rounds; the network is a function that answers at
once. Nothing here asserts a time; run it with `pytest -m benchmark -s -n 0`. A vendor's door adds a
test of its own. `EDGEWARD_BENCH=short` takes fewer rounds.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from edgeward import load_policy
from edgeward.guards.clients._wire import Reply, _Pipe, guarded_body
from edgeward.guards.clients.openai.client import OpenAIDoor
from edgeward.guards.holdback import Holdback
from edgeward.guards.redact import Redactor

pytestmark = pytest.mark.benchmark

POLICY: dict[str, Any] = {
    "version": 1,
    "tool_allowlist": ["read_doc", "search"],
    "tool_denylist": ["send_email"],
    "egress_allowlist": ["example.com"],
    "arg_rules": [
        {"name": f"rule_{n}", "reason": "not wanted", "regex": rf"forbidden[-_ ]{n}\b"}
        for n in range(17)
    ],
}
"""Twenty rules."""

PROSE = "The quick brown fox jumps over the lazy dog, as it did before, and nobody minded it. "
ARGUMENTS = json.dumps({"path": "docs/notes.md", "query": PROSE[:60]})
MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": PROSE * 4},
    {"role": "user", "content": PROSE * 4},
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": "c0", "type": "function", "function": {"name": "search", "arguments": ARGUMENTS}}
        ],
    },
    {"role": "tool", "tool_call_id": "c0", "content": PROSE * 14},
]
SIZE = sum(len(m["content"]) for m in MESSAGES) + len(ARGUMENTS)
ROUNDS = 5 if os.environ.get("EDGEWARD_BENCH") == "short" else 25

CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "read_doc", "arguments": ARGUMENTS},
}
ANSWER: dict[str, Any] = {
    "id": "r1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {"role": "assistant", "content": PROSE, "tool_calls": [CALL]},
        }
    ],
    "usage": {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18},
}
"""A completion with a text and a call that is judged."""


def cost_us(
    run: Callable[[], object],
    *,
    times: int = 50,
    rounds: int = ROUNDS,
    before: Callable[[], object] = lambda: None,
) -> float:
    """Microseconds of CPU that one run takes; what comes `before` a round is not counted."""
    before()
    run()
    found = []
    for _ in range(rounds):
        before()
        started = time.process_time()
        for _ in range(times):
            run()
        found.append((time.process_time() - started) / times * 1e6)
    return min(found)


def both_us(first: Callable[[], object], second: Callable[[], object]) -> tuple[float, float]:
    """The same of two things, in turns: a machine that others use as well is not always as fast."""
    found = [
        (cost_us(first, times=20, rounds=1), cost_us(second, times=20, rounds=1))
        for _ in range(2 * ROUNDS)
    ]
    return min(us for us, _ in found), min(us for _, us in found)


class Talk:
    """A program's requests to the door of OpenAI's clients, from messages to bytes."""

    def __init__(self) -> None:
        self.door = OpenAIDoor(load_policy(POLICY), ())
        self.answer = json.dumps(ANSWER).encode()
        self.messages = list(MESSAGES)
        self._number = 0

    def request(self) -> Reply:
        """The messages as they are: masked, and read for what the rules may know of the past."""
        body = {"model": "m", "messages": self.messages}
        opened = self.door.opening("post", "/chat/completions", body)
        assert opened is not None
        return opened

    def grown(self) -> Reply:
        """With one short message more."""
        self._number += 1
        self.messages.append({"role": "user", "content": f"And now? This is {self._number}."})
        return self.request()

    def new(self) -> Reply:
        """With every text new."""
        self._number += 1
        self.messages = [{**m, "content": f"{m['content']} {self._number}"} for m in MESSAGES]
        return self.request()

    def answered(self) -> bytes:
        """A request that was seen before, and its reply."""
        return guarded_body(self.answer, self.request())


def test_a_request() -> None:
    """2 KB of conversation, 20 rules, one call in the answer: what the door does, by parts."""
    talk = Talk()
    seen = cost_us(talk.request)
    found = {
        "a request whose messages were seen before": seen,
        "the same with one message more": cost_us(
            talk.grown, times=1, rounds=10 * ROUNDS, before=talk.new
        ),
        "all of it new": cost_us(talk.new),
        "its reply: JSON, a text, a call that is judged": cost_us(talk.answered) - seen,
        "  of it JSON": cost_us(lambda: json.dumps(json.loads(talk.answer)).encode()),
    }
    print(f"\nrequest of {SIZE} characters, 20 rules, CPU us each:")
    for name, us in found.items():
        print(f"  {name:48}{us:8.1f}")


def test_a_request_to_openai() -> None:
    """The same through the real SDK, with and without the door."""
    httpx = pytest.importorskip("httpx")
    openai = pytest.importorskip("openai")
    from edgeward.clients import FirewallOpenAI

    answer = json.dumps(ANSWER).encode()
    transport = httpx.MockTransport(
        lambda request: httpx.Response(
            200, content=answer, headers={"content-type": "application/json"}
        )
    )

    def made() -> Any:
        http = httpx.Client(transport=transport)
        return openai.OpenAI(api_key="k", base_url="http://here/v1", http_client=http)

    plain, guarded = made(), FirewallOpenAI(made(), {**POLICY, "token_budget_per_session": 10**9})

    def asked(client: Any) -> Callable[[], object]:
        return lambda: client.chat.completions.create(model="m", messages=MESSAGES)

    without, with_door = both_us(asked(plain), asked(guarded))
    print(f"\nopenai SDK {without:.1f} us, guarded {with_door:.1f} us: + {with_door - without:.1f}")


ASKED: dict[str, Any] = {
    "model": "m",
    "max_tokens": 99,
    "system": PROSE * 4,
    "messages": [
        {"role": "user", "content": PROSE * 4},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "t0", "name": "search", "input": json.loads(ARGUMENTS)}
            ],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t0", "content": PROSE * 14}],
        },
    ],
}
"""The same conversation, as Anthropic's API has it."""


def test_a_request_to_anthropic() -> None:
    """The same through Anthropic's SDK, with and without the door."""
    httpx2 = pytest.importorskip("httpx2")
    anthropic = pytest.importorskip("anthropic")
    from edgeward.clients import FirewallAnthropic

    call = {"type": "tool_use", "id": "t1", "name": "read_doc", "input": json.loads(ARGUMENTS)}
    body = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": PROSE}, call],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 9, "output_tokens": 9},
    }
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, json=body))

    def made() -> Any:
        http = httpx2.Client(transport=transport)
        return anthropic.Anthropic(api_key="k", base_url="http://here", http_client=http)

    unlimited = {**POLICY, "token_budget_per_session": 10**9}
    plain, guarded = made(), FirewallAnthropic(made(), unlimited)

    def asked(client: Any) -> Callable[[], object]:
        return lambda: client.messages.create(**ASKED)

    without, with_door = both_us(asked(plain), asked(guarded))
    print(f"\nanthropic SDK {without:.1f} us, guarded {with_door:.1f}: + {with_door - without:.1f}")


def test_a_token_streamed_from_openai() -> None:
    """The same for OpenAI's events, a word each."""
    openai = pytest.importorskip("openai")
    from openai.types.chat import ChatCompletionChunk

    door = OpenAIDoor(load_policy(POLICY), ())

    def token(text: str) -> dict[str, Any]:
        delta = {"content": text}
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
        made = {"id": "r1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        return {**made, "choices": [choice]}

    found = {}
    for length in (1_000, 10_000):
        words = [f"{word} " for word in (PROSE * length).split(None, length)[:length]]
        frames = [f"data: {json.dumps(token(word))}\n\n".encode() for word in words]

        def streamed(frames: list[bytes] = frames) -> None:
            opened = door.opening("post", "/chat/completions", {"stream": True})
            assert opened is not None
            pipe = _Pipe(opened)
            for frame in frames:
                pipe.feed(frame)

        found[length] = cost_us(streamed, times=1, rounds=7) / length
    with openai.OpenAI(api_key="k") as sdk:
        data, kind = token("word "), ChatCompletionChunk
        own = cost_us(lambda: sdk._process_response_data(data=data, cast_to=kind, response=None))
    each = ", ".join(f"{us:.2f} us of {n}" for n, us in found.items())
    print(f"\nopenai token: {each}; the SDK itself reads one in {own:.1f} us")


def test_a_token_streamed_from_anthropic() -> None:
    """From the bytes of an event to those that go out, beside what the SDK takes to read one."""
    anthropic = pytest.importorskip("anthropic")
    from edgeward.guards.clients.anthropic.client import AnthropicDoor

    door = AnthropicDoor(load_policy(POLICY))

    def framed(data: dict[str, Any]) -> bytes:
        return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()

    def token(text: str) -> dict[str, Any]:
        delta = {"type": "text_delta", "text": text}
        return {"type": "content_block_delta", "index": 0, "delta": delta}

    block = {"type": "text", "text": ""}
    begun = {"type": "content_block_start", "index": 0, "content_block": block}
    found = {}
    for length in (1_000, 10_000):
        whole = (PROSE * (4 * length // len(PROSE) + 1))[: 4 * length]
        frames = [framed(token(whole[at : at + 4])) for at in range(0, len(whole), 4)]

        def streamed(frames: list[bytes] = frames) -> None:
            pipe = _Pipe(door.opening("post", "/v1/messages", {**ASKED, "stream": True}))
            pipe.feed(framed(begun))
            for frame in frames:
                pipe.feed(frame)

        found[length] = cost_us(streamed, times=1, rounds=7) / length
    kind = anthropic.types.RawMessageStreamEvent
    with anthropic.Anthropic(api_key="k") as sdk:
        data = token("word")
        own = cost_us(lambda: sdk._process_response_data(data=data, cast_to=kind, response=None))
    each = ", ".join(f"{us:.2f} us of {n}" for n, us in found.items())
    print(f"\nanthropic token: {each}; the SDK itself reads one in {own:.1f} us")


def test_a_request_to_gemini() -> None:
    """The same through Google's SDK."""
    httpx = pytest.importorskip("httpx")
    genai = pytest.importorskip("google.genai")
    from edgeward.clients import FirewallGoogleGenerativeAI

    arguments = json.loads(ARGUMENTS)
    call = {"functionCall": {"name": "read_doc", "args": arguments}}
    content = {"role": "model", "parts": [{"text": PROSE}, call]}
    body = {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"totalTokenCount": 18},
    }
    transport = httpx.MockTransport(lambda request: httpx.Response(200, json=body))
    answered = {"name": "search", "response": {"result": PROSE * 14}}
    contents = [
        {"role": "user", "parts": [{"text": PROSE * 4}]},
        {"role": "model", "parts": [{"function_call": {"name": "search", "args": arguments}}]},
        {"role": "user", "parts": [{"function_response": answered}]},
    ]

    def made() -> Any:
        options = genai.types.HttpOptions(httpx_client=httpx.Client(transport=transport))
        return genai.Client(api_key="k", http_options=options)

    policy = {**POLICY, "token_budget_per_session": 10**9}
    plain, guarded = made(), FirewallGoogleGenerativeAI(made(), policy)

    def asked(client: Any) -> Callable[[], object]:
        config = {"system_instruction": PROSE * 4}
        return lambda: client.models.generate_content(model="m", contents=contents, config=config)

    without, with_door = both_us(asked(plain), asked(guarded))
    print(
        f"\ngoogle-genai {without:.1f} us, guarded {with_door:.1f} us: + {with_door - without:.1f}"
    )


def test_a_request_with_agent_defender(tmp_path: Path) -> None:
    """The same on objects that are no SDK's: with those it fails."""
    defender = pytest.importorskip("agent_defender")
    import yaml

    path = tmp_path / "policy.yaml"
    path.write_text(yaml.safe_dump(POLICY), encoding="utf-8")

    def create(**request: Any) -> Any:
        function = SimpleNamespace(name="read_doc", arguments=ARGUMENTS)
        call = SimpleNamespace(id="c1", type="function", function=function)
        message = SimpleNamespace(content=PROSE, tool_calls=[call])
        return SimpleNamespace(choices=[SimpleNamespace(message=message)], model_extra={})

    completions = SimpleNamespace(create=create)
    client = defender.FirewallOpenAI(
        SimpleNamespace(chat=SimpleNamespace(completions=completions)), str(path)
    )

    def asked() -> None:
        client.chat.completions.create(model="m", messages=[dict(m) for m in MESSAGES])

    print(f"\nagent-defender 1.0.1, a fake's request {cost_us(asked, times=20):8.1f} us")


@pytest.mark.parametrize("kind", ["prose", "code", "Chinese"])
def test_a_streamed_token(kind: str) -> None:
    """Four characters each; a stream ten times as long costs the same a token."""
    text = {
        "prose": PROSE,
        "code": "def total(values: list[int]) -> int:\n    return sum(v * 2 for v in values)\n",
        "Chinese": "安全策略引擎会检查每一个工具调用，在它运行之前做出决定。内容可能不可信。",
    }[kind]
    redactor = Redactor()
    found = {}
    for length in (1_000, 10_000):
        whole = (text * (4 * length // len(text) + 1))[: 4 * length]
        tokens = [whole[at : at + 4] for at in range(0, len(whole), 4)]

        def streamed(tokens: list[str] = tokens) -> None:
            held = Holdback(redactor)
            for token in tokens:
                held.feed(token)
            held.close()

        found[length] = cost_us(streamed, times=1, rounds=7) / length
    print(f"\na token of {kind}: " + ", ".join(f"{us:.2f} us of {n}" for n, us in found.items()))


def test_this_machine() -> None:
    """What a million turns of an empty loop take here, to set the figures beside."""

    def loop() -> None:
        for _ in range(1_000_000):
            pass

    print(f"\na million empty turns: {cost_us(loop, times=1) / 1000:.1f} ms")
