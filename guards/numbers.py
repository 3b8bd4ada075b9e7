"""Which of what looks like a number of a person is one: a card, an account, a telephone, an SSN.

Told by check digits and national formats (python-stdnum) and by number plans (phonenumbers). The
libraries are loaded when the first candidate turns up.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise

from .edges import beginnings, is_clean
from .key_formats import ESCAPED
from .masks import Span


def said_social_security(text: str, start: int, end: int) -> Iterator[Span]:
    """Behind words that say what it is, in groups of blanks or in none."""
    from stdnum.us import ssn

    start += _SSN_SAID.match(text[start:end]).end()  # type: ignore[union-attr]
    digits = "".join(_DIGITS.findall(text, start, end))
    if is_clean(text, start, end) and ssn.is_valid(digits):
        yield start, end, "ssn"


def social_security(text: str, start: int, end: int) -> Iterator[Span]:
    """In the usual groups, of a range that is given out."""
    from stdnum.us import ssn

    if is_clean(text, start, end) and ssn.is_valid(text[start:end]):
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
        or n[:4] in ("5018", "5019", "5020", "5038", "5893", "6304", "6759", "6761", "6762", "6763")
    ),
    19: lambda n: n[0] == "4" or n[:2] == "62",
}
_BLANKS = r" \x{A0}\x{2007}\x{2009}\x{202F}"
_HYPHENS = r"\x{2010}\x{2011}\x{2012}\x{2013}-"
BETWEEN_CARD = rf"(?:[{_BLANKS}]?[._{_HYPHENS}]?[{_BLANKS}]?)"
"""Between the groups of a card's number: a blank or a sign, or a sign with blanks (RE2)."""
_OF_IBAN = frozenset(f"{string.ascii_letters}{string.digits}{string.whitespace}./-") | frozenset(
    "\u00a0\u2007\u2009\u202f\u2010\u2011\u2012\u2013"
)
"""What an account's number, and the signs between its groups, consist of."""
GROUPS_OF_IBAN = rf"(?:[\s{_BLANKS}./{_HYPHENS}]{{0,3}}[A-Za-z0-9]{{1,4}}){{3,8}}"
"""Of an account's number, which may go on in the next line (RE2)."""
_MIXED_GROUPS = re.compile(r"\d\.\d+ \d|\d \d+\.\d")
_GROUPINGS = frozenset(
    ((14,), (15,), (16,), (19,), (4, 4, 4, 4), (4, 4, 4, 4, 3), (4, 6, 5), (4, 6, 4))
)


def cards(text: str, start: int, end: int) -> Iterator[Span]:
    """Of a known issuer, with a true check digit; several may stand in a row."""
    for begin in beginnings(text, start, end):
        yield from _grouped(text, begin, end)


def _grouped(text: str, start: int, end: int) -> Iterator[Span]:
    """Runs of digit groups: a card may be followed by other numbers (`... 1111 12/29`)."""
    groups = [match.span() for match in _DIGITS.finditer(text, start, end)]
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
    separators = {text[b:a] for (_, b), (a, _) in pairwise(window)}
    number = "".join(text[a:b] for a, b in window)
    return (
        len(separators) <= 1
        and is_clean(text, start, end)
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


def phones(text: str, start: int, end: int) -> Iterator[Span]:
    """With a plus sign, two noughts, or three groups."""
    for begin in beginnings(text, start, end) if text.startswith("00", start) else (start,):
        yield from _phone(text, begin, end)


def _phone(text: str, start: int, end: int) -> Iterator[Span]:
    """What follows after a space may be another number."""
    is_abroad = text[start] == "+" or text.startswith("00", start)
    region = None if is_abroad else "US"
    if region and _of_number(text, start, end):
        return
    while end > start:
        value = text[start:end]
        value = f"+{value[2:]}" if value[:2] == "00" else value
        if is_clean(text, start, end) and _is_phone(value, region):
            yield start, end, "phone"
            return
        end = start + max(text[start:end].rfind(" "), 0)


def _of_number(text: str, start: int, end: int) -> bool:
    """Groups of digits of a longer number: `206.766 9894`, `2.002 319 304 3622`."""
    if _MIXED_GROUPS.search(text, start, end):
        return True
    before = text[max(start - 2, 0) : start]
    grouped = len(before) == 2 and before[0].isdigit() and before[1] in " ."
    return grouped and not any(sign in "-(" for sign in text[start:end])


def national_phones(text: str, start: int, end: int, *, regions: tuple[str, ...]) -> Iterator[Span]:
    """As people of these regions write them; also several in a row, or behind other numbers."""
    for begin in beginnings(text, start, end):
        starts = [begin, *(trunk.start() + 1 for trunk in _TRUNK.finditer(text, begin + 1, end))]
        until = end
        found: list[Span] = []
        for at in reversed(starts):
            # What is two numbers is not one that goes on.
            for span in _of_region(text, at, until, regions):
                found.append(span)
                until = at - 1
        yield from found


def _of_region(
    text: str, start: int, end: int, regions: tuple[str, ...], *, said: bool = False
) -> Iterator[Span]:
    """In groups, or with the leading zero of a trunk call, unless it is said; a date is none."""
    while end > start:
        value = text[start:end]
        if value[-1] == ")" and value.count("(") < value.count(")"):
            end -= 1
            continue
        groups = len(_DIGITS.findall(value))
        if (
            (said or groups > 1 or value[0] == "0")
            and is_clean(text, start, end)
            and _DATE.fullmatch(value) is None
            and any(_is_phone(value, region) for region in regions)
        ):
            yield start, end, "phone"
            return
        end = start + max(value.rfind(" "), 0)


def said_phones(text: str, start: int, end: int) -> Iterator[Span]:
    """Behind a word that says what it is: of a country where people would say it so."""
    word = _PHONE_SAID.match(text, start, end)
    if word is None:
        return
    if not text[word.end(1) : word.end()].strip() and _COUNTS.fullmatch(text, word.end(), end):
        return  # `mobile 8153963 downloads`
    regions = _REGIONS[word[1].lower()]
    for begin in beginnings(text, word.end(), end):
        yield from _of_region(text, begin, end, regions, said=True)


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


def ibans(text: str, start: int, end: int) -> Iterator[Span]:
    """Every number that begins in a run of groups; words may be among them, and the next number,
    which ends behind the run."""
    for match in _IBAN_BEGINS.finditer(text, start, min(end + 3, len(text))):
        yield from _iban(text, match.start(1))


def _iban(text: str, start: int) -> Iterator[Span]:
    """From a country code and two digits on: as many characters as the country's numbers have."""
    from stdnum import iban

    size = _IBAN_LENGTHS[text[start : start + 2].upper()]
    number = ""
    for at in range(start, min(start + 3 * size, len(text))):
        if text[at] not in _OF_IBAN:
            return
        if text[at].isalnum():
            number += text[at]
            if len(number) == size:
                # The check digits tell; registries of banks are older than the accounts.
                named = start > 3 and text.startswith("IBAN", start - 4)
                clean = is_clean(text, start - 4 if named else start, at + 1)
                if clean and iban.is_valid(number, check_country=False):
                    yield start, at + 1, "iban"
                return


IBAN_COUNTRY = rf"(?:{'|'.join((*_IBAN_LENGTHS, *map(str.lower, _IBAN_LENGTHS)))})[0-9][0-9]"
BEFORE_IBAN = rf"(?:\b|IBAN|{ESCAPED})"
_IBAN_BEGINS = re.compile(rf"(?:(?a:\b)|IBAN|{ESCAPED})({IBAN_COUNTRY})")
SSN_AFTER = r"(?i)(?:\bssn|social security)[a-z ]{0,8}[a-z ]{0,8}[.:=#() ]{1,3}"
_HYPHEN = rf"(?:[ .]|[{_BLANKS}]?[{_HYPHENS}][{_BLANKS}]?)?"
SAID_SSN = rf"[0-9]{{3}}{_HYPHEN}[0-9]{{2}}{_HYPHEN}[0-9]{{4}}"
_SSN_SAID = re.compile(SSN_AFTER)
NATIONAL = r"\(?[0-9]{2,12}\)?(?:[ ./-]{1,2}\(?[0-9]{2,9}\)?){0,5}"

_PLACES = {
    "phone telephone mobile mob cell cellphone WhatsApp": "US GB IN AU IE NZ ZA SG BR",
    "tel fax": "DE FR GB US IT ES NL BE CH AT PL PT IE AU IN ZA",
    "telefon handy festnetz mobil": "DE AT CH SE NO DK PL CZ TR",
    "téléphone tél": "FR BE CH",
    "teléfono móvil celular tfno": "ES MX AR CO BR",
    "telefone telemóvel": "BR PT",
    "telefono cellulare": "IT ES MX",
    "telefoon tlf puhelin": "NL BE NO DK FI",
    "телефон тел": "RU UA",
    "電話 電話番号 携帯": "JP TW",
    "电话 手机 手机号": "CN",
    "전화 휴대폰 연락처": "KR",
}
"""Words for a telephone, and where people use them."""
_REGIONS = {w.lower(): tuple(c.split()) for words, c in _PLACES.items() for w in words.split()}
_FORMS = {form for words in _PLACES for w in words.split() for form in (w, w.title())}
_FORMS |= {"TEL", "PHONE", "MOBILE", "FAX"}
_ASCII_FORMS, _OTHER_FORMS = (
    "|".join(sorted((f for f in _FORMS if f[0].isascii() is plain), key=len, reverse=True))
    for plain in (True, False)
)
_SEPARATED = r"\.?(?: (?:[Nn]umber|NUMBER|[Nn][or]|NO)\.?)?(?: is)?(?: ?:| ?#|\x{FF1A}| )[ ]{0,2}"
PHONE_AFTER = rf"(?:\b(?:{_ASCII_FORMS})|(?:{_OTHER_FORMS})){_SEPARATED}"
SAID_PHONE = (
    rf"{PHONE_AFTER}(?:\([0-9]{{1,6}}\)|[0-9]{{1,12}})(?:[ ./-]{{0,2}}\([0-9]{{2,9}}\))?"
    r"(?:[ ./-]{1,2}[0-9]{2,9}){0,5}"
)
_PHONE_SAID = re.compile(
    rf"({_ASCII_FORMS}|{_OTHER_FORMS}){_SEPARATED}".replace("x{FF1A}", "uff1a")
)
_COUNTS = re.compile("[1-9][0-9]{0,6}")
"""So few digits in one group, with nothing but a blank before them, may count anything."""
_DIGITS = re.compile("[0-9]+")
_TRUNK = re.compile(r" \(?0[1-9][0-9]")
"""Where behind other digits a number in the form for calls within its country begins."""
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4}")
