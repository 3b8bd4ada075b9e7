"""Personal data in text: mail address, card, IBAN, social security number, phone, IP address.

Each kind is found by a linear pattern and then checked by what makes it real: check digits and
national formats (python-stdnum), number plans (phonenumbers), `ipaddress`, clean boundaries.
Redaction rewrites text: a timestamp, an order number, a version or a UUID that is masked is
corrupted data. The libraries see one candidate of bounded length at a time, never the text, and
are loaded when the first candidate turns up.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, get_args

from .addresses import emails, ipv4_addresses, ipv6_addresses
from .masks import Span
from .numbers import (
    BEFORE_IBAN,
    BETWEEN_CARD,
    GROUPS_OF_IBAN,
    IBAN_COUNTRY,
    NATIONAL,
    SAID_PHONE,
    SAID_SSN,
    SSN_AFTER,
    cards,
    ibans,
    national_phones,
    phones,
    said_phones,
    said_social_security,
    social_security,
)
from .patterns import compile_pattern

PersonalKind = Literal["email", "card", "iban", "ssn", "phone", "ip"]
PERSONAL: tuple[PersonalKind, ...] = get_args(PersonalKind)
"""The kinds of personal data that a policy can name."""

Detector = Callable[[str], Iterable[Span]]
"""Finds what no pattern here can, names of people above all."""


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

    `regions` are ISO 3166 codes whose national phone numbers count; numbers with `+`, those behind
    a word for a telephone, and North American ones in their usual spelling, always do. `detectors`
    are kinds of their own, by name.
    """

    regions: tuple[str, ...] = ()
    detectors: tuple[tuple[str, Detector], ...] = ()

    def spans(self, text: str, kinds: Collection[str]) -> Iterator[Span]:
        """Where `text` holds data of these kinds; in no order, and spans may overlap."""
        signs = ":" in text or any(map(text.__contains__, "0123456789"))
        for row in self.candidates(kinds):
            if ("@" in text or "%40" in text) if row.kind == "email" else signs:
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
            found.append(
                Candidate("phone", NATIONAL, partial(national_phones, regions=self.regions))
            )
        return found


def personal(text: str, *, kinds: Collection[str] = PERSONAL) -> Iterator[Span]:
    """Where `text` holds personal data of the built-in kinds."""
    return PersonalData().spans(text, kinds)


CANDIDATES: dict[str, Candidate] = {
    "email": Candidate(
        "email", r"[\pL\pN._%+'-]+(?:@|%40)[\pL\pN-]+(?:\.[\pL\pN-]+)*\.\pL{2,24}", emails
    ),
    "ssn": Candidate("ssn", r"[0-9]{3}-[0-9]{2}-[0-9]{4}", social_security),
    "said_ssn": Candidate("ssn", SSN_AFTER + SAID_SSN, said_social_security),
    "credit_card": Candidate(
        "card",
        rf"[0-9]{{4,23}}(?:{BETWEEN_CARD}[0-9]{{2,23}})*",
        cards,
        least=rf"[0-9](?:{BETWEEN_CARD}[0-9]){{13,}}",
    ),
    "iban": Candidate("iban", rf"{BEFORE_IBAN}{IBAN_COUNTRY}{GROUPS_OF_IBAN}", ibans),
    "phone": Candidate(
        "phone",
        r"\+[0-9]{1,3}(?:[ ./-]?(?:\([0-9]{1,4}\)|[0-9]{1,4})){1,2}"
        r"(?:[ .-]?(?:\([0-9]{1,4}\)|[0-9]{1,4})){1,6}"
        r"|00[1-9][0-9]{0,2}(?:[ ./-](?:\([0-9]{1,8}\)|[0-9]{1,8}))(?:[ .-][0-9]{1,8}){1,5}"
        r"|(?:1[ .-])?(?:\([0-9]{3}\) ?|[0-9]{3}[ .-])[0-9]{3}[ .-][0-9]{4}",
        phones,
    ),
    "said_phone": Candidate("phone", SAID_PHONE, said_phones),
    "ipv4": Candidate("ip", r"[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}", ipv4_addresses),
    "ipv6": Candidate("ip", r"[0-9A-Fa-f]{4}:[0-9A-Fa-f:]*:[0-9A-Fa-f.:]*", ipv6_addresses),
}
"""The candidates by name, in the order in which they are looked for."""
