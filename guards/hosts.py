"""Where a value points to: hosts of links and mail addresses, in every spelling.

Hosts are read by the WHATWG URL rules (as browsers and most fetch libraries do), brought to one
form (lower case, A-labels, canonical addresses) and compared in that form. Where parsers are known
to disagree (user information, a backslash or a control character before the host ends) there is
no host but a fault, and a fault is never allowed. Finding is linear in the text.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import can_ada

from .fields import Kind

_MAX_HOST = 255
_SHOWN = 120

_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*")
_UNREADABLE = re.compile(r"[\x00-\x20\x7f/\\?#@%<>\"'`^|{}()\[\],;:!$&*+=~]")
_DOTS = re.compile("[.\u3002\uff0e\uff61]")


@dataclass(frozen=True, slots=True)
class Destination:
    """A host that a value names, or the fault for which none can be named.

    `host` is canonical (an IPv6 address without brackets); empty where `fault` says what is wrong.
    `shown` is the text that it was read from, at most 120 characters.
    """

    host: str
    shown: str
    fault: str = ""


@lru_cache(maxsize=4_096)
def canonical_host(text: str) -> str | None:
    """The one spelling of a host: A-labels in lower case, or an address; None if it is no host.

    Takes every form that WHATWG parsers take: decimal, octal and hexadecimal IPv4, bracketed IPv6
    (one that maps IPv4 becomes IPv4), Unicode names and dots, one closing dot.
    """
    if not 0 < len(text) <= _MAX_HOST:
        return None
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


class HostList:
    """Hosts as a policy lists them: a name means itself and its subdomains.

    `*.name` means its subdomains only, an address means itself, `10.0.0.0/8` a network, `*` any
    host. Names and addresses are compared in canonical form.
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
        if name == text:
            self._exact.add(host)
        if not is_address(host):
            self._below.add(host)

    def __contains__(self, host: str) -> bool:
        """Whether a canonical host is listed."""
        if self._any or host in self._exact:
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


# --- finding -----------------------------------------------------------------------------------

_SPECIAL = "(?:https?|wss?|ftp)"
_START = re.compile(
    rf"(?i:{_SPECIAL}):(?:[\t\r\n]*[/\\][\t\r\n/\\]*)?|:[/\\][\t\r\n]*[/\\]", re.ASCII
)
_SCHEME_BEFORE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,31}\Z")
_AUTHORITY = re.compile(
    "[^\\s/\\\\?#\"'<>`{}|\uff0c\u3001\uff01\uff1f\uff1b\uff08\uff09\u300c\u300d\u300e\u300f"
    "\u3010\u3011\u300a\u300b]*"
)
_RUN = re.compile(r"[^\s/?#]*")
_CLOSED_BEFORE_AT = re.compile(r"[\\\"'<>`{}|]@")
_SLASHES = re.compile(r"[/\\]*")
_ONLY_SPECIAL = re.compile(_SPECIAL, re.IGNORECASE)
_NEXT_URL = re.compile(r"[,;|]+[A-Za-z][A-Za-z0-9+.-]{0,31}:?\Z")
_NETWORK_PATH = re.compile(r"""(?:^\s*|["'(=\[]\s?)([/\\][\t\r\n]*[/\\])""")
_UNC_DEVICE = re.compile(r"[/\\]{2}[?.][/\\](?:UNC[/\\]|(?=[A-Za-z]:|pipe))", re.IGNORECASE)
_EDGE = re.compile(r"[\W_]+\Z")
_NUMBER = re.compile(r"0[xX][0-9A-Fa-f]*|[0-9]+")
_TOP_LABEL = re.compile(r"(?:[a-z]{2,63}|xn--[a-z0-9-]+)\Z")


def destinations(text: str, kind: int = Kind.TEXT) -> Iterator[Destination]:
    """Every destination in `text`, the value of a field of that kind. May repeat itself."""
    if kind & Kind.POINTS:
        yield from _typed(text, kind)
    if ":" in text:
        yield from _links(text)
    if "//" in text or "\\" in text:
        yield from _network_paths(text, kind)
    if "@" in text:
        yield from _mail(text, kind)


def _links(text: str) -> Iterator[Destination]:
    """Links with a scheme, wherever they stand."""
    for match in _START.finditer(text):
        start, at = match.span()
        special = text[start] != ":"
        if not special:
            scheme = _SCHEME_BEFORE.search(text, max(0, start - 32), start)
            if scheme is None:
                continue
            if scheme[0].lower() == "file" and text.startswith(("//", "\\\\"), at):
                at += 2  # file:////host/share
        slashes = special and match[0][-1] != ":"
        found = _authority(text, at)
        if found is None:
            continue
        if special and not slashes and not (start == 0 or _DOTS.search(found.shown)):
            continue  # "http:400" in prose
        yield found


def _authority(text: str, at: int, *, strict: bool = False) -> Destination | None:
    """The destination whose authority begins at `at`; None where there is none.

    `strict`: the whole text is the link, so that nothing in it is punctuation of prose.
    """
    match = _AUTHORITY.match(text, at)
    assert match is not None
    authority, end = match[0], match.end()
    run = _RUN.match(text, at)
    assert run is not None
    fault = _ambiguity(authority, run[0], text, end, strict=strict)
    if fault:
        return Destination("", _short(run[0]), fault)
    authority = _NEXT_URL.sub("", authority)
    if not strict and not text.startswith(("/", "?", "#"), end):
        authority = _without_edge(authority)
    if not authority:
        return None
    name, port = _split_port(authority)
    host = canonical_host(name)
    if host is None or port is None:
        return Destination("", _short(authority), "it is no well-formed host")
    return Destination(host, _short(authority))


def _ambiguity(authority: str, run: str, text: str, end: int, *, strict: bool) -> str:
    """Why parsers could disagree on the host, or an empty text."""
    if "@" in run and ("@" in authority or _CLOSED_BEFORE_AT.search(run)):
        return "user information before the host"
    if text.startswith("\\", end):
        rest = run[len(authority) :]
        if strict or "@" in rest or "." in rest[:2] or not authority:
            return "a backslash before the host ends"
    if strict:
        if text[end : end + 1].isspace():
            return "white space before the host ends"
        if text[end : end + 1] in tuple("\"'<>`{}|"):
            return "it is no well-formed host"
    return ""


def _without_edge(authority: str) -> str:
    """Without the punctuation of the prose around it."""
    bracket = authority.find("]") if authority[:1] == "[" else -1
    if bracket > 0:
        port = re.match(r":[0-9]+", authority[bracket + 1 :])
        return authority[: bracket + 1] + (port[0] if port else "")
    return _EDGE.sub("", authority)


def _split_port(authority: str) -> tuple[str, str | None]:
    """Host and port (empty: none; None: what stands there is no port)."""
    if authority[:1] == "[":
        host, bracket, port = authority.partition("]")
        host += bracket
        if port and port[0] != ":":
            return host, None
        port = port[1:]
    else:
        host, _, port = authority.partition(":")
    return host, port if not port or (port.isascii() and port.isdigit()) else None


def _network_paths(text: str, kind: int) -> Iterator[Destination]:
    """`//host/x` and `\\\\host\\share` where a value, a quote or a bracket begins."""
    for match in _NETWORK_PATH.finditer(text):
        at = match.end()
        first = not text[: match.start(1)].strip()
        device = _UNC_DEVICE.match(text, match.start(1))
        if device is not None:
            if not device[0].upper().rstrip("/\\").endswith("UNC"):
                continue
            at = device.end()
        unc = text[match.start(1)] == "\\" and text[at - 1] == "\\"
        if unc:
            found = _unc(text, at)
        else:
            found = _authority(text, at, strict=first and bool(kind & (Kind.URL | Kind.LINK)))
        if found is None:
            continue
        typed = first and kind & (Kind.URL | Kind.LINK | Kind.HOST)
        share = first and unc and text[at + len(found.shown) : at + len(found.shown) + 1] == "\\"
        if found.host and (typed or share or _looks_like_host(found.host)):
            yield found
        elif found.fault and (typed or share or "@" in found.shown):
            yield found


def _unc(text: str, at: int) -> Destination | None:
    match = _AUTHORITY.match(text, at)
    name = match[0] if match else ""
    if "@" in name:
        return Destination("", _short(name), "user information before the host")
    host = canonical_host(name.partition(":")[0])
    return Destination(host, _short(name)) if host else None


def _looks_like_host(host: str) -> bool:
    """A canonical host that is more than one plain word."""
    return "." in host or ":" in host or host == "localhost"


# --- fields that hold a host or a link ---------------------------------------------------------

_BLANKS = "".join(map(chr, range(33)))
_CONTROLS = re.compile(r"[\t\r\n]")
_TYPED_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PORT_FOLLOWS = re.compile(r"[0-9]{1,5}(?:[/?#\\]|\Z)")
_LIST = re.compile(r"\s*[,;]\s*|\s+")


def _typed(text: str, kind: int) -> Iterator[Destination]:
    """The value of a field that is named after a host or a link."""
    value = text.strip(_BLANKS)
    if not value:
        return
    parts = [p for p in _LIST.split(value) if p]
    if len(parts) > 1 and not _TYPED_SCHEME.match(value):
        # A list of hosts, or words: only what looks like a host counts.
        for part in parts:
            yield from (d for d in _typed(part, kind) if d.fault or _looks_like_host(d.host))
        return
    clean = _CONTROLS.sub("", value)
    scheme = _TYPED_SCHEME.match(clean)
    if scheme and not _PORT_FOLLOWS.match(clean, scheme.end()):
        yield from _typed_link(value, clean, scheme)
    elif clean[0] in "/\\":
        if clean[1:2] in tuple("/\\"):
            yield from filter(None, [_authority(clean, 2, strict=True)])
    elif clean[0] not in "?#":
        yield from _typed_host(clean, kind)


def _typed_link(value: str, clean: str, scheme: re.Match[str]) -> Iterator[Destination]:
    special = _ONLY_SPECIAL.fullmatch(scheme[1])
    slashes = _SLASHES.match(clean, scheme.end())
    assert slashes is not None
    if not special:
        if scheme[1].lower() == "file" or len(slashes[0]) < 2:
            return
        at = scheme.end() + 2
    else:
        at = slashes.end()
    found = _authority(clean, at, strict=True)
    if found is None:
        return
    if clean != value and _control_in_authority(value):
        found = Destination("", found.shown, "a control character before the host ends")
    yield found
    try:
        # The whole value as a browser reads it: another host than ours is another destination.
        host = can_ada.parse(clean).hostname
    except ValueError:
        return
    host = canonical_host(host) if host else None
    if host and host != found.host:
        yield Destination(host, _short(clean))


def _control_in_authority(value: str) -> bool:
    match = re.match(r"[^:]*:[\t\r\n]*[/\\]*[\t\r\n/\\]*([^/?#]*)", value)
    return match is not None and _CONTROLS.search(match[1]) is not None


def _typed_host(clean: str, kind: int) -> Iterator[Destination]:
    authority = re.split(r"[/?#\\]", clean, maxsplit=1)[0]
    if not authority or authority in (".", ".."):
        return
    if kind & Kind.HOST and clean.count(":") > 1 and canonical_host(clean):
        yield Destination(canonical_host(clean) or "", _short(clean))
        return
    telling = (
        _DOTS.search(authority)
        or ":" in authority
        or authority[0] == "["
        or _NUMBER.fullmatch(authority)
        or authority.casefold() == "localhost"
    )
    if not telling and not kind & Kind.HOST:
        return
    if kind & Kind.LINK and not kind & (Kind.URL | Kind.HOST):
        return  # a file of the same site
    if "@" in authority:
        if authority.count("@") > 1 or ":" in authority:
            yield Destination("", _short(authority), "user information before the host")
        return  # otherwise a mail address, which is looked at as one
    if clean[len(authority) : len(authority) + 1] == "\\":
        yield Destination("", _short(clean), "a backslash before the host ends")
        return
    name, port = _split_port(authority)
    host = canonical_host(name)
    if host is None or port is None:
        if kind & (Kind.HOST | Kind.URL):
            yield Destination("", _short(authority), "it is no well-formed host")
        return
    yield Destination(host, _short(authority))


# --- mail --------------------------------------------------------------------------------------

_DOMAIN = re.compile(
    "\\s*(?:\\([^()]*\\)\\s*)?(\\[[^\\]\\s]*\\]|[^\\s<>()\\[\\],;:\"'\\\\@/?#&|`{}=!*"
    "\uff0c\u3001\uff01\uff1f\uff1b\uff08\uff09\u300c\u300d]+)"
)
_NO_LOCAL = frozenset("/([{>,;=:'`")


def _mail(text: str, kind: int) -> Iterator[Destination]:
    """The domain after every @ that something like a local part stands before."""
    typed = bool(kind & Kind.MAIL)
    at = text.find("@")
    while at >= 0:
        before = text[at - 1 : at] if at else ""
        if typed or _is_local(text, at, before):
            match = _DOMAIN.match(text, at + 1)
            if match and (typed or match.start(1) == at + 1):
                yield from _mail_domain(match[1], typed=typed and bool(before.strip()))
        at = text.find("@", at + 1)


def _is_local(text: str, at: int, before: str) -> bool:
    if not before or before.isspace() or before in _NO_LOCAL:
        return False
    if before in '"<':
        two = text[at - 2 : at - 1] if at > 1 else ""
        return bool(two) and not two.isspace()
    return True


def _mail_domain(domain: str, *, typed: bool) -> Iterator[Destination]:
    if domain[0] == "[":
        literal = domain[1:-1] if domain[-1] == "]" else domain[1:]
        if literal[:5].casefold() == "ipv6:":
            literal = f"[{literal[5:]}]"
        host = canonical_host(literal)
        if host is None:
            if typed:
                yield Destination("", _short(domain), "it is no well-formed address literal")
            return
        if typed or is_address(host):
            yield Destination(host, _short(domain))
        return
    name = _EDGE.sub("", domain)
    if not name:
        return
    host = canonical_host(name)
    if host is None:
        if typed or _DOTS.search(name):
            yield Destination("", _short(domain), "it is no well-formed mail domain")
        return
    if typed or ("." in host and _TOP_LABEL.search(host.rpartition(".")[2])):
        yield Destination(host, _short(name))


# --- split over arguments ----------------------------------------------------------------------

_OPEN_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:?[/\\]{0,2}\Z")
_CUT = frozenset(":/\\@ \t\n")
_JOINTS = frozenset("@.:")
_BARE_BASE = re.compile(r"(?i:(?:[a-z][a-z0-9+.-]*:)?[/\\]{2}|)[^\s/\\?#@]+\Z")


def split_destinations(
    texts: Sequence[str], kinds: Sequence[int], strings: Sequence[int]
) -> Iterator[tuple[int, Destination]]:
    """Destinations that only appear once two values are put together, with the second's number.

    A link cut after its scheme; a base address without a path whose continuation would become
    part of the host (`https://a.example` + `@evil.test`). `strings` are the numbers of the values.
    """
    for position, first in enumerate(strings):
        text = texts[first]
        if text[-1:] in _CUT:
            head = text.strip()
            if len(head) <= 40 and (head[-1:] == "@" or _OPEN_SCHEME.fullmatch(head)):
                for second in strings[position + 1 : position + 2]:
                    whole = head + texts[second].strip()
                    yield from ((second, d) for d in destinations(whole, Kind.URL))
        elif kinds[first] & (Kind.URL | Kind.HOST) and _BARE_BASE.fullmatch(text.strip()):
            yield from _continued(texts, kinds, strings, position)


def _continued(
    texts: Sequence[str], kinds: Sequence[int], strings: Sequence[int], position: int
) -> Iterator[tuple[int, Destination]]:
    base = texts[strings[position]].strip()
    for place, second in enumerate(strings):
        if place != position and (kinds[second] & Kind.PATH or place == position + 1):
            tail = texts[second].strip()
            if tail[:1] in _JOINTS and tail not in (".", "..") and tail[:2] != "./":
                yield from ((second, d) for d in destinations(base + tail, Kind.URL))


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
