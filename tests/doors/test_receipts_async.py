"""On an event loop receipts are written beside it, and still before anything goes out or runs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import anthropic
import httpx
import openai
import pytest
from google import genai
from google.genai import types
from langchain.agents import create_agent

from edgeward import (
    Firewall,
    FirewallAnthropic,
    FirewallGoogleGenerativeAI,
    FirewallMiddleware,
    FirewallOpenAI,
    Policy,
    PolicyViolationError,
    ReceiptLog,
    ScriptedModel,
    guard_tools,
)
from tests.wire.server import Call, Say, Wire

from ..fakes import Recorder, ask, turn
from .test_receipts import CALLS, Dead, logged


@pytest.fixture
def wire() -> Iterator[Wire]:
    """A provider on this machine."""
    with Wire() as running:
        yield running


class Threads:
    """A sink that notes in which threads it was written to."""

    def __init__(self) -> None:
        self.seen: set[int] = set()
        self.lines = 0

    def write(self, text: str) -> None:
        """Note it."""
        self.seen.add(threading.get_ident())
        self.lines += 1


async def by_async_openai(policy: Policy, wire: Wire) -> list[str]:
    """The calls that came out, of a whole reply and of a stream."""
    said = Say(calls=[Call("read", "{}", "c1"), Call("rm", "{}", "c3")])
    wire.script(said, said)
    ask: Any = {"model": "m", "messages": [{"role": "user", "content": "Go."}]}
    async with openai.DefaultAsyncHttpxClient(verify=False) as http:
        raw = openai.AsyncOpenAI(
            api_key="k", base_url=wire.openai_url, max_retries=0, http_client=http
        )
        client = FirewallOpenAI(raw, policy)
        made = await client.chat.completions.create(**ask)
        names = [call.function.name for call in made.choices[0].message.tool_calls or ()]
        async for chunk in await client.chat.completions.create(**ask, stream=True):
            for choice in chunk.choices:
                names += [call.function.name for call in choice.delta.tool_calls or ()]
    return names


async def by_async_responses(policy: Policy, wire: Wire) -> list[str]:
    """The same, by OpenAI's other API."""
    said = Say(calls=[Call("read", "{}", "c1"), Call("rm", "{}", "c3")])
    wire.script(said, said)
    async with openai.DefaultAsyncHttpxClient(verify=False) as http:
        raw = openai.AsyncOpenAI(
            api_key="k", base_url=wire.openai_url, max_retries=0, http_client=http
        )
        client = FirewallOpenAI(raw, policy)
        made = await client.responses.create(model="m", input="Go.")
        names = [item.name for item in made.output if item.type == "function_call"]
        async for event in await client.responses.create(model="m", input="Go.", stream=True):
            if event.type == "response.completed":
                found = event.response.output
                names += [item.name for item in found if item.type == "function_call"]
    return names


async def by_async_anthropic(policy: Policy, wire: Wire) -> list[str]:
    """The same, by Anthropic's SDK."""
    said = Say(calls=[Call("read", "{}", "c1"), Call("rm", "{}", "c3")])
    wire.script(said, said)
    ask: Any = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "Go."}]}
    async with anthropic.DefaultAsyncHttpxClient(verify=False) as http:
        raw = anthropic.AsyncAnthropic(
            api_key="k", base_url=wire.url, max_retries=0, http_client=http
        )
        client = FirewallAnthropic(raw, policy)
        made = await client.messages.create(**ask)
        names = [block.name for block in made.content if block.type == "tool_use"]
        async with client.messages.stream(**ask) as stream:
            final = await stream.get_final_message()
        names += [block.name for block in final.content if block.type == "tool_use"]
    return names


async def by_async_gemini(policy: Policy, wire: Wire) -> list[str]:
    """The same, by Google's."""
    said = Say(calls=[Call("read", "{}", "c1"), Call("rm", "{}", "c3")])
    wire.script(said, said)
    async with httpx.AsyncClient(verify=False) as http:
        options = types.HttpOptions(base_url=wire.url, httpx_async_client=http, timeout=20_000)
        raw = genai.Client(api_key="k", http_options=options)
        models = FirewallGoogleGenerativeAI(raw, policy).aio.models
        made = await models.generate_content(model="m", contents="Go.")
        found = [made]
        async for piece in await models.generate_content_stream(model="m", contents="Go."):
            found.append(piece)
    parts = [p for one in found for c in one.candidates or () for p in c.content.parts or ()]
    return [part.function_call.name for part in parts if part.function_call]


async def by_async_tools(policy: Policy, wire: Wire) -> list[str]:
    """The tools that ran: guarded tools, a guarded function, an agent's with the middleware."""
    ran = Recorder()
    read, rm = guard_tools([ran.tool("read"), ran.tool("rm")], policy)
    await read.ainvoke({"what": "x"})
    with suppress(PolicyViolationError):
        await rm.ainvoke({"what": "x"})

    async def body(what: str) -> str:
        return ran.note("read", what=what)

    await Firewall(policy).guard(body, name="read")("x")
    agent: Any = create_agent(
        ScriptedModel(turns=[turn(CALLS[0], CALLS[2]), "done"]),
        tools=[ran.tool("read"), ran.tool("rm")],
        middleware=[FirewallMiddleware(policy)],
    )
    await agent.ainvoke(ask())
    return ran.names()


ASYNC = [by_async_openai, by_async_responses, by_async_anthropic, by_async_gemini, by_async_tools]


@pytest.mark.parametrize("door", ASYNC, ids=lambda door: door.__name__)
async def test_no_receipt_is_written_in_the_event_loop(
    tmp_path: Path, wire: Wire, door: Any
) -> None:
    """A slow disk makes nobody wait but whose call it is, which goes out once it is recorded."""
    sink = Threads()
    log = ReceiptLog(sink, key=tmp_path / "k", algorithm="hmac")
    names = await door(logged(log), wire)
    assert set(names) == {"read"}
    assert len(names) >= 2
    assert sink.lines >= 4
    assert threading.get_ident() not in sink.seen


@pytest.mark.parametrize("door", ASYNC[:4], ids=lambda door: door.__name__)
async def test_what_could_not_be_recorded_does_not_go_out(
    tmp_path: Path, wire: Wire, door: Any
) -> None:
    """Nor where it would have been written in a thread."""
    log = ReceiptLog(Dead(), key=tmp_path / "k", algorithm="hmac")
    assert await door(logged(log), wire) == []


class Slow:
    """A sink that takes a line once it may."""

    def __init__(self) -> None:
        self.asked, self.may, self.lines = threading.Event(), threading.Event(), 0

    def write(self, text: str) -> None:
        """Wait, and take it."""
        self.asked.set()
        assert self.may.wait(10)
        self.lines += 1


async def test_nothing_goes_on_while_a_receipt_is_written(tmp_path: Path) -> None:
    """However often the call is cancelled meanwhile, as a cancel scope does all the time."""
    sink = Slow()
    policy = logged(ReceiptLog(sink, key=tmp_path / "k", algorithm="hmac"))
    ran = Recorder()

    async def read(what: str) -> str:
        return ran.note("read", what=what)

    call = asyncio.ensure_future(Firewall(policy).guard(read)("x"))
    assert await asyncio.to_thread(sink.asked.wait, 10)
    for _ in range(3):
        call.cancel()
        await asyncio.sleep(0.01)
    assert not call.done()
    sink.may.set()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert sink.lines == 1
    assert ran.runs == []
