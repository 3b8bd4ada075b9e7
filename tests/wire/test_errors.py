"""What is no answer is a typed error: a status, a broken connection, a page, a cut stream."""

from __future__ import annotations

import pytest

from edgeward.profiles.llm import LLMProviderError

from .server import Drop, Fail, Raw, Say
from .ways import BOTH, KEY, WAYS, ask, model_for


@BOTH
@WAYS
@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
def test_D037_an_error_keeps_its_status_and_no_key(wire, provider, way, status):
    """The typed error has the status, the cause, and no key anywhere, traceback included."""
    import traceback

    wire.script(Fail(status, f"Incorrect API key provided: {KEY}"))
    with pytest.raises(LLMProviderError) as caught:
        ask(model_for(wire, provider), "hi", way)
    assert caught.value.status == status
    assert caught.value.provider == provider
    assert caught.value.__cause__ is not None
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert KEY not in shown


@BOTH
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_a_reset_connection_is_a_provider_error(wire, provider, way):
    """No answer at all has no status, and is said so, with the server that gave none."""
    wire.script(Drop())
    with pytest.raises(LLMProviderError) as caught:
        ask(model_for(wire, provider), "hi", way)
    assert caught.value.status is None
    assert str(caught.value).endswith(f"({wire.url})")


@BOTH
@pytest.mark.parametrize("way", ["stream", "astream"])
@pytest.mark.parametrize("reply", [Say("Good day to you", cut_after=4), Say("x", ends_early=True)])
def test_a_cut_stream_is_an_error_and_no_answer(wire, provider, way, reply):
    """Cut in the middle, or ended politely but too early: never taken for a whole answer."""
    wire.script(reply)
    with pytest.raises(LLMProviderError):
        ask(model_for(wire, provider), "hi", way)


@pytest.mark.parametrize(
    "body",
    [
        {"choices": []},
        {"choices": None},
        {},
        {"choices": [{"index": 0, "message": None, "finish_reason": "stop"}]},
        {"error": {"message": "overloaded"}, "choices": []},
        "not json at all",
    ],
)
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_an_answer_without_content_is_a_provider_error(wire, body, way):
    """Empty choices and the like are told as what they are, not as an IndexError."""
    wire.script(Raw(body))
    with pytest.raises(LLMProviderError):
        ask(model_for(wire, "vllm"), "hi", way)


def test_a_page_in_place_of_an_answer_is_a_provider_error(wire):
    """A proxy's HTML with status 200."""
    wire.script(Raw("<html>sign in</html>", "text/html"))
    with pytest.raises(LLMProviderError):
        model_for(wire).invoke("hi")
