"""Characters that a model reads and a person does not see: taken out of text, or made visible.

What a script or an emoji needs stays where it needs it: joiners inside words of Arabic or Indic
scripts and between emoji, direction marks in text that has a direction to mark, variation
selectors behind what varies, the flags of Scotland, England and Wales. Linear in the text.
"""

from __future__ import annotations

import re

Cleaned = tuple[str, tuple[str, ...]]
"""The text, and labels of what was in it, each once."""

_KINDS: tuple[tuple[str, str], ...] = (
    ("tag characters", "\U000e0000-\U000e007f"),
    ("zero-width characters", "\u034f\u180e\u200b-\u200d\u2060-\u2065\ufeff"),
    ("direction controls", "\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f"),
    ("variation selectors", "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"),
    ("soft hyphens", "\u00ad"),
    ("invisible fillers", "\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufff0-\ufffb"),
    ("invisible controls", "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"),
    ("unassigned characters", "\U000e0080-\U000e00ff\U000e01f0-\U000e0fff"),
    ("private use", "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"),
)
_RUN = re.compile("[" + "".join(chars for _, chars in _KINDS) + "]+")
_KIND = re.compile("|".join(f"([{chars}])" for _, chars in _KINDS))

_FLAGS = frozenset(
    "".join(chr(0xE0000 + ord(c)) for c in code) + "\U000e007f"
    for code in ("gbeng", "gbsct", "gbwls")
)
_JOINING = re.compile(
    "[\u0600-\u06ff\u0700-\u08ff\u0900-\u0dff\u0e00-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc"
    "\U00011000-\U00011fff]"
)
"""Scripts in which a joiner changes how letters are written."""
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\u0f00-\u0fff]")
"""Scripts without spaces, in which a zero-width space ends a word."""
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_PICTURE = re.compile(
    "[\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)
_JAMO = re.compile("[\u1100-\u11ff]")
_MONGOLIAN = re.compile("[\u1800-\u18af]")
_VARIES = re.compile("[\u1000-\u109f\u2200-\u22ff\u3000-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_KEYCAP = frozenset("#*0123456789")


def cleaned(text: str, *, shown: bool = False) -> Cleaned:
    """`text` without hidden characters; with `shown`, each stands there as `‹U+E0041›`."""
    if text.isascii() or _RUN.search(text) is None:
        return text, ()
    labels: dict[str, None] = {}
    directed = _RIGHT_TO_LEFT.search(text) is not None

    def kept(match: re.Match[str]) -> str:
        run, (start, end) = match[0], match.span()
        before, after = text[start - 1 : start], text[end : end + 1]
        if start == 0 and run == "\ufeff":
            return run  # a byte order mark
        if before == "\U0001f3f4" and run in _FLAGS:
            return run
        out: list[str] = []
        for at, char in enumerate(run):
            following = run[at + 1] if at + 1 < len(run) else after
            if _belongs(char, before, following, directed=directed):
                out.append(char)
                before = char
                continue
            found = _KIND.fullmatch(char)
            assert found is not None
            labels[_KINDS[(found.lastindex or 1) - 1][0]] = None
            if shown:
                out.append(f"‹U+{ord(char):04X}›")
                before = "›"
        return "".join(out)

    return _RUN.sub(kept, text), tuple(labels)


def _belongs(char: str, before: str, after: str, *, directed: bool) -> bool:
    """Whether the character has something to do where it stands."""
    if char == "\u200d" and _is(_PICTURE, after) and _pictured(before):
        return True
    if char in "\u200c\u200d":
        return _is(_JOINING, before) and (char == "\u200c" or _is(_JOINING, after))
    if char == "\u200b":
        return _is(_UNSPACED, before) and _is(_UNSPACED, after)
    if char in "\u200e\u200f\u061c\u202a\u202b\u202c\u2066\u2067\u2068\u2069":
        return directed and char != before
    if char in "\ufe0e\ufe0f":
        return (
            _is(_PICTURE, before)
            or (before in _KEYCAP and after == "\u20e3")
            or (char == "\ufe0e" and _is(_VARIES, before))
        )
    if "\ufe00" <= char <= "\ufe0d" or "\U000e0100" <= char <= "\U000e01ef":
        return _is(_VARIES, before)
    if "\u180b" <= char <= "\u180f":
        return _is(_MONGOLIAN, before)
    if char in "\u115f\u1160":
        return _is(_JAMO, before) or _is(_JAMO, after)
    return False


def _pictured(before: str) -> bool:
    """A joiner may follow a picture, also one with a selector behind it."""
    return _is(_PICTURE, before) or before == "\ufe0f"


def _is(kind: re.Pattern[str], char: str) -> bool:
    return bool(char) and kind.match(char) is not None
