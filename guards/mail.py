"""The domains of mail addresses: plain, quoted, with display names, in lists, as literals."""

from __future__ import annotations

import quopri
import re
from collections.abc import Iterator
from functools import lru_cache

from .hosts import DOTS, EDGE, Destination, canonical_host, is_address, short
from .identifiers import TOP_LABELS
from .links import before_prose

_TOP_LABEL = re.compile(r"(?:[a-z]{2,63}|xn--[a-z0-9-]+)\Z")
_CJK_STOPS = "\uff0c\u3001\uff01\uff1f\uff1b\uff08\uff09\u300c\u300d"
_NAME = rf"[^\s<>()\[\],;:\"'\\@/?#&|`{{}}=!*{_CJK_STOPS}]{{1,260}}"
_SHARP = re.compile(r"[1-4]x\.(?:png|jpe?g|gif|webp|avif|svg|bmp|ico|heic)", re.IGNORECASE)
"""`logo@2x.png`: a picture for fine screens."""
_VERSION = re.compile(r"[~^]?v?[0-9]+(?:\.(?:[0-9]+|[xX]))*(?:[-+][\w-]+(?:\.[0-9]+)*)?")
"""`lodash@^4.17.0`, `kernel@5.15.0-91-generic`: what follows a package."""
_ENCODED = re.compile(r"=\?[^?\s]{1,40}\?[qQ]\?([^?\s]{1,400})\?=")
_DOMAIN = rf"(\[[^\]\s]{{0,99}}\]|{_NAME})"
_ANY_DOMAIN = re.compile(rf"@\s{{0,9}}(?:\([^()]{{0,99}}\)\s{{0,9}})?{_DOMAIN}")
_AFTER_LOCAL = re.compile(rf"""(?<![\s/(\[{{>,;=:'`@])(?<!\s["<])(?<!^["<])@{_DOMAIN}""")


def mail_domains(text: str) -> Iterator[Destination]:
    """The domain after every @ that something like a local part stands before."""
    if text[0] == "@":
        text = " " + text
    for match in _AFTER_LOCAL.finditer(text):
        found = _domain(match[1], False)
        if found is not None and not _is_call(text, match.end(), found):
            yield found


def typed_mail(text: str) -> Iterator[Destination]:
    """The domain after every @ of a field for mail addresses, routes and comments included."""
    for word in _ENCODED.finditer(text):
        yield from typed_mail(quopri.decodestring(word[1].encode(), header=True).decode("latin-1"))
    begin = len(text) - len(text.lstrip())
    for match in _ANY_DOMAIN.finditer(text):
        found = _domain(match[1], match.start() > begin)
        if found is not None:
            yield found


def _is_call(text: str, end: int, found: Destination) -> bool:
    """Whether it is a product of matrices: `y = a@b.transpose()`."""
    return text[end : end + 1] == "(" and found.host.rpartition(".")[2] not in TOP_LABELS


@lru_cache(maxsize=1_024)
def _domain(domain: str, typed: bool) -> Destination | None:
    """What stands behind an @, at most 260 characters of it; None where that is no domain."""
    if domain[0] == "[":
        literal = domain[1:-1]
        if literal[:5].casefold() == "ipv6:":
            literal = f"[{literal[5:]}]"
        host = canonical_host(literal)
        if host is None:
            wrong = "it is no well-formed address literal"
            return Destination("", short(domain), wrong) if typed else None
        return Destination(host, short(domain)) if typed or is_address(host) else None
    if not typed:
        if _VERSION.fullmatch(domain.rstrip(".")):
            return None
        if not domain.isascii():
            domain = before_prose(domain)
    name = EDGE.sub("", domain)
    host = canonical_host(name) if name else None
    if host is None or (typed and domain.endswith("..")):
        wrong = "it is no well-formed mail domain"
        return Destination("", short(domain), wrong) if typed or DOTS.search(name) else None
    if not typed and _SHARP.fullmatch(name):
        return None
    if typed or ("." in host and _TOP_LABEL.search(host.rpartition(".")[2])):
        return Destination(host, short(name))
    return None
