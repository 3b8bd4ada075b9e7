"""What credentials look like: the shipped patterns, always on.

One row a format: label and pattern. A group named `secret` is what gets masked; without one it is
the whole match. Formats are those that providers document or that public scanners list; each has a
prefix or a context of its own, because a rule that hits ordinary text would be switched off. What
has no format is found by its name and by how random it looks (`guards/entropy.py`).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .cookies import COOKIE_HEADER, SESSION_COOKIE, holds_session, is_session
from .entropy import NAMED_VALUE, QUOTED_VALUE, is_name, is_named_secret, looks_random
from .key_formats import BEGIN, FORMATS, PRIVATE_KEY, VENDORS
from .passwords import CHOSEN_PASSWORD, is_chosen


@dataclass(frozen=True, slots=True)
class SecretPattern:
    """`name` is the mask's label, `regex` an RE2 pattern, `where` the `file:line` it is from.

    `real` has the last word on a match, where a pattern alone cannot tell. With `in_text` it is a
    secret within a text only: a field of that name takes such a value (`login(password=…)`).
    """

    name: str
    regex: str
    where: str = ""
    real: Callable[[Any], bool] | None = None
    in_text: bool = False

    def finds(self, compiled: Any, text: str) -> Iterator[tuple[int, int]]:
        """Where its secrets stand in `text` (as `searchable` gives it): start, end (exclusive)."""
        group = compiled.groupindex.get("secret", 0)
        for match in compiled.finditer(text):
            if self.real is not None and not self.real(match):
                continue
            start, end = match.span(group)
            if start < 0:  # the match went past the group: then all of it is the secret
                start, end = match.span()
            if start < end:
                yield start, end


_CASELESS = f"(?i){BEGIN}"
_OPAQUE = r"[A-Za-z0-9._~+/-]"
_IN_CONTEXT: tuple[tuple[str, str], ...] = (
    (
        "authorization_header",
        _CASELESS + r"authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?"
        r"(?:bearer|basic|(?:api-?)?token|api-?key|key|negotiate|ssws)\s{1,4}"
        rf"(?P<secret>{_OPAQUE}{{8,}}=*)",
    ),
    (
        "bearer_token",
        # Long enough, and unlike a word: with a digit in it, or longer than words are.
        _CASELESS + rf"bearer\s{{1,4}}(?P<secret>[A-Za-z._~+/-]{{0,40}}[0-9]{_OPAQUE}{{15,}}=*"
        rf"|{_OPAQUE}{{15,}}[0-9]{_OPAQUE}*=*|[A-Za-z0-9_]{{24,}})",
    ),
    (
        "database_password",
        _CASELESS + r"(?:postgres(?:ql)?|mysql|mariadb|mongodb|redis|rediss|amqps?|mssql|oracle"
        r"|sqlserver|snowflake|cassandra|couchdb|couchbase|db2|neo4j|bolt|nats|influxdb|trino|presto"
        r"|vertica|elasticsearch|clickhouse|cockroachdb|cloudinary|ldaps?)(?:\+[a-z0-9]+)?"
        r"://[^\s:/@]{0,128}:(?P<secret>[^\s@\"'`$<{*\[][^\s@\"'`]{0,255})@",
    ),
    (
        "url_password",
        _CASELESS + r"(?:https?|ftps?|wss?|ssh|smtps?|imaps?)://[^\s:/@]{1,128}:"
        r"(?P<secret>[^\s@/\"'`$<{*\[][^\s@/\"'`]{2,255})@",
    ),
    (
        "connection_string_password",
        _CASELESS
        + r"(?:server|data source|host|addr|uid|user|user id|username|database|initial catalog)"
        r"\s?=[^\n\"';]{1,200};(?:[^\n\"']{0,200};)?\s?(?:password|pwd)\s?="
        r"\s?(?P<secret>[^;\s\"'<{$%*\[][^;\s\"']{2,127})",
    ),
)

_LONGEST_PREFIX = 13
"""`sk-ant-api03-`"""

_SAYS_NOTHING = re.compile(
    r"(?:(?:your|my|the|a|db|user|fake|dummy|test|some|new|old|app|root|admin|access|api|auth|bearer"
    r"|jwt|client|personal|custom|manual|oauth|session|secret)[_ -]?)*"
    r"(?:(?:pass(?:word|wd|phrase)?|pwd|pw|secret|token|key)(?:[_ -](?:goes[_ -])?here)?"
    r"|change_?-?(?:me|this|it)|credentials?|example"
    r"|redacted|masked|hidden|[x*.\u2022\u2026]+)",
    re.IGNORECASE,
)
"""Tokens that stand in manuals."""
_PUT_IN = re.compile(
    r"%[sdv]|[x*.\u2022\u2026]+|your[_-]?(?:db[_-]?)?(?:pass(?:word|wd)?|pwd|secret)(?:[_-]?here)?"
    r"|redacted|masked|hidden",
    re.IGNORECASE,
)
_PART, _DIGIT = re.compile("[A-Za-z0-9]+"), re.compile("[0-9]")
_BASES = frozenset("ACGNTU")
_STANDS_IN = frozenset("xX0A")
"""Signs that are repeated in place of a key, or where bytes are nought."""
_OF_NO_NAME = (
    "sk-", "AIza", "AKIA", "ASIA", "ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-",
    "xox", "sk_live_", "sk_test_", "rk_live_",
)  # fmt: skip
"""Beginnings of keys with which no name in a program begins that is as long as they are."""
_LINE = re.compile(r"[A-Za-z0-9+/=]{4,}")
_MIXED = re.compile(r"[a-z][A-Z0-9]|[A-Z][0-9]|[0-9][A-Za-z]")
"""What stands in a private key, and the signs of no word beside one another."""


def _is_drawn(match: Any) -> bool:
    """No key of a manual, in which the same sign stands again and again (`sk-xxxxxxxxxxxxxxxx`);
    no name in a program, and no part of a genome."""
    secret = match["secret"] if "secret" in match.re.groupindex else match[0]
    if secret is None or len(secret) < 19:
        return True
    drawn = secret[_LONGEST_PREFIX:]
    signs = [set(part) for part in _PART.findall(drawn)]
    if all(len(of) == 1 and of < _STANDS_IN for of in signs) or "your_" in secret.lower():
        return False
    if _DIGIT.search(secret) is not None or secret.startswith(_OF_NO_NAME):
        return True
    return not (is_name(secret[3:]) or _BASES.issuperset(secret))


def _holds_key(match: Any) -> bool:
    """No words, dots or code in place of the key, as between the lines in a program or a manual.

    What breaks off behind the first line, or at its end, may be a key whose rest is elsewhere.
    """
    text = match[0]
    parts = [part for part in text.split("-----") if not part.startswith(("BEGIN", "END"))]
    lines = [line.split() for part in parts for line in part.replace("\\n", "\n").splitlines()]
    if match.end() == len(match.string) and not any(lines):
        return True
    return any(
        _MIXED.search(word) or (len(set(word)) > 1 and (word.isupper() or [word] == words))
        for words in lines
        for word in _LINE.findall(" ".join(words))
    )


def _is_there(match: Any) -> bool:
    """No word for a token, as in a manual: `Bearer YOUR_ACCESS_TOKEN`."""
    return _SAYS_NOTHING.fullmatch(match["secret"]) is None


def _is_set(match: Any) -> bool:
    """No sign for what a program or a reader puts in: `mysql://%s:%s@%s/db`.

    A word is a password all the same: `postgres:postgres` is that of many a database.
    """
    return _PUT_IN.fullmatch(match["secret"]) is None


def _is_login(match: Any) -> bool:
    """Whether a value is a name and a password in base64, as Docker and npm keep them."""
    try:
        return b":" in base64.b64decode(match["secret"], validate=True)[1:-1]
    except ValueError:
        return False


SHIPPED: tuple[SecretPattern, ...] = (
    SecretPattern("private_key", PRIVATE_KEY, real=_holds_key),
    *(SecretPattern(name, regex, real=_is_drawn) for name, regex in FORMATS),
    SecretPattern(
        "vendor_key",
        rf"{BEGIN}(?P<secret>(?:{VENDORS})(?P<drawn>[A-Za-z0-9_=-]{{20,}}))",
        real=lambda match: looks_random(match["drawn"]),
    ),
    *(
        SecretPattern(name, regex, real=_is_set if name.endswith("_password") else _is_there)
        for name, regex in _IN_CONTEXT
    ),
    SecretPattern(
        "authorization_value",
        _CASELESS
        + rf"authorization[\"']?\s{{0,4}}[:=]\s{{0,4}}[\"']?(?P<secret>{_OPAQUE}{{16,}}=*)",
        real=lambda match: looks_random(match["secret"]),
    ),
    SecretPattern(
        "stored_login",
        r"\"_?auth\\{0,8}\"\s{0,3}:\s{0,3}\\{0,8}\"(?P<secret>[A-Za-z0-9+/]{7,}={0,2})\\{0,8}\"",
        real=_is_login,
    ),
    SecretPattern("cookie_header", COOKIE_HEADER, real=holds_session),
    SecretPattern("session_cookie", SESSION_COOKIE, real=is_session),
    SecretPattern("generic_secret", NAMED_VALUE, real=is_named_secret),
    SecretPattern("quoted_secret", QUOTED_VALUE, real=is_named_secret),
    SecretPattern("password", CHOSEN_PASSWORD, real=is_chosen, in_text=True),
)
"""In the order in which a mask takes its label where two of them hit the same text."""
