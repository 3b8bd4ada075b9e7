"""Secrets of no known format: a value that looks random behind a name that says what it is.

Both have to be there. Names such as `cache_key` and `next_page_token` say something else; words,
paths, UUIDs, digits and stand-ins (`your-api-key`) do not look random.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Any

NAMED_VALUE = (
    r"(?i)(?:key|secret|token|passw(?:or)?d|pwd|passphrase|credentials?)"
    r"(?:\\{0,2}[\"'`]?\]?\s{0,4}(?::=|=>|->|[:=>,])\s{0,4}|\s{1,3})\\{0,2}[\"'`]?"
    r"(?P<secret>[A-Za-z0-9_~+/.-][A-Za-z0-9_~+/.!#$%*@^-]{11,}={0,2})"
)
"""A name's last word, what leads from a name to its value in any language, and the value."""

_NAME = "-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
_LONGEST_NAME = 60
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_UUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SHORTEST, _SHORT = 12, 16
"""Signs of a value that is looked at, and below which it has to look more random than others."""
_CLASS_CHANGE = re.compile(r"(?:(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=[0-9])[A-Za-z])")

_SECRET = frozenset(
    {"secret", "password", "passwd", "pwd", "passphrase", "credential", "credentials"}
)
_QUALIFIES = (
    "access account admin api app auth authorization bearer bot client consumer deploy encryption "
    "functions github gitlab hf id jwt license master npm oauth personal private refresh secret "
    "security service session signing slack ssh storage subscription user vault webhook"
)
_OTHER_KEYS = (
    "cache continuation csrf cursor dict event foreign group hash hot i18n idempotency lookup map "
    "message next object page partition press prev previous primary pub public row shard short "
    "sort start sync table translation xsrf"
)
_QUALIFIED, _OTHER = frozenset(_QUALIFIES.split()), frozenset(_OTHER_KEYS.split())
_JOINED = ("apikey", "accesskey", "secretkey", "privatekey", "authtoken", "accesstoken", "apitoken")
_STAND_INS = (
    "your", "example", "placeholder", "changeme", "change_me", "change-me", "replace", "dummy",
    "sample", "xxxx", "redacted", "insert", "0000000", "1234567890123", "abcdefghijkl",
    "secret_key",
)  # fmt: skip


def is_named_secret(match: Any) -> bool:
    """Whether a match of `NAMED_VALUE` is a secret: by its name, and by how its value looks."""
    text, start = match.string, match.start()
    if text[match.end() : match.end() + 1] == "(":
        return False  # a function: `secret = base64.b64decode(...)`
    before = text[max(start - _LONGEST_NAME, 0) : start]
    name = before[len(before.rstrip(_NAME)) :]
    word = text[start : match.start(1)]
    said = word[: len(word) - len(word.lstrip(_NAME[12:]))]
    is_option = name.startswith("--")
    if not word[len(said) :].strip() and not is_option:
        return False  # a space alone leads to a value on a command line only
    if not (names_a_secret(name + said) or (is_option and said == "token")):
        return False
    return looks_random(match[1])


def names_a_secret(name: str) -> bool:
    """Whether a value under this name is one to keep: `OPENAI_API_KEY`, `clientSecret`."""
    found = _WORD.findall(name)
    words = [word.lower() for word in found]
    if not words or _OTHER.intersection(words):
        return False
    last = words[-1]
    if last in _SECRET or last in _JOINED:
        return True
    if last not in ("key", "token"):
        return False
    shouted = name.isupper() and (len(words) > 1 or last == "token")
    return shouted or bool(_QUALIFIED.intersection(words[:-1])) or words[-2:-1] == ["apikey"]


def looks_random(value: str) -> bool:
    """Whether a value is no word, path, number or stand-in, but drawn at random."""
    value = value.rstrip("=")[:256]
    letters = [c for c in value if c.isalpha()]
    digits = sum(map(str.isdigit, value))
    size = len(letters) + digits
    if len(value) < _SHORTEST or not letters or not digits or value[0] in "/.~-":
        return False
    lower = value.lower()
    if _UUID.fullmatch(value) or any(word in lower for word in _STAND_INS):
        return False
    mixed = any(map(str.isupper, letters)) and any(map(str.islower, letters))
    changes = len(_CLASS_CHANGE.findall(value)) / size
    if len(value) < _SHORT:
        no_letters = len(value) - len(letters)
        return mixed and no_letters > 1 and changes >= 0.5 and _entropy(value) >= 3.0
    return changes >= (0.33 if mixed else 0.2) and _entropy(value) >= 3.0


def _entropy(value: str) -> float:
    """Bits a character (Shannon)."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values())
