"""Cookies that stand for a session: who has one is the user, as with a password.

In a header `Cookie` or `Set-Cookie` the name has to say so; elsewhere only names count that mean
nothing else (`JSESSIONID=…`). Cookies of settings, consent and measurement are none.
"""

from __future__ import annotations

import re
from typing import Any

_VALUE = r"[^\s;,\"'\\<>]"
COOKIE_HEADER = (
    r"(?i)\bcookie[\\\"']{0,3}\s{0,3}[:=]\s{0,3}[\\\"']{0,3}"
    rf"(?P<secret>[\w!.-]+={_VALUE}+(?:; ?[\w!.-]+={_VALUE}*)*)"
)
"""The header's name and its cookies (RE2)."""
SESSION_COOKIE = (
    r"(?i)(?:^|[^\w.-])(?:PHPSESSID|JSESSIONID|ASPSESSIONID[A-Z]{8}|ASP\.NET_SessionId|connect\.sid"
    r"|sessionid|laravel_session|_gh_sess|user_session|wordpress_logged_in_[0-9a-f]{32}"
    r"|__(?:Host|Secure)-[\w-]*(?:sess|sid|auth|token)[\w-]*)"
    rf"=(?P<secret>{_VALUE}{{8,}})"
)
"""A cookie that is a session's whatever stands around it (RE2)."""

_NAME = re.compile(r"sess|(?:^|[_.-])s?sid$|auth|jwt|token|login|remember", re.IGNORECASE)
_OTHER = re.compile(r"csrf|xsrf|author|date|time|count|type|lang", re.IGNORECASE)
_STANDS_FOR = re.compile(r"[$%{<\[*]|(?:your|example|deleted|none|null)", re.IGNORECASE)
_SHORTEST = 8


def holds_session(match: Any) -> bool:
    """Whether one of the cookies of a match of `COOKIE_HEADER` is a session's."""
    for cookie in match["secret"].split(";"):
        name, _, value = cookie.strip().partition("=")
        if _NAME.search(name) and not _OTHER.search(name) and _is_drawn(value):
            return True
    return False


def is_session(match: Any) -> bool:
    """Whether a match of `SESSION_COOKIE` has a value, and nothing that stands for one."""
    return _is_drawn(match["secret"])


def _is_drawn(value: str) -> bool:
    if len(value) < _SHORTEST or _STANDS_FOR.match(value):
        return False
    return any(map(str.isdigit, value)) and any(map(str.isalpha, value))
