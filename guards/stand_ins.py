"""Links in programs and manuals of which a part is put in later, and names that look like links.

Only a text that speaks of a link has them: in a field for links, and in a command, they are links.
"""

from __future__ import annotations

import re

from .hosts import Destination, canonical_host, short

USER = "user information before the host"
"""The fault of a link for which it may be another host."""

_STAND_IN = re.compile(
    r"\$\w{1,64}|%s|%\(\w{1,64}\)s|\[[A-Za-z_-]{1,64}\](?::\[[A-Za-z_-]{1,64}\])?"
)
"""What stands for a host that is put in later: a link in a program or a manual."""
_LATER = (
    r"(?:\$?\{{1,2}[\w .()\[\]-]{1,64}\}{1,2}|\$\w{1,64}|%s|%\(\w{1,64}\)s|\[[A-Za-z_-]{1,64}\]"
    r"|<[\w -]{1,64}>)"
)
_ENDS = r"(?:[0-9]{1,5})?(?=[/?#\s\"'<>)`,]|\Z)"
_ANY_BELOW = re.compile(rf"(?:\*|{_LATER})\.([A-Za-z0-9.-]{{1,255}}):?{_ENDS}")
"""A host whose first label is put in later (`https://{shop}.example.com/`), or any."""
_USER_LATER = re.compile(
    rf"{_LATER}(?::{_LATER})?@(?:{_LATER}|([A-Za-z0-9.-]{{1,255}}))(?::{_LATER}?)?{_ENDS}"
)
"""A user that is put in later, and perhaps the host: `postgresql://{user}:{password}@{host}/x`."""
_SPOILT = re.compile(r"[\w.-]*(?:\[\.\][\w-]+)+(?::[0-9]{1,5})?")
"""`evil[.]test`: so that it is no link."""
_NAMESPACE = re.compile(
    r"(?:www\.w3\.org/(?:1999/(?:xhtml|xlink|XSL/Transform|02/22-rdf-syntax-ns#)|2000/(?:svg|01/rdf-schema#)"
    r"|2001/XMLSchema(?:-instance)?|1998/Math/MathML|XML/1998/namespace|2005/Atom|TR/[\w/.-]{1,60}\.dtd)"
    r"|json-schema\.org/draft[-/0-9]{2,9}(?:/schema)?#?|maven\.apache\.org/(?:POM|xsd)/[\w.-]{1,30}"
    r"|schemas\.(?:android\.com/apk/res(?:-auto|/android)"
    r"|(?:microsoft\.com|openxmlformats\.org|xmlsoap\.org)/[\w/.-]{0,80})|www\.sitemaps\.org/schemas/sitemap/0\.9|schema\.org/?)"
    r"(?=\\?[\"'\s]|\Z)"
)
"""Names in the form of links, by which XML and JSON say what they are: nothing is loaded there."""


def stands_for_a_host(shown: str) -> bool:
    """Whether a host is put in later for what stands there: `$HOST`, `%s`, `[your-domain]`."""
    return _STAND_IN.fullmatch(shown) is not None


def is_name(text: str, at: int) -> bool:
    """Whether a name of XML or JSON that is written as a link stands there."""
    return _NAMESPACE.match(text, at) is not None


def left_open(text: str, at: int, fault: Destination) -> Destination | None:
    """What a text that only speaks of a link says of its host, where a part of it is left open."""
    match = (_USER_LATER if fault.fault == USER else _ANY_BELOW).match(text, at)
    if match is None:
        return None if _SPOILT.fullmatch(fault.shown) else fault
    host = canonical_host(match[1]) if match[1] else None
    if host:
        return Destination(host, short(match[0]))
    return fault if match[1] else None
