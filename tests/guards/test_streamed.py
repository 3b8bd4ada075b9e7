"""A streamed answer: what comes out is together what the whole becomes, however it was cut."""

from __future__ import annotations

import random

import pytest

from edgeward import Policy, load_policy
from edgeward.guards.holdback import Holdback
from edgeward.guards.results import answered
from edgeward.guards.streamed import Streamed

LONG = "a" * 120

TEXTS = [
    f"See [a](https://evil.test/?q={LONG}) and ![x](https://evil.test/p.png)\n\nnext: a<b, ok",
    "see ![x][id] now\n\nmore\n\n[id]: https://evil.test/p.png?d=1 \n\nend",
    "[id]: https://evil.test/p.png\n\n![x][id]\n",
    "<img\n\nsrc='https://evil.test/x.png'>\n\nafter",
    "<img alt='>\n\n' src='https://evil.test/x.png'>\n\nafter",
    '<img alt="<\n\n" src=https://evil.test/x.png>\n\nafter',
    "<link title='>\n\n' href=//evil.test/x.css>\n\nafter",
    "<link title=a'b\n\nhref=//evil.test/x.css>\n\nafter",
    "<b>it's</b>\n\nand <br> it isn't over\n\nend",
    "plain\n\nwith @import 'https://evil.test/a.css' and url( //evil.test/x )\n\n x",
    "<style>a { background: url(\n\n//evil.test/x.png) }</style>",
    "<style>@import '\n \n//evil.test/x.css';</style>",
    "<style>image-set('https://corp.example/a' 1x,\n\n'//evil.test/x.png' 2x)</style>",
    "<style>\n\na { background: image-set('//evil.test/x.png' 1x) }\n\n</style>",
    "see ![x](/&Tab;/evil.test/p.png)\n\nand https://corp.example/x",
    "没有空格的文字![图](https://evil.test/a.png)完",
    f"x https://evil.test/?d={LONG} y",
    "nothing here, and then [ a bracket \n \n and a line",
]


@pytest.fixture(scope="module")
def policy() -> Policy:
    """A policy that lists one host."""
    listed = {"version": 2, "default": "allow", "egress_allowlist": ["corp.example"]}
    return load_policy({**listed, "results": {}})


def streamed(policy: Policy) -> Streamed:
    """A text on its way out."""
    return Streamed(Holdback(policy.redactor), policy, private=lambda text: None)


@pytest.mark.parametrize("text", TEXTS)
def test_pieces_come_to_the_whole(text: str, policy: Policy) -> None:
    """Cut anywhere; the labels say what was done."""
    want, labels = answered(policy, text)
    for seed in range(20):
        dice, out, at, held = random.Random(seed), "", 0, streamed(policy)
        while at < len(text):
            size = dice.choice([1, 1, 2, 3, 7, 20])
            out += held.feed(text[at : at + size])
            at += size
        assert out + held.close() == want
        assert held.labels == labels


def test_plain_text_flows(policy: Policy) -> None:
    """Nothing waits for the end of a paragraph but what a link could begin in."""
    held = streamed(policy)
    shown = held.feed("The plan is ready, (all of it) now. ")
    assert shown.startswith("The plan is ready, (all of it)")
    shown += held.feed("See [it] there. ")
    assert "[" not in shown
    shown += held.feed("Good.\n\nAnd on we go. ")
    assert "See [it] there. Good." in shown


def test_what_waits_long(policy: Policy) -> None:
    """A long paragraph goes on once an eighth more has come, and nothing of it is lost."""
    held = streamed(policy)
    long = "See [it] there. " + "It goes on and on. " * 500
    shown = "".join(map(held.feed, long.split(" ")))
    assert shown == "See"
    more = "\n\n" + "What follows is plain. " * 100
    shown += "".join(map(held.feed, more.split(" ")))
    assert len(shown) > len(long.replace(" ", ""))
    assert shown + held.close() == (long + more).replace(" ", "")
