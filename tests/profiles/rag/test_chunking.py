"""Chunks keep to their size and overlap, in tokens, and end where a text does."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from edgeward.profiles.minilm import count_tokens
from edgeward.profiles.rag.chunking import split


def one(words):
    """One token a word."""
    return [1] * len(words)


TEXT = " ".join(f"w{n}" for n in range(100))


@pytest.mark.parametrize(("size", "overlap"), [(20, 5), (20, 0), (7, 6), (1, 0)])
def test_d084_chunks_obey_size_and_overlap(size, overlap):
    """None is longer; each begins with the last words of the one before; nothing is lost."""
    chunks = [chunk.split() for chunk in split(TEXT, size=size, overlap=overlap, count=one)]
    assert all(len(chunk) <= size for chunk in chunks)
    for before, after in itertools.pairwise(chunks):
        assert after[:overlap] == before[len(before) - overlap :]
    fresh = [chunks[0], *(chunk[overlap:] for chunk in chunks[1:])]
    assert [word for chunk in fresh for word in chunk] == TEXT.split()


def test_a_chunk_ends_with_a_paragraph_or_a_sentence():
    """Where one ends in the second half of the chunk."""
    text = "A b c. D e f g h.\n\nI j k l m n."
    assert split(text, size=6, overlap=0, count=one) == ["A b c.", "D e f g h.", "I j k l m n."]


def test_d084_real_tokens_are_counted():
    """By the word pieces of the embedder that comes with the package."""
    text = "Unquestionably incomprehensible electroencephalography measurements. " * 80
    chunks = split(text, size=64, overlap=8, count=count_tokens)
    sizes = count_tokens(chunks)
    assert max(sizes) <= 64
    assert min(sizes[:-1]) >= 32


@pytest.mark.parametrize("text", ["x" * 10_000, "漢" * 2_000, "=" * 5_000])
def test_a_text_without_spaces_is_divided(text):
    """A very long word is not taken for one token."""
    chunks = split(text, size=100, overlap=0, count=count_tokens)
    assert "".join(chunks) == text
    assert max(count_tokens(chunks)) <= 100


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_blank_text_has_no_chunks(text):
    """There is nothing to find in it."""
    assert split(text, size=5, overlap=0, count=one) == []


@given(st.text(max_size=300), st.integers(1, 9), st.data())
@settings(deadline=None)
def test_every_word_is_in_some_chunk(text, size, data):
    """Whatever the text, the size and the overlap, it ends, and loses nothing."""
    overlap = data.draw(st.integers(0, size - 1))
    chunks = split(text, size=size, overlap=overlap, count=one)
    rest = "".join(chunks)
    for word in text.split():
        assert word[:40] in rest
    if overlap == 0:
        assert "".join("".join(chunks).split()) == "".join(text.split())
