"""`provider: local`: a model file in this process, asked in every way."""

from __future__ import annotations

import asyncio

import pytest

from tests.wire.ways import STREAMS, WAYS, added, ask

pytest.importorskip("xllamacpp", reason="the extra `local` is not installed", exc_type=ImportError)


@WAYS
def test_each_way_to_ask_gives_the_same_answer(made, way):
    """Whole and streamed, sync and async, with token counts."""
    expected = made(max_tokens=12).invoke("hello")
    answer = ask(made(max_tokens=12), "hello", way)
    assert answer.text == expected.text
    assert answer.text
    assert answer.usage_metadata["total_tokens"] == expected.usage_metadata["total_tokens"]
    assert answer.usage_metadata["output_tokens"] == 12
    assert answer.response_metadata["finish_reason"] == "length"


@STREAMS
def test_text_is_streamed_in_pieces(made, way):
    """As it is written, not in one piece at the end."""
    model = made(max_tokens=12)
    if way == "stream":
        chunks = list(model.stream("hello"))
    else:

        async def collected():
            return [chunk async for chunk in model.astream("hello")]

        chunks = asyncio.run(collected())
    assert len([chunk for chunk in chunks if chunk.text]) > 3
    assert added(chunks).text == made(max_tokens=12).invoke("hello").text


def test_nothing_is_loaded_before_the_first_question(made):
    """Building an agent costs no memory."""
    model = made()
    assert not model.engine.is_loaded
    model.invoke("hello")
    assert model.engine.is_loaded
