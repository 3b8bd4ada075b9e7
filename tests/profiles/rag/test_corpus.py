"""The files of a folder are those that are really in it."""

from __future__ import annotations

import hashlib
import os

import pytest

from edgeward.profiles.rag import corpus
from edgeward.profiles.rag.content import NotExtracted
from edgeward.profiles.rag.corpus import list_files, read_file


@pytest.fixture
def folder(tmp_path):
    """A folder of documents beside something that is none of its business."""
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "more.txt").write_text("secret")
    made = tmp_path / "docs"
    (made / "sub").mkdir(parents=True)
    (made / "b.md").write_text("b")
    (made / "sub" / "a.md").write_text("a")
    return made


def test_files_are_listed_in_order_by_their_path_below_the_folder(folder):
    """With slashes on every system."""
    assert list_files(folder).files == ("b.md", "sub/a.md")


def test_c85_hidden_files_are_ignored(folder):
    """Files and folders that begin with a dot, and what office programs leave lying about."""
    (folder / ".DS_Store").write_text("x")
    (folder / "~$b.docx").write_text("x")
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("x")
    listing = list_files(folder)
    assert (listing.files, listing.skipped) == (("b.md", "sub/a.md"), ())


def test_links_are_not_followed(folder):
    """Neither to files nor to folders, wherever they lead."""
    (folder / "link.txt").symlink_to(folder.parent / "secret.txt")
    (folder / "inside.txt").symlink_to(folder / "b.md")
    (folder / "more").symlink_to(folder.parent / "private")
    (folder / "loop").symlink_to(folder)
    listing = list_files(folder)
    assert listing.files == ("b.md", "sub/a.md")
    assert dict(listing.skipped) == dict.fromkeys(
        ["link.txt", "inside.txt", "more", "loop"], "is a link"
    )


def test_a_file_that_became_a_link_is_not_read(folder):
    """Also where that happens between the listing and the reading; the same for its folder."""
    (folder / "b.md").unlink()
    (folder / "b.md").symlink_to(folder.parent / "secret.txt")
    with pytest.raises(NotExtracted, match="cannot be read"):
        read_file(folder, "b.md")
    (folder / "sub" / "a.md").unlink()
    (folder / "sub").rmdir()
    (folder / "sub").symlink_to(folder.parent / "private")
    with pytest.raises(NotExtracted, match="leads out of the folder"):
        read_file(folder, "sub/more.txt")


def test_the_folder_itself_may_be_a_link(folder, tmp_path):
    """That is the user's own."""
    (tmp_path / "here").symlink_to(folder)
    assert list_files(tmp_path / "here").files == ("b.md", "sub/a.md")
    assert read_file(tmp_path / "here", "sub/a.md")[0] == b"a"


def test_the_index_is_no_document(folder):
    """Where it lies among them."""
    (folder / "index").mkdir()
    (folder / "index" / "x.txt").write_text("x")
    assert list_files(folder, without=folder / "index").files == ("b.md", "sub/a.md")


def test_what_is_no_file_is_left_out(folder):
    """A pipe would keep the reader waiting for ever."""
    os.mkfifo(folder / "pipe")
    assert list_files(folder).skipped == (("pipe", "is no file"),)


def test_a_file_is_read_with_its_hash(folder):
    """Both of the same bytes."""
    assert read_file(folder, "b.md") == (b"b", hashlib.sha256(b"b").hexdigest())


def test_a_file_that_is_gone_or_too_big_says_so(folder, monkeypatch):
    """The first may be back the next time."""
    with pytest.raises(NotExtracted, match="No such file or directory") as caught:
        read_file(folder, "gone.md")
    assert caught.value.passing
    monkeypatch.setattr(corpus, "MAX_READ_BYTES", 0)
    with pytest.raises(NotExtracted, match="is bigger than"):
        read_file(folder, "b.md")


def test_more_files_than_anyone_reads_are_named(folder, monkeypatch):
    """None is dropped without a word."""
    monkeypatch.setattr(corpus, "MAX_FILES", 1)
    listing = list_files(folder)
    assert listing.files == ("b.md",)
    assert listing.skipped == (("sub/a.md", "is one too many: 1 are read"),)


def test_a_name_that_is_no_text_costs_one_file(folder):
    """Old systems left such names behind."""
    (folder / os.fsdecode(b"caf\xe9.md")).write_text("x")
    listing = list_files(folder)
    assert listing.files == ("b.md", "sub/a.md")
    assert listing.skipped == (("caf?.md", "has a name that is no text"),)
