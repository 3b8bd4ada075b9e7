"""Documents are read before a run on a terminal, so that nobody wonders what it waits for."""

from __future__ import annotations

from pathlib import Path

from .conftest import Open

PROFILE = "agent:\n  id: handbook\n  name: Handbook\n  rag:\n    enabled: true\n"


def run(terminal: Open, folder: Path, **env: str):
    """`edgeward run` on a terminal, with the model that needs no key."""
    arguments = ["run", str(folder), "hello", "--model", "scripted:obedient"]
    return terminal(arguments, TERM="xterm", **env)


def test_a_run_reads_the_documents_first(tmp_path: Path, terminal: Open) -> None:
    """And shows how far it is."""
    (tmp_path / "profile.yaml").write_text(PROFILE)
    (tmp_path / "rag_corpus").mkdir()
    (tmp_path / "rag_corpus" / "a.md").write_text("A drone weighs 900 grams.")
    opened = run(terminal, tmp_path)
    opened.expect("documents ")
    assert opened.end() == 0
    assert (tmp_path / "rag_index" / "index.sqlite3").is_file()


def test_an_embedder_that_is_down_stops_no_run(tmp_path: Path, terminal: Open) -> None:
    """It is said, and the run goes on without documents."""
    (tmp_path / "profile.yaml").write_text(PROFILE)
    (tmp_path / "rag_corpus").mkdir()
    (tmp_path / "rag_corpus" / "a.md").write_text("A drone weighs 900 grams.")
    down = {
        "EMBEDDING_MODEL": "m",
        "EMBEDDING_API_KEY": "k",
        "EMBEDDING_BASE_URL": "http://127.0.0.1:9/v1",
    }
    opened = run(terminal, tmp_path, **down)
    opened.expect("error: the embedder m at 127.0.0.1:9 failed")
    opened.expect("answer")
    assert opened.end() == 0
