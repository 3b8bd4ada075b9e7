"""Each public callable of the real SDKs' clients is guarded, harmless, a copy, or refused (C13)."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import openai
import pytest

from edgeward import FirewallAnthropic, FirewallGoogleGenerativeAI, FirewallOpenAI
from edgeward.guards.clients._proxy import _PLAIN, Refused, UnguardedMethod, _akin

genai = pytest.importorskip("google.genai")

CLIENTS: dict[str, tuple[Callable[[], Any], Any]] = {
    "openai": (lambda: openai.OpenAI(api_key="k"), FirewallOpenAI),
    "openai, async": (lambda: openai.AsyncOpenAI(api_key="k"), FirewallOpenAI),
    "anthropic": (lambda: anthropic.Anthropic(api_key="k"), FirewallAnthropic),
    "anthropic, async": (lambda: anthropic.AsyncAnthropic(api_key="k"), FirewallAnthropic),
    "google-genai": (lambda: genai.Client(api_key="k"), FirewallGoogleGenerativeAI),
}
SKIPPED = {"with_raw_response", "with_streaming_response", "parent_ref", "sdk_configuration"}
"""Views of the same methods, and links back up."""

WRITTEN_BY_A_MODEL = re.compile(
    r"\b(?:Async)?(?:Beta|Raw|Parsed)*(?:ChatCompletion(?:Chunk)?|Completion|Response"
    r"|ResponseStreamEvent|Message|MessageStreamEvent|GenerateContentResponse|Interaction"
    r"|Transcription\w*|Translation\w*|Run|Thread|Conversation|MessageBatch\w*|Batch\w*|Chat"
    r"|AgentSession|Session|\w*Worker)\b"
)
"""Types that hold tool calls or what a model wrote, or that run such calls."""

GIVES_BYTES = re.compile(r"BinaryResponseContent|BinaryAPIResponse|\bbytes\b")
NOT_A_MODELS = re.compile(
    r"(?:aio\.)?(?:audio\.speech\.create|skills\.(?:versions\.)?content\.retrieve"
    r"|(?:beta\.)?(?:skills|organization\.plugins)\.versions\.download|videos\.download_content"
    r"|file_search_stores\.download_media)"
)
"""What gives a file that no model wrote: sound, pictures, what a user has uploaded."""


def methods(value: Any, path: str = "", depth: int = 4) -> Iterator[tuple[str, Any]]:
    """The public callables of a client and of the resources below it, by path."""
    for name in dir(value):
        if name.startswith("_") or name in SKIPPED:
            continue
        found, place = getattr(value, name), f"{path}.{name}" if path else name
        if isinstance(found, _PLAIN):
            continue
        if not inspect.isroutine(found) and _akin(found, value) and depth:
            yield from methods(found, place, depth - 1)
        elif callable(found):
            yield place, found


def reached(client: Any, path: str) -> Any:
    """What stands at a path of a client."""
    for name in path.split("."):
        client = getattr(client, name)
    return client


@pytest.fixture(scope="module", params=CLIENTS)
def surface(request: pytest.FixtureRequest) -> Any:
    """A wrapped client, and its callables by what they are."""
    make, door = CLIENTS[request.param]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an SDK says of some that they are new, or old
        raw = make()
        client = door(raw, {"version": 1})
        known = client._frame.surface
        found: dict[str, dict[str, Any]] = {}
        for path, method in methods(raw):
            here = reached(client, path)
            kind = (
                "refused"
                if isinstance(here, Refused)
                else "guarded"
                if path in known.guarded
                else "a copy"
                if path in known.copies
                else "harmless"
                if known.passes(path)
                else "passed unread"
            )
            found.setdefault(kind, {})[path] = method
        yield client, found


def test_nothing_is_passed_unread(surface: Any) -> None:
    """What is on no list is refused as soon as it is called, and all of the kinds are there."""
    client, found = surface
    assert "passed unread" not in found
    assert len(found["guarded"]) >= 6
    assert len(found["refused"]) > 50
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in found["refused"]:
            with pytest.raises(UnguardedMethod, match=re.escape(f'unguarded=["{path}"]')):
                reached(client, path)()


def test_what_is_harmless_returns_nothing_that_a_model_wrote(surface: Any) -> None:
    """By what the SDK says that it returns; what is guarded does."""
    _, found = surface
    for path, method in found["harmless"].items():
        returned = str(inspect.signature(method).return_annotation)
        assert WRITTEN_BY_A_MODEL.search(returned) is None, f"{path} -> {returned}"


def test_files_that_a_model_may_have_written_are_not_given_unread(surface: Any) -> None:
    """The content of kept files may be a batch's replies, or what a model's program wrote."""
    _, found = surface
    for path, method in found["harmless"].items():
        returned = str(inspect.signature(method).return_annotation)
        if GIVES_BYTES.search(returned) or path.endswith("retrieve_content"):
            assert NOT_A_MODELS.fullmatch(path), f"{path} -> {returned}"


def test_no_guard_stands_where_the_sdk_has_no_method(surface: Any) -> None:
    """A name that was misspelt would guard nothing."""
    client, found = surface
    missing = set(client._frame.surface.guarded) - set(found["guarded"])
    assert missing <= {"beta.responses.parse", "beta.responses.stream"}  # once they were there
