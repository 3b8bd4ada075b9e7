"""A wrapped client: guarded methods, harmless ones, and none that is passed through unread."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from edgeward import load_policy
from edgeward.guards.clients._exchange import Door
from edgeward.guards.clients._proxy import (
    GuardedClient,
    Surface,
    Target,
    UnguardedMethod,
    settled,
)


class Completions:
    """A resource that returns the model's text."""

    def create(self, **request: Any) -> str:
        """Ask."""
        return f"text {request}"

    def legacy(self) -> str:
        """Ask, as it was once done."""
        return "legacy"

    @property
    def with_raw_response(self) -> Completions:
        """The same, raw."""
        return Completions()


class Chat:
    """A resource of resources."""

    limit = 3

    def __init__(self) -> None:
        self.completions = Completions()
        self.other = Completions()


class Models:
    """A harmless resource."""

    def list(self) -> list[str]:
        """Their names."""
        return ["a"]


class Client:
    """A client as SDKs make them."""

    base_url = "http://here"

    def __init__(self, timeout: int = 0) -> None:
        self.chat = Chat()
        self.models = Models()
        self.fresh = Completions()
        self.timeout = timeout
        self.closed = False
        self._inner = "inner"

    def with_options(self, timeout: int) -> Client:
        """A copy."""
        return Client(timeout)

    def post(self, path: str) -> str:
        """Anything at all."""
        return path

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exc: object) -> None:
        self.closed = True

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.closed = True

    @property
    def with_raw_response(self) -> Client:
        """The same, raw."""
        return self


def _create(target: Target, **request: Any) -> tuple[Any, ...]:
    return (target.path, target.mode, target.raw(**request))


SURFACE = Surface(
    vendor="FirewallAcme",
    guarded={"chat.completions.create": _create},
    passed=("models",),
    copies=("with_options",),
    modes=("with_raw_response",),
    hints={"post": "chat.completions.create"},
)


class FirewallAcme(GuardedClient):
    """The wrapped client."""

    def __init__(self, client: Any, policy: Any = "default", *, unguarded: Sequence[str] = ()):
        super().__init__(client, SURFACE, Door(load_policy(policy)), unguarded=unguarded)


def test_a_guarded_method_is_called_in_place_of_the_clients() -> None:
    """With the client's own method at hand, under its name and docstring."""
    create = FirewallAcme(Client()).chat.completions.create
    assert create(a=1) == ("chat.completions.create", "", "text {'a': 1}")
    assert (create.__name__, create.__doc__) == ("create", "Ask.")


def test_a_mode_changes_no_path() -> None:
    """Wherever it stands, the method is the same one."""
    client = FirewallAcme(Client())
    told = ("chat.completions.create", "with_raw_response", "text {}")
    assert client.chat.completions.with_raw_response.create() == told
    assert client.with_raw_response.chat.completions.create() == told


def test_what_is_harmless_is_the_clients_own() -> None:
    """Resources on the list, plain values, private names."""
    raw = Client(5)
    client = FirewallAcme(raw)
    assert client.models is raw.models
    assert client.models.list() == ["a"]
    assert (client.base_url, client.timeout, client.chat.limit) == ("http://here", 5, 3)
    assert client._inner == "inner"
    client.timeout = 7
    assert raw.timeout == 7
    assert "chat" in dir(client)
    with pytest.raises(AttributeError, match="nothing"):
        client.nothing


@pytest.mark.parametrize(
    "path",
    ["post", "chat.completions.legacy", "chat.other.create", "fresh.create", "fresh.legacy"],
)
def test_what_is_on_no_list_raises(path: str) -> None:
    """Also what an SDK will bring one day; the error names the way to opt out."""
    client = FirewallAcme(Client())
    method: Any = client
    for name in path.split("."):
        method = getattr(method, name)
    with pytest.raises(UnguardedMethod) as caught:
        method()
    assert f'FirewallAcme(..., unguarded=["{path}"])' in str(caught.value)
    assert ("Use chat.completions.create." in str(caught.value)) == (path == "post")


def test_one_can_be_opted_out_by_name() -> None:
    """That one alone, or all below a resource."""
    client = FirewallAcme(Client(), unguarded=["chat.completions.legacy", "fresh.*"])
    assert client.chat.completions.legacy() == "legacy"
    assert client.fresh.create() == "text {}"
    with pytest.raises(UnguardedMethod):
        client.post("/chat")
    whole = FirewallAcme(Client(), unguarded=["fresh"])
    assert whole.fresh.legacy() == "legacy"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("chat.completions.create", "cannot be opted out"),
        ("chat.*", "cannot be opted out"),
        ("chat", "cannot be opted out"),
        ("*", "cannot be opted out"),
        ("chat.nothing", "has no `chat.nothing`"),
    ],
)
def test_an_opt_out_that_is_none(path: str, said: str) -> None:
    """A guarded method stays guarded; a name that is wrong is not taken for an opt-out."""
    with pytest.raises(ValueError, match="unguarded: ") as caught:
        FirewallAcme(Client(), unguarded=[path])
    assert said in str(caught.value)


def test_a_copy_is_guarded() -> None:
    """And shares what is known of conversations, and the opt-outs."""
    client = FirewallAcme(Client(), unguarded=["post"])
    other = client.with_options(timeout=9)
    assert type(other) is FirewallAcme
    assert other.timeout == 9
    assert other.chat.completions.create()[0] == "chat.completions.create"
    assert other.post("x") == "x"
    assert other._frame.door is client._frame.door


def test_a_client_serves_a_caller() -> None:
    """The same client, for requests on somebody's behalf."""
    raw = Client()
    client = FirewallAcme(raw, unguarded=["post"])
    ann = client.serving(user="ann", roles=["clerk"])
    assert type(ann) is FirewallAcme
    assert ann._raw is raw
    assert (ann._frame.door.caller.user, client._frame.door.caller.user) == ("ann", "")
    assert ann.with_options(timeout=1)._frame.door.caller.user == "ann"
    assert ann.post("x") == "x"


async def test_it_is_a_context() -> None:
    """What comes out of `with` is guarded, sync and async."""
    raw = Client()
    with FirewallAcme(raw) as client:
        assert type(client) is FirewallAcme
    assert raw.closed
    async with FirewallAcme(raw) as client:
        assert type(client) is FirewallAcme


def test_it_passes_for_the_sdks_client() -> None:
    """Code that asks for the SDK's class takes it."""
    client = FirewallAcme(Client())
    assert isinstance(client, Client)
    assert isinstance(client, FirewallAcme)
    assert repr(client) == "<FirewallAcme around Client>"
    assert repr(client.chat) == "<FirewallAcme.chat around Chat>"


def test_copies_and_pickles() -> None:
    """A copy is the same client; a pickle is refused with a reason."""
    client = FirewallAcme(Client())
    assert copy.copy(client) is client
    assert copy.deepcopy([client])[0] is client
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(client)


async def test_what_has_to_be_awaited_is() -> None:
    """Sync and async methods share what is done with their result."""

    async def later() -> int:
        return 2

    assert settled(2, lambda found: found + 1) == 3
    made: Any = settled(later(), lambda found: found + 1)
    assert await made == 3


def test_a_door_needs_a_policy() -> None:
    """In the guards themselves nothing is loaded by name."""
    given: Mapping[str, Any] = {"version": 2}
    with pytest.raises(TypeError, match="not a dict"):
        Door(given)  # type: ignore[arg-type]
