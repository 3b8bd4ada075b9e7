"""The environment that a library is imported with is gone afterwards."""

from __future__ import annotations

import os

import pytest

from edgeward.profiles.quiet import environment


def test_the_environment_is_as_it_was(monkeypatch):
    """What was set is set again, what was not is not; also after an error."""
    monkeypatch.setenv("EDGEWARD_ONE", "old")
    monkeypatch.delenv("EDGEWARD_TWO", raising=False)

    def importing():
        with environment(EDGEWARD_ONE="new", EDGEWARD_TWO="new"):
            assert os.environ["EDGEWARD_ONE"] == os.environ["EDGEWARD_TWO"] == "new"
            raise KeyError

    with pytest.raises(KeyError):
        importing()
    assert os.environ["EDGEWARD_ONE"] == "old"
    assert "EDGEWARD_TWO" not in os.environ
