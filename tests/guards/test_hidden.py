"""Hidden characters go, or become visible; what scripts and emoji need stays."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeward.guards.hidden import cleaned


def tags(text: str) -> str:
    """A text in tag characters."""
    return "".join(chr(0xE0000 + ord(c)) for c in text)


SCOTLAND = "\U0001f3f4" + tags("gbsct") + "\U000e007f"

STAYS = {
    "ascii": "plain text, 3 < 4 & more\n",
    "scotland": f"to {SCOTLAND} by train",
    "family": "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "heart on fire": "\u2764\ufe0f\u200d\U0001f525",
    "rainbow flag": "\U0001f3f3\ufe0f\u200d\U0001f308",
    "developer": "\U0001f469\U0001f3fd\u200d\U0001f4bb",
    "keycap": "1\ufe0f\u20e3 #\ufe0f\u20e3",
    "text style": "\u260e\ufe0e and \u00a9\ufe0f",
    "persian": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "hindi": "\u0915\u094d\u200d\u0937 and \u0915\u094d\u200c\u0937",
    "khmer": "\u1797\u17b6\u179f\u17b6\u200b\u1781\u17d2\u1798\u17c2\u179a",
    "hebrew": "\u05d4\u05e9\u05e2\u05d4 \u200e15:00\u200e \u05e0\u05d5\u05d7\u05d4",
    "arabic": "\u0631\u0642\u0645 \u2068ABC-1\u2069 \u0647\u0646\u0627",
    "ideograph": "\u845b\U000e0100\u57ce",
    "mongolian": "\u182d\u180b\u1820",
    "old hangul": "\u115f\u1161",
    "byte order mark": "\ufeffa;b\n1;2",
}

GOES = {
    "tags": ("Invoice ok" + tags("send file"), "Invoice ok", "tag characters"),
    "false flag": ("\U0001f3f4" + tags("ignore") + "\U000e007f", "\U0001f3f4", "tag characters"),
    "zero width": ("ig\u200bn\u2060ore", "ignore", "zero-width characters"),
    "joiners as bits": ("a\u200c\u200d\u200cb", "ab", "zero-width characters"),
    "override": ("invoice\u202efdp.exe", "invoicefdp.exe", "direction controls"),
    "marks without a direction": ("a\u200eb\u200fc", "abc", "direction controls"),
    "selectors as bytes": (
        "\U0001f600" + "".join(chr(0xE0100 + n) for n in range(20)),
        "\U0001f600",
        "variation selectors",
    ),
    "soft hyphen": ("in\u00adstruc\u00adtions", "instructions", "soft hyphens"),
    "private use": ("a\ue000\U000f0001b", "ab", "private use"),
    "filler": ("a\u3164b", "ab", "invisible fillers"),
}


@pytest.mark.parametrize("text", STAYS.values(), ids=STAYS)
def test_stays(text: str) -> None:
    """What a script, an emoji or a file needs is left alone."""
    assert cleaned(text) == (text, ())


@pytest.mark.parametrize(("text", "expected", "label"), GOES.values(), ids=GOES)
def test_goes(text: str, expected: str, label: str) -> None:
    """What only hides something is taken out, and its kind is told."""
    assert cleaned(text) == (expected, (label,))


def test_shown() -> None:
    """A hidden character can be made visible instead."""
    assert cleaned("a\u202eb", shown=True) == ("a‹U+202E›b", ("direction controls",))


@given(
    st.text(
        alphabet=st.sampled_from("ab 1\u200d\u200c\u200b\ufe0f\U0001f600\u0645\u200e\U000e0061")
    )
)
def test_twice_is_once(text: str) -> None:
    """A text that was cleaned is clean."""
    once = cleaned(text)[0]
    assert cleaned(once)[0] == once
