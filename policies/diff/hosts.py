"""Where a call may point: a host that some lists name and others do not.

Whether a list names a host hangs on the names and networks in it: finitely many hosts stand for
all (each name itself, one below it, the edges of each network, one that nothing names).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator, Sequence

from ...guards.hosts import HostList, canonical_host, is_address

FRESH = "q7"
"""A label that no policy has."""

_NETWORK = re.compile(r"[0-9A-Fa-f.:]+/[0-9]{1,3}")


def telling_hosts(entries: Iterable[str]) -> list[str]:
    """Hosts that stand for all, as far as these entries tell them apart."""
    found: dict[str, None] = {}
    for entry in entries:
        for host in _around(entry.strip()):
            found.setdefault(host)
    return [*found, f"{FRESH}.example", "203.0.113.7", "10.9.8.7", "2001:db8::7"]


def host_between(inside: Sequence[Sequence[str]], outside: Sequence[Sequence[str]]) -> list[str]:
    """Hosts that each list of `inside` names and no list of `outside`; all kinds of them."""
    entries = [entry for listed in (*inside, *outside) for entry in listed]
    within, without = [HostList(i) for i in inside], [HostList(o) for o in outside]
    return [
        host
        for host in telling_hosts(entries)
        if all(host in listed for listed in within) and not any(host in o for o in without)
    ]


def _around(entry: str) -> Iterator[str]:
    if entry == "*":
        return
    if _NETWORK.fullmatch(entry):
        network = ipaddress.ip_network(entry, strict=False)
        yield from _edges(network.network_address, network.broadcast_address)
        return
    name = entry.removeprefix("*.").removeprefix(".")
    if name.count(":") == 1 or "]:" in name:
        name = re.sub(r":[0-9]{1,5}\Z", "", name)
    host = canonical_host(name)
    if host is None:
        return
    if is_address(host):
        address = ipaddress.ip_address(host)
        yield from _edges(address, address)
        return
    yield host
    yield f"{FRESH}.{host}"


_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def _edges(low: _Address, high: _Address) -> Iterator[str]:
    yield str(low)
    yield str(high)
    if int(high) + 1 < 1 << high.max_prefixlen:
        yield str(high + 1)
    if int(low):
        yield str(low - 1)


def linked(host: str) -> str:
    """A link to a host."""
    return f"https://[{host}]/" if ":" in host else f"https://{host}/"


def listed_name(hosts: Sequence[str], entries: Iterable[str]) -> str:
    """Several hosts as a policy would name them: by the entries that name them."""
    named = [entry for entry in entries if any(host in HostList([entry]) for host in hosts)]
    return ", ".join(dict.fromkeys(named)) or ", ".join(hosts[:3])
