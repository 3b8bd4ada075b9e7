"""Personal data in text: mail address, social security number, card, phone, IPv4 address, IBAN.

Each kind is found by a linear pattern and then checked by what makes it real (check digits, issuer
ranges, octets, clean boundaries), because redaction rewrites text: a timestamp, an order number,
a version or a UUID that is masked is corrupted data.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cache
from typing import Any, Literal, get_args

from .patterns import compile_pattern

Span = tuple[int, int, str]
"""Start, end (exclusive) and label."""

PersonalKind = Literal["email", "card", "iban", "ssn", "phone", "ip"]
PERSONAL: tuple[PersonalKind, ...] = get_args(PersonalKind)
"""The kinds of personal data that a policy can name."""

_JOINERS = frozenset("._-/:@#=+~\\")
_VERSION_WORDS = ("version", "release", "ver", "rev", "build", "tag", "upgrade to", "update to")


def personal(text: str, *, kinds: Collection[str] = PERSONAL) -> Iterator[Span]:
    """Where `text` holds personal data of these kinds; in no order, and kinds may overlap."""
    if "email" in kinds and "@" in text:
        for match in _pattern("email").finditer(text):
            yield *match.span(), "email"
    if not any(map(text.__contains__, "0123456789")):
        return
    for label, (kind, real) in _CHECKED.items():
        if kind in kinds:
            for match in _pattern(label).finditer(text):
                yield from real(text, *match.span())


def _clean(text: str, start: int, end: int) -> bool:
    """Neither a letter, a digit nor a joining sign (`.5`, `-a`) stands at either end."""
    before, after = text[max(start - 1, 0) : start], text[end : end + 2]
    if before and (before.isalnum() or before in _JOINERS - {":", "=", "#"}):
        return False
    if not after:
        return True
    if after[0].isalnum() or after[0] in "_@":
        return False
    return not (after[0] in _JOINERS and len(after) == 2 and after[1].isalnum())


def _ssn(text: str, start: int, end: int) -> Iterator[Span]:
    area, group, serial = text[start:end].split("-")
    issued = area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"
    if issued and _clean(text, start, end):
        yield start, end, "ssn"


# Length of the number -> does it begin as an issuer's numbers do. (ISO/IEC 7812, issuers' pages.)
_ISSUERS: dict[int, Callable[[str], bool]] = {
    14: lambda n: n[:2] in ("36", "38") or "300" <= n[:3] <= "305",
    15: lambda n: n[:2] in ("34", "37"),
    16: lambda n: (
        n[0] == "4"
        or "51" <= n[:2] <= "55"
        or "2221" <= n[:4] <= "2720"
        or n[:4] == "6011"
        or "644" <= n[:3] <= "659"
        or "3528" <= n[:4] <= "3589"
        or n[:2] == "62"
    ),
    19: lambda n: n[0] == "4" or n[:2] == "62",
}
_GROUPINGS = frozenset(
    ((14,), (15,), (16,), (19,), (4, 4, 4, 4), (4, 4, 4, 4, 3), (4, 6, 5), (4, 6, 4))
)


def _card(text: str, start: int, end: int) -> Iterator[Span]:
    """Runs of digit groups: a card may be followed by other numbers (`... 1111 12/29`)."""
    groups: list[tuple[int, int]] = []
    at = start
    for piece in text[start:end].replace("-", " ").split(" "):
        groups.append((at, at + len(piece)))
        at += len(piece) + 1
    first = 0
    while first < len(groups):
        last = first
        for count in (5, 4, 3, 1):
            window = groups[first : first + count]
            if tuple(b - a for a, b in window) in _GROUPINGS and _is_card(text, window):
                yield window[0][0], window[-1][1], "credit_card"
                last = first + count - 1
                break
        first = last + 1


def _is_card(text: str, window: list[tuple[int, int]]) -> bool:
    start, end = window[0][0], window[-1][1]
    separators = {text[b] for _, b in window[:-1]}
    number = "".join(text[a:b] for a, b in window)
    return (
        len(separators) <= 1
        and _clean(text, start, end)
        and _ISSUERS[len(number)](number)
        and _luhn(number)
    )


def _luhn(number: str) -> bool:
    digits = [int(d) for d in reversed(number)]
    doubled = (d * 2 - 9 if d > 4 else d * 2 for d in digits[1::2])
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


def _phone(text: str, start: int, end: int) -> Iterator[Span]:
    """With a plus sign, or three groups; what follows after a space may be another number."""
    while end > start:
        value = text[start:end]
        digits = sum(c.isdigit() for c in value)
        real = 8 <= digits <= 15 if value[0] == "+" else digits == 10
        if real and _clean(text, start, end):
            yield start, end, "phone"
            return
        end = start + max(value.rfind(" "), 0)


def _ipv4(text: str, start: int, end: int) -> Iterator[Span]:
    octets = text[start:end].split(".")
    if any(int(o) > 255 or (len(o) > 1 and o[0] == "0") for o in octets):
        return
    before = text[max(start - 24, 0) : start]
    if before.endswith("/") and before[-2:-1].isalnum():
        return  # a product token: Name/1.2.3.4
    said = before.casefold().rstrip(" :=#\"'")
    if said.endswith(_VERSION_WORDS):
        return
    edge = before[-1:]
    after = text[end : end + 2]
    joined = edge.isalnum() or (edge and edge in "._-+")
    trailing = after[:1].isalnum() or (after[:1] in tuple("._-") and after[1:2].isalnum())
    if not joined and not trailing:
        yield start, end, "ipv4"


# Country -> length. (SWIFT IBAN registry.)
_IBAN_LENGTHS = {
    country: int(size)
    for size, countries in (
        ("15", "NO"), ("16", "BE"), ("18", "DK FO FI GL NL"), ("19", "MK SI"),
        ("20", "AT BA EE KZ LT LU XK"), ("21", "CH HR LI LV"),
        ("22", "BG BH CR DE GB GE IE ME RS VA"), ("23", "AE GI IL IQ TL OM"),
        ("24", "AD CZ ES MD PK RO SA SE SK TN VG"), ("25", "LY PT ST"), ("26", "IS TR"),
        ("27", "FR GR IT MC MR SM"), ("28", "AL AZ BY CY DO GT HU LB NI PL"),
        ("29", "BR EG PS QA UA"), ("30", "JO KW MU"), ("31", "MT SC"), ("32", "LC"), ("33", "RU"),
    )
    for country in countries.split()
}  # fmt: skip


def _iban(text: str, start: int, end: int) -> Iterator[Span]:
    value = text[start:end]
    size = _IBAN_LENGTHS.get(value[:2])
    if size is None:
        return
    kept = 0
    for offset, char in enumerate(value):
        kept += char != " "
        if kept == size:
            end = start + offset + 1
            break
    number = text[start:end].replace(" ", "")
    if len(number) != size or not _clean(text, start, end):
        return
    if int("".join(str(int(c, 36)) for c in number[4:] + number[:4])) % 97 == 1:
        yield start, end, "iban"


_CHECKED: dict[str, tuple[PersonalKind, Callable[[str, int, int], Iterator[Span]]]] = {
    "ssn": ("ssn", _ssn),
    "credit_card": ("card", _card),
    "iban": ("iban", _iban),
    "phone": ("phone", _phone),
    "ipv4": ("ip", _ipv4),
}
"""Label of the mask -> the kind it belongs to, and what makes a candidate real."""

_PATTERNS = {
    "email": r"[\pL\pN._%+'-]+@[\pL\pN-]+(?:\.[\pL\pN-]+)*\.\pL{2,24}",
    "ssn": r"[0-9]{3}-[0-9]{2}-[0-9]{4}",
    "credit_card": r"[0-9]{4,19}(?:[ -][0-9]{2,6})*",
    "iban": r"[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,30}",
    "phone": (
        r"\+[0-9]{1,3}(?:[ .-]?(?:\([0-9]{1,4}\)|[0-9]{1,4})){2,7}"
        r"|\([0-9]{3}\) ?[0-9]{3}[ .-][0-9]{4}|[0-9]{3}[ .-][0-9]{3}[ .-][0-9]{4}"
    ),
    "ipv4": r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}",
}


@cache
def _pattern(label: str) -> Any:
    return compile_pattern(_PATTERNS[label])


def _email(text: str, start: int, end: int) -> Iterator[Span]:
    yield start, end, "email"


Candidate = tuple[PersonalKind, str, Callable[[str, int, int], Iterator[Span]]]
"""Kind, the pattern that finds a candidate, and what in it (text, start, end) is real."""

CANDIDATES: dict[str, Candidate] = {
    "email": ("email", _PATTERNS["email"], _email),
    **{label: (kind, _PATTERNS[label], real) for label, (kind, real) in _CHECKED.items()},
}
"""Label of the mask -> the candidates, in the order in which `personal` looks for them.

What is real depends on up to 60 characters before a candidate and on two behind it, and on nothing
else: whoever masks a text that is not whole yet relies on that.
"""
