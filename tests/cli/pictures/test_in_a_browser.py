"""Pictures in a real browser: they load nothing, can be read in both schemes and by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from edgeward.cli.pictures.drawing import drawing
from edgeward.cli.pictures.of_log import story_of_log
from edgeward.cli.pictures.of_thread import story_of_thread
from edgeward.cli.pictures.page import page_of
from edgeward.cli.pictures.svg import as_svg
from edgeward.graphs.checkpoints import SqliteThreads
from edgeward.graphs.schema import load_strategy, shipped_strategies

from .browser import OVERLAPS, Browser, ratio, running
from .conftest import MARKUP, THREAD, Ran

pytestmark = pytest.mark.slow

ENOUGH = 4.5
"""The contrast that WCAG 2 asks of text (AA)."""
TAB, ENTER, SPACE = "\ue004", "\ue007", " "


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser, once for all tests here."""
    with running(tmp_path_factory.mktemp("browser")) as found:
        yield found


@pytest.fixture(scope="module", params=["thread", "log"])
def page(
    request: pytest.FixtureRequest, ran: Ran, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The page of a real run, whose model and tools attack whoever looks at it."""
    if request.param == "thread":
        with closing(SqliteThreads(ran.threads)) as saver:
            story = story_of_thread(saver, THREAD, limit=100)
    else:
        story = story_of_log(ran.log, thread=None, key=None, limit=100)
    file = tmp_path_factory.mktemp("page") / "run.html"
    file.write_text(page_of(story), encoding="utf-8")
    return file


def test_it_loads_and_asks_nobody(browser: Browser, page: Path) -> None:
    """No console message, no request but for the file, no script, and the attack is to be read."""
    browser.open(page)
    assert browser.requests() == [page.as_uri()]
    assert browser.complaints() == []
    assert browser.script("return document.scripts.length + document.images.length") == 0
    assert browser.script("return getComputedStyle(document.body).maxWidth") == "960px"
    assert MARKUP in browser.script("return document.body.textContent")
    assert browser.script("return document.querySelector('h1').checkVisibility()")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out(browser: Browser, page: Path, scheme: str) -> None:
    """In both colour schemes, with every call open, borders of what has the focus as well."""
    browser.open(page, scheme=scheme)
    browser.script("document.querySelectorAll('details').forEach(d => d.open = true)")
    found = browser.contrasts()
    assert len(found) > 150
    assert not [(round(got, 2), text) for got, text in found if got < ENOUGH]
    paper = browser.script("return getComputedStyle(document.documentElement).backgroundColor")
    assert ratio(paper, "rgb(255, 255, 255)") == pytest.approx(1) or scheme == "dark"
    assert ratio(paper, "rgb(0, 0, 0)") < 1.5 or scheme == "light"


def test_it_can_be_read_without_a_mouse(browser: Browser, page: Path) -> None:
    """Tab reaches everything and shows where it is; Enter opens a call; Space hides some."""
    browser.open(page)
    browser.press(TAB)
    focus = "return document.activeElement"
    assert browser.script(f"{focus}.textContent") == "To the steps"
    assert browser.script(f"{focus}.getBoundingClientRect().left") >= 0
    reached = []
    for _ in range(40):
        outline = browser.script(f"const s = getComputedStyle({focus[7:]}); return s.outlineWidth")
        assert outline == "3px"
        reached.append(browser.script(f"{focus}.id || {focus[7:]}.tagName"))
        if reached[-1] == "SUMMARY":
            break
        browser.press(TAB)
    assert reached[1:] == ["show-allow", "show-redact", "show-ask", "show-block", "SUMMARY"]
    assert not browser.script(f"{focus}.parentElement.open")
    browser.press(ENTER)
    assert browser.script(f"{focus}.parentElement.open")
    assert browser.script("return document.querySelector('.inside').checkVisibility()")
    browser.script("document.getElementById('show-block').focus()")
    blocked = "return [...document.querySelectorAll('[data-word=block]')]"
    assert browser.script(f"{blocked}.every(c => c.checkVisibility())")
    browser.press(SPACE)
    assert browser.script(f"{blocked}.length") == 2
    assert not browser.script(f"{blocked}.some(c => c.checkVisibility())")


def test_it_fits_a_narrow_screen(browser: Browser, page: Path) -> None:
    """320 pixels, every call open: nothing has to be scrolled sideways."""
    browser.open(page, width=320)
    browser.script("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.script("return document.documentElement.scrollWidth") <= 320


def test_its_headings_are_an_outline(browser: Browser, page: Path) -> None:
    """One at the top, and none skips a level: screen readers go by them."""
    browser.open(page)
    all_of_them = "return [...document.querySelectorAll('h1, h2, h3, h4, h5')]"
    levels = [int(tag[1]) for tag in browser.script(f"{all_of_them}.map(h => h.tagName)")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", shipped_strategies())
def test_no_label_of_a_strategy_lies_on_another(
    browser: Browser, tmp_path: Path, name: str, scheme: str
) -> None:
    """In the SVG as a browser draws it; all of them are inside, and stand out in both schemes."""
    file = tmp_path / f"{name}.svg"
    file.write_text(as_svg(drawing(load_strategy(name))), encoding="utf-8")
    browser.open(file, scheme=scheme)
    assert browser.complaints() == []
    assert browser.requests() == [file.as_uri()]
    assert browser.script(OVERLAPS) == []
    colours = """
        const fill = s => getComputedStyle(document.querySelector(s)).fill;
        return [[fill("text.name"), fill(".box")], [fill("text.soft"), fill(".paper")],
                [fill("text.soft"), fill(".box")]];
    """
    assert all(ratio(*pair) >= ENOUGH for pair in browser.script(colours))
