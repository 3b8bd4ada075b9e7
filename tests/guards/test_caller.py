"""Who is asking: what a caller is, and where a context names one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import ValidationError

from edgeward.guards.caller import NOBODY, Caller, CallerTest, caller_of, variable_fault


@dataclass
class Session:
    """A context of somebody's own."""

    user: Any = "ann"
    tenant: Any = "acme"
    roles: Any = ("reader",)


def test_a_context_names_the_caller() -> None:
    """By attributes, by keys, or by being one; nobody where it does not."""
    ann = Caller("ann", "acme", ("reader",))
    assert caller_of(ann) is ann
    assert caller_of(Session()) == ann
    assert caller_of({"user": "ann", "tenant": "acme", "roles": ["reader"]}) == ann
    assert caller_of({"user": "ann"}) == Caller("ann")
    assert caller_of(None) == caller_of(object()) == caller_of({}) == NOBODY


@pytest.mark.parametrize("more", [{"user": 7}, {"tenant": ["acme"]}, {"roles": "admin"}])
def test_of_another_form_is_nobody(more: dict[str, Any]) -> None:
    """A context that means something else by these names vouches for nobody."""
    assert caller_of(Session(**more)) == NOBODY


def test_a_text_is_no_list_of_roles() -> None:
    """Else every letter would be a role."""
    with pytest.raises(ValueError, match="roles"):
        Caller(roles="admin")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("caller", "holds"),
    [
        (Caller("ann", "acme", ("clerk", "accountant")), True),
        (Caller("bob", "acme", ("accountant",)), True),
        (Caller("ann", "acme", ()), False),
        (Caller("ann", "evil", ("accountant",)), False),
        (Caller("ann", "ACME", ("accountant",)), False),
        (Caller("ann", "acme", ("Accountant", "accountant ")), False),
        (Caller("", "acme", ("accountant",)), False),
        (NOBODY, False),
    ],
)
def test_every_key_must_hold(caller: Caller, holds: bool) -> None:
    """One of each list that is written, spelled exactly so; nobody is none of them."""
    test = CallerTest(users=["ann", "bob"], tenants=["acme"], roles=["accountant", "owner"])
    assert test.holds(caller) is holds
    assert "role accountant or owner" in test.wish


@pytest.mark.parametrize("data", [{}, {"roles": []}, {"roles": [""]}, {"role": ["x"]}])
def test_an_empty_condition_is_refused(data: dict[str, Any]) -> None:
    """It would hold for everybody, or for nobody."""
    with pytest.raises(ValidationError):
        CallerTest.model_validate(data)


def test_variables() -> None:
    """A name that stands for nothing is a mistake; prices and shouted names are texts."""
    assert "$usr" in variable_fault("$usr", ("$user",))
    assert [variable_fault(v, ("$user",)) for v in ("$user", "$5", "$PATH", 5)] == [""] * 4
