"""`edgeward index`: the documents are read, and what came of it is said in a few lines."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Invoke, Open

PROFILE = "agent:\n  id: handbook\n  name: Handbook\n  rag:\n    enabled: true\n"


@pytest.fixture
def handbook(tmp_path: Path) -> Path:
    """A profile with two documents, one of them broken."""
    (tmp_path / "profile.yaml").write_text(PROFILE)
    corpus = tmp_path / "rag_corpus"
    corpus.mkdir()
    (corpus / "a.md").write_text("A drone weighs 900 grams.")
    (corpus / "b\x1b[2J.pdf").write_text("broken")
    return tmp_path


def test_what_is_new_changed_and_gone_is_counted(handbook: Path, invoke: Invoke) -> None:
    """And what was left out is named, with the reason, safe to print."""
    first = invoke("index", handbook)
    assert first.exit_code == 0
    assert first.stdout.splitlines() == [
        "1 new, 0 changed, 0 gone, 0 as they were; 1 passages embedded",
        "left out: b\\x1b[2J.pdf: is damaged: no readable PDF",
    ]
    (handbook / "rag_corpus" / "a.md").write_text("A drone weighs 800 grams.")
    (handbook / "rag_corpus" / "c.md").write_text("Cats sleep all day.")
    second = invoke("index", handbook)
    assert second.stdout.startswith("1 new, 1 changed, 0 gone, 0 as they were; 2 passages")
    (handbook / "rag_corpus" / "c.md").unlink()
    assert invoke("index", handbook).stdout.startswith("0 new, 0 changed, 1 gone, 1 as they were")


def test_scripts_get_an_object(handbook: Path, invoke: Invoke) -> None:
    """With the names of the files, and what was left out."""
    found = json.loads(invoke("index", handbook, "--json").stdout)
    assert (found["added"], found["chunks"]) == (["a.md"], 1)
    (left,) = found["skipped"]
    assert left == {"file": "b\x1b[2J.pdf", "reason": "is damaged: no readable PDF"}


def test_a_missing_folder_is_one_line(tmp_path: Path, invoke: Invoke) -> None:
    """With what to do, and exit code 2."""
    (tmp_path / "profile.yaml").write_text(PROFILE)
    result = invoke("index", tmp_path)
    assert result.exit_code == 2
    assert "documents_dir: rag_corpus: there is no such folder; make it" in result.stderr


def test_a_terminal_sees_how_far_it_is(handbook: Path, terminal: Open) -> None:
    """A bar while it goes on."""
    opened = terminal(["index", str(handbook)], TERM="xterm")
    opened.expect("documents")
    opened.expect("1 new")
    assert opened.end() == 0


def test_a_profile_without_documents_is_told(tmp_path: Path, invoke: Invoke) -> None:
    """In one line, with what to write."""
    (tmp_path / "profile.yaml").write_text("agent:\n  id: clerk\n  name: Clerk\n")
    result = invoke("index", tmp_path)
    assert result.exit_code == 2
    assert "agent.rag: the profile has no documents; add `rag: " in result.stderr
    assert result.stderr.count("\n") == 1
