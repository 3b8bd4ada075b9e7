"""What the verb of a tool's name does: it takes something away, or it does not.

Where one entry is for many tools (`"*_event"`), its `requested` has the words for all of them. Who
asks that something be moved does not ask that it be cancelled.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from .tokens import inflected

_TAKING = frozenset(
    """delete remove cancel revoke stop reject decline refuse deny archive drop destroy terminate
    close disable uninvite unshare kick ban discard erase purge clear wipe uninstall unsubscribe
    withdraw void dismiss end lock mute löschen lösche entferne entfernen absagen storniere
    stornieren""".split()  # noqa: SIM905 - one word a value reads better
)
_KEEPING = frozenset(
    """create add append grant give share invite start open approve accept enable allow assign
    insert upload make set move update change edit rename reschedule postpone extend copy reply
    answer send write mail email forward post book order pay transfer resume restore unlock confirm
    publish attach comment resize scale erstelle anlegen verschiebe verschieben ändere ändern sende
    schreibe buche""".split()  # noqa: SIM905 - one word a value reads better
)
_PART = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_LONGEST = 100


def _forms(verbs: Iterable[str]) -> frozenset[str]:
    return frozenset[str]().union(*map(inflected, verbs))


_ANY_TAKING, _ANY_KEEPING = _forms(_TAKING), _forms(_KEEPING)


@lru_cache(maxsize=1_024)
def takes_away(tool: str) -> bool | None:
    """Whether a tool takes something away; None where its name does not say."""
    for word in _PART.findall(_HUMP.sub(" ", tool[:_LONGEST])):
        if word.lower() in _TAKING or word.lower() in _KEEPING:
            return word.lower() in _TAKING
    return None


def contrary(word: str, *, taking: bool) -> bool:
    """Whether a word of a request asks for what such a tool does not do."""
    return word.lower() in (_ANY_KEEPING if taking else _ANY_TAKING)
