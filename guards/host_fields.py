"""The values of fields that are named after a host or a link: they need no scheme to be one.

In fields that say where something goes, of whatever kind (`to`, `target`, `address`), a value is a
host only where it cannot well be anything else: an address, a name with a port, a name that ends
as those of the net do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import can_ada

from .fields import Kind
from .hosts import DOTS, Destination, canonical_host, is_address, looks_like_host, short
from .identifiers import ATTRIBUTES, TOP_LABELS
from .links import ONLY_SPECIAL, authority_at, split_port

_SLASHES = re.compile(r"[/\\]*")
_NUMBER = re.compile(r"0[xX][0-9A-Fa-f]*|[0-9]+")
_BACKSLASH_ENDS = re.compile(r"[^/?#\\]*\\")
_MAIL_DOMAIN = re.compile(r"\.[A-Za-z]{2,63}\Z")
_BLANKS = "".join(map(chr, range(33)))
_CONTROLS = re.compile(r"[\t\r\n]")
_TYPED_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_PORT_FOLLOWS = re.compile(r"[0-9]{1,5}(?:[/?#\\,;\s]|\Z)")
_NAMED_HOSTS = Kind.HOST | Kind.DOMAIN | Kind.URL | Kind.LINK
_LISTED = re.compile(r"[\s,;]")
_MOST_LISTED = 1_000
_AUTHORITY_ENDS = re.compile(r"[/?#\\]")
_REMOTE = re.compile(r":(?!//)[^\s:]*(?:/|\.git\Z)")
NO_HOST = re.compile(
    r"(?:html?|xhtml|php|aspx?|jsp|css|js|mjs|json|xml|svg|png|jpe?g|gif|webp|ico|pdf|txt|csv|docx?|"
    r"xlsx?|pptx?|ya?ml|wasm|mp[34])|\w*_\w*",
    re.IGNORECASE,
)
"""What no host ends in: a file of the same site, a function (`app.on_done`)."""
_NO_NAME = frozenset(
    "none null false true yes no auto default direct disabled enabled any all * off on".split()  # noqa: SIM905 - reads better
)
"""What a setting of a host says in its place, and nobody calls a machine."""
_LIST = re.compile(r"\s*[,;]\s*|\s+")


def typed_hosts(text: str, kind: int) -> Iterator[Destination]:
    """The value of a field that is named after a host, a link or a place."""
    value = text.strip(_BLANKS)
    if not value:
        return
    parts = [p for p in _LIST.split(value) if p] if _LISTED.search(value) else []
    if len(parts) > _MOST_LISTED:
        if kind & _NAMED_HOSTS:
            yield Destination("", short(value), f"more than {_MOST_LISTED} hosts in one value")
        return
    if not kind & _NAMED_HOSTS:
        places = [_place(part, kind) for part in parts or [value]]
        if kind & (Kind.PLACE | Kind.MAIL) or all(places):  # below a label no prose has any
            yield from filter(None, places)
        return
    clean = value if value.isprintable() else _CONTROLS.sub("", value)
    slashes = _SLASHES.match(clean)
    scheme = _scheme(clean, kind)
    if slashes is not None and slashes.end() > 1:  # more than two mean no less to a browser
        yield from filter(None, [authority_at(clean, slashes.end(), strict=True)])
    elif scheme is not None:
        yield from _typed_link(value, clean, scheme)
    elif len(parts) > 1:
        # A list of hosts, or words: only what looks like a host counts.
        for part in parts:
            if part.isdecimal() and len(part) < 8:
                continue  # `Building 4`
            yield from (d for d in typed_hosts(part, kind) if d.fault or looks_like_host(d.host))
    elif clean and clean[0] not in "/\\?#":
        yield from _typed_host(clean, kind)


def _scheme(clean: str, kind: int) -> re.Match[str] | None:
    """The scheme with which a value begins. `evil.test:80` and `evil.test:repo.git` have none."""
    scheme = _TYPED_SCHEME.match(clean)
    if scheme is None or _PORT_FOLLOWS.match(clean, scheme.end()):
        return None
    if clean.startswith(("//", "\\\\"), scheme.end()):
        return scheme
    is_host = kind & Kind.HOST or scheme[1].rpartition(".")[2].lower() in TOP_LABELS
    return None if "." in scheme[1] and is_host else scheme


def _place(part: str, kind: int) -> Destination | None:
    """The host of a value that can be anything else: a town, a file, a language, a version."""
    authority = _AUTHORITY_ENDS.split(part, maxsplit=1)[0]
    name, port = split_port(authority)
    if name.count(":") > 1 or authority.count(":") > 1:
        name, port = authority, ""
    if port is None and _REMOTE.match(part, len(name)):
        port = ""  # `host:folder/name.git`, as git and scp write it
    host = canonical_host(name) if name and port is not None else None
    if host is None or "@" in authority:
        return None
    if is_address(host):
        written = ":" in name or len(DOTS.findall(name)) == 3
    elif host == "localhost":
        written = True
    else:
        last = host.rpartition(".")[2]
        more = port or len(authority) < len(part) or _is_sure(last, kind)
        written = (
            last != host and (last in TOP_LABELS or bool(port and last.isalpha())) and bool(more)
        )
    return Destination(host, short(authority)) if written else None


def spelt_hosts(text: str, kind: int) -> Iterator[Destination]:
    """A host or the domain of an address whose signs are spelt out, in a field for such ones."""
    if len(text) > _LONGEST_SPELT or _SPELT.search(text) is None:
        return
    plain = _SPELT.sub(lambda m: _SIGN_OF[(m[1] or m[2]).casefold()], text.strip(_BLANKS))
    found = [m[1] for m in _SPELT_MAIL.finditer(plain)] if kind & Kind.MAIL else []
    if kind & _NAMED_HOSTS and _SPELT_HOST.match(plain):
        found.append(_AUTHORITY_ENDS.split(plain, maxsplit=1)[0])
    for authority in found:
        host = canonical_host(split_port(authority)[0])
        if host and host.rpartition(".")[2] in TOP_LABELS:
            yield Destination(host, short(authority))


_LONGEST_SPELT = 1_000
_SPELT = re.compile(
    r"\s{0,3}[\[({<]\s?(at|dot|@|\.)\s?[\])}>]\s{0,3}|\s{1,3}(at|dot)\s{1,3}", re.IGNORECASE
)
"""`drop [at] evil dot test`"""
_SIGN_OF = {"at": "@", "@": "@", "dot": ".", ".": "."}
_SPELT_MAIL = re.compile(r"[\w+-]@((?:[\w-]{1,63}\.){1,9}\w{2,63})")
_SPELT_HOST = re.compile(r"(?:[\w-]{1,63}\.){1,9}\w{2,63}(?:[:/?#]|\Z)")


def _is_sure(last: str, kind: int) -> bool:
    """Whether a name without port and path that ends so is a host in a field of that kind."""
    if kind & Kind.PLACE:
        return not kind & Kind.MAIL
    return bool(kind & Kind.LABELLED) and last not in ATTRIBUTES


def _typed_link(value: str, clean: str, scheme: re.Match[str]) -> Iterator[Destination]:
    special = ONLY_SPECIAL.fullmatch(scheme[1])
    slashes = _SLASHES.match(clean, scheme.end())
    assert slashes is not None
    if not special:
        if len(slashes[0]) < 2:
            return
        share = scheme[1].lower() == "file" and len(slashes[0]) >= 4
        at = scheme.end() + (4 if share else 2)
    else:
        at = slashes.end()
    found = authority_at(clean, at, strict=True)
    if found is None:
        if special:
            yield Destination("", short(clean), "it is no well-formed host")
        return
    if clean != value and _control_in_authority(value):
        found = Destination("", found.shown, "a control character before the host ends")
    yield found
    try:
        # The whole value as a browser reads it: another host than ours is another destination.
        host = can_ada.parse(clean).hostname
    except ValueError:
        return
    other = canonical_host(host) if host else None
    if other and other != found.host:
        yield Destination(other, short(clean))


def _control_in_authority(value: str) -> bool:
    match = re.match(r"[^:]*:[\t\r\n]*[/\\]*[\t\r\n/\\]*([^/?#]*)", value)
    return match is not None and _CONTROLS.search(match[1]) is not None


def _typed_host(clean: str, kind: int) -> Iterator[Destination]:
    authority = _AUTHORITY_ENDS.split(clean, maxsplit=1)[0]
    if not authority or authority in (".", "..") or clean.casefold() in _NO_NAME:
        return
    if kind & Kind.HOST and clean.count(":") > 1 and canonical_host(clean):
        yield Destination(canonical_host(clean) or "", short(clean))
        return
    if "@" in authority and kind & (Kind.HOST | Kind.DOMAIN | Kind.URL):
        local, _, domain = authority.rpartition("@")
        if not local:
            authority = domain  # "@example.com": all addresses there
            if not domain:
                return
        elif authority == clean and "@" not in local and _MAIL_DOMAIN.search(domain):
            return  # a mail address, and looked at as one
        else:
            yield Destination("", short(authority), "user information before the host")
            return
    telling = (
        DOTS.search(authority)
        or ":" in authority
        or authority[0] == "["
        or _NUMBER.fullmatch(authority)
        or authority.casefold() == "localhost"
    )
    if not telling and not kind & Kind.HOST:
        return
    if kind & Kind.LINK and not kind & (Kind.URL | Kind.HOST):
        # A file of the same site, or a link that a person is shown.
        yield from filter(None, [_place(clean, kind) if kind & Kind.PLACE else None])
        return
    of_site = "." in authority and NO_HOST.fullmatch(authority.rpartition(".")[2])
    if of_site and not kind & Kind.HOST and "/" not in clean and "\\" not in clean:
        return  # `page.html?tab=2`
    if _BACKSLASH_ENDS.match(clean):
        yield Destination("", short(clean), "a backslash before the host ends")
        return
    name, port = split_port(authority)
    host = canonical_host(name)
    if host is None or port is None:
        if kind & (Kind.HOST | Kind.URL):
            yield Destination("", short(authority), "it is no well-formed host")
        return
    yield Destination(host, short(authority))
