"""What a client sends as the facts of a run is checked before the run begins."""

from __future__ import annotations

from typing import Any

import pytest

from edgeward.graphs.context import RunContext


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_steps", 0),
        ("max_steps", -1),
        ("max_steps", True),
        ("max_steps", False),
        ("max_steps", "5"),
        ("max_steps", 2.5),
        ("user", None),
        ("user", ["ann"]),
        ("tenant", 7),
        ("tenant", b"acme"),
        ("roles", "admin"),
        ("roles", [1]),
        ("roles", [None]),
        ("roles", ["reader", ["admin"]]),
    ],
)
def test_not_of_its_type(field: str, value: Any) -> None:
    """A step bound below 1, or a user, tenant or role that is no text, is refused by name."""
    with pytest.raises(ValueError, match=field):
        RunContext(**{field: value})


def test_roles_are_taken_one_by_one() -> None:
    """A list as JSON gives it becomes a tuple: what was checked cannot be changed afterwards."""
    roles = ["reader"]
    context = RunContext(max_steps=1, user="ann", tenant="acme", roles=roles)  # type: ignore[arg-type]
    roles.append("admin")
    assert context.roles == ("reader",)
    assert hash(context) == hash(RunContext(1, "ann", "acme", ("reader",)))
    assert RunContext() == RunContext(None, "", "", ())


@pytest.mark.parametrize("roles", [None, 5, {"admin": True}, (role for role in ("a",)), ["a", 1]])
def test_roles_are_a_list_of_texts(roles: object) -> None:
    """Anything else is refused by name; a generator would be empty the second time it is asked."""
    with pytest.raises(ValueError, match="roles: a list of texts"):
        RunContext(roles=roles)  # type: ignore[arg-type]
