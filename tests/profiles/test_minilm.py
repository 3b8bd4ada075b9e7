"""The local embedder: real weights, no network, the same vector for the same text."""

from __future__ import annotations

import pickle
import threading

import pytest

import edgeward.profiles.minilm as minilm
from edgeward.extras import MissingExtra
from edgeward.profiles.embedding import Embedder
from edgeward.profiles.minilm import LocalEmbedder

TEXTS = {
    "billing": "Send the unpaid bill again to the accounts department.",
    "weather": "Tomorrow it will rain in the north, with strong winds.",
    "travel": "The train to the coast leaves at nine from platform four.",
}
QUESTIONS = {
    "billing": "Which invoices are open?",
    "weather": "Do I need an umbrella?",
    "travel": "When do we depart by rail?",
}


def dot(left, right):
    """The likeness of two vectors of unit length."""
    return sum(a * b for a, b in zip(left, right, strict=True))


def test_it_finds_what_is_meant_and_not_only_what_is_written():
    """A question that shares no telling word with a text is nearest to the text that answers it."""
    embedder = LocalEmbedder()
    texts = dict(zip(TEXTS, embedder.embed(list(TEXTS.values())), strict=True))
    for topic, question in zip(QUESTIONS, embedder.embed(list(QUESTIONS.values())), strict=True):
        assert max(texts, key=lambda name: dot(texts[name], question)) == topic


def test_a_vector_is_what_its_name_says():
    """384 numbers, unit length, a name with the hash of the weights; it can be pickled."""
    embedder = pickle.loads(pickle.dumps(LocalEmbedder()))
    assert isinstance(embedder, Embedder)
    (found,) = embedder.embed(["hello"])
    assert (len(found), embedder.dims) == (384, 384)
    assert dot(found, found) == pytest.approx(1, abs=1e-5)
    assert "8199be6f" in embedder.name


def test_the_neighbours_of_a_text_do_not_change_its_vector():
    """Alone, in a list, and from eight threads at once, a text has one vector."""
    embedder = LocalEmbedder()
    texts = [*TEXTS.values(), "x", "word " * 3_000, "", "\ud800 broken", "日本語", "\x00\u200b"]
    whole = embedder.embed(texts)
    assert [embedder.embed([text])[0] for text in texts] == whole
    found = {}

    def work(number):
        found[number] = embedder.embed(texts[:4])

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(vectors == whole[:4] for vectors in found.values())


def test_the_tokens_are_those_of_the_vocabulary():
    """Accents go, unknown signs are one token, and a long text ends with the closing token."""
    tokens_of = minilm._tokenizer()
    assert tokens_of("Résumé unaffable") == [101, 13746, 14477, 20961, 3468, 102]
    assert tokens_of("🫠") == [101, 100, 102]
    long = tokens_of("word " * 9_000)
    assert (len(long), long[-1]) == (256, 102)


def test_other_weights_are_refused(monkeypatch):
    """The package is used as data, and only with the content that was looked at."""
    monkeypatch.setattr(minilm, "SHA256", "0" * 64)
    with pytest.raises(ValueError, match="not the known ones"):
        minilm._session()


def test_D002_a_missing_package_names_the_extra(monkeypatch):
    """What to install is in the message."""
    monkeypatch.setattr(minilm, "_NEEDED", ("onnxruntime", "no_such_package"))
    with pytest.raises(
        MissingExtra, match=r"no_such_package: pip install 'edgeward\[embeddings\]'"
    ):
        LocalEmbedder()
