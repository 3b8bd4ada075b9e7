"""How much a text reads like instructions to a model: a score from 0 to 1, and what it is made of.

Signals (see `signals.py`) are looked for in the text and in its views: decoded, with look-alike
letters brought to one alphabet, with letters that were pulled apart put together. Within one
passage they add up, `1 - (1 - a)(1 - b)…`; far apart they do not, or every long text would be an
attack. The score is a signal and no defence: an order in plain words has none of it. Linear.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice
from typing import Any
from urllib.parse import unquote

import re2

from .encodings import json_text, views
from .patterns import PatternSet, compile_pattern, searchable
from .signals import ABOUT, Signal, signals

PASSAGE = 1_200
"""Characters within which signals add up."""

ENCODED = 0.3
"""What it weighs besides that a signal stood in encoded text."""

MOST_HITS = 400
"""Hits of one signal that are looked at."""

MOST_BLOBS = 200
"""Encoded runs that are opened."""

Scored = tuple[float, tuple[str, ...]]
"""The score, and the labels of what it is made of."""

Groups = tuple[frozenset[int], ...]
"""The words that a signal needs, by number: one of each group."""


class _Table:
    """The compiled table. A pattern is searched only where the words are that it needs."""

    def __init__(self, rows: Iterable[Signal]) -> None:
        numbers: dict[str, int] = {}
        self._words = PatternSet(signals=())
        self._rows: list[tuple[Signal, Groups]] = []
        for row in rows:
            groups = []
            for group in row.needs.split(" & "):
                for word in group.split("|"):
                    if word not in numbers:
                        numbers[word] = self._words.add(re2.escape(word))
                groups.append(frozenset(numbers[word] for word in group.split("|")))
            self._rows.append((row, tuple(groups)))
        self._words.freeze()
        self._told = dict[int, list[int]]()
        """The rows that may be possible by a word of their rarest group."""
        for place, (row, found) in enumerate(self._rows):
            words = [group.split("|") for group in row.needs.split(" & ")]
            rarest = max(range(len(words)), key=lambda n: min(map(len, words[n])))
            for number in found[rarest]:
                self._told.setdefault(number, []).append(place)

    def possible(self, text: str) -> Iterator[tuple[Signal, Any]]:
        """The signals whose words are in the text, with their patterns."""
        words = self._words.candidates(text.lower())
        told = self._told
        for place in sorted({place for word in words if word in told for place in told[word]}):
            row, groups = self._rows[place]
            if not any(map(words.isdisjoint, groups)):
                yield row, compile_pattern("(?m)" + row.pattern, ignore_case=True)


@cache
def _table() -> _Table:
    return _Table(signals())


def scored(text: str) -> Scored:
    """The score of the worst passage, and its labels."""
    text = searchable(text)
    best = plain = _passage(text)
    for view, encoded in _views(text):
        found = _passage(searchable(view))  # an escape can say half a character
        if encoded and found[0] > plain[0]:  # what was said openly, too, was not hidden
            found = round(1 - (1 - found[0]) * (1 - ENCODED), 4), (*found[1], "encoded")
        best = max(best, found, key=lambda scored: scored[0])
    if best[0] < _DISGUISED[0] and _is_disguised(text):
        return _DISGUISED
    return best


def about_injection(text: str) -> bool:
    """Whether the text speaks of injections by name, as articles and tests do."""
    about = compile_pattern(ABOUT, ignore_case=True)
    return about.search(searchable(text)) is not None


def _passage(text: str) -> Scored:
    """The heaviest passage of one text."""
    hits: list[tuple[int, str, float]] = []
    for signal, pattern in _table().possible(text):
        found = pattern.finditer(text)
        if signal.label == "override":
            found = (match for match in found if not _is_negated(text, match))
        for match in islice(found, MOST_HITS):
            weight = signal.weight
            if signal.label == "override" and _OWN.search(match[0]) is not None:
                weight *= 0.5
            hits.append((match.start(), signal.label, weight))
    return _heaviest(sorted(hits)) if hits else (0.0, ())


_OWN = re.compile(
    r"\b(?:my|our)\s+(?:last|previous|prior|earlier|former)\b"
    r"|\b(?:what|everything|anything)\s+(?:i|we)\s+(?:told|said|wrote|asked)\b",
    re.IGNORECASE,
)
"""A sender who takes back what they wrote themselves: `ignore my previous instructions`."""
_NOT_BEFORE = re.compile(
    r"(?:\b(?:(?:do|does|did|must|should|shall|may|can|could|will|would|please|and|but)[ \t]+not"
    r"|never|don['’]?t|no|não|non|ne|не)[ \t]+(?:(?:to|te|se|ever|simply|just)[ \t]+)?"
    r"|n['’]|不要|勿|(?<![特分个個级級类類区區])[别別])\Z",
    re.IGNORECASE,
)
_NOT_WITHIN = re.compile(
    r"\w+(?:\s+(?:sie|bitte))*\s+(?:nicht|niet|inte|ikke|pas)\b", re.IGNORECASE
)
_NOT_BEHIND = re.compile(r"し?(?:ない(?!と)|ず)|하지\s?(?:마|말)|지\s?(?:마|말)")


def _is_negated(text: str, match: Any) -> bool:
    """Whether a sentence says the opposite: `don't forget the instructions above`."""
    start, end = match.span()
    if _NOT_WITHIN.match(match[0]) or _NOT_BEFORE.search(text[max(start - 24, 0) : start]):
        return True
    return match[0][-1] in "視れ시잊" and _NOT_BEHIND.match(text, end) is not None


_MOST_IN_PASSAGE = 40


def _heaviest(hits: list[tuple[int, str, float]]) -> Scored:
    """Of all passages that begin at a hit the one with the largest sum."""
    best: Scored = (0.0, ())
    for first, (start, _, _) in enumerate(hits):
        weights: dict[str, float] = {}
        for at, label, weight in hits[first : first + _MOST_IN_PASSAGE]:
            if at - start > PASSAGE:
                break
            weights[label] = max(weights.get(label, 0.0), weight)
        rest = 1.0
        for weight in weights.values():
            rest *= 1 - weight
        if 1 - rest > best[0]:
            best = round(1 - rest, 4), tuple(sorted(weights))
    return best


_SPACED = r"(?:\b\w[ \t._*-]){5}\w\b"
_PULLED_APART = re.compile(r"(?<!\w)\w(?:[ \t._*-]\w)+(?!\w)")
_LEET = r"(?s)(?:[A-Za-z][0134579@$]{1,2}[A-Za-z].*?){3}"
_LEET_SIGNS = str.maketrans("0134579@$", "oieastgas")
_PERCENT = r"(?:%[0-9A-Fa-f]{2}){3}|(?:%20|\+)\w+(?:%20|\+)\w+"
_ENTITIES = r"&#|&[A-Za-z][A-Za-z0-9]{1,31};"
_ESCAPES = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2}))")
_BLOB = (
    r"[A-Za-z0-9+/_-]{20,}={0,2}|(?:[0-9A-Fa-f]{2}[ :,]){10,}[0-9A-Fa-f]{2}"
    r"|(?:[A-Za-z0-9+/]{40,}\r?\n)+[A-Za-z0-9+/]*={0,2}"
)
_CODED = re.compile(r"[a-z0-9+/][A-Z]|[A-Z][a-z0-9][A-Z]|[0-9A-Fa-f]{2}[ :,]|\A[0-9A-Fa-f]{20,}\Z")

_LOOKS = "авекмнорстухіјѕԁԛԝѵһɡɑɩАВЕКМНОРСТУХІЈЅԌαεικνορτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧıᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡʏᴢ"
_LIKE = "abekmhopctyxijsdqwvhgaiABEKMHOPCTYXIJSGaeiknoptuxABEZHIKMNOPTYXiabcdefghijklmnopqrstuvwyz"
_LOOKALIKES = str.maketrans(_LOOKS, _LIKE)
_ALTERED = (
    rf"[A-Za-z][{_LOOKS}]|[{_LOOKS}][A-Za-z]|[\x{{0300}}-\x{{036F}}\x{{FF21}}-\x{{FF5A}}"
    r"\x{1D400}-\x{1D7FF}\x{2100}-\x{214F}\x{2460}-\x{24FF}\x{1F130}-\x{1F189}\x{1D00}-\x{1D2B}]"
    r"|[\x{C0}-\x{17F}][a-z]{0,2}[\x{C0}-\x{17F}]"
)
_WORD = re.compile(r"[^\W\d_]{3,40}")
_DISGUISED: Scored = 0.5, ("disguise",)
_FEWEST_MIXED = 3
"""Words that look Latin and are it in a part only, from which it is no slip of who types."""
_ACCENTS = re.compile("[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]+")


_MIXED = r"[A-Za-z][\x{400}-\x{52F}]|[\x{400}-\x{52F}][A-Za-z]"
_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_TERMINAL = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b\\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\\\|\x9c)"
)
"""What a terminal takes for colours, places and links."""
_STRUCK = re.compile("[^\x08]\x08")
"""What a terminal writes over."""

_TIED = r"[A-Za-z]{2,}(?:[_+-][A-Za-z]+){3,}"
"""The name of a file or a branch: `ignore_all_previous_instructions.pdf`."""
_TIE = re.compile("[_+-]")

_SPACED_WAY, _LEET_WAY, _BLOB_WAY, _TIED_WAY = 1, 2, 3, 4
"""The numbers of these patterns in `_ways`."""


@cache
def _ways() -> PatternSet:
    """One pass that says which of these the text may hold: mostly none."""
    ways = PatternSet(signals=())
    for pattern in (_SPACED, _LEET, _BLOB, _TIED):
        ways.add(pattern)
    ways.freeze()
    return ways


def _is_disguised(text: str) -> bool:
    """Whether words look like Latin ones and have Cyrillic letters among theirs."""
    if text.isascii() or compile_pattern(_MIXED).search(text) is None:
        return False
    mixed = compile_pattern(_MIXED)
    words = {word for word in _WORD.findall(text) if not word.isascii()}
    found = (word for word in words if word.translate(_LOOKALIKES).isascii() and mixed.search(word))
    return sum(len(re.findall("[A-Za-z]", word)) > 1 for word in found) >= _FEWEST_MIXED


def _views(text: str) -> Iterator[tuple[str, bool]]:
    """Other readings of the text, and whether what they show was encoded."""
    if _CONTROL.search(text) is not None:
        text = _CONTROL.sub("", _STRUCK.sub("", _TERMINAL.sub("", text)))
        yield text, False
    if "\\" in text:
        text = json_text(text)
        yield text, False
        if _ESCAPES.search(text) is not None:
            yield _ESCAPES.sub(lambda m: chr(int(m[1] or m[2], 16)), text), True
    possible = _ways().candidates(text)
    if _SPACED_WAY in possible and compile_pattern(_SPACED).search(text) is not None:
        yield _PULLED_APART.sub(lambda m: m[0][::2], text), False
    if _TIED_WAY in possible:
        yield _TIE.sub(" ", "\n".join(compile_pattern(_TIED).findall(text))), False
    if not text.isascii() and compile_pattern(_ALTERED).search(text) is not None:
        yield _bare(text), False
    if _LEET_WAY in possible and compile_pattern(_LEET).search(text) is not None:
        yield text.translate(_LEET_SIGNS), False
    if "&" in text and compile_pattern(_ENTITIES).search(text) is not None:
        yield html.unescape(text), False
    if ("%" in text or "+" in text) and compile_pattern(_PERCENT).search(text) is not None:
        yield unquote(text.replace("+", " ")), True
    runs = compile_pattern(_BLOB).findall(text) if _BLOB_WAY in possible else ()
    blobs = [run for run in runs if _CODED.search(run) is not None]
    if blobs:
        seen = views("\n".join(blobs[:MOST_BLOBS]))
        for view in (*seen.texts, "\n".join(seen.noise)):
            yield view, True


def _bare(text: str) -> str:
    """Compatibility forms made plain, accents dropped, look-alikes of Latin letters made Latin."""
    text = _ACCENTS.sub("", unicodedata.normalize("NFKD", text))
    return text.translate(_LOOKALIKES)
