"""Tool names: exact where they allow, forgiving where they block.

A dispatcher may trim, fold case, normalise Unicode, strip a server prefix, or take `sendEmail` for
`send_email`; what blocks must therefore match every such spelling, and what allows must match none
but its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache

from .folding import folded
from .redact import Redactor

_PREFIX = re.compile(r"__|[./:#|\\>@]")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NO_LETTER = re.compile(r"[\W_]+")
_COUNTED = re.compile(r"[:#\[(]\s*[0-9]+\W*\Z")
"""The number of a call behind the tool's name: `functions.send_email:0`."""
_SHOWN = 80

MAX_NAME = 512
"""Characters of a tool's name; no provider allows a quarter of it."""

# Letters that look like ASCII ones (from Unicode's confusables, those of common keyboards).
_LOOKALIKES = dict(
    zip(
        "асеорхуіјѕһԁԛԝքոցԍӏЬгмтнквАВСЕНІЈКМОРЅТУХԌοαρντυικχγεΑΒΕΖΗΙΚΜΝΟΡΤΥΧɡıɩⅼ",
        "aceopxyijshdqwpngglbrmthkbABCEHIJKMOPSTYXGoapvtuikxyeABEZHIKMNOPTYXgiil",
        strict=True,
    )
)
_SMALL_CAPITALS = zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnopqrstuvwyz", strict=True)
_FOLD = str.maketrans(_LOOKALIKES | dict(_SMALL_CAPITALS))
_MARK = re.compile("[\u0300-\u036f]")
_BESIDE_LATIN = (
    "LATIN", "CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "THAI", "ARABIC", "HEBREW",
    "DEVANAGARI",
)  # fmt: skip
"""Scripts of which no letter looks like a Latin one (UTS 39, moderately restrictive)."""
_SEPARATOR = re.compile(r"[\s-]")


@lru_cache(maxsize=2_048)
def folded_name(name: str) -> str:
    """The name as the most forgiving reader would take it: trimmed, plain, without case, `_` for
    a blank or a hyphen.
    """
    text = _SEPARATOR.sub("_", folded(name).strip())
    if not text.isascii():
        text = unicodedata.normalize("NFD", text.translate(_FOLD))
        text = unicodedata.normalize("NFC", _MARK.sub("", text))
    return text.casefold()


@lru_cache(maxsize=2_048)
def spellings(name: str) -> tuple[str, ...]:
    """`folded_name`, also of `sendEmail` as `send_email`, and what is left of each without its
    server prefixes and the number of the call."""
    counted = _COUNTED.sub("", name)
    wholes = dict.fromkeys(
        (folded_name(name), folded_name(counted), folded_name(_HUMP.sub("_", counted)))
    )
    return tuple(
        part
        for whole in wholes
        for part in (whole, *(whole[m.end() :] for m in _PREFIX.finditer(whole)))
        if part
    )


@lru_cache(maxsize=4_096)
def bare_name(text: str) -> str:
    """A folded name without what may be left out or stand around it: `"send__email"`."""
    return _NO_LETTER.sub("", text) or text


def bare_argument(name: str) -> str:
    """The name of an argument as the most forgiving reader takes it; none takes a very long one."""
    return _bare_argument(name) if len(name) <= MAX_NAME else ""


@lru_cache(maxsize=4_096)
def _bare_argument(name: str) -> str:
    return bare_name(folded_name(name))


def name_fault(name: str) -> str:
    """Why no policy could allow a tool of this name; empty where nothing is wrong with it."""
    if isinstance(name, str) and len(name) <= MAX_NAME:
        return _fault(name)
    if isinstance(name, str) and name.strip():
        return f"the tool name is longer than {MAX_NAME} characters"
    return _NO_NAME


@lru_cache(maxsize=2_048)
def _fault(name: str) -> str:
    if not name.strip():
        return _NO_NAME
    if _ESCAPED.search(name):
        return _DISGUISED_BY_ESCAPES.format(shown_name(name))
    if name.isascii():
        return "" if name.strip().isprintable() else _HIDDEN.format(shown_name(name))
    if any(unicodedata.category(c) in _UNSEEN or c == "\u2800" for c in name):
        return _HIDDEN.format(shown_name(name))
    plain = unicodedata.normalize("NFKC", name)
    if plain != unicodedata.normalize("NFC", name) and plain.isascii():
        return _DISGUISED.format(shown_name(name))
    letters = [c for c in plain if c.isalpha()]
    scripts = [unicodedata.name(c, "") for c in letters]
    latin = any(script.startswith("LATIN") for script in scripts)
    mixed = latin and not all(script.startswith(_BESIDE_LATIN) for script in scripts)
    if mixed or plain.translate(_FOLD).isascii():
        return _DISGUISED.format(shown_name(name))
    return ""


_NO_NAME = "the tool name is empty"
_UNSEEN = ("Cf", "Cc", "Co", "Cs", "Cn")
_HIDDEN = "tool name {} holds invisible characters"
_ESCAPED = re.compile(r"%[0-9A-Fa-f]{2}|\\[uUxN]|&#?[0-9A-Za-z]+;")
_DISGUISED_BY_ESCAPES = "tool name {} holds escapes, behind which another could stand"
_DISGUISED = "tool name {} imitates another with look-alike letters"


@lru_cache(maxsize=256)
def shown_name(name: str) -> str:
    """The name in quotes, in plain ASCII, at most 80 characters, with secrets masked: models choose
    names."""
    name = Redactor().secrets(name)[0]
    return ascii(name if len(name) <= _SHOWN else name[:_SHOWN] + "...")


class ForbiddenNames:
    """Names and globs (`*`, `?`) that block: each matches every spelling of a name."""

    __slots__ = ("_exact", "_globs")

    def __init__(self, names: Iterable[str]) -> None:
        self._exact: dict[str, int] = {}
        self._globs: list[tuple[re.Pattern[str], int]] = []
        for number, name in enumerate(names):
            text = folded_name(name)
            if "*" in text or "?" in text:
                self._globs.append((glob_pattern(text), number))
            else:
                self._exact.setdefault(bare_name(text), number)

    def find(self, name: str) -> int | None:
        """The number of the first entry that matches, or None."""
        for text in spellings(name):
            number = self._exact.get(bare_name(text))
            if number is not None:
                return number
            for pattern, number in self._globs:
                if pattern.fullmatch(text):
                    return number
        return None


@lru_cache(maxsize=4_096)
def glob_pattern(glob: str) -> re.Pattern[str]:
    """The glob as a pattern: `*` any characters, `?` one; nothing else is special."""
    # Runs of * would make the match slow and mean no more than one.
    parts = re.split(r"(\*+|\?)", glob)
    signs: Mapping[str, str] = {"*": ".*", "?": "."}
    return re.compile("".join(signs.get(p[:1], re.escape(p)) for p in parts), re.DOTALL)
