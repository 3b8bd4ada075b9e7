"""Personal data in text: mail address, card, IBAN, social security number, phone, IP address.

Each kind is found by a linear pattern and then checked by what makes it real: check digits and
national formats (python-stdnum), number plans (phonenumbers), `ipaddress`, clean boundaries.
Redaction rewrites text: a timestamp, an order number, a version or a UUID that is masked is
corrupted data. The libraries see one candidate of bounded length at a time, never the text, and
are loaded when the first candidate turns up.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Literal, NamedTuple, get_args

from .masks import Span
from .patterns import compile_pattern
from .secrets import ESCAPED

PersonalKind = Literal["email", "card", "iban", "ssn", "phone", "ip"]
PERSONAL: tuple[PersonalKind, ...] = get_args(PersonalKind)
"""The kinds of personal data that a policy can name."""

Detector = Callable[[str], Iterable[Span]]
"""Finds what no pattern here can, names of people above all."""

_JOINERS = frozenset("._-/:@#=+~\\")
_VERSION_SAID = re.compile(
    r"(?:version|release|build|firmware|section|\u00a7"
    r"|(?:(?<![a-z])|(?<=\\[nrt])|(?-i:(?<=[a-z])(?=[A-Z])))(?:ver|rev|tag|v|oid|chapter|clause)"
    r"|\b(?:up|down)(?:grade|date)[a-z]*(?: [\w@/-]{1,15})?|\bbump[a-z]*(?: [\w@/-]{1,15})?)"
    r"(?:\.?[\s:=#\"'(]{0,4}|\s(?:from\s(?:[0-9.]{1,15}\sto\s)?|to\s))\Z|[><~^]=\s?\Z|[\w\]][=!]=\Z",
    re.IGNORECASE,
)
"""What stands before a number with dots that is no address: `firmware 1.2.3.4`, `pkg==1.2.3.4`."""


Real = Callable[[str, int, int], Iterator[Span]]
"""What in a candidate (text, start, end) is real."""


class Candidate(NamedTuple):
    """Kind, the pattern that finds a candidate, and what in it is real."""

    kind: PersonalKind
    pattern: str
    real: Real
    least: str = ""
    """Where the pattern also finds what is far too short to be real, the least that is."""

    @property
    def watched(self) -> str:
        """A pattern that matches wherever something real stands."""
        return self.least or self.pattern


@dataclass(frozen=True, slots=True)
class PersonalData:
    """What counts as personal data: the built-in kinds, and what a policy adds.

    `regions` are ISO 3166 codes whose national phone numbers count; numbers with `+`, and North
    American ones in their usual spelling, always do. `detectors` are kinds of their own, by name.
    """

    regions: tuple[str, ...] = ()
    detectors: tuple[tuple[str, Detector], ...] = ()

    def spans(self, text: str, kinds: Collection[str]) -> Iterator[Span]:
        """Where `text` holds data of these kinds; in no order, and spans may overlap."""
        signs = ":" in text or any(map(text.__contains__, "0123456789"))
        for row in self.candidates(kinds):
            if "@" in text if row.kind == "email" else signs:
                for match in compile_pattern(row.pattern).finditer(text):
                    yield from row.real(text, *match.span())
        yield from self.detected(text, kinds)

    def detected(self, text: str, kinds: Collection[str]) -> Iterator[Span]:
        """What the detectors of these kinds find."""
        for name, detector in self.detectors:
            if name in kinds:
                yield from detector(text)

    def candidates(self, kinds: Collection[str]) -> list[Candidate]:
        """How data of these kinds is found, detectors left out, which take whole texts only.

        What is real depends on up to 60 characters before a candidate and on two behind it, and on
        nothing else: whoever masks a text that is not whole yet relies on that.
        """
        found = [row for row in CANDIDATES.values() if row.kind in kinds]
        if "phone" in kinds and self.regions:
            found.append(Candidate("phone", _NATIONAL, partial(_national, regions=self.regions)))
        return found


def personal(text: str, *, kinds: Collection[str] = PERSONAL) -> Iterator[Span]:
    """Where `text` holds personal data of the built-in kinds."""
    return PersonalData().spans(text, kinds)


def _clean(text: str, start: int, end: int) -> bool:
    """Neither a letter, a digit nor a joining sign (`.5`, `-a`) stands at either end."""
    before, after = text[max(start - 1, 0) : start], text[end : end + 2]
    if before and (_in_word(text, start) or before in _JOINERS - {":", "=", "#"}):
        return False
    if not after:
        return True
    if after[0].isalnum() or after[0] in "_@":
        return False
    joins = after[0] in _JOINERS and after not in _ESCAPES
    return not (joins and len(after) == 2 and after[1].isalnum())


def _in_word(text: str, at: int) -> bool:
    """Whether a letter or digit stands before this place, and is one: in JSON `\\n` is none."""
    if not text[max(at - 1, 0) : at].isalnum():
        return False
    return _ESCAPED_END.search(text, max(at - _LONGEST_ESCAPE, 0), at) is None


def _begins(text: str, start: int, end: int) -> Iterator[int]:
    """Where a number may begin of whose digits the first may end an escape (`%20`, `\\u0020`)."""
    yield start
    before = text[max(start - _LONGEST_ESCAPE, 0) : start]
    if "%" in before or "\\" in before:
        for at in range(start + 1, min(start + _LONGEST_ESCAPE, end)):
            if _ESCAPED_END.search(text, max(at - _LONGEST_ESCAPE, 0), at):
                yield at


_ESCAPES = frozenset(f"\\{letter}" for letter in "bfnrtvux")
_ESCAPED_START, _ESCAPED_END = re.compile(rf"(?:{ESCAPED})\B"), re.compile(rf"(?:{ESCAPED})\Z")
_LONGEST_ESCAPE = len(r"\u000a")


def _email(text: str, start: int, end: int) -> Iterator[Span]:
    name, _, domain = text[start:end].rpartition("@")
    is_remote = name == "git" and text[end : end + 1] == ":"
    is_image = domain[0].isdigit() and domain[1:3] in ("x.", "X.")  # logo@2x.png
    if not is_remote and not is_image:
        # In JSON `\nann` is `ann`: what is left has to be JSON still.
        escape = _ESCAPED_START.match(text, start - 1, start + len(name)) if start else None
        yield escape.end() if escape else start, end, "email"


def _said_ssn(text: str, start: int, end: int) -> Iterator[Span]:
    """Behind words that say what it is, in groups of blanks or in none."""
    from stdnum.us import ssn

    start += _SSN_SAID.match(text[start:end]).end()  # type: ignore[union-attr]
    if _clean(text, start, end) and ssn.is_valid(text[start:end].replace(" ", "")):
        yield start, end, "ssn"


def _ssn(text: str, start: int, end: int) -> Iterator[Span]:
    from stdnum.us import ssn

    if _clean(text, start, end) and ssn.is_valid(text[start:end]):
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
        or "2200" <= n[:4] <= "2204"  # Mir
        or n[:4] in ("5018", "5020", "5038", "5893", "6304", "6759", "6761", "6762", "6763")
    ),
    19: lambda n: n[0] == "4" or n[:2] == "62",
}
_BETWEEN_GROUPS = re.compile("[ .\u00a0\u202f-]")
_GROUPINGS = frozenset(
    ((14,), (15,), (16,), (19,), (4, 4, 4, 4), (4, 4, 4, 4, 3), (4, 6, 5), (4, 6, 4))
)


def _card(text: str, start: int, end: int) -> Iterator[Span]:
    for begin in _begins(text, start, end):
        yield from _cards(text, begin, end)


def _cards(text: str, start: int, end: int) -> Iterator[Span]:
    """Runs of digit groups: a card may be followed by other numbers (`... 1111 12/29`)."""
    groups: list[tuple[int, int]] = []
    at = start
    for piece in _BETWEEN_GROUPS.split(text[start:end]):
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
    from stdnum import luhn

    start, end = window[0][0], window[-1][1]
    separators = {text[b] for _, b in window[:-1]}
    number = "".join(text[a:b] for a, b in window)
    return (
        len(separators) <= 1
        and _clean(text, start, end)
        and _ISSUERS[len(number)](number)
        and bool(luhn.is_valid(number))
    )


@lru_cache(maxsize=4_096)
def _is_phone(value: str, region: str | None) -> bool:
    """Whether the number plan of its country has such a number."""
    import phonenumbers

    if not 7 <= sum(map(str.isdigit, value)) <= 15:
        return False
    try:
        number = phonenumbers.parse(value, region)
    except phonenumbers.NumberParseException:
        return False
    return phonenumbers.is_valid_number(number)


def _phone(text: str, start: int, end: int) -> Iterator[Span]:
    """With a plus sign, or three groups; what follows after a space may be another number."""
    region = None if text[start] == "+" else "US"
    while end > start:
        if _clean(text, start, end) and _is_phone(text[start:end], region):
            yield start, end, "phone"
            return
        end = start + max(text[start:end].rfind(" "), 0)


def _national(text: str, start: int, end: int, *, regions: tuple[str, ...]) -> Iterator[Span]:
    for begin in _begins(text, start, end):
        yield from _of_region(text, begin, end, regions)


def _of_region(text: str, start: int, end: int, regions: tuple[str, ...]) -> Iterator[Span]:
    """In groups, or with the leading zero of a trunk call; a date is none."""
    while end > start:
        value = text[start:end]
        groups = len(_DIGITS.findall(value))
        said = groups > 1 or value[0] == "0"
        if (
            said
            and _clean(text, start, end)
            and _DATE.fullmatch(value) is None
            and any(_is_phone(value, region) for region in regions)
        ):
            yield start, end, "phone"
            return
        end = start + max(value.rfind(" "), 0)


def _ipv4(text: str, start: int, end: int) -> Iterator[Span]:
    for begin in _begins(text, start, end):
        yield from _address(text, begin, end)


def _address(text: str, start: int, end: int) -> Iterator[Span]:
    try:
        address = ipaddress.IPv4Address(text[start:end])
    except ValueError:
        return
    if address.is_loopback or _MASK.fullmatch(text, start, end):
        return  # as `::1`, they are in every program
    before = text[max(start - 24, 0) : start]
    if before.endswith("/") and before[-2:-1].isalnum():
        return  # a product token: Name/1.2.3.4
    is_round = text.endswith(".0.0.0", start, end)
    if is_round or _VERSION_SAID.search(text[max(start - 60, 0) : start]):
        return
    edge = before[-1:]
    after = text[end : end + 2]
    joined = _in_word(text, start) or (edge and edge in "._-+")
    trailing = after[:1].isalnum() or (after[:1] in tuple("._-") and after[1:2].isalnum())
    if not joined and not trailing:
        yield start, end, "ipv4"


_MASK = re.compile(
    r"255(?:\.255){0,2}(?:\.[0-9]+)?\.0|255\.255\.255\.(?:128|192|224|240|248|252|254)"
)
_ROUTED = tuple(map(ipaddress.IPv6Network, ("2000::/3", "fc00::/7", "fe80::/10")))
"""Addresses of machines; `::` and `::1` are in every program."""


def _ipv6(text: str, start: int, end: int) -> Iterator[Span]:
    while text[end - 1] in ":." and text[end - 2 : end] != "::":
        end -= 1
    edge, after = text[max(start - 1, 0) : start], text[end : end + 1]
    if (
        _in_word(text, start)
        or edge in ("_", ":")
        or after.isalnum()
        or after == "_"
        or end - start > 45
    ):
        return
    if is_machine(text[start:end]):
        yield start, end, "ipv6"


def is_machine(text: str) -> bool:
    """Whether a text is the IPv6 address of a machine."""
    if text.count(":") < 2:
        return False
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return any(address in network for network in _ROUTED)


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


def _ibans(text: str, start: int, end: int) -> Iterator[Span]:
    """Every number in a run of groups that begins like one; words may be among them."""
    for match in _IBAN_BEGINS.finditer(text, start, end):
        yield from _iban(text, match.start(1), end)


def _iban(text: str, start: int, end: int) -> Iterator[Span]:
    """From a country code and two digits on: as many characters as the country's numbers have."""
    from stdnum import iban

    size = _IBAN_LENGTHS[text[start : start + 2].upper()]
    number = ""
    for at in range(start, min(start + 2 * size, end)):
        if text[at] not in " -":
            number += text[at]
            if len(number) == size:
                # The check digits tell; registries of banks are older than the accounts.
                if _clean(text, start, at + 1) and iban.is_valid(number, check_country=False):
                    yield start, at + 1, "iban"
                return


_IBAN_COUNTRY = rf"(?:{'|'.join((*_IBAN_LENGTHS, *map(str.lower, _IBAN_LENGTHS)))})[0-9][0-9]"
_IBAN_BEGINS = re.compile(rf"(?:(?a:\b)|{ESCAPED})({_IBAN_COUNTRY})")
_SSN_AFTER = r"(?i)(?:\bssn|social security)[a-z ]{0,10}[.:=# ]{1,3}"
_SSN_SAID = re.compile(_SSN_AFTER)
_NATIONAL = r"\(?[0-9]{2,12}\)?(?:[ ./-]{1,2}\(?[0-9]{2,9}\)?){0,5}"

CANDIDATES: dict[str, Candidate] = {
    "email": Candidate("email", r"[\pL\pN._%+'-]+@[\pL\pN-]+(?:\.[\pL\pN-]+)*\.\pL{2,24}", _email),
    "ssn": Candidate("ssn", r"[0-9]{3}-[0-9]{2}-[0-9]{4}", _ssn),
    "said_ssn": Candidate("ssn", _SSN_AFTER + r"[0-9]{3} ?[0-9]{2} ?[0-9]{4}", _said_ssn),
    "credit_card": Candidate(
        "card",
        r"[0-9]{4,23}(?:[ .\x{A0}\x{202F}-][0-9]{2,6})*",
        _card,
        least=r"[0-9](?:[ .\x{A0}\x{202F}-]?[0-9]){13,}",
    ),
    "iban": Candidate("iban", rf"(?:\b|{ESCAPED}){_IBAN_COUNTRY}(?:[ -]?[A-Za-z0-9])+", _ibans),
    "phone": Candidate(
        "phone",
        r"\+[0-9]{1,3}(?:[ .-]?(?:\([0-9]{1,4}\)|[0-9]{1,4})){2,7}"
        r"|(?:1[ .-])?(?:\([0-9]{3}\) ?|[0-9]{3}[ .-])[0-9]{3}[ .-][0-9]{4}",
        _phone,
    ),
    "ipv4": Candidate("ip", r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}", _ipv4),
    "ipv6": Candidate("ip", r"[0-9A-Fa-f]{4}:[0-9A-Fa-f:]*:[0-9A-Fa-f.:]*", _ipv6),
}
"""The candidates by name, in the order in which they are looked for."""

_DIGITS = re.compile("[0-9]+")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4}")
