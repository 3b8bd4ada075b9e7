"""A local model answers one at a time, never on the event loop, and stops when it is left."""

from __future__ import annotations

import asyncio
import threading

import pytest

from edgeward.profiles.llm import (
    LLMProviderError,
)
from edgeward.profiles.local_engine import LocalEngine
from tests.wire.ways import STREAMS

pytest.importorskip("xllamacpp", reason="the extra `local` is not installed", exc_type=ImportError)


async def test_the_event_loop_is_free_while_others_are_answered(made):
    """A call waits in line for the engine, and the loop goes on meanwhile."""
    model, gate = made(max_tokens=4), threading.Event()
    model.engine.submit(gate.wait)
    waiting = asyncio.create_task(model.ainvoke("hello"))
    for _ in range(20):
        await asyncio.sleep(0)
    assert not waiting.done()
    gate.set()
    assert (await waiting).text


async def test_calls_at_once_are_answered_one_after_the_other(made):
    """From many tasks and threads, each gets its own answer."""
    model = made(max_tokens=6)
    alone = {text: model.invoke(text).text for text in "abcd"}
    running: list[int] = []
    most: list[int] = []
    chat = LocalEngine.chat

    def noted(self, request, heard):
        running.append(1)
        most.append(len(running))
        try:
            chat(self, request, heard)
        finally:
            running.pop()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LocalEngine, "chat", noted)
        tasks = [model.ainvoke(text) for text in "abcd"]
        threads = [asyncio.to_thread(model.invoke, text) for text in "abcd"]
        answers = await asyncio.gather(*tasks, *threads)
    assert [answer.text for answer in answers] == [alone[text] for text in "abcdabcd"]
    assert max(most) == 1


async def test_a_call_that_is_cancelled_while_it_waits_never_begins(made):
    """It leaves the line."""
    model, gate = made(max_tokens=4), threading.Event()
    model.engine.submit(gate.wait)
    waiting = asyncio.create_task(model.ainvoke("hello"))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    gate.set()
    await asyncio.wrap_future(model.engine.submit(lambda: None))
    assert not model.engine.is_loaded


@STREAMS
def test_a_stream_that_is_left_stops_writing(made, way):
    """What nobody reads is not written on, and the next question is answered."""
    model = made(max_tokens=3000)
    if way == "stream":
        stream = model.stream("hello")
        next(stream)
        stream.close()
    else:

        async def left() -> None:
            pieces = model.astream("hello")
            await anext(pieces)
            await pieces.aclose()

        asyncio.run(left())
    assert model.invoke("hello", max_tokens=4).usage_metadata["output_tokens"] == 4


async def test_a_call_that_is_cancelled_while_it_is_answered_stops(made):
    """The engine is free again long before it would have been done."""
    model = made(max_tokens=3000)
    begun, left = threading.Event(), threading.Event()
    chat, pieces = LocalEngine.chat, []

    def noted(self, request, heard):
        def listening(piece):
            pieces.append(piece)
            begun.set()
            left.wait(60)  # however fast it writes
            return heard(piece)

        chat(self, request, listening)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LocalEngine, "chat", noted)
        task = asyncio.create_task(model.ainvoke("hello"))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        left.set()
        assert (await model.ainvoke("hello", max_tokens=4)).text
    assert len(pieces) < 20


def test_an_answer_that_takes_too_long_is_an_error(made):
    """With the status of a timeout, so that a fallback is asked."""
    with pytest.raises(LLMProviderError, match="no answer within") as caught:
        made(max_tokens=3000, timeout_s=1e-6).invoke("hello")
    assert caught.value.status == 408


def test_a_question_beyond_the_context_says_what_to_set(made):
    """Refused with its reason, not cut in silence."""
    with pytest.raises(LLMProviderError, match=r"llm\.local\.context_tokens") as caught:
        made(local={"context_tokens": 512}).invoke("word " * 2000)
    assert caught.value.status == 400
