"""Links that carry data out, made harmless: images above all, which nobody has to click.

A model that obeys an injection needs no tool to leak: an image in its answer is fetched by whatever
shows the answer, and the address holds what was read. So an image from a host that is not listed
becomes words, and so does a link to such a host that carries data. The host stays readable. Where
no hosts are listed, only images whose address carries data are defused. Linear in the text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .carried import carries, readable, shown
from .hosts import HostList, canonical_host

Defused = tuple[str, tuple[str, ...]]
"""The text, and labels of what was done: `images`, `links`."""

_ANY = re.compile(r"//|[\\&:]|/[\t\r\n]")
"""Without one of these nothing leads to another host: as an entity (`&Tab;`), or with a blank that
browsers leave out, it is one, too."""

_BRACKETS = re.compile(r"!?\[|\]")
_TARGET = re.compile(r"\s*(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*\))*))")
_TITLE = re.compile(r"""\s*(?:(?:"[^"\n]*"|'[^'\n]*'|\([^()\n]*\))\s*)?\)""")
_DEFINITION = re.compile(
    r"^[ >\t*+.)0-9-]*\[([^\]\n]{1,999})\]:[ \t]*(?:\n[ \t]*)?(<[^<>\n]*>|\S+)", re.MULTILINE
)
"""What a name stands for, also in a list or a quotation."""
_ATTRIBUTE = re.compile(
    r"""([\s"'/])(?:src|srcset|imagesrcset|poster|background|lowsrc|dynsrc|data|xlink:href)\s*=\s*"""
    r"""(?:"([^"]*)"|'([^']*)'|([^\s>"'`]+))""",
    re.IGNORECASE,
)
_FETCHING = re.compile(
    r"<(?:link|base|meta|(?:\w{1,20}:)?(?:image|use|feimage))(?=[\s/])", re.IGNORECASE
)
"""Elements whose `href`, or whose `content`, is followed without a click."""
_TAG = re.compile("<[A-Za-z/!?]")
_REST_OF_TAG = re.compile(r"""(?:[^>=]+|=\s*(?:"[^"]*(?:"|\Z)|'[^']*(?:'|\Z))?)*""")
"""Quotes mean something only where a value begins."""
_FOLLOWED = re.compile(
    r"""(?<=[\s/"'])(?:href|content)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))""",
    re.IGNORECASE,
)
_REFRESH = re.compile(r"""[\s\d.]+[;,\s]\s*(?:url\s*=\s*)?["']?""", re.IGNORECASE)
_CSS = re.compile(
    r"""((?:url\(|(?:@import|image-set\()(?:\s*url\()?)\s*(?:["']\s*)?)([^"'()\s<>]+)""",
    re.IGNORECASE,
)
_CSS_ENDS = re.compile(
    r"""(?:url\(|(?:@import|image-set\()(?:\s*u(?:r(?:l(?:\()?)?)?)?)\s*(?:["']\s*)?\Z""",
    re.IGNORECASE,
)
_SET = re.compile(r"image-set\(", re.IGNORECASE)
_QUOTED = re.compile(r"""(["']\s*)([^"'()\s<>]+)""")
"""An address of a set of images; where the set ends is left open."""
_BARE = re.compile(r"""(?:https?|ftp|wss?):[/\\]{2,}[^\s<>"'`|{}\[\]()]+""", re.IGNORECASE)
_ABSOLUTE = re.compile(
    r"(?:(?:https?|ftp|wss?):[/\\]*|[a-z][a-z0-9+.-]{0,30}:[/\\]{2,}|[/\\]{2,})([^/\\?#]*)(.*)",
    re.IGNORECASE | re.DOTALL,
)
_IGNORED = re.compile(r"[\t\r\n]")
_AROUND = " \t\r\n\f\v\"'"
_EDGE = ".,;:!?*_'\""
"""Punctuation that follows a link in prose."""

_LONG_NAME = 400
"""Characters of an image's words that are looked at for what it is called."""

Private = Callable[[str], object]
"""Whether a text holds what may not leave."""


def _nothing(text: str) -> object:
    return None


@dataclass(frozen=True, slots=True)
class Defuser:
    """What is listed, and what is private. `hosts` None: nothing is listed, so any host may be."""

    hosts: HostList | None = None
    private: Private = _nothing

    def __call__(self, text: str) -> Defused:
        """The text with its dangerous images and links as words."""
        if _ANY.search(text) is None:
            return text, ()
        did: set[str] = set()
        if "![" in text or "](" in text:
            text = self._markdown(text, did)
        before = text
        if "<" in text:
            text = self._tags(_ATTRIBUTE.sub(self._attribute, text))
        if any(map(text.lower().__contains__, ("url(", "@import", "image-set("))):
            text = _CSS.sub(self._css, text)
            if (of_set := _SET.search(text)) is not None:
                at = of_set.end()
                text = text[:at] + _QUOTED.sub(self._css, text[at:])
        did |= {"images"} if text != before else set()
        if self.hosts is not None or self.private is not _nothing:
            before, text = text, _BARE.sub(self._bare, text)
            did |= {"links"} if text != before else set()
        return text, tuple(sorted(did))

    def _host(self, target: str, *, fetched: bool) -> str | None:
        """The host as it is shown where the target has to go; None where it may stay."""
        target = html.unescape(target) if "&" in target else target
        absolute = _ABSOLUTE.match(_IGNORED.sub("", target.strip(_AROUND)))
        if absolute is None:
            return None
        authority, rest = absolute.groups()
        name = authority.rpartition("@")[2]
        if not name.startswith("["):
            name = name.partition(":")[0]
        host = canonical_host(name)
        if (
            host is not None
            and self.hosts is not None
            and host in self.hosts
            and "@" not in authority
        ):
            return None
        private = self.private is not _nothing and self.private(readable(rest))
        loaded = "@" in authority or carries(host or name, rest)
        listed = self.hosts is not None
        if private or (loaded and (listed or fetched)) or (fetched and listed):
            return shown(host)
        return None

    def _markdown(self, text: str, did: set[str]) -> str:
        """Inline images and links, and the definitions of those images that are named elsewhere."""
        named: set[str] = set()
        edits: list[tuple[int, int, str]] = []
        for start, middle, end, target in _inline(text, named):
            image = text[start] == "!"
            host = self._host(target, fetched=image)
            if host is None:
                continue
            if image:
                name = text[start + 2 : min(middle, start + 2 + _LONG_NAME)]
                edits.append((start, end, _in_words(name, host)))
            else:
                left_out = f" [link to {host} left out: it carries data]"
                edits += [(start, start + 1, ""), (middle, end, left_out)]
            did.add("images" if image else "links")
        text = _edited(text, edits)
        if not named:
            return text

        def definition(match: re.Match[str]) -> str:
            if _key(match[1]) not in named:
                return match[0]
            host = self._host(match[2].strip("<>"), fetched=True)
            if host is None:
                return match[0]
            did.add("images")
            return _in_words(match[1], host)

        return _DEFINITION.sub(definition, text)

    def _attribute(self, match: re.Match[str]) -> str:
        value = match[2] or match[3] or match[4] or ""
        targets = re.split(r"[\s,]+", html.unescape(value))
        hosts = [h for t in (value, *targets) if (h := self._host(t, fetched=True)) is not None]
        return f'{match[1]}not-shown="{hosts[0].strip("`")}"' if hosts else match[0]

    def _tags(self, text: str) -> str:
        """Without what elements are loaded from, or lead to, by themselves."""
        pieces: list[str] = []
        done = 0
        while (tag := _FETCHING.search(text, done)) is not None:
            rest = _REST_OF_TAG.match(text, tag.end())
            assert rest is not None
            pieces += [text[done : tag.end()], _FOLLOWED.sub(self._followed, rest[0])]
            done = rest.end()
        return "".join([*pieces, text[done:]]) if pieces else text

    def _followed(self, match: re.Match[str]) -> str:
        value = html.unescape(match[1] or match[2] or match[3] or "")
        if match[0][:1] in "cC":
            refresh = _REFRESH.match(value)
            value = value[refresh.end() :] if refresh is not None else ""
        host = self._host(value, fetched=True)
        return match[0] if host is None else f'not-shown="{host.strip("`")}"'

    def _css(self, match: re.Match[str]) -> str:
        before, target = match.groups()
        if target[:2] == "/*" and before[:1] == "@":
            return f"@not-shown {target}"  # what is loaded stands behind the comment
        host = self._host(target, fetched=True)
        return match[0] if host is None else f"{before}#not-shown-{host.strip('`')}"

    def _bare(self, match: re.Match[str]) -> str:
        url = match[0].rstrip(_EDGE)
        host = self._host(url, fetched=False)
        if host is None:
            return match[0]
        return f"[link to {host} left out: it carries data]{match[0][len(url) :]}"


def _inline(text: str, named: set[str]) -> Iterator[tuple[int, int, int, str]]:
    """`[words](target)`, with or without `!`: start, end of the words, end, target.

    Inner ones come before those around them. `named` gets the names of images defined elsewhere.
    """
    open_: list[tuple[int, bool]] = []
    for bracket in _BRACKETS.finditer(text):
        if bracket[0] != "]":
            open_.append((bracket.start(), bracket[0] == "!["))
            continue
        if not open_:
            continue
        start, image = open_.pop()
        at = bracket.end()
        if text.startswith("(", at):
            target = _TARGET.match(text, at + 1)
            assert target is not None
            closed = _TITLE.match(text, target.end())
            end = closed.end() if closed else target.end()
            yield start, bracket.start(), end, target[1] or target[2] or ""
        elif image:
            named.add(_key(text[start + 2 : bracket.start()]))
            if text.startswith("[", at):
                close = text.find("]", at, at + 1_000)
                named.add(_key(text[at + 1 : close]))


def ends_in_tag(text: str) -> bool:
    """Whether the text ends before a tag of it does; a `>` in quotes ends none."""
    at = 0
    while (tag := _TAG.search(text, at)) is not None:
        rest = _REST_OF_TAG.match(text, tag.end())
        assert rest is not None
        at = rest.end()
        if text[at : at + 1] != ">":
            return True
    return False


def ends_in_style(text: str) -> bool:
    """Whether what CSS loads may stand behind the end of the text."""
    return _SET.search(text) is not None or _CSS_ENDS.search(text) is not None


def by_name(text: str) -> bool:
    """Whether the text shows an image that is named elsewhere, or says what a name stands for."""
    named: set[str] = set()
    for _ in _inline(text, named):
        pass
    return bool(named) or _DEFINITION.search(text) is not None


def _edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    """The text with its pieces replaced; what lies inside of a replaced piece goes with it."""
    pieces: list[str] = []
    done = 0
    for start, end, words in sorted(edits):
        if start >= done:
            pieces += [text[done:start], words]
            done = end
    return "".join([*pieces, text[done:]])


def _key(name: str) -> str:
    return " ".join(name.split()).casefold()


def _in_words(words: str, host: str) -> str:
    said = _plain(words)
    return f"(image {said} from {host}, not shown)" if said else f"(image from {host}, not shown)"


def _plain(words: str) -> str:
    """What an image is called, as words in quotes: no brackets, no link."""
    kept = " ".join(word for word in words.split() if "//" not in word)
    said = " ".join(re.sub(r"[\[\]()<>!`\"]+", " ", kept).split())[:80]
    return f'"{said}"' if said else ""
