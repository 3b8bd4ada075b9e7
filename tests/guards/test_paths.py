"""What lies below a folder, by the text of the path, however a tool may read it."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from edgeward.guards.conditions import Test, requirement
from edgeward.guards.paths import lies_under


def fits(path: str, folder: str = ".") -> bool:
    """Whether the condition `under` holds for a value."""
    required = requirement("path", Test.model_validate({"under": folder}))
    return not list(required.failures({"path": path}))


@pytest.mark.parametrize(
    "path",
    [
        "a", "./a", "a/../b", "a b/c d.txt", "..hidden/x", ".github/workflows/x.yml", "./...", "a~",
        "docs/Q3 report, final.md", "R&D/plan.md", "it's.txt", "a (1).txt", "100%/x", "my=file.txt",
        "app/[slug]/page.tsx", "app/[...slug]/page.tsx", "app/[[...slug]]/x", "src/routes/$id.tsx",
        "node_modules/@types/node/index.d.ts", "Foo$Bar.class", "日本語/ファイル.txt", "résumé.pdf",
        "tests/test_a.py::test_x[a-b]", "test_a.py::test_x", "logs/2026-01-01T10:30:00.log",
        "2026-01-01T10:30.log", "src/**/*.py", "*.md", "notes\\reports\\table.txt",
    ],
)  # fmt: skip
def test_usual_names(path: str) -> None:
    """Names as people give them to files lie where they say."""
    assert fits(path)


@pytest.mark.parametrize(
    "path",
    [
        "../a", "a/../../b", "/a", "..", "~/a", "~root/a", "$HOME/a", "${HOME}/a", "%TEMP%",
        "%APPDATA%\\a",
        "$env:TEMP/a", "$(pwd)/a", "a/`x`", "a/${x}", "C:\\a", "C:a", "\\\\h\\s", "//h/s", "\\a",
        "file:a", "file:///a", "FILE:/a", "http://h/a", "s3://b/k", "data:x", "h:a", "ann@h:/a",
        "-rf", "--output=/a", "|cat", "a,../b", "a;../b", "a ../b", "a ../../b",
        "a /b", "a,/b", "a:/b",
        "a ~/b", "a|/b", "a>/b", "{a,../b}", "{a,/b}", "@/b", "a=/b", "a C:\\b", "'/a'", '"/a"',
        "'../a'",
        "a\n../b", "a\n/b", "a\t/b", "a\0b", "a\x85/b", "a\u2028/b", ".. /a", "a/.. /.. /b",
        "..;/a",
        ".?/a", ".*/a", "[.][.]/a", "?./a", "[.]./a", "..%2fa", "%252e%252e/a", "．．/a", "‥/a",
        "\\u002e\\u002e/a", "&#46;&#46;/a", "a\u200b/.\u200b./.\u200b./b",
    ],
)  # fmt: skip
def test_what_may_lead_elsewhere(path: str) -> None:
    """What a shell, a reader of URLs, another system or a tool for many paths takes elsewhere."""
    assert not fits(path)


@pytest.mark.parametrize(
    ("path", "folder", "inside"),
    [
        ("/srv/reports/a", "/srv/reports", True),
        ("/srv/reports", "/srv/reports/", True),
        ("/srv/reports/a /srv/reports/b", "/srv/reports", True),
        ("/srv/reports/a /srv/keys", "/srv/reports", False),
        ("/srv/reports/a:/etc/passwd", "/srv/reports", False),
        ("/srv/reports/{a,../../etc}", "/srv/reports", False),
        ("/srv/reports/..\\..\\x", "/srv/reports", False),
        ("file:///srv/reports/a", "/srv/reports", False),
        ("C:\\work\\notes\\a.txt", "C:/work", True),
        ("C:\\work\\..\\a", "C:/work", False),
        ("C:/docs/a C:/keys", "C:/docs", False),
        ("C:work", "C:/work", False),
        ("\\\\?\\C:\\work\\a", "C:/work", False),
        ("../docs/a", "../docs", True),
        ("../keys", "../docs", False),
    ],
)
def test_folders(path: str, folder: str, inside: bool) -> None:
    """Any folder, as a tool is given it."""
    assert lies_under(path, folder) is inside


@pytest.mark.parametrize("folder", ["~/docs", "$HOME/docs", "file:///srv", "/srv/*", " ", "a\nb"])
def test_folder_that_nothing_lies_below(folder: str) -> None:
    """A folder of a policy says by its text alone where it is: nothing could lie in others."""
    with pytest.raises(ValidationError, match="folder"):
        Test.model_validate({"under": folder})
