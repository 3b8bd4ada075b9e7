"""What holds for the whole suite: no test reaches the network."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "untimed", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("untimed")  # how long an example takes says how busy the machine is

LOCAL = ("127.0.0.1", "::1", "localhost")


def pytest_configure() -> None:
    """Ctrl-C ends what runs, also where whoever started the tests ignores it, as shells do for what
    they start in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class NetworkBlocked(AssertionError):
    """A test tried to leave this machine."""


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connection but those to this machine."""

    def guarded(method: Callable[..., Any]) -> Callable[..., Any]:
        def connecting(self: socket.socket, address: Any) -> Any:
            if self.family != getattr(socket, "AF_UNIX", None) and address[0] not in LOCAL:
                raise NetworkBlocked(f"a test tried to connect to {address[0]}")
            return method(self, address)

        return connecting

    for name in ("connect", "connect_ex"):
        monkeypatch.setattr(socket.socket, name, guarded(getattr(socket.socket, name)))


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of the test's own for what outlives a run, so that none is left on the machine."""
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("EDGEWARD_HOME", str(folder))
    monkeypatch.delenv("EDGEWARD_TICKET_KEY_FILE", raising=False)
    return folder


@pytest.fixture
def strategy_file(tmp_path: Path) -> Callable[[str], Path]:
    """Write a strategy to a file of its own."""

    def written(text: str) -> Path:
        path = tmp_path / "strategy.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return written
