"""Where a value points to: hosts of links and mail addresses, in every spelling.

Hosts are read by the WHATWG URL rules (as browsers and most fetch libraries do), brought to one
form (lower case, A-labels, canonical addresses) and compared in that form. Where parsers are known
to disagree (user information, a backslash or a control character before the host ends) there is
no host but a fault, and a fault is never allowed. Finding is linear in the text.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import can_ada

_MAX_HOST = 255
_SHOWN = 120

_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*")
_UNREADABLE = re.compile(r"[\x00-\x20\x7f/\\?#@%<>\"'`^|{}()\[\],;:!$&*+=~]")
DOTS = re.compile("[.\u3002\uff0e\uff61]")
"""Full stops that separate labels."""
EDGE = re.compile(r"[\W_]+\Z")
"""Punctuation that follows a host in prose."""


class Destination(NamedTuple):
    """A host that a value names, or the fault for which none can be named.

    `host` is canonical (an IPv6 address without brackets); empty where `fault` says what is wrong.
    `shown` is the text that it was read from, at most 120 characters.
    """

    host: str
    shown: str
    fault: str = ""


def canonical_host(text: str) -> str | None:
    """The one spelling of a host: A-labels in lower case, or an address; None if it is no host.

    Takes every form that WHATWG parsers take: decimal, octal and hexadecimal IPv4, bracketed IPv6
    (one that maps IPv4 becomes IPv4), Unicode names and dots, one closing dot.
    """
    return _canonical(text) if 0 < len(text) <= _MAX_HOST else None


@lru_cache(maxsize=1_024)
def _canonical(text: str) -> str | None:
    if ":" in text or text[0] == "[":
        return _ipv6(text)
    if _UNREADABLE.search(text):
        return None
    try:
        host = can_ada.parse(f"http://{text}/").hostname
    except ValueError:
        return None
    host = host.removesuffix(".")
    return host if _HOST.fullmatch(host) else None


def _ipv6(text: str) -> str | None:
    if text[0] == "[":
        if text[-1] != "]":
            return None
        text = text[1:-1]
    try:
        address = ipaddress.IPv6Address(text.partition("%")[0])
    except ValueError:
        return None
    return str(address.ipv4_mapped or address)


def is_address(host: str) -> bool:
    """Whether a canonical host is an IP address."""
    return ":" in host or (host[-1:].isdigit() and host.replace(".", "").isdigit())


def is_public(host: str) -> bool:
    """Whether a canonical host is none of this machine, of a private network or of a cloud's
    metadata, as far as a name or an address tells."""
    if not is_address(host):
        return host not in _INNER and not host.endswith(".localhost")
    address = ipaddress.ip_address(host)
    if address.version == 6:
        inner = address.sixtofour or (
            address in _NAT64 and ipaddress.IPv4Address(int(address) & _V4)
        )
        if inner and not inner.is_global:
            return False
    return address.is_global


_INNER = frozenset(("localhost", "metadata.google.internal", "metadata", "instance-data"))
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_V4 = (1 << 32) - 1


class HostList:
    """Hosts as a policy lists them: a name means itself and its subdomains.

    `*.name` means its subdomains only, an address means itself, `10.0.0.0/8` a network, `*` any
    host but this machine, addresses of private networks and those of a cloud's metadata, which
    have to be named. Names and addresses are compared in canonical form.
    """

    __slots__ = ("_any", "_below", "_exact", "_networks")

    def __init__(self, entries: Iterable[str]) -> None:
        self._any = False
        self._exact: set[str] = set()
        self._below: set[str] = set()
        self._networks: list[ipaddress.IPv4Network | ipaddress.IPv6Network] = []
        for entry in entries:
            self._add(entry)

    def _add(self, entry: str) -> None:
        text = entry.strip()
        if text == "*":
            self._any = True
            return
        if re.fullmatch(r"[0-9A-Fa-f.:]+/[0-9]{1,3}", text):
            try:
                self._networks.append(ipaddress.ip_network(text, strict=False))
            except ValueError:
                raise ValueError(f"'{entry}' is no network") from None
            return
        name = text.removeprefix("*.").removeprefix(".")
        if name.count(":") == 1 or "]:" in name:
            name = re.sub(r":[0-9]{1,5}\Z", "", name)
        host = canonical_host(name)
        if host is None:
            raise ValueError(
                f"'{entry[:80]}' is no host; write a host name (example.com), an address or a"
                " network (10.0.0.0/8), without scheme and path"
            )
        if not text.startswith("*."):
            self._exact.add(host)
        if not is_address(host):
            self._below.add(host)

    def __contains__(self, host: str) -> bool:
        """Whether a canonical host is listed."""
        if host in self._exact or (self._any and is_public(host)):
            return True
        if is_address(host):
            address = ipaddress.ip_address(host)
            return any(address in network for network in self._networks)
        at = host.find(".")
        while at >= 0:
            if host[at + 1 :] in self._below:
                return True
            at = host.find(".", at + 1)
        return False


def looks_like_host(host: str) -> bool:
    """A canonical host that is more than one plain word."""
    return "." in host or ":" in host or host == "localhost"


def host_of(link: str) -> str:
    """The host of a link as a comparable text; empty where there is none, or more than a host."""
    text = link.strip().casefold()
    head, scheme, rest = text.partition("://")
    if scheme and head not in ("http", "https"):
        return ""
    host = (rest if scheme else text).partition("/")[0].partition("?")[0].partition("#")[0]
    if "@" in host or "\\" in host or "." not in host or len(host) > 300:
        return ""
    return EDGE.sub("", host).removeprefix("www.")


def short(text: str) -> str:
    """The text as a finding shows it: its beginning, where it is long."""
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
