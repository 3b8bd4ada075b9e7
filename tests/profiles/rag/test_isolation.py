"""Documents are read in a process of their own: what hangs or breaks there costs one file."""

from __future__ import annotations

import os

import pytest

from edgeward.profiles.rag import wire
from edgeward.profiles.rag.content import NotExtracted, Source
from edgeward.profiles.rag.isolation import Reader

from .made import pdf

ENDLESS = Source("a.html", b"<div>" * 400_000)
"""A page on which the parser works for a minute."""


@pytest.fixture
def reader():
    """A reader, closed in the end."""
    with Reader() as opened:
        yield opened


def test_files_are_read_one_after_the_other(reader):
    """In one process, with text, tables and images; a refusal is a refusal."""
    data = pdf(["Prices:"], table=[["part", "price"], ["bolt", "3"]], image=True)
    (page,) = reader.extract(Source("a.pdf", data))
    process = reader._process
    assert page.page == 1
    assert [one.kind for one in page.resources] == ["table", "image"]
    assert page.resources[1].content.startswith(b"\x89PNG")
    with pytest.raises(NotExtracted, match="is empty") as caught:
        reader.extract(Source("b.md", b""))
    assert not caught.value.passing
    (chunk,) = reader.extract(Source("line\nbreak \udce9.md", "grüße".encode()))
    assert chunk.text == "grüße"
    assert reader._process is process


def test_c85_a_file_that_takes_too_long_is_given_up():
    """The process is killed; the next file gets a new one."""
    with Reader(timeout_s=1.5) as reader:
        with pytest.raises(NotExtracted, match=r"could not be read in 1\.5 s"):
            reader.extract(ENDLESS)
        reader._timeout_s = 60
        assert reader.extract(Source("b.md", b"still here"))[0].text == "still here"


def test_a_process_that_ended_is_replaced(reader):
    """Nobody blames the next file for it."""
    reader.extract(Source("a.md", b"x"))
    reader._process.kill()
    reader._process.wait()
    assert reader.extract(Source("b.md", b"y"))[0].text == "y"


def test_the_process_has_no_keys(reader, monkeypatch):
    """Its environment is small: what a document could bring it to say is nothing worth knowing."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-TESTTESTTEST")
    reader.extract(Source("a.md", b"x"))
    place = f"/proc/{reader._process.pid}/environ"
    if not os.path.exists(place):
        pytest.skip("this system does not show it")
    with open(place, "rb") as file:
        assert b"sk-TEST" not in file.read()


def test_closing_ends_the_process(reader):
    """Once, or twice."""
    reader.extract(Source("a.md", b"x"))
    process = reader._process
    reader.close()
    reader.close()
    assert process.poll() is not None


@pytest.mark.parametrize(
    "answer",
    [b"x\n", b"{}\n", b"[]\n", b'{"chunks": [[1]], "resources": []}\n', b"null\n"],
)
def test_an_answer_without_sense_is_refused(answer):
    """Whatever the process says, it is data, and read as such."""
    with pytest.raises(NotExtracted, match="no sensible answer"):
        wire.unpacked(answer)


def test_a_passing_refusal_stays_one_on_the_way():
    """A package that is not installed today may be tomorrow."""
    with pytest.raises(NotExtracted) as caught:
        wire.unpacked(wire.refused("needs x", passing=True))
    assert caught.value.passing
