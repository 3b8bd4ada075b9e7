"""Names of what is shipped, for a shell to complete: read off the folders, nothing is loaded."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path


def policies(incomplete: str) -> list[str]:
    """Shipped policies that begin so."""
    return _files("policies", incomplete)


def strategies(incomplete: str) -> list[str]:
    """Shipped strategies that begin so."""
    return _files("graphs", incomplete)


def profiles(incomplete: str) -> list[str]:
    """Shipped profiles that begin so."""
    found = _room("profiles").glob("*/profile.yaml")
    return sorted(file.parent.name for file in found if file.parent.name.startswith(incomplete))


def _files(room: str, incomplete: str) -> list[str]:
    return sorted(
        file.stem for file in _room(room).glob("*.yaml") if file.stem.startswith(incomplete)
    )


def _room(name: str) -> Path:
    """The folder of a room: in a clone it lies elsewhere than when it is installed."""
    spec = find_spec(f"edgeward.{name}")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent
