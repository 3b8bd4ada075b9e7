"""Folding gives NFKC without invisible characters, however it gets there."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from edgeward.guards.folding import folded

WIDE = st.text(st.sampled_from("aé…／．！～　Ａｂ１ﬁか\u3099\u0301①ｶﾞ/\u2215"), max_size=30)


@given(WIDE)
def test_the_short_way_is_nfkc(text: str) -> None:
    """What is done ahead of NFKC changes nothing of what comes out of it."""
    told = "".join(
        {"…": "…", "\u2215": "/"}.get(part) or unicodedata.normalize("NFKC", part)
        for part in _around(text, "…\u2215")
    )
    assert folded(text) == told


def _around(text: str, signs: str) -> list[str]:
    parts = [""]
    for sign in text:
        parts += [sign, ""] if sign in signs else []
        parts[-1] += "" if sign in signs else sign
    return parts
