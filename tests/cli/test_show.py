"""`edgeward show`: a run as one HTML page, from its receipts or its thread."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from edgeward.guards.receipts.log import ReceiptLog

from .conftest import Bundle, Invoke


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to be in, as files are written there."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(params=["log.jsonl", "log.sqlite"])
def log(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A log of two threads."""
    path = tmp_path / str(request.param)
    written = ReceiptLog(path)
    written.write(
        [
            {"tool": "read", "word": "allow", "thread": "monday", "arguments": {"what": "x"}},
            {"tool": "send", "word": "block", "thread": "tuesday", "reason": "never"},
        ]
    )
    written.close()
    return path


def test_a_page_is_named_after_its_log(log: Path, here: Path, invoke: Invoke) -> None:
    """It says whether the log is as it was written, and nobody else may read it."""
    result = invoke("show", log)
    assert (result.exit_code, result.stdout) == (0, "log.html: 2 steps\n")
    page = here / "log.html"
    text = page.read_text("utf-8")
    assert page.stat().st_mode & 0o777 == 0o600
    assert "All 2 records of the log are as they were written." in text
    assert "Thread <code>monday</code>" in text
    assert "Thread <code>tuesday</code>" in text


def test_a_value_full_of_masks_that_nothing_closes_costs_no_more_than_its_length(
    tmp_path: Path, here: Path, invoke: Invoke
) -> None:
    """Each opening used to be followed to the end of the text: a minute for one argument."""
    path = tmp_path / "log.jsonl"
    seen = {"entries": [{"said": "Send it to ann@corp.example."}]}
    value = "ann@corp.example " + "[REDACTED:" * 40_000
    with_past = {"tool": "send", "word": "allow", "arguments": {"to": value}, "past": seen}
    ReceiptLog(path).write([with_past])
    assert invoke("show", path).exit_code == 0
    text = (here / "log.html").read_text("utf-8")
    assert "<code>ann@corp.example</code>: the user" in text
    assert "and 396,017 more characters" in text


def test_a_page_that_is_there_is_not_written_over(log: Path, here: Path, invoke: Invoke) -> None:
    """Unless that is asked for."""
    (here / "log.html").write_text("mine", encoding="utf-8")
    result = invoke("show", log)
    assert result.exit_code == 2
    assert "log.html is there already; --force writes over it" in result.stderr
    assert (here / "log.html").read_text() == "mine"
    assert invoke("show", log, "--force").exit_code == 0
    assert (here / "log.html").read_text() != "mine"


def test_one_thread_of_a_log(log: Path, here: Path, invoke: Invoke) -> None:
    """And no record of another; a thread that is not in it is an error."""
    assert invoke("show", log, "--thread", "tuesday").exit_code == 0
    text = (here / "log-tuesday.html").read_text("utf-8")
    assert "<code>send</code>" in text
    assert "<code>read</code>" not in text
    result = invoke("show", log, "--thread", "friday")
    assert result.exit_code == 2
    assert "no record is of the thread 'friday'" in result.stderr


def test_a_log_that_was_changed_says_so(tmp_path: Path, here: Path, invoke: Invoke) -> None:
    """On the page and on the terminal; the page is there all the same."""
    path = tmp_path / "log.jsonl"
    ReceiptLog(path).write([{"tool": "send", "word": "block"}, {"tool": "send", "word": "block"}])
    path.write_bytes(path.read_bytes().replace(b"block", b"allow", 1) + b"no record\n")
    result = invoke("show", path)
    assert result.exit_code == 0
    assert "Record 0: changed or inserted" in result.stderr
    text = (here / "log.html").read_text("utf-8")
    assert '<p class="seal bad">Record 0: changed' in text
    assert "Record 2 cannot be read" in text


def test_a_log_without_its_key_is_not_vouched_for(
    log: Path, tmp_path: Path, here: Path, invoke: Invoke
) -> None:
    """It may lie elsewhere: `--key` names it."""
    kept = tmp_path / "kept.pub"
    log.with_name(f"{log.name}.key.pub").rename(kept)
    log.with_name(f"{log.name}.key").unlink()
    assert invoke("show", log).exit_code == 0
    assert "Not checked: there is no key" in (here / "log.html").read_text("utf-8")
    assert invoke("show", log, "--key", kept, "--force").exit_code == 0
    assert "are as they were written" in (here / "log.html").read_text("utf-8")


def test_a_long_log_is_cut_to_its_newest_steps(tmp_path: Path, here: Path, invoke: Invoke) -> None:
    """The page says how many are left out; the verdicts of all are counted."""
    path = tmp_path / "log.jsonl"
    words = [{"tool": f"t{n}", "word": "allow" if n % 2 else "block"} for n in range(50)]
    ReceiptLog(path).write(words)
    assert invoke("show", path, "--limit", 4).stdout == "log.html: the newest 4 of 50 steps\n"
    text = (here / "log.html").read_text("utf-8")
    assert "46 earlier steps are left out" in text
    assert "<code>t46</code>" in text
    assert "<code>t45</code>" not in text
    assert text.count("<b>25</b>") == 2


def test_a_thread_that_waits(bundle: Bundle, here: Path, invoke: Invoke) -> None:
    """The call with its question; nobody has answered."""
    run = invoke("run", *bundle.options, 'wipe(path="/tmp/x")', "--thread", "calm-otter")
    assert run.exit_code == 3, run.output
    result = invoke("show", "calm-otter")
    assert result.exit_code == 0, result.output
    text = (here / "calm-otter.html").read_text("utf-8")
    assert 'data-word="waits"' in text
    assert "Nobody has answered yet." in text
    assert "Why a person was asked" in text
    assert f"{bundle.policy}:8" in text


def test_a_file_of_threads_needs_the_thread(
    bundle: Bundle, own_home: Path, here: Path, invoke: Invoke
) -> None:
    """Given beside it, or the file as the checkpointer."""
    invoke("run", *bundle.options, 'note(text="hello")', "--thread", "calm-otter")
    threads = here / "threads.db"
    shutil.copy(own_home / "threads.sqlite", threads)
    result = invoke("show", threads)
    assert result.exit_code == 2
    assert "name one with --thread; the newest: calm-otter\n" in result.stderr
    missing = invoke("show", threads, "--thread", "nope").stderr
    assert missing.endswith("nor a file of that name; the newest: calm-otter\n")
    assert invoke("show", threads, "--thread", "calm-otter").exit_code == 0
    assert invoke("show", "calm-otter", "--checkpointer", threads).exit_code == 0
    one, other = (here / f"{name}calm-otter.html" for name in ("threads-", ""))
    assert one.read_text("utf-8") == other.read_text("utf-8")
    assert "noted hello" in one.read_text("utf-8")


@pytest.mark.parametrize("name", ["nope", "nope.jsonl", "folder/nope.jsonl"])
def test_what_is_not_there(name: str, own_home: Path, invoke: Invoke) -> None:
    """One line, exit code 2; no database is made by the look for it."""
    result = invoke("show", name)
    assert result.exit_code == 2
    assert "nope" in result.stderr
    assert "Traceback" not in result.output
    assert not (own_home / "threads.sqlite").exists()


@pytest.mark.parametrize("text", ["# Notes\n", "{}\n", "SQLite format 3\0"])
def test_a_file_of_another_kind(text: str, here: Path, invoke: Invoke) -> None:
    """One line; no page of it is written."""
    (here / "notes.md").write_text(text, encoding="utf-8")
    result = invoke("show", "notes.md")
    assert result.exit_code in (1, 2)
    assert len(result.stderr.splitlines()) == 1
    assert not (here / "notes.html").exists()


def test_a_log_is_no_database_of_threads(tmp_path: Path, invoke: Invoke) -> None:
    """It is not opened as one, which would put tables into it."""
    log = tmp_path / "log.sqlite"
    written = ReceiptLog(log)
    written.write([{"tool": "read"}])
    written.close()
    before = log.read_bytes()
    result = invoke("show", "monday", "--checkpointer", log)
    assert result.exit_code == 2
    assert "holds no threads" in result.stderr
    assert log.read_bytes() == before
