"""Every kind of file gives its text, its tables and its images; what gives none says why."""

from __future__ import annotations

import pytest

from edgeward.profiles.rag import content
from edgeward.profiles.rag.builtin import extract
from edgeward.profiles.rag.content import NotExtracted, Source

from .made import docx, epub, packed, pdf

ROWS = [["part", "price"], ["bolt", "3"], ["nut", "1"]]
MARKDOWN = "| part | price |\n| --- | --- |\n| bolt | 3 |\n| nut | 1 |"
PAGE = (
    "<html><head><title>Shop</title><style>p {}</style></head><body><p>Welcome.</p>"
    "<h2>Prices</h2><p>All <b>in</b> euros.</p><script>steal()</script><!-- a note -->"
    "<table><caption>Parts</caption><tr><th>part<th>price<tr><td>bolt<td>3<tr><td>nut<td>1</table>"
    '<h2>About</h2><p hidden>ghost</p><p style="color:red;display:none">ghost</p>'
    '<img src="shop.png" alt="The shop"></body></html>'
)


def read(name: str, data: str | bytes):
    """The chunks of a file of this name."""
    return extract(Source(name, data.encode() if isinstance(data, str) else data))


def refused(name: str, data: str | bytes) -> str:
    """Why a file gives no text."""
    with pytest.raises(NotExtracted) as caught:
        read(name, data)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.md", "# A\nhello world\n"),
        ("a.txt", "hello world"),
        ("a.rst", "A\n=\nhello world\n"),
        ("a.html", "<p>hello world"),
        ("a.htm", "<p>hello world"),
        ("a.csv", "x\nhello world\n"),
        ("a.tsv", "x\ty\nhello world\t2\n"),
        ("a.pdf", pdf(["hello world"])),
        ("a.docx", docx("hello world")),
        ("a.epub", epub(one="<p>hello world</p>")),
        ("notes", "hello world"),
        ("a.yaml", "x: hello world"),
        ("a.py", "print('hello world')"),
    ],
)
def test_d088_every_kind_gives_its_text(name, data):
    """One document of each kind, and any other file that is text."""
    assert "hello world" in "\n".join(chunk.text for chunk in read(name, data))


def test_d088_a_pdf_gives_text_tables_and_images_page_by_page():
    """Tables as Markdown and not once more in the text; pictures as PNG, as they look."""
    first, second = read("a.pdf", pdf(["First page."], ["Prices:"], table=ROWS, image=True))
    assert (first.text, first.page) == ("First page.", 1)
    assert second.page == 2
    assert second.text.startswith("Prices:\n\n" + MARKDOWN)
    assert second.text.count("bolt") == 1
    table, image = second.resources
    assert (table.kind, table.content.decode()) == ("table", MARKDOWN)
    assert (image.kind, image.media_type) == ("image", "image/png")
    assert image.content.startswith(b"\x89PNG")
    assert image.caption in second.text


def test_d088_html_is_read_by_section():
    """Each heading begins one; what a browser does not show is left out."""
    intro, prices, about = read("a.html", PAGE)
    assert (intro.section, intro.text) == ("Shop", "Welcome.")
    assert prices.section == "Prices"
    assert prices.text == f"Prices\n\nAll in euros.\n\n{MARKDOWN}"
    (table,) = prices.resources
    assert (table.caption, table.content.decode()) == ("Parts", MARKDOWN)
    assert about.text == "About\n[image: The shop]"
    assert [image.caption for image in about.resources] == ["The shop"]
    assert not any("ghost" in chunk.text or "steal" in chunk.text for chunk in (prices, about))


def test_d088_word_is_read_by_heading_with_its_tables():
    """Paragraphs under their heading, tables as Markdown."""
    intro, prices = read("a.docx", docx("Hello.", "# Prices", "In euros.", ROWS))
    assert (intro.section, intro.text) == ("", "Hello.")
    assert (prices.section, prices.text) == ("Prices", f"Prices\nIn euros.\n\n{MARKDOWN}")
    assert prices.resources[0].content.decode() == MARKDOWN


def test_d088_a_book_is_read_in_its_own_order():
    """The spine says the order, not the archive."""
    chapters = read("a.epub", epub(b="<h1>One</h1><p>x</p>", a="<h1>Two</h1><p>y</p>"))
    assert [chunk.section for chunk in chapters] == ["One", "Two"]


def test_a_damaged_page_of_a_pdf_costs_one_page():
    """And is noted; the same for pictures on a page that nobody could draw."""
    whole = pdf(["First page."], ["Second page."], ["Third page."], image=True)
    broken = whole.replace(b"(Second page.) Tj", b"(Second page.) T*")
    assert [chunk.page for chunk in read("a.pdf", broken)] == [1, 3]
    huge = whole.replace(b"[0 0 595 842]", b"[0 0 9000 9000]")
    assert not any(chunk.resources for chunk in read("a.pdf", huge))


def test_a_page_that_breaks_the_library_is_noted(monkeypatch):
    """The others are read."""
    from edgeward.profiles.rag import pdf as module

    real = module._read

    def breaks(page):
        if page.page_number == 2:
            raise ZeroDivisionError
        return real(page)

    monkeypatch.setattr(module, "_read", breaks)
    chunks = read("a.pdf", pdf(["One."], ["Two."], ["Three."]))
    assert [chunk.page for chunk in chunks] == [1, 3]
    assert chunks[-1].note == "page 2 could not be read"


def test_csv_rows_carry_the_names_of_their_columns():
    """In groups that all refer to the whole table."""
    body = "".join(f"p{n};{n}\n" for n in range(45))
    chunks = read("a.csv", "part;price\n" + body)
    assert [chunk.section for chunk in chunks] == ["rows from 1", "rows from 21", "rows from 41"]
    assert chunks[1].text.startswith("part: p20; price: 20\n")
    assert len({id(chunk.resources[0]) for chunk in chunks}) == 1
    assert chunks[0].resources[0].content.count(b"\n") == 46


def test_markdown_headings_in_code_are_none():
    """Only those that a reader sees as such divide the text."""
    text = "intro\n\n# One\n```\n# no heading\n```\n#hash\n## Two ##\nx\n"
    assert [(c.section, c.text) for c in read("a.md", text)] == [
        ("", "intro\n"),
        ("One", "# One\n```\n# no heading\n```\n#hash"),
        ("Two", "## Two ##\nx"),
    ]


def test_rst_sections_are_underlined():
    """The title belongs to its own section."""
    chunks = read("a.rst", "Top\n===\nx\n\nPart two\n--------\ny\n")
    assert [(c.section, c.text) for c in chunks] == [
        ("Top", "Top\n===\nx\n"),
        ("Part two", "Part two\n--------\ny"),
    ]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16"])
def test_c85_old_encodings_are_read(encoding):
    """A Latin-1 file with the byte E9 is text like any other."""
    (chunk,) = read("a.txt", "Café au lait".encode(encoding))
    assert chunk.text == "Café au lait"


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.pdf", b"%PDF-1.4\nbroken", "is damaged: no readable PDF"),
        ("a.pdf", pdf([]), "has no text (scanned pages?)"),
        ("a.md", b" \n", "is empty"),
        ("a.docx", b"PK nonsense", "is damaged: no readable archive"),
        ("a.docx", packed({"x": "y"}), "is damaged: no Word document (KeyError)"),
        ("a.epub", packed({"x": "y"}), "is no book: its list of chapters is missing"),
        ("a.bin", b"\0\1\2", "is no text, and nothing here reads .bin"),
        ("blob", b"\0\1\2", "is no text, and nothing here reads files without an ending"),
        ("a.txt", b"\1\2\3\4\xff", "is no text"),
        ("a.html", b"<html><script>x</script>", "has no text"),
        ("a.csv", b"a,b\n", "has a head and no rows"),
    ],
)
def test_c85_what_gives_no_text_says_why(name, data, why):
    """In a few words, without the library's own."""
    assert refused(name, data) == why


@pytest.mark.parametrize("name", ["a.docx", "a.epub"])
def test_an_archive_that_unpacks_to_too_much_is_not_unpacked(name):
    """A zip bomb is refused by what it says of itself; it cannot give more than that."""
    bomb = packed({f"part{n}": "0" * 50_000_000 for n in range(5)})
    assert len(bomb) < 1_000_000
    assert "unpacks to more than" in refused(name, bomb)


def test_an_archive_of_too_many_parts_is_not_opened(monkeypatch):
    """Neither is one that has more names than any document."""
    monkeypatch.setattr("edgeward.profiles.rag.packed.MAX_PARTS", 3)
    assert refused("a.docx", packed(dict.fromkeys("abcd", ""))).startswith("has 4 parts")


def test_external_entities_of_a_book_are_not_read(tmp_path):
    """XML in a document reads no file of this machine."""
    secret = tmp_path / "secret.txt"
    secret.write_text("TOPSECRET")
    opf = (
        f'<!DOCTYPE p [<!ENTITY x SYSTEM "{secret.as_uri()}">]>'
        '<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
        '<item id="a" href="&x;"/></manifest><spine><itemref idref="a"/></spine></package>'
    )
    from .made import CONTAINER

    book = packed({"META-INF/container.xml": CONTAINER, "OEBPS/book.opf": opf})
    assert "TOPSECRET" not in refused("a.epub", book)


def test_a_page_of_any_depth_is_read():
    """Reading a page does not recurse."""
    (chunk,) = read("a.html", "<div>" * 3_000 + "deep" + "</div>" * 3_000)
    assert chunk.text == "deep"


def test_a_big_table_is_cut_at_a_row(monkeypatch):
    """And says how much is missing."""
    monkeypatch.setattr(content, "MAX_TABLE_CHARS", 40)
    table = content.table("| a |\n| --- |\n" + "| 12345678 |\n" * 9 + "| end |")
    assert (
        table.content.decode()
        == "| a |\n| --- |\n| 12345678 |\n| 12345678 |\n(8 more rows were left out)"
    )


def test_a_text_is_read_up_to_its_bound(monkeypatch):
    """What goes on behind is left out, and noted."""
    monkeypatch.setattr(content, "MAX_CHARS", 10)
    found = content.Gathered()
    found.add("12345678")
    found.add("12345678")
    assert ([chunk.text for chunk in found.chunks], found.full) == (["12345678", "12"], True)
    assert found.notes == ["only the first 10 characters were read"]


def test_tables_and_images_are_kept_up_to_their_bound(monkeypatch):
    """One that several chunks refer to counts once."""
    monkeypatch.setattr(content, "MAX_RESOURCES", 2)
    found = content.Gathered()
    one, two, three = (content.table(f"| {n} |") for n in "abc")
    found.add("x", resources=[one])
    found.add("x", resources=[one, two, three])
    assert [chunk.resources for chunk in found.chunks] == [(one,), (one, two)]
    assert found.notes == ["only the first 2 tables and images were kept"]


def test_tables_and_images_have_a_size_together(monkeypatch):
    """A document of pictures does not burst what carries it."""
    monkeypatch.setattr(content, "MAX_RESOURCE_BYTES", 10)
    found = content.Gathered()
    found.add("x", resources=[content.table("| 3456 |"), content.table("| b |")])
    assert len(found.result()[0].resources) == 1
    assert found.result()[0].note == "only the first 1 tables and images were kept"
