"""The doors of SDK clients: each wraps a client, and guards what it returns and what it sends.

They can be imported where no SDK is installed; the client that is wrapped brings its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from .extras import MissingExtra
from .guards.clients.anthropic.client import GuardedAnthropic
from .guards.clients.gemini.client import GuardedGemini
from .guards.clients.openai.client import GuardedOpenAI
from .guards.clients.openai.providers import OPENAI_COMPATIBLE_BASE_URLS, base_url_of
from .guards.limits import Spending
from .policies.schema import PolicySource, policy_source

__all__ = [
    "OPENAI_COMPATIBLE_BASE_URLS",
    "FirewallAnthropic",
    "FirewallGoogleGenerativeAI",
    "FirewallOpenAI",
    "create_openai_compatible_firewall",
]


class FirewallOpenAI(GuardedOpenAI):
    """An OpenAI-shaped client, sync or async, whose every reply is held to the policy.

        client = FirewallOpenAI(OpenAI(), "policy.yaml")
        reply = client.chat.completions.create(model=…, messages=[…], tools=[…])
        reply.firewall["action"]          # allow, redact or block; also in model_extra["firewall"]

    Guarded are `chat.completions.create`, `.parse` and `.stream`, `responses.create`, `.parse` and
    `.stream`, each with `stream=True`, raw and streaming responses, under `beta`, and on copies
    (`with_options`). Secrets and personal data are masked in what is sent and in what comes back; a
    call that may not run is taken out; in a stream a call is held back until it is whole. Any other
    method that can return calls or the model's text raises when it is called, unless its path is in
    `unguarded` (`["completions.create"]`). What returns neither is the client's own. The client
    that is wrapped is not changed; `isinstance` takes the guarded one for one of its class.

    A client of another SDK, or a fake, is guarded at `chat.completions.create` without streams.
    `spending` counts what callers use (`serving`), several clients together.

    Raises:
        ConfigError: the policy cannot be loaded. TypeError: it is no OpenAI-shaped client.
        MissingExtra: the same, and openai is not installed.
        ValueError: `unguarded` names what is guarded, or what is not there.
    """

    __slots__ = ()

    def __init__(
        self,
        client: Any,
        policy_path: PolicySource = None,
        *,
        unguarded: Sequence[str] = (),
        spending: Spending | None = None,
    ) -> None:
        policy = policy_source(policy_path)
        with _or_the_extra("openai", extra="openai"):
            super().__init__(client, policy, unguarded=unguarded, spending=spending)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class FirewallAnthropic(GuardedAnthropic):
    """A client of Anthropic's SDK, sync or async, whose every reply is held to the policy.

        client = FirewallAnthropic(Anthropic(), "policy.yaml")
        message = client.messages.create(model=…, max_tokens=…, messages=[…], tools=[…])
        message.firewall["action"]        # allow, redact or block

    Guarded are `messages.create`, `.parse` and `.stream`, also under `beta`, and
    `beta.messages.tool_runner`, each with `stream=True`, raw and streaming responses, and on copies
    (`with_options`, `with_middleware`). Secrets and personal data are masked in what is sent and in
    what comes back; a call that may not run is taken out; in a stream a call is held back until it
    is whole. Calls that the provider runs itself (server tools, MCP) have run by then: a refused
    one is taken out with what it gave back. Any other method that can return calls or the model's
    text raises when it is called, unless its path is in `unguarded` (`["messages.batches"]`).
    What returns neither is the client's own. The client that is wrapped is not changed;
    `isinstance` takes the guarded one for one of its class. `spending` counts what callers use
    (`serving`), several clients together.

    Raises:
        ConfigError: the policy cannot be loaded. MissingExtra: anthropic is not installed.
        TypeError: it is no client of Anthropic's.
        ValueError: `unguarded` names what is guarded, or what is not there.
    """

    __slots__ = ()

    def __init__(
        self,
        client: Any,
        policy_path: PolicySource = None,
        *,
        unguarded: Sequence[str] = (),
        spending: Spending | None = None,
    ) -> None:
        sdk("anthropic")
        policy = policy_source(policy_path)
        super().__init__(client, policy, unguarded=unguarded, spending=spending)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


def sdk(name: str) -> Any:
    """An SDK, which is loaded when a door needs it and not before.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        text = f"{error}; install the extra `{name}`: pip install 'edgeward[{name}]'"
        raise MissingExtra(text) from error


def create_openai_compatible_firewall(
    provider: str,
    *,
    api_key: str | None = None,
    policy_path: PolicySource = None,
    base_url: str | None = None,
    **client_kwargs: Any,
) -> FirewallOpenAI:
    """A guarded `openai.OpenAI` for a provider of `OPENAI_COMPATIBLE_BASE_URLS`.

    `base_url` is for a provider that is not in the table, or that has moved. `client_kwargs` go to
    `openai.OpenAI`. For an async client wrap `openai.AsyncOpenAI(base_url=…)` yourself.

    Raises:
        MissingExtra: openai is not installed. ValueError: the provider is unknown and no `base_url`
            is given. ConfigError: the policy cannot be loaded.
    """
    url = base_url_of(provider, base_url)
    client = sdk("openai").OpenAI(api_key=api_key, base_url=url, **client_kwargs)
    return FirewallOpenAI(client, policy_path)


class FirewallGoogleGenerativeAI(GuardedGemini):
    """A client of Gemini's API, sync and async, whose every reply is held to the policy.

        client = FirewallGoogleGenerativeAI(genai.Client(), "policy.yaml")
        reply = client.models.generate_content(model=…, contents=…, config=…)
        reply.firewall["action"]                       # allow, redact or block

    `client` may also be the older module `google.generativeai` itself: its `GenerativeModel`, whole
    and streamed, and the chats that one starts are guarded in the same way.

    Guarded are `models.generate_content`, `models.generate_content_stream` and the chats of
    `chats.create`, also below `aio`. Calls that may not run are taken out of every candidate, in a
    stream as soon as they are whole; so Python functions that the SDK calls by itself (automatic
    function calling) run only where their call has passed. Secrets and personal data are masked in
    what is sent and in what comes back. Any other method that can return calls or the model's text
    raises when it is called, unless its path is in `unguarded` (`["batches"]`). The client that is
    wrapped is not changed. `spending` counts what callers use (`serving`), several clients
    together.

    Raises:
        MissingExtra: google-genai is not installed. ConfigError: the policy cannot be loaded.
        TypeError: it is no client of Gemini's.
        ValueError: `unguarded` names what is guarded, or what is not there.
    """

    __slots__ = ()

    def __init__(
        self,
        client: Any,
        policy_path: PolicySource = None,
        *,
        unguarded: Sequence[str] = (),
        spending: Spending | None = None,
    ) -> None:
        policy = policy_source(policy_path)
        with _or_the_extra("google.genai", extra="gemini"):
            super().__init__(client, policy, unguarded=unguarded, spending=spending)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


@contextmanager
def _or_the_extra(module: str, *, extra: str) -> Iterator[None]:
    """Where a client is none because its SDK is not there, say which extra brings it.

    Raises:
        MissingExtra: the body raised TypeError, and there is no such module.
    """
    try:
        yield
    except TypeError as error:
        if _installed(module):
            raise
        text = f"{error}; {module} is not installed, install the extra `{extra}`"
        raise MissingExtra(f"{text}: pip install 'edgeward[{extra}]'") from error


def _installed(module: str) -> bool:
    """Whether a module is there."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package that it lies in is not there either
        return False
