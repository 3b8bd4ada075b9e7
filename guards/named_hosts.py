"""Hosts that a text names as configuration does: `host: evil.test`, `API_URL=evil.test/x`.

Threat: a tool is handed YAML, a connection string, XML, or JSON with a comma too many, and connects
to what is named there without a scheme. What is JSON is opened, and looked at whole; here only what
ends as hosts do counts, because prose and programs say `host = self.name`, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .destinations import destinations
from .fields import Kind
from .hosts import Destination, canonical_host, is_address, looks_like_host, short
from .identifiers import ATTRIBUTES, TOP_LABELS
from .links import split_port

KEYS = "url|uri|host(?:name|addr)?|endpoint|server|proxy|webhook|domain|website|registry|broker"
"""Words that say that the value is a host, in lower case."""
_JSON = (
    rf"[\"'][a-z_-]{{0,24}}(?:{KEYS})s?\\{{0,4}}[\"']\s{{0,4}}:\s{{0,4}}\\{{0,4}}[\"']"
    r"([^\"'\\\s]{4,255})\\{0,4}[\"']"
)
"""Both quoted, as in JSON that is none: several documents, a fence around it."""
_SETTING = (
    rf"(?:(?:\b|_)(?:{KEYS}|netloc|addr(?:ess)?|data source)s?(?: (?:name|address|value))?"
    r"|(?-i:[a-z](?:U(?:RL|RI|rl|ri)|Host(?:[Nn]ame)?|Endpoint|Server|Proxy|Webhook|Domain)"
    r"|[A-Z](?:URL|URI|HOST|PROXY|SERVER|ENDPOINT))s?)"
    r"[\\\"']{0,5}[ \t]{0,4}(?::|=>?|>)(?:\n[ \t]{0,16}-)?[ \t]{0,4}([\\\"'\[]{0,6})"
)
"""A name, a sign between and what opens a value: in YAML, a shell, a connection string, XML."""
_OPTION = rf"--[a-z-]{{0,24}}(?:{KEYS}|keyserver)[ \t]{{1,4}}[\"']?"
_ORACLE = r"\bjdbc:oracle:[a-z]{1,9}:[^\s@\"']{0,99}@(?://)?"
_PORT = r"(?:^|[^\w.%\\\x{80}-\x{10FFFF}-])([a-z0-9][\w.-]*\.[a-z0-9]{1,24}):[0-9]{2,5}/"
"""`evil.test:5000/image`"""
_VALUE = r"[^\s,;\"'<>(){}\\|`]+"
NAMED = rf"(?i){_JSON}|{_PORT}|(?:{_SETTING}|{_OPTION}|{_ORACLE})({_VALUE}[.:]{_VALUE})"
"""Where a text may name a host (RE2)."""

_NEXT = re.compile(
    r"[\"']{0,2}(?:[,;]\s{0,3}|[ \t]|\n[ \t]{0,16}-[ \t])[\"']?"
    r"([^\s,;=\"'<>(){}\\|`]+)"
)
"""What follows in a list; a name with a value is found by itself."""
_BY = re.compile(r"(?:tcp|np|lpc|admin):", re.IGNORECASE)
_PATH = re.compile(r"[/?#]")
_IS_LOCAL = re.compile(r"127\.|0\.0\.0\.0\Z|::1?\Z")
"""This machine, as `localhost`: in half of all settings, and only for who is on it."""
_OF_OBJECT = re.compile(r"(?:self|this|cls)\.\w+")


def named_hosts(text: str, pattern: re.Pattern[str]) -> Iterator[Destination]:
    """The hosts that the text names; `pattern` is `NAMED`, compiled. Linear in the text."""
    listed = set[tuple[int, bool]]()
    for match in pattern.finditer(text):
        json, ported, opened, first = match.groups()
        if json:
            if json[0] == ".":
                continue  # a module beside this one: `"Proxy": ".proxies"`
            for found in destinations(json, Kind.URL):
                if found.fault or looks_like_host(found.host):
                    yield found
        elif ported:
            yield from filter(None, (host_written(f"{ported}:", quoted=True),))
        elif text[match.end() : match.end() + 1] not in ("(", "[", "{"):
            quoted = bool(opened)
            yield from _listed(text, _BY.sub("", first), match.end(), listed, quoted=quoted)


def _listed(
    text: str, part: str, end: int, known: set[tuple[int, bool]], *, quoted: bool
) -> Iterator[Destination]:
    """The host that a value is, which ends there, and those that follow it; `known` are the ends
    behind which other lists of the text have gone on."""
    while (found := host_written(part.rstrip(".:!?]"), quoted=quoted)) is not None:
        yield found
        if (end, quoted) in known:
            return
        known.add((end, quoted))
        following = _NEXT.match(text, end)
        if following is None:
            return
        part, end = following[1], following.end()


def host_written(part: str, *, quoted: bool) -> Destination | None:
    """The host that a value without a scheme is; None where it ends as no host does.

    `quoted`: that it is a value is beyond doubt.
    """
    authority = _PATH.split(part, maxsplit=1)[0]
    name, port = split_port(authority)
    if authority.count(":") > 1 and canonical_host(address := authority.partition("]")[0]):
        name, port = address, ""
    host = canonical_host(name) if name and "@" not in name else None
    if host is None:
        return None
    if is_address(host):
        written = (name.count(".") == 3 or ":" in name) and not _IS_LOCAL.match(host)
        return Destination(host, short(authority)) if written else None
    last = host.rpartition(".")[2]
    sure = quoted or port or len(authority) < len(part)
    sure = sure or (last not in ATTRIBUTES and _OF_OBJECT.fullmatch(name) is None)
    if last == host or last not in TOP_LABELS or not sure:
        return None
    return Destination(host, short(authority))
