"""The rule kinds of the package: one file each, found by itself."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from edgeward.guards import rules
from edgeward.guards.rules import rule_modules

KIND = "KEY = 'not_at_night'\nField = bool\nDEFAULT = False\n\ndef build(value, where, context):\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that counts as one of the package's own, for one test."""
    monkeypatch.setattr(rules, "__path__", [*rules.__path__, str(tmp_path)])
    rule_modules.cache_clear()  # type: ignore[attr-defined]
    yield tmp_path
    rule_modules.cache_clear()  # type: ignore[attr-defined]
    sys.modules.pop(f"{rules.__name__}.not_at_night", None)
    vars(rules).pop("not_at_night", None)


def test_one_file_is_one_kind(folder: Path) -> None:
    """A file more is a kind more; one whose name begins with _ is no kind and is left alone."""
    before = set(rule_modules())
    assert "tool_denylist" in before
    (folder / "not_at_night.py").write_text(f"{KIND}    return None\n", encoding="utf-8")
    (folder / "_draft.py").write_text("raise RuntimeError('no rule kind')\n", encoding="utf-8")
    rule_modules.cache_clear()  # type: ignore[attr-defined]
    assert set(rule_modules()) - before == {"not_at_night"}
