"""Which of what looks like a mail address or the address of a machine is one.

Versions look like addresses (`1.2.3.4`), and so do remotes of git and names of pictures.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator

from .edges import ESCAPED_START, beginnings, in_word
from .masks import Span

_VERSION_SAID = re.compile(
    r"(?:version|release|build|firmware|section|\u00a7"
    r"|(?:(?<![a-z])|(?<=\\[nrt])|(?-i:(?<=[a-z])(?=[A-Z])))(?:ver|rev|tag|v|oid|chapter|clause)"
    r"|\b(?:up|down)(?:grade|date)[a-z]*(?: [\w@/-]{1,15})?|\bbump[a-z]*(?: [\w@/-]{1,15})?)"
    r"(?:\.?[\s:=#\"'(>]{0,4}|\s(?:from\s(?:[0-9.]{1,15}\sto\s)?|to\s))\Z|[><~^]=\s?\Z|[\w\]][=!]=\Z",
    re.IGNORECASE,
)
"""What stands before a number with dots that is no address: `firmware 1.2.3.4`, `pkg==1.2.3.4`."""


def emails(text: str, start: int, end: int) -> Iterator[Span]:
    """A mail address: no remote of git, no picture for fine screens."""
    name, sign, domain = text[start:end].rpartition("@")
    if not sign:  # in a link
        name, _, domain = text[start:end].rpartition("%40")
    is_remote = name == "git" and text[end : end + 1] == ":"
    is_image = domain[0].isdigit() and domain[1:3] in ("x.", "X.")  # logo@2x.png
    if not is_remote and not is_image:
        # In JSON `\nann` is `ann`: what is left has to be JSON still.
        escape = ESCAPED_START.match(text, start - 1, start + len(name)) if start else None
        yield escape.end() if escape else start, end, "email"


def ipv4_addresses(text: str, start: int, end: int) -> Iterator[Span]:
    """The address of a machine: no version, no mask of a network, not this machine."""
    for begin in beginnings(text, start, end):
        yield from _address(text, begin, end)


def _address(text: str, start: int, end: int) -> Iterator[Span]:
    try:
        address = ipaddress.IPv4Address(text[start:end])
    except ValueError:
        return
    if address.is_loopback or _MASK.fullmatch(text, start, end):
        return  # as `::1`, they are in every program
    before = text[max(start - 24, 0) : start]
    if before.endswith("/") and before[-2:-1].isalnum():
        return  # a product token: Name/1.2.3.4
    is_round = text.endswith(".0.0.0", start, end)
    if is_round or _VERSION_SAID.search(text[max(start - 60, 0) : start]):
        return
    edge = before[-1:]
    after = text[end : end + 2]
    joined = in_word(text, start) or (edge and edge in "._-+")
    trailing = after[:1].isalnum() or (after[:1] in tuple("._-") and after[1:2].isalnum())
    if not joined and not trailing:
        yield start, end, "ipv4"


_MASK = re.compile(
    r"255(?:\.255){0,2}(?:\.[0-9]+)?(?:\.0){1,2}|255\.255\.255\.(?:128|192|224|240|248|252|254)"
)
_ROUTED = tuple(map(ipaddress.IPv6Network, ("2000::/3", "fc00::/7", "fe80::/10")))
"""Addresses of machines; `::` and `::1` are in every program."""


def ipv6_addresses(text: str, start: int, end: int) -> Iterator[Span]:
    """The address of a machine, without what stands around it."""
    while text[end - 1] in ":." and text[end - 2 : end] != "::":
        end -= 1
    edge, after = text[max(start - 1, 0) : start], text[end : end + 1]
    if (
        in_word(text, start)
        or edge in ("_", ":")
        or after.isalnum()
        or after == "_"
        or end - start > 45
    ):
        return
    if is_machine(text[start:end]):
        yield start, end, "ipv6"


def is_machine(text: str) -> bool:
    """Whether a text is the IPv6 address of a machine."""
    if text.count(":") < 2:
        return False
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return any(address in network for network in _ROUTED)
