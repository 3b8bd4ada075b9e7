"""What of the environment reaches a server: a small base, and what the profile names.

Keys and tokens of this process are not inherited.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from .server import REFERENCE

_POSIX = frozenset(
    {
        *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TZ", "LANG", "LANGUAGE"),
        *("TMPDIR", "TMP", "TEMP"),
    }
)
_WINDOWS = frozenset(
    {
        *("PATH", "PATHEXT", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "TEMP", "TMP"),
        *("APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "USERPROFILE", "USERNAME", "HOMEDRIVE"),
        *("HOMEPATH", "PROCESSOR_ARCHITECTURE", "NUMBER_OF_PROCESSORS"),
    }
)
_BASE = _WINDOWS if sys.platform == "win32" else _POSIX


class VariableMissing(ValueError):
    """The profile asks for a variable that is not set; the text names it."""


def child_environment(named: Mapping[str, str], environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a server: the base of `environ`, then `named` as `filled`.

    Raises:
        VariableMissing: a variable that is to be taken from `environ` is not set there.
    """
    base = {
        name: value
        for name, value in environ.items()
        if (name.upper() in _BASE or name.startswith("LC_")) and not value.startswith("()")
    }
    return {**base, **filled(named, environ, blanks=True)}


def filled(
    named: Mapping[str, str], environ: Mapping[str, str], *, blanks: bool = False
) -> dict[str, str]:
    """`named`, with each `${NAME}` from `environ`, and with `blanks` also what is blank.

    Raises:
        VariableMissing: one is not set there.
    """

    def found(name: str) -> str:
        value = environ.get(name, "")
        if not value.strip():
            raise VariableMissing(f"wants the variable {name}, which is not set")
        return value

    return {
        name: found(name)
        if blanks and not value.strip()
        else REFERENCE.sub(lambda match: found(match[1]), value)
        for name, value in named.items()
    }
