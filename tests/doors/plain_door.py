"""What the tests of `Firewall` give it: a key, a policy with `private`, an object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

KEY = "sk-" + "a1" * 12
FLOW = {
    "version": 2,
    "private": ["read_inbox"],
    "tools": {"read_inbox": "allow", "post": {"args": {"text": "clean"}}},
}


@dataclass
class Point:
    """An argument that is a dataclass."""

    path: Any
