"""No embedder, whoever wrote it, puts into a store what is no vector."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from edgeward.profiles.embedded import embedded
from edgeward.profiles.embedding import EmbeddingError
from edgeward.profiles.memory.vectors import StoreMismatch, Vectors


class Fixed:
    """An embedder that always gives this."""

    name = "fixed"
    dims = 2

    def __init__(self, given: Any) -> None:
        self.given = given

    def embed(self, texts: Any) -> Any:
        """The same, whatever the texts are."""
        return self.given


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "0 vectors for 1 texts"),
        ([[1.0, 0.0], [0.0, 1.0]], "2 vectors for 1 texts"),
        ([[float("nan"), 1.0]], "something else than numbers"),
        ([[float("inf"), 1.0]], "something else than numbers"),
        (np.array([[np.nan, 1.0]]), "something else than numbers"),
        ([["a", "b"]], "something else than numbers"),
        ([[None, 1.0]], "something else than numbers"),
        ([5], "something else than numbers"),
    ],
)
def test_what_is_no_vector_is_an_error(given: Any, said: str) -> None:
    """It names the embedder: a text with such a vector would never be found again."""
    with pytest.raises(EmbeddingError, match=f"the embedder fixed gave .*{said}"):
        embedded(Fixed(given), ["x"])


def test_a_vector_is_passed_on() -> None:
    """Lists and arrays of numbers, as they are."""
    assert embedded(Fixed([[1, 0.5]]), ["x"]) == [[1, 0.5]]
    assert embedded(Fixed([np.array([1.0, 0.5])]), ["x"])[0].tolist() == [1.0, 0.5]


def test_a_query_of_another_size_is_told_with_both_numbers(tmp_path: Any) -> None:
    """As a record of another size is."""
    store = Vectors(tmp_path / "v.db", embedder="fixed", dims=3)
    ids = {"user_id": "u", "agent_id": "a", "run_id": "r"}
    store.insert([[1.0, 0.0, 0.0]], [{**ids, "data": "x"}], ["x"])
    with pytest.raises(StoreMismatch, match=r"2 numbers does not fit .* have 3; set the embedder"):
        store.search("", [1.0, 0.0], 1, ids)
    store.close()
