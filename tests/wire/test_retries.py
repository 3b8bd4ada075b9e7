"""What passes is tried again, as often and as long as is sensible."""

from __future__ import annotations

from email.utils import formatdate

import pytest

from edgeward.profiles.llm import LLMProviderError

from .server import Fail, Late, Say
from .ways import BOTH, ask, model_for

SOON = {"retry-after-ms": "1", "retry-after": "0"}


@BOTH
@pytest.mark.parametrize("way", ["invoke", "astream"])
@pytest.mark.parametrize("status", [408, 429, 500, 503, 529])
def test_what_passes_is_tried_again(wire, provider, way, status):
    """Busy, overloaded and broken servers are asked again, streamed and not."""
    wire.script(Fail(status, headers=SOON), Say("there"))
    assert ask(model_for(wire, provider, max_retries=1), "hi", way).text == "there"


@BOTH
def test_errors_that_pass_are_tried_again(wire, provider):
    """429 and 500 are retried with the package's back-off, 400 is not."""
    wire.script(Fail(429, headers=SOON), Fail(500, headers=SOON), Say("there"))
    assert model_for(wire, provider, max_retries=2).invoke("hi").text == "there"
    assert len(wire.requests) == 3
    wire.script(Fail(400), Say("never"))
    with pytest.raises(LLMProviderError):
        model_for(wire, provider, max_retries=2).invoke("hi")


@BOTH
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
def test_a_server_that_does_not_answer_in_time_is_asked_again(wire, provider, way):
    """And is an error where it keeps silent."""
    wire.script(Late(), *[Say("there")] * 9)
    # More often than once, for on a busy machine what is at hand may come late, too.
    model = model_for(wire, provider, max_retries=9, timeout_s=0.3)
    assert ask(model, "hi", way).text == "there"
    assert len(wire.requests) > 1
    wire.script(Late())
    with pytest.raises(LLMProviderError) as caught:
        ask(model_for(wire, provider, timeout_s=0.3), "hi", way)
    assert caught.value.status is None


@BOTH
@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
@pytest.mark.parametrize("wait", ["86400", "date", "nan", "1e400"])
def test_a_wait_of_hours_is_not_waited(wire, provider, way, wait):
    """Retry-After is obeyed up to two minutes; beyond that the refusal is the answer."""
    far = formatdate(4_000_000_000, usegmt=True) if wait == "date" else wait
    wire.script(Fail(429, headers={"retry-after": far}), Say("never"))
    with pytest.raises(LLMProviderError) as caught:
        ask(model_for(wire, provider, max_retries=2), "hi", way)
    assert caught.value.status == 429
    assert len(wire.requests) == 1


@BOTH
def test_retries_are_as_many_as_the_profile_says(wire, provider):
    """No more, and then the refusal with its status."""
    wire.script(*[Fail(503, headers=SOON)] * 9)
    with pytest.raises(LLMProviderError) as caught:
        model_for(wire, provider, max_retries=2).invoke("hi")
    assert (caught.value.status, len(wire.requests)) == (503, 3)
