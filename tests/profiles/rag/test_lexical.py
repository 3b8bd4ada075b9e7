"""Words in common: from 0 to 1, rare words count more, and nothing is quadratic."""

from __future__ import annotations

import pytest

from edgeward.profiles.rag.lexical import WordIndex, counted, words

TEXTS = ["the drone is heavy", "the part XJ-4471 is blue", "the drone and the other drone", ""]


def scores(query: str) -> list[float]:
    """The scores of the texts."""
    return [
        round(float(score), 3)
        for score in WordIndex([counted(text) for text in TEXTS]).scores(query)
    ]


def test_a_word_that_no_embedder_knows_is_found():
    """By its letters, in any case."""
    found = scores("xj-4471")
    assert max(found) == found[1] > 0.8
    assert found[0] == found[2] == found[3] == 0


def test_rare_words_count_more_than_common_ones():
    """A word that every text has says next to nothing."""
    found = scores("the blue")
    assert found[1] > 3 * found[0] > 0


@pytest.mark.parametrize("query", ["", "unicorn", "?!", "unicorn " * 50])
def test_without_a_word_in_common_the_score_is_zero(query):
    """No text is ranked for nothing."""
    assert scores(query) == [0, 0, 0, 0]


def test_words_that_nobody_has_lower_the_score():
    """A text that has half of the query is not as good as one that has all."""
    assert scores("drone")[2] > scores("drone unicorn")[2] > 0
    assert all(0 <= score <= 1 for score in scores("drone drone the other and"))


def test_an_empty_index_can_be_asked():
    """It has no scores."""
    assert list(WordIndex([]).scores("x")) == []


def test_scripts_without_spaces_are_compared_by_pairs():
    """As their words cannot be told from the spaces."""
    assert words("漢字かな Straße") == ["漢字", "字か", "かな", "strasse"]
    assert words("字") == ["字"]
