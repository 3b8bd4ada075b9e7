"""Numbers and sums of money in the notation of several countries."""

from __future__ import annotations

import pytest

from edgeward.guards.sums import currencies_in, grouped, plain_numbers, sums_in, told_sum
from tests.guards.threads import Thread, one


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("1,234.56", "1234.56"),
        ("1.234,56", "1234.56"),
        ("1.234.567,8", "1234567.8"),
        ("1 234,56 kr", "1234.56 kr"),
        ("1'234.50 CHF", "1234.50 CHF"),
        ("19,90 €", "19.90 €"),
        ("EUR 19,90", "EUR 19.90"),
        ("files 12,34 and 5", "files 12,34 and 5"),
        ("on 3,5 and 7", "on 3,5 and 7"),
    ],
)
def test_a_number_as_programs_write_it(text: str, plain: str) -> None:
    """Only what can be read in one way is read."""
    assert (plain_numbers(text) if grouped(text) else text) == plain


@pytest.mark.parametrize(
    ("text", "sums"),
    [
        ("Pay 1.234,56 € to Ann", ["1234.56"]),
        ("at 95 € and 2 at 480 € each", ["95", "480"]),
        ("£1.2k a day", ["1200"]),
        ("EUR 1.500,-", ["1500"]),
        ("1.500 euros", ["1500"]),
        ("3 Mio. Euro", ["3000000"]),
        ("$10.", ["10"]),
        ("It was 150.00.", ["150.00"]),
        ("chapter 1.20.3", []),
        ("付给王芳300元", ["300"]),
        ("send 0.5 btc and 0.00125 ETH", ["0.5", "0.00125"]),
        ("max 120 quid, or 300 usdc", ["120", "300"]),
        ("version 1.500, 3 million users, a 5k run, 12 km", []),
    ],
)
def test_sums_in_a_text(text: str, sums: list[str]) -> None:
    """By a sign, a currency, two decimals; thousands and millions of a currency."""
    assert list(sums_in(text)) == sums


@pytest.mark.parametrize(
    ("value", "number"),
    [
        ("500.00", "500.00"),
        ("€1.234,56", "1234.56"),
        ("54.000 €", "54000"),
        ("1200 EUR", "1200"),
        ("7", "7"),
        ("12 km", ""),
        ("5 or 6 EUR", ""),
    ],
)
def test_a_value_that_is_a_sum(value: str, number: str) -> None:
    """A number with a currency or without, and nothing else."""
    assert told_sum(value) == number


def test_currencies() -> None:
    """A sign or a word stands for the code that tools take."""
    assert set(currencies_in("3 € or $5, not £ 7")) == {"eur", "usd", "gbp"}
    assert not list(currencies_in("a neuro of eurozone"))
    assert list(currencies_in("500 Canadian dollars, C$4, US$ 5")) == ["cad", "cad", "usd"]
    assert list(currencies_in("30 Mexican pesos, pay$5, 3 lb or pounds")) == ["mxn", "usd"]
    thread = one("stated", "Change 150 euros to Canadian dollars")
    assert thread.word("use", x="CAD") == "allow"
    assert thread.word("use", x="USD") == "block"
    assert one("stated", "Bill 40 € for it").word("use", x="EUR") == "allow"
    assert one("stated", "Bill 40 € for it").word("use", x="USD") == "block"


@pytest.mark.parametrize(
    ("said", "value", "word"),
    [
        ("Record 1.234,56 € for it", 1234.56, "allow"),
        ("Record 1.234,56 € for it", "1234.56", "allow"),
        ("Record 1.234,56 € for it", "1.234,56", "allow"),
        ("Record 1.234,56 € for it", 1.234, "block"),
        ("Record 1.234,56 € for it", 123456, "block"),
        ("Record 500 euros for it", "500.00", "allow"),
        ("Record 500 euros for it", "500", "block"),  # of what, its name does not say
        ("3 hours at 95 € each", 95, "allow"),
        ("3 hours at 95 € each", 3, "block"),
        ("two days, £1.2k a day", 1200, "allow"),
        ("two days, £1.2k a day", 1.2, "block"),
    ],
)
def test_a_sum_is_the_users_in_either_notation(said: str, value: object, word: str) -> None:
    """The number that the user wrote, and no part of it."""
    assert one("stated", said).word("use", x=value) == word


def test_sums_in_the_small_unit() -> None:
    """An argument that is called so takes hundredths: for a payee, a bound and a condition."""
    entry = {"args": {"amount_minor": "stated"}, "together": ["payee", "amount_minor"]}
    tools = {"pay": entry, "refund": {"at_most": {"amount_cents": "payee"}}}
    thread = Thread({"tools": tools}, "Pay order ANN-44 £42.10.")
    assert thread.word("pay", payee="ANN-44", amount_minor=4210) == "allow"
    assert thread.word("pay", payee="ANN-44", amount_minor="4210") == "allow"
    assert thread.word("pay", payee="ANN-44", amount_minor=421000) == "block"
    assert thread.word("pay", payee="ANN-44", amount_minor=42) == "block"
    assert thread.word("refund", payee="ANN-44", amount_cents=4210) == "allow"
    assert thread.word("refund", payee="ANN-44", amount_cents=4310) == "block"


def test_a_small_unit_that_is_named_twice_is_one() -> None:
    """`amount_cents` of `pay_cents` is in hundredths, and not in hundredths of these."""
    thread = Thread({"tools": {"pay_cents": {"args": {"amount_cents": "stated"}}}}, "Pay £42.10.")
    assert thread.word("pay_cents", amount_cents=4210) == "allow"
    assert thread.word("pay_cents", amount_cents=421000) == "block"


@pytest.mark.parametrize(
    "said",
    [
        "Refund 50 cents",
        "Refund 50 pence",
        "Refund amount_cents: 50",
        "Refund cents 50",
        "Refund 50 US cents",
        "Refund 50 Eurocent",
    ],
)
def test_what_the_user_says_in_hundredths_is_not_a_hundred_times_as_much(said: str) -> None:
    """Fifty cents are no fifty dollars, in a later turn of the conversation, too."""
    entry = {"args": {"order": "known"}, "together": ["order", "amount_cents"]}
    tools = {"refund": {"at_most": {"amount_cents": "order"}}, "pay": entry}
    thread = Thread({"tools": tools}, f"{said} for ORD-7781.", "Go on.")
    for tool in tools:
        assert thread.word(tool, order="ORD-7781", amount_cents=50) == "allow"
        assert thread.word(tool, order="ORD-7781", amount_cents=5000) == "block"


def test_hundredths_of_a_record_are_no_whole_ones() -> None:
    """What a trusted record says in hundredths bounds them as it stands, and goes with them so."""
    tools = {
        "refund": {"args": {"order": "known"}, "at_most": {"amount_cents": "order"}},
        "pay": {"args": {"order": "known"}, "together": ["order", "amount_cents"]},
    }
    trust = [{"tool": "get_order", "fields": ["order", "total"]}]
    for total in (6480, "64.80"):
        thread = Thread({"tools": tools, "trust": trust}, "Refund and pay it.")
        thread.gave("get_order", {"order": "ORD-7781", "total": total})
        assert thread.word("refund", order="ORD-7781", amount_cents=6480) == "allow"
        assert thread.word("refund", order="ORD-7781", amount_cents=6481) == "block"
        assert thread.word("refund", order="ORD-7781", amount_cents=648000) == "block"
    thread = Thread({"tools": tools, "trust": trust}, "Pay ORD-9981 £20.50.")
    thread.gave("get_order", {"order": "ORD-7781", "total": 6480})
    assert thread.word("pay", order="ORD-7781", amount_cents=6480) == "allow"
    assert thread.word("pay", order="ORD-7781", amount_cents=648000) == "block"
    assert thread.word("pay", order="ORD-9981", amount_cents=2050) == "allow"
    assert thread.word("pay", order="ORD-9981", amount_cents=6480) == "block"


@pytest.mark.parametrize(
    ("said", "value", "word"),
    [
        ("a city of 213 million", 213_000_000, "allow"),
        ("1.267 billion people", 1_267_000_000, "allow"),
        ("half a million euros", "500000", "allow"),
        ("some 12 thousand users", 12_000, "allow"),
        ("a city of 213 million", 213_000, "block"),
        ("a million euros", 1_000_000, "allow"),
        ("thanks a million", 1_000_000, "block"),
        ("I said it a thousand times", 1_000, "block"),
        ("half a million euros", 1_000_000, "block"),
        ("a 5k run over 3 m", 5_000, "block"),
        ("a 5k run over 3 m", 3_000_000, "block"),
        ("a 5 thousandth of it", 5_000, "block"),
    ],
)
def test_numbers_that_a_word_multiplies(said: str, value: object, word: str) -> None:
    """Thousands, millions and billions, of whatever; a letter alone may be a run or a length."""
    assert one("stated", said).word("use", x=value) == word


@pytest.mark.parametrize("said", ["convert 200 US dollars", "200 Mexican pesos", "200 yuan"])
def test_whose_money_it_is(said: str) -> None:
    """A sum is one with the country before its currency, too."""
    assert list(sums_in(said)) == ["200"]
