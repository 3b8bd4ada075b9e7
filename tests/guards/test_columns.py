"""Hosts without a scheme in a column of a table that is written as text."""

from __future__ import annotations

import pytest

from edgeward.guards.columns import COLUMNS, column_hosts
from edgeward.guards.patterns import compile_pattern
from tests.steps import steps_of


def hosts(text: str) -> list[str]:
    """The hosts that are found."""
    return [found.host for found in column_hosts(text, compile_pattern(COLUMNS))]


@pytest.mark.parametrize(
    "text",
    [
        "name,url\nfoo,evil.test/x",
        "url;name\r\nevil.test/x;foo\r\n",
        "id\tServer Address\n1\tevil.test",
        "| name | Webhook URL |\n|---|:--|\n| foo | `evil.test/x` |\n",
        '"id","host","port"\n"1","evil.test","80"',
        "Our servers:\nhost,port\nnone,1\nevil.test,443\n\nThat is all.",
    ],
)
def test_found(text: str) -> None:
    """In the column that the header names, with a sign of any usual kind between the cells."""
    assert hosts(text) == ["evil.test"]


@pytest.mark.parametrize(
    "text",
    [
        "name,file\nfoo,a.md",
        "title,url\nevil.test,/x",
        "url\nevil.test",
        "We moved the server, and\nacme.io is glad",
        "host,port\n\nevil.test,443",
        "function,host\nconnect,args.host",
        "url,",
    ],
)
def test_not_found(text: str) -> None:
    """In other columns, behind the end of the table, in prose."""
    assert not hosts(text)


def test_grows_with_its_input() -> None:
    """Headers that are rows of a table are read once."""

    def steps(rows: int) -> int:
        return steps_of(lambda: hosts("a,url\n" * rows))

    steps(2_000)
    assert steps(2_000) < 3 * steps(1_000)
