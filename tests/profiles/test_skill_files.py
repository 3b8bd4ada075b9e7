"""What a model may read of a skill: nothing but ordinary files inside its folder (D100)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from edgeward.profiles.tools.skill_files import (
    ESCAPES,
    MAX_FILES,
    MAX_READ_BYTES,
    SkillLoadError,
    inventory,
    listed,
    read_file,
)

from .skill_bundles import bundle


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A skill with a secret beside it and links to that secret inside."""
    made = bundle(tmp_path)
    (tmp_path / "skills" / "secret.txt").write_text("hunter2")
    sibling = tmp_path / "skills" / "tabular-report-2"
    sibling.mkdir()
    (sibling / "secret.txt").write_text("hunter2")
    (made / "link.txt").symlink_to(tmp_path / "skills" / "secret.txt")
    (made / "inner.md").symlink_to(made / "templates" / "header.md")
    (made / "up").symlink_to(tmp_path / "skills")
    (made / ".env").write_text("hunter2")
    (made / ".git").mkdir()
    (made / ".git" / "config").write_text("hunter2")
    (made / "__pycache__").mkdir()
    (made / "__pycache__" / "x.pyc").write_bytes(b"hunter2")
    return made


def refused(folder: Path, name: str) -> str:
    """The message with which a name is refused; it holds nothing of what is outside."""
    with pytest.raises(SkillLoadError) as caught:
        read_file(folder, name, skill="tabular-report")
    message = str(caught.value)
    assert message.startswith("tabular-report: ")
    assert "hunter2" not in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "../secret.txt",
        "../tabular-report-2/secret.txt",
        "../tabular-report/SKILL.md",
        "templates/../../secret.txt",
        "templates/../templates/header.md",
        "..",
        "/etc/passwd",
        "//etc/passwd",
        "~/.ssh/id_rsa",
        "~",
        "..\\secret.txt",
        "\\\\server\\share\\x",
        "C:\\Windows\\win.ini",
        "C:secret.txt",
        "file:///etc/passwd",
        "header.md::$DATA",
    ],
)
def test_D100_a_path_out_of_the_folder_is_refused(folder: Path, name: str) -> None:
    """As it is written, whether there is such a file or not."""
    assert ESCAPES in refused(folder, name)


@pytest.mark.parametrize(
    "name",
    [
        "%2e%2e/secret.txt",
        "..%2fsecret.txt",
        "%2e%2e%2fsecret.txt",
        "%252e%252e%252fsecret.txt",
        "．．/secret.txt",
        "․․/secret.txt",
        "templates/ ../secret.txt",
        ".../secret.txt",
        "SECRET.TXT",
        "secret.txt",
        "templates∕header.md",
    ],
)
def test_D100_nothing_is_decoded_or_folded(folder: Path, name: str) -> None:
    """A name is taken as it stands, and there is no such file."""
    message = refused(folder, name)
    assert "there is no such file" in message or "hidden" in message


@pytest.mark.parametrize("name", ["x\0.md", "header.md\0", "a\nb", "x" * 501, "\x1b[2J", "\ud800"])
def test_D100_what_is_no_name_is_refused(folder: Path, name: str) -> None:
    """A NUL byte or an endless name reaches no system call."""
    assert "is not a file's name" in refused(folder, name)


@pytest.mark.parametrize("name", ["link.txt", "inner.md", "up/secret.txt", "up"])
def test_D100_links_are_not_followed(folder: Path, name: str) -> None:
    """Wherever they lead."""
    assert "is a link" in refused(folder, name)


@pytest.mark.parametrize("name", [".env", ".git/config", "__pycache__/x.pyc", "./.env"])
def test_hidden_files_are_not_given_out(folder: Path, name: str) -> None:
    """Nor listed: keys lie in such files."""
    assert "hidden files" in refused(folder, name)
    assert listed(folder, where="s") == ("SKILL.md", "scripts/generate.py", "templates/header.md")


def test_what_is_no_ordinary_file_is_refused(folder: Path) -> None:
    """A folder, and a pipe that nobody writes to."""
    os.mkfifo(folder / "pipe")
    assert "is no file" in refused(folder, "templates")
    assert "is no file" in refused(folder, ".")
    assert "is no file" in refused(folder, "pipe")
    assert "pipe" not in listed(folder, where="s")


def test_a_refusal_names_the_files_that_there_are(folder: Path) -> None:
    """The nearest first; what the model asked for is shown without a secret."""
    assert "allowed: templates/header.md" in refused(folder, "templates/haeder.md")
    assert "sk-proj-TEST" not in refused(folder, "sk-proj-TESTTESTTESTTESTTEST")


def test_a_bare_name_is_enough_where_one_file_has_it(folder: Path) -> None:
    """The list shows it so; of two files of one name it shows the paths."""
    assert read_file(folder, "header.md", skill="s") == "| a |\n"
    assert read_file(folder, " templates//./header.md".strip(), skill="s") == "| a |\n"
    (folder / "references").mkdir()
    (folder / "references" / "header.md").write_text("other")
    assert "references/header.md or templates/header.md" in refused(folder, "header.md")
    assert inventory(listed(folder, where="s")) == (
        "Bundled files — scripts: generate.py; references: references/header.md;"
        " resources: SKILL.md, templates/header.md."
    )


def test_files_that_are_no_text_are_said_to_be_none(folder: Path) -> None:
    """Neither an error nor noise; a byte order mark is not part of a text."""
    (folder / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (folder / "nul.txt").write_bytes(b"a\0b")
    (folder / "utf16.txt").write_bytes("text".encode("utf-16"))
    (folder / "bom.txt").write_bytes(b"\xef\xbb\xbftext")
    assert read_file(folder, "logo.png", skill="s") == "(logo.png is not text: 108 bytes)"
    assert read_file(folder, "nul.txt", skill="s") == "(nul.txt is not text: 3 bytes)"
    assert "is not text" in read_file(folder, "utf16.txt", skill="s")
    assert read_file(folder, "bom.txt", skill="s") == "text"


@pytest.mark.parametrize("letter", ["x", "é", "漢", "😀"])
def test_a_long_file_is_cut_and_says_so(folder: Path, letter: str) -> None:
    """Also where the cut falls into a letter."""
    size = len(letter.encode()) * MAX_READ_BYTES
    (folder / "long.txt").write_text("." + letter * MAX_READ_BYTES, encoding="utf-8")
    text = read_file(folder, "long.txt", skill="s")
    assert text.startswith(f".{letter}")
    assert text.endswith(f"{letter}\n[cut here: {size + 1 - MAX_READ_BYTES} more bytes]")


def test_a_folder_that_is_no_skill_s_size_is_refused(folder: Path) -> None:
    """Somebody named their home; the list of one that fits is bounded, too."""
    for number in range(40):
        (folder / "templates" / f"t{number:02}.md").touch()
    assert "t27.md and 12 more." in inventory(listed(folder, where="s"))
    for number in range(MAX_FILES):
        (folder / f"f{number}").touch()
    with pytest.raises(SkillLoadError, match=f"more than {MAX_FILES} files"):
        listed(folder, where="s")


def test_a_folder_that_cannot_be_read_is_one_clear_error(tmp_path: Path) -> None:
    """Without the system's own words."""
    with pytest.raises(SkillLoadError, match="cannot be read"):
        listed(tmp_path / "gone", where="s")
