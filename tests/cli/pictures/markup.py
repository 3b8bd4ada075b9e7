"""A page as it is parsed: what is in it, and whether anything is that should not be."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

TAGS = frozenset(
    """a b body code dd del details div dl dt fieldset h1 h2 h3 h4 head header html input label
    legend li main meta nav ol p pre section span style summary table tbody td th thead time title
    tr ul""".split()  # noqa: SIM905
)
VOID = frozenset({"meta", "input"})
ATTRIBUTES = frozenset(
    """aria-label charset checked class content data-word datetime href http-equiv id lang name open
    scope type""".split()  # noqa: SIM905
)


class Parsed(HTMLParser):
    """Every element and text of a page; elements that no writer here makes are an error."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert not self._open, self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note it: one of ours, with attributes of ours."""
        assert tag in TAGS, tag
        assert {name for name, _ in attrs} <= ATTRIBUTES, attrs
        assert re.fullmatch(r"(#[a-z]+(-\d+)?)?", dict(attrs).get("href") or ""), attrs
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Each element is closed where it was opened."""
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note a text; but for the style, nothing in it is a control character."""
        if self._open[-1:] == ["style"]:
            self.style = data
        else:
            assert all(letter.isprintable() or letter in "\n\t" for letter in data), data
            self.texts.append(data)

    @property
    def text(self) -> str:
        """All text, as it is read: one blank where an element or a line ends."""
        return re.sub(r"\s+", " ", " ".join(self.texts))

    def policy(self) -> str:
        """The page's content policy; the one style in it is the one that is there."""
        metas = [attrs for tag, attrs in self.elements if tag == "meta"]
        (policy,) = (m["content"] for m in metas if m.get("http-equiv"))
        assert policy is not None
        digest = base64.b64encode(hashlib.sha256(self.style.encode()).digest()).decode()
        assert f"style-src 'sha256-{digest}'" in policy
        return policy
