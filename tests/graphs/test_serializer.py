"""What is read back of a thread is as large as what was written of it: the few types of which a few
bytes make more than a machine can hold are looked at before anything is made."""

from __future__ import annotations

import json
from decimal import Decimal
from ipaddress import IPv4Network, IPv6Network
from typing import Any

import ormsgpack
import pytest

from edgeward.graphs.serializer import strict_serializer

ENDLESS = "1e999999999"
NUMBER = "a decimal number in it is too long"
NETWORK = "a network in it has too many addresses"
ARRAY = "an array in it has more rows than values"
OTHERWISE = "what an object in it is made from is written in another way"


def packed(value: object) -> bytes:
    """A value as LangGraph writes it."""
    return ormsgpack.packb(value, option=ormsgpack.OPT_NON_STR_KEYS)


def made(*parts: Any, code: int = 0) -> ormsgpack.Ext:
    """What is to be made of these parts: module, class, arguments."""
    return ormsgpack.Ext(code, packed(parts))


def message(content: object) -> ormsgpack.Ext:
    """A message with that content."""
    fields = {"content": content}
    return made("langchain_core.messages.human", "HumanMessage", fields, "validate", code=5)


EVERYTHING = made("ipaddress", "IPv4Network", "0.0.0.0/0")
MORE = made("ipaddress", "IPv6Network", "::/64")
ROWS = made("|u1", [10**15, 0], "C", b"", code=6)
TEXTS = ("decimal".ljust(11), "Decimal".ljust(11), ENDLESS)
SHAPE = made("<i8", [2], "C", (10**15).to_bytes(8, "little") + bytes(8), code=6)
NAMES = made("<U11", [3], "C", "".join(TEXTS).encode("utf-32-le"), code=6)
TASK = {"id": "decimal", "name": "Decimal", "path": ENDLESS}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (made("decimal", "Decimal", ENDLESS), NUMBER),
        (made("builtins", "set", EVERYTHING), NETWORK),
        (made("builtins", "set", [MORE], code=1), NETWORK),
        ({"verdicts": EVERYTHING}, NETWORK),
        (message(EVERYTHING), NETWORK),
        (made("ipaddress", "IPv4Network", [["0.0.0.0", 0]], code=1), NETWORK),
        (made("ipaddress", "IPv4Network", made("pathlib", "Path", "0.0.0.0/0")), NETWORK),
        (made("collections", "deque", ROWS), ARRAY),
        (message(ROWS), ARRAY),
        (made("|u1", [1, 10**15, 0], "C", b"", code=6), ARRAY),
        (made("|u1", [10**15, -1], "C", b"", code=6), ARRAY),
        (made("|u1", ["a", 10**15], "C", b"", code=6), ARRAY),
        (made("|u1", SHAPE, "C", b"", code=6), ARRAY),
        (ormsgpack.Ext(0, packed(NAMES)), OTHERWISE),
        (
            ormsgpack.Ext(0, packed(made("langgraph.types", "PregelTask", TASK, code=2))),
            OTHERWISE,
        ),
    ],
)
def test_what_grows_without_end_is_refused_before_it_is_made(value: object, said: str) -> None:
    """However deep it stands, and whatever is made of it."""
    with pytest.raises(ValueError, match=said):
        strict_serializer().loads_typed(("msgpack", packed([1, {"a": value}])))


def test_json_makes_nothing_but_messages() -> None:
    """In the older form of a thread, too: what else is to be made stays data."""
    number = {"lc": 2, "type": "constructor", "id": ["decimal", "Decimal"], "args": [ENDLESS]}
    every = {**number, "id": ["ipaddress", "IPv4Network"], "args": ["0.0.0.0/0"]}
    value = [number, {**number, "id": ["builtins", "set"], "args": [every]}]
    assert strict_serializer().loads_typed(("json", json.dumps(value).encode())) == value


@pytest.mark.parametrize(
    "text", ["1.50", "-0.000001", "1E+9999", "NaN", "-Infinity", "9" * 90, "0"]
)
def test_a_decimal_number_of_a_thread_is_read_back(text: str) -> None:
    """As it was, beside texts that name its class."""
    value = {"n": Decimal(text), "says": [1, "Decimal", {"decimal": "Decimal"}]}
    read = strict_serializer().loads_typed(strict_serializer().dumps_typed(value))
    assert str(read["n"]) == text
    assert read["says"] == value["says"]


@pytest.mark.parametrize(
    "network", [IPv4Network("10.1.0.0/16"), IPv4Network("1.2.3.4"), IPv6Network("fd00::/112")]
)
def test_a_network_of_a_thread_is_read_back(network: object) -> None:
    """Of as many addresses as a machine can go through."""
    value = {"set": {network}, "says": [6, "IPv4Network"]}
    assert strict_serializer().loads_typed(strict_serializer().dumps_typed(value)) == value


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0,), (0, 1536), (5, 0)])
def test_an_array_of_a_thread_is_read_back(shape: tuple[int, ...]) -> None:
    """Also one that has no values."""
    numpy = pytest.importorskip("numpy")
    array = numpy.ones(shape, dtype="<f4")
    read = strict_serializer().loads_typed(strict_serializer().dumps_typed({"a": array}))["a"]
    assert (read.shape, read.tolist()) == (shape, array.tolist())
