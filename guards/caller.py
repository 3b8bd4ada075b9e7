"""Who is asking: the user, tenant and roles that a program vouches for.

It is said by the code that starts a run, once it knows whom it serves: never by the model, a
message or a tool. Who is not named is nobody, and nobody fulfils no condition.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

USER_VALUE = "$user"
TENANT_VALUE = "$tenant"
OWN_VALUES = (USER_VALUE, TENANT_VALUE)
"""What stands in a policy for a value of the caller's."""

_VARIABLE = re.compile(r"\$[a-z_]+")


@dataclass(frozen=True, slots=True)
class Caller:
    """The person or program on whose behalf calls are made. Empty: not known."""

    user: str = ""
    tenant: str = ""
    roles: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what is not of its type.

        Raises:
            ValueError: naming the field.
        """
        if not (isinstance(self.user, str) and isinstance(self.tenant, str)):
            raise ValueError("user and tenant: text")
        roles = self.roles
        # A bare text would be a caller with the role of each of its letters.
        if not isinstance(roles, list | tuple) or not all(isinstance(r, str) for r in roles):
            raise ValueError("roles: a list of texts")
        object.__setattr__(self, "roles", tuple(roles))

    def own(self, name: str) -> str:
        """The value that `$user` or `$tenant` stands for; empty where it is not known."""
        return self.user if name == USER_VALUE else self.tenant if name == TENANT_VALUE else ""


NOBODY = Caller()


def caller_of(context: object) -> Caller:
    """The caller that a run's context names: by `user`, `tenant` and `roles`, keys or attributes.

    Nobody where it names none, or in a form that is not theirs.
    """
    if isinstance(context, Caller):
        return context
    if context is None:
        return NOBODY
    given = {
        name: context.get(name) if isinstance(context, Mapping) else getattr(context, name, None)
        for name in ("user", "tenant", "roles")
    }
    try:
        return Caller(given["user"] or "", given["tenant"] or "", given["roles"] or ())
    except ValueError:
        return NOBODY


_Names = Annotated[list[Annotated[str, Field(min_length=1, pattern=r"\S")]], Field(min_length=1)]


class CallerTest(BaseModel):
    """`{users, tenants, roles}`: of each that is written, the caller is or has one."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra={"minProperties": 1})

    users: _Names | None = None
    tenants: _Names | None = None
    roles: _Names | None = None

    @model_validator(mode="after")
    def _says_something(self) -> CallerTest:
        if self.users is None and self.tenants is None and self.roles is None:
            raise ValueError("an empty condition; write one of users, tenants, roles")
        return self

    def holds(self, caller: Caller) -> bool:
        """Whether the caller is one of those meant, spelled exactly so."""
        return (
            (self.users is None or caller.user in self.users)
            and (self.tenants is None or caller.tenant in self.tenants)
            and (self.roles is None or not set(caller.roles).isdisjoint(self.roles))
        )

    @property
    def wish(self) -> str:
        """Who is meant, in words."""
        parts = (("user", self.users), ("tenant", self.tenants), ("role", self.roles))
        return " and ".join(f"{name} {' or '.join(names)}" for name, names in parts if names)


def variable_fault(value: object, known: tuple[str, ...]) -> str:
    """Why `value` looks like a variable and is none; empty where it is fine."""
    if isinstance(value, str) and _VARIABLE.fullmatch(value) and value not in known:
        return f"{value} is no variable here; there is {', '.join(known)}"
    return ""
