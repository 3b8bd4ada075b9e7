"""Personal data is found where it is real, and numbers that resemble it are left alone."""

from __future__ import annotations

import json

import pytest

from edgeward.guards.pii import PersonalData, personal
from edgeward.guards.redact import Redactor

TRUE = {
    "email": ["ann@example.com", "ann.lee+x@mail.example.co.uk", "jürgen@bücher.example",
              "ann%40example.com"],
    "ssn": ["123-45-6789", "899-01-0001"],
    "credit_card": [
        "4111 1111 1111 1111", "4111-1111-1111-1111", "4111111111111111", "3782 822463 10005",
        "378282246310005", "5555555555554444", "6011111111111117", "3530111333300000",
        "30569309025904", "2223003122003222", "6200000000000005", "6759649826438453",
        "5019717010103742",
        "4111.1111.1111.1111", "4111\u00a01111\u00a01111\u00a01111",
        "4111\u20111111\u20111111\u20111111", "4111\u20131111\u20131111\u20131111",
        "4111 - 1111 - 1111 - 1111", "4111  1111  1111  1111", "4111_1111_1111_1111",
        "4111\u20091111\u20091111\u20091111",
    ],
    "phone": [
        "+49 171/5550123", "+49/30/901820",
        "+44 20 7946 0958", "+1 415-555-0123", "(415) 555-0123", "415-555-0123", "415.555.0123",
        "+4930123456", "+1 (415) 555-0123", "1-800-356-9377", "0049 30 901820",
    ],
    "ipv4": ["10.0.0.5", "169.254.169.254", "255.255.255.255"],
    "iban": ["DE89370400440532013000", "GB29 NWBK 6016 1331 9268 19",
             "FR1420041010050500013M02606", "BE68539007547034", "DE89-3704-0044-0532-0130-00",
             "DE89 3704 0044\n0532 0130 00", "GB29\u00a0NWBK\u00a06016\u00a01331\u00a09268\u00a019",
             "GB29.NWBK.6016.1331.9268.19", "FR14 - 2004 - 1010 - 0505 - 0001 - 3M02 - 606"],
}  # fmt: skip

FALSE = [
    "created_at=1700000000000", "1769011237418", "20250214110709_init.sql",
    "pi is 3.14159265358979",
    "code 999.999.999.999", "release 1.2.3.4 notes", "version: 1.2.3.4", "v1.2.3.4", "v1.2.3.4.5",
    "1.2.3.4.5", "Chrome/120.0.0.0", "id 123e4567-e89b-12d3-a456-426614174000",
    "order 4155550123456", "product 4087713925", "ticket 4155550123", "part 000-12-3456",
    "666-12-3456", "900-12-3456", "123-00-6789", "123-45-0000", "use @property in views.py",
    "4111 1111 1111 1112", "card 1234567890123456", "a4b60cc188a37c137cfceb619b77c596faec5d9c",
    "2024-11-29 10:30:00", "2024-11-29T10:30:00.000Z", "x+1 and y+2", "DE00370400440532013000",
    "AB12345678901234567890", "192.168.01.1", "10.0.0.256", "x4111111111111111",
    "0.4111111111111111",
    "ISBN 978-3-16-148410-0", "UTC+02:00", "1-2-3-4", "12-345-6789", "1123-45-67890",
    "react@18.2.0", "@scope/package", "rev 10.20.30.40", "4111111111111111x",
    "section 3.2.1.4", "\u00a7 1.2.3.4", "ver. 1.2.3.4", "firmware 1.2.3.4", "pkg>=1.2.3.4",
    "upgrade from 1.2.3.4 to 1.2.3.5", "Bump core from 1.2.3.4 to 1.2.3.5", "pkg==1.2.3.4",
    "schema 1.0.0.0", "AssemblyVersion(\"1.2.0.0\")", "1234.5678.9012.3456", "1-800-123-4567-89",
    "ssn 000 12 3456", "the lesson 123 45 6789", "offset +12345", "balance +1 234 56",
    "DE22370400440532", "DE22 3704 0044 0532", "mask 255.255.254.0", "255.255.255.192",
    "listens on 127.0.0.1:8080", "<version>1.2.3.4</version>",
    "206.766 9894 e-15", "1.321 409 8446", "-2.002 319 304 3622",
    "<FileVersion>10.0.1.7</FileVersion>",
    "phone 15 Pro 256 GB", "iPhone 14 128 256 512", "Phone: none", "tel 10.11.2024", "cell 12345",
    "cell 8153963 of the sheet", "Mobile 2286921 downloads",
    "Tel Aviv 2024 2025", "hotel 030 901820", "0012 3456 7890", "mobile.de 12345678",
    "fax 0000 0000",
    "Phone number: 2024-11-30", "手机 2024 款", "телефон 2024", "order 0171 5550123",
    "BE12 the quick brown fox jumps over the lazy dog", "AT10 meeting room,\nAT11 and AT12",
    "FR25 release notes\n- fix one\n- fix two", "GB20 2020 2021 2022 2023 2024 2025",
    "4011/4012/4013/4014", "2401-2402-2403-2404", "4111\t1111\t1111\t1111",
    "SSN: 000-00-0000", "ssn field 123456", "@types%2fnode", "lodash%404.17.21",
]  # fmt: skip


def test_cards_beside_one_another() -> None:
    """Of several cards in a row each is found, however they are grouped."""
    for text in ("4111111111111111 5105105105105100", "378282246310005 4111 1111 1111 1111"):
        masked, labels = Redactor().all(text)
        assert (masked, labels) == (
            "[REDACTED:credit_card] [REDACTED:credit_card]",
            ("credit_card",),
        )


@pytest.mark.parametrize(("label", "value"), [(k, v) for k, vs in TRUE.items() for v in vs])
def test_found(label: str, value: str) -> None:
    """Real data is found whole: alone, in a sentence, in brackets and before other numbers."""
    for before, after in (
        ("", ""),
        ("it is ", "."),
        ("(", ")"),
        ("=", ","),
        ("", " 12/29"),
        ("\n", "\n"),
    ):
        text = f"{before}{value}{after}"
        spans = [(text[a:b], kind) for a, b, kind in personal(text)]
        assert (value, label) in spans


@pytest.mark.parametrize("kind", sorted(set(TRUE) - {"email"}))
def test_found_between_what_stands_for_signs(kind: str) -> None:
    """In JSON a line ends with `\\n`, on a terminal a colour with `m`: no letters of a word."""
    for value in TRUE[kind]:
        for before in ("\\n", "\\t", "\\u000a", "\\u0020", "\\x20", "%20", "%0a", "\x1b[31m"):
            for after in ("", "\\n", "\\nmore", "\\u000a", "\x1b[0m"):
                text = f"it is{before}{value}{after}"
                spans = [(text[a:b], label) for a, b, label in personal(text)]
                assert (value, kind) in spans, text


@pytest.mark.parametrize(
    "address", ["ua@x.example", "u12@x.example", "n@x.example", "nn@x.example"]
)
def test_no_letter_of_an_address_is_taken_for_an_escape(address: str) -> None:
    """Where too few signs follow, or nothing would be left of its name, it is none."""
    left = Redactor().all(f"in \\{address}")[0]
    assert left.removeprefix("in \\") in ("[REDACTED:email]", "n[REDACTED:email]")


def test_what_is_left_of_json_is_json() -> None:
    """An escape in front of an address is no part of it."""
    for address in TRUE["email"]:
        for before in ("\n", "\t", "\x0b", '"', "\\"):
            text = json.dumps({"text": f"{before}{address}\n"}, ensure_ascii=False)
            masked, _ = Redactor().all(text)
            assert json.loads(masked) == {"text": f"{before}[REDACTED:email]\n"}


@pytest.mark.parametrize(
    "text", ["SSN 123 45 6789", "ssn: 123456789", "Social Security no. 123456789"]
)
def test_a_number_that_is_said_to_be_one(text: str) -> None:
    """Behind its name a social security number needs no hyphens; the name stays."""
    ((start, end, kind),) = personal(text)
    assert kind == "ssn"
    assert text[start:end] == text[text.index("1") :]


@pytest.mark.parametrize(
    "text",
    [
        *("SSN: 123.45.6789", "SSN 123\u201145\u20116789", "Tax id (SSN) 123456789"),
        *("IBANDE89370400440532013000", "Tel.: 0171 5550123", "Telefon: 030 901820"),
        *("phone 020 7946 0958", "Mobile No: 98765 43210", "téléphone 01 42 68 53 00"),
        *("móvil 612 345 678", "Telefoon 020 794 0800", "tlf 22 86 44 00", "тел. 8-916-123-45-67"),
        *("телефон 8 (495) 123-45-67", "電話 03-3580-3311", "手机号：13912345678"),
        *("전화 02-2110-3000", "WhatsApp 11 91234-5678", "phone number is 4155552671"),
        *("Fax 030/901820", "FAX: 030 901820", "Handy 0151 23456789"),
    ],
)
def test_a_number_behind_what_says_what_it_is(text: str) -> None:
    """A national number, or one in rare groups, is one where a word in front of it says so."""
    ((start, end, _),) = personal(text)
    digits = next(at for at, char in enumerate(text) if char.isdigit())
    assert start in (digits, digits - 1, digits - 2)
    assert end == len(text)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("030 12345678 030 901820", ["030 12345678", "030 901820"]),
        ("DE89370400440532013000 030 12345678 x", ["030 12345678"]),
        ("+49 171 5550123 030 12345678", ["+49 171 5550123", "030 12345678"]),
        ("10.2.3.75 030 12345678\n", ["030 12345678"]),
        ("see 030 901820)", ["030 901820"]),
        ("030 1234 0567", ["030 1234 0567"]),
        ("((030) 901820)", ["(030) 901820"]),
        ("rows 12 34 56 78 90 12", []),
        ("on 01 02 2024 03 04", []),
    ],
)
def test_national_numbers_beside_others(text: str, found: list[str]) -> None:
    """Each is found, in a row or behind another number, without a bracket that is not its own."""
    spans = PersonalData(regions=("DE",)).spans(text, ["phone"])
    assert [text[a:b] for a, b, _ in sorted(set(spans))] == found


def test_brackets_around_a_number_stay() -> None:
    """What closes behind a number and was opened before its name is no part of it."""
    assert Redactor().all("(Tel. 030 901820)")[0] == "(Tel. [REDACTED:phone])"
    assert Redactor().all("tel (030) 901820, ext 3")[0] == "tel [REDACTED:phone], ext 3"


@pytest.mark.parametrize("text", FALSE)
def test_left_alone(text: str) -> None:
    """Timestamps, order numbers, versions, UUIDs, hashes and pi are no personal data (F052)."""
    assert list(personal(text)) == []


@pytest.mark.parametrize(
    "text",
    ["see http://10.0.0.5/admin", "//10.0.0.5/share", "ssh root@10.0.0.5", "root@10.0.0.5:22"],
)
def test_address_in_a_link(text: str) -> None:
    """The host of a link or of a login is an address, unlike a version behind a product's name."""
    assert [text[a:b] for a, b, kind in personal(text) if kind == "ipv4"] == ["10.0.0.5"]


@pytest.mark.parametrize(
    "before", ["server ", "Server: ", "over ", "avoid ", "the android ", "ip.addr == ", "host != "]
)
def test_an_address_behind_a_word_that_ends_like_one_of_versions(before: str) -> None:
    """A server is no version, and what is compared with blanks is no package."""
    assert Redactor().all(f"{before}10.20.30.40") == (f"{before}[REDACTED:ipv4]", ("ipv4",))


@pytest.mark.parametrize(
    "text",
    [
        *("version 1.2.3.4", "v1.2.3.4", "pkg==1.2.3.4", "pkg[all]==1.2.3.4", "python >= 3.11.0.1"),
        *("appVer=1.2.3.4", "imageTag: 1.2.3.4", "subsection 1.2.3.4", r"a\nver 1.2.3.4"),
    ],
)
def test_a_version_behind_a_word_of_versions(text: str) -> None:
    """What is said or compared as a version stays, however its name is put together."""
    assert Redactor().all(text) == (text, ())


@pytest.mark.parametrize("between", [" and ", "\n", " ", ", ", "; ", " / ", " - ", " und dann "])
def test_accounts_one_after_the_other(between: str) -> None:
    """Each is masked, also one that begins where another's run of groups still goes on."""
    accounts = [*TRUE["iban"][:4], *TRUE["iban"][:2]]
    text = f"Pay {between.join(accounts)} today."
    masked = between.join(["[REDACTED:iban]"] * len(accounts))
    assert Redactor().masked(text, ["iban"])[0] == f"Pay {masked} today."
