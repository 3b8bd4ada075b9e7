"""The domains of mail addresses: plain, quoted, with display names, in lists, as literals."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .hosts import DOTS, EDGE, Destination, canonical_host, is_address, short

_TOP_LABEL = re.compile(r"(?:[a-z]{2,63}|xn--[a-z0-9-]+)\Z")
_CJK_STOPS = "\uff0c\u3001\uff01\uff1f\uff1b\uff08\uff09\u300c\u300d"
_NAME = rf"[^\s<>()\[\],;:\"'\\@/?#&|`{{}}=!*{_CJK_STOPS}]{{1,260}}"
_DOMAIN = rf"(\[[^\]\s]{{0,99}}\]|{_NAME})"
_ANY_DOMAIN = re.compile(rf"@\s{{0,9}}(?:\([^()]{{0,99}}\)\s{{0,9}})?{_DOMAIN}")
_AFTER_LOCAL = re.compile(rf"""(?<![\s/(\[{{>,;=:'`@])(?<!\s["<])(?<!^["<])@{_DOMAIN}""")


def mail_domains(text: str) -> Iterator[Destination]:
    """The domain after every @ that something like a local part stands before."""
    if text[0] == "@":
        text = " " + text
    for match in _AFTER_LOCAL.finditer(text):
        yield from _domain(match[1], typed=False)


def typed_mail(text: str) -> Iterator[Destination]:
    """The domain after every @ of a field for mail addresses, routes and comments included."""
    for match in _ANY_DOMAIN.finditer(text):
        yield from _domain(match[1], typed=bool(text[: match.start()].strip()))


def _domain(domain: str, *, typed: bool) -> Iterator[Destination]:
    if domain[0] == "[":
        literal = domain[1:-1]
        if literal[:5].casefold() == "ipv6:":
            literal = f"[{literal[5:]}]"
        host = canonical_host(literal)
        if host is None:
            if typed:
                yield Destination("", short(domain), "it is no well-formed address literal")
            return
        if typed or is_address(host):
            yield Destination(host, short(domain))
        return
    name = EDGE.sub("", domain)
    if not name:
        if typed:
            yield Destination("", short(domain), "it is no well-formed mail domain")
        return
    host = canonical_host(name)
    if host is None:
        if typed or DOTS.search(name):
            yield Destination("", short(domain), "it is no well-formed mail domain")
        return
    if typed or ("." in host and _TOP_LABEL.search(host.rpartition(".")[2])):
        yield Destination(host, short(name))
