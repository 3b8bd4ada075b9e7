"""What a text says once it is decoded: the views on which rules look besides the text itself.

A chain of rounds undoes, in each round, invisible and compatibility characters, percent, HTML and
JavaScript/JSON escapes and those of mail, until nothing changes; runs of base64, base32 and
hexadecimal digits are decoded on the side, two layers deep. Everything is linear in the text, and a
bound that is hit is reported, so that the call can be blocked: what cannot be seen through is not
let through.
"""

from __future__ import annotations

import binascii
import html.entities
import quopri
import re
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field

from .folding import visible
from .sign import Sign

MAX_ROUNDS = 6
"""Rounds of unescaping before a text counts as hidden on purpose."""

MAX_LAYERS = 2
"""Layers of base64, base32 or hexadecimal that are opened."""

MIN_RUN = 12
"""Characters from which a run of base64 digits is opened."""

_BINARY_RUN = re.compile(rb"[\x20-\x7e\t\r\n]{8,}")
_LONG_BINARY_RUN = re.compile(rb"[\x20-\x7e\t\r\n]{16,}")
_LONG_BINARY = 4_096
"""Bytes of binary data from which only longer readable runs count: noise has short ones."""

# Base64 of readable text has a capital inside a run; words, names and paths seldom do.
_RUN = r"[a-z0-9+/_-][A-Z][A-Za-z0-9+/_=-]{6}"
_ESCAPED = r"%[0-9A-Fa-f]{2}|%[uU][0-9A-Fa-f]{4}|&#|&[A-Za-z][A-Za-z0-9]{1,31};|\\[uUx0-3/]"
_MAILED = r"(?:^|[^=])=\r?\n|=\?[^?\s]{1,40}\?[qQ]\?|[qQ]uoted-[pP]rintable"
"""A line of quoted-printable text that goes on, a word of a header, the name of the encoding."""
_HEX_FORMS = (
    r"[0-9A-Fa-f]{16}",
    r"[A-Z2-7]{16}",
    r"(?:[0-9A-Fa-f]{2}(?:[:,] ?| )(?:0x)?){7}",
)
_HEXED = "|".join(_HEX_FORMS)
_STABLE = (
    r"\x{C0}-\x{131}\x{134}-\x{13E}\x{141}-\x{148}\x{14A}-\x{17E}\x{391}-\x{3A1}\x{3A3}-\x{3CE}"
    r"\x{410}-\x{44F}\x{621}-\x{64A}\x{2013}\x{2014}\x{2018}\x{2019}\x{201C}\x{201D}\x{2022}\x{20AC}"
    r"\x{2192}\x{2713}\x{3001}\x{3002}\x{3041}-\x{3096}\x{30A1}-\x{30FA}\x{30FC}\x{4E00}-\x{9FFF}"
    r"\x{AC00}-\x{D7A3}\x{1F300}-\x{1F64F}\x{1F680}-\x{1F6FF}"
)
"""Common characters that no folding changes."""

SIGNALS = (
    f"{_ESCAPED}|{_MAILED}",
    rf"[^\x09-\x0D\x20-\x7E{_STABLE}]",
    _RUN,
    _HEXED,
    r"\.\.",
    r"^[\s\x0B\x1C-\x1F]*[\"{\[]",
)
"""Where none of these (RE2, multi-line) finds anything, every text is its own only view."""

ESCAPES, FOLDS, RUNS, HEXES, DOTS, QUOTES = range(1, 7)
"""The numbers of the signals."""
ALL_SIGNALS = frozenset(range(1, 7))

_ESCAPE_SIGN = Sign(f"{_ESCAPED}|{_MAILED}", 2)
_MAIL_SIGN = Sign(_MAILED, 2)
_ENTITY_SIGN = Sign(r"&#[0-9xX]|&[A-Za-z][A-Za-z0-9]{1,31};", 3)
_BACKSLASH_SIGN = Sign(r"\\(?:[uUx]|[0-3][0-7]{2})", 3)
_PERCENT_SIGN = Sign(r"%[0-9A-Fa-f]{2}|%[uU][0-9A-Fa-f]{4}", 3)
_DOUBLED_SIGN = Sign(r"%(?:25)+(?:[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})", 5)
_DIGITS_SIGN = Sign(r"[A-Za-z0-9+/_-]{12}", 12)
_RUN_SIGN = Sign(_RUN, 8)
_HEX_SIGN = Sign(_HEXED, 16)
_HEX_RUN_SIGN, _B32_SIGN, _PAIRS_SIGN = (Sign(part, 16) for part in _HEX_FORMS)

_B64_RUN = re.compile(r"[A-Za-z0-9+/_-]{12,}={0,2}")
_B32_RUN = re.compile(r"[A-Z2-7]{16,}")
_HEX_RUN = re.compile(r"[0-9A-Fa-f]{16,}")
_HEX_PAIRS = re.compile(
    r"[0-9A-Fa-f]{2}(?<![0-9A-Fa-f]..)(?:(?:[:,] ?| )(?:0x)?[0-9A-Fa-f]{2}){7,}"
)
_BASE32 = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "0123456789abcdefghijklmnopqrstuv")
_SHORT = 1_024
"""Run length up to which all four alignments of base64 are tried."""

_PERCENT = re.compile(r"%(?:25)+(?=[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})")
_PERCENT_RUN = re.compile(rb"(?:%[0-9A-Fa-f]{2})+")
_PERCENT_U = re.compile(r"%[uU]([0-9A-Fa-f]{4})")
_ENTITY = re.compile(
    r"&#0*([0-9]{1,7});?|&#[xX]0*([0-9A-Fa-f]{1,6});?|&([A-Za-z][A-Za-z0-9]{1,31});"
)
_ESCAPE = re.compile(
    r"(?<!\\)\\+(?:u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})"
    r"|([0-3][0-7]{2}))"
)
_NO_ESCAPE = re.compile(r"=(?==)|(?<==)=(?=\r?\n)")
"""Several in a row (`=====`) are a line below a title, and no line that goes on."""
_MAIL_WORD = re.compile(r"=\?[^?\s]{1,40}\?[qQ]\?([^?\s]{0,400})\?=")
_ENTITIES = re.compile("(" + re.sub(r"(?<!\\)\((?!\?)", "(?:", _ENTITY.pattern) + ")")
_ESCAPES = re.compile("(" + re.sub(r"(?<!\\)\((?!\?)", "(?:", _ESCAPE.pattern) + ")")
"""The same, each as one group."""
_SLASH = re.compile(r"(?<!\\)\\+/")
_JSON_ESCAPE = re.compile(r'\\(["\\/bfnrt])')
_MOST_NESTED = 4
_JSON_CHARS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_OVERLONG = re.compile(rb"[\xc0\xc1][\x80-\xbf]|\xe0[\x80-\x9f][\x80-\xbf]")

_TAGS = re.compile("[\U000e0020-\U000e007e]+")


@dataclass(slots=True)
class Views:
    """`texts`: what the text says decoded. `noise`: readable runs inside binary data.
    `bound`: the limit that was hit, in words, or empty."""

    texts: list[str] = field(default_factory=list)
    noise: list[str] = field(default_factory=list)
    bound: str = ""


def plain(text: str, signals: Set[int] = ALL_SIGNALS) -> bool:
    """Nothing here that any decoding could act on: the text is its only view.

    `signals` are those that were found in the texts of which this is one: others need no search.
    """
    if FOLDS in signals and visible(text) != text:
        return False
    return not (
        (ESCAPES in signals and _ESCAPE_SIGN.found(text))
        or (RUNS in signals and _RUN_SIGN.found(text))
        or (HEXES in signals and _HEX_SIGN.found(text))
    )


def views(text: str) -> Views:
    """Every decoded view of `text` that differs from it."""
    seen = Views()
    known = {text}
    _chain(text, seen, known, layer=0)
    return seen


def _chain(text: str, seen: Views, known: set[str], layer: int) -> None:
    """The rounds of unescaping for one text, with what each round's result encodes."""
    if layer and text not in known:
        known.add(text)
        seen.texts.append(text)
    _runs(text, seen, known, layer)
    now = text
    for _ in range(MAX_ROUNDS):
        before = now
        for step in (visible, _unpercent, _unentity, _unescape, _unmail):
            after = step(now)
            if after != now and after not in known:
                known.add(after)
                seen.texts.append(after)
                _runs(after, seen, known, layer)
            now = after
        if now == before:
            return
    seen.bound = f"encoded more than {MAX_ROUNDS} times over"


def _unpercent(text: str) -> str:
    if "%" not in text or not _PERCENT_SIGN.found(text):
        return text
    if "%25" in text and _DOUBLED_SIGN.found(text):
        text = _PERCENT.sub("%", text)
    if "%u" in text or "%U" in text:
        text = _PERCENT_U.sub(lambda m: chr(int(m[1], 16)), text)
    raw = _PERCENT_RUN.sub(_unhexed, text.encode("utf-8", "replace"))
    if raw.isascii():
        return raw.decode()
    raw = _OVERLONG.sub(_overlong, raw)
    return raw.decode("utf-8", "replace")


def _unhexed(match: re.Match[bytes]) -> bytes:
    return binascii.unhexlify(match[0].replace(b"%", b""))


def _overlong(match: re.Match[bytes]) -> bytes:
    """Old decoders read C0 AE as a full stop: so do we."""
    *_, high, low = match[0]
    return bytes([((high & 0x3F) << 6 | low & 0x3F) & 0x7F])


def _unentity(text: str) -> str:
    if "&" not in text or not _ENTITY_SIGN.found(text):
        return text
    return _each_read(text, _ENTITIES, _entity)


def _each_read(text: str, pattern: re.Pattern[str], read: Callable[[str], str]) -> str:
    """The text with what the pattern (one group, all of it) finds as it is read: each once, for in
    a long text the same come up again and again."""
    parts = pattern.split(text)
    if len(parts) > 1:
        told = {found: read(found) for found in {*parts[1::2]}}
        parts[1::2] = map(told.__getitem__, parts[1::2])
    return "".join(parts)


def _entity(entity: str) -> str:
    match = _ENTITY.fullmatch(entity)
    assert match is not None
    decimal, hexadecimal, name = match.groups()
    if name:
        return html.entities.html5.get(name + ";", entity)
    return _char(int(decimal) if decimal else int(hexadecimal, 16), entity)


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    if "\\/" in text:
        text = _SLASH.sub("/", text)
    return _each_read(text, _ESCAPES, _escape) if _BACKSLASH_SIGN.found(text) else text


def _unmail(text: str) -> str:
    """Words of headers, and a text that is quoted-printable or says so."""
    if "=" not in text or not _MAIL_SIGN.found(text):
        return text
    if "=?" in text:
        return _MAIL_WORD.sub(lambda m: _unquoted(m[1], header=True), text)
    return _unquoted(text, header=False)


def _unquoted(text: str, *, header: bool) -> str:
    raw = _NO_ESCAPE.sub("=3D", text).encode("utf-8", "surrogatepass")
    return quopri.decodestring(raw, header=header).decode("utf-8", "replace")


def _escape(escape: str) -> str:
    match = _ESCAPE.fullmatch(escape)
    assert match is not None
    four, braced, eight, two, octal = match.groups()
    digits = four or braced or eight or two
    return _char(int(digits, 16) if digits else int(octal, 8), escape)


def _char(number: int, otherwise: str) -> str:
    return chr(number) if 0 <= number <= 0x10FFFF and not 0xD800 <= number < 0xE000 else otherwise


def json_text(text: str) -> str:
    """JSON text with the escapes of its strings undone, and those of JSON text in them: in
    `"Done..\\n"` there is no `..\\`. What a string really says is looked at by itself."""
    for _ in range(_MOST_NESTED):
        before = text
        if "\\" in text:
            text = _JSON_ESCAPE.sub(lambda m: _JSON_CHARS.get(m[1], m[1]), text)
        if text == before:
            break
    return text


def _runs(text: str, seen: Views, known: set[str], layer: int) -> None:
    """Decode the runs of base64 and hexadecimal digits and of tag characters in `text`."""
    tags = [] if text.isascii() else _TAGS.findall(text)
    if tags:
        # One message, whatever stands between its characters.
        told = "".join(chr(ord(c) - 0xE0000) for run in tags for c in run)
        if told not in known:
            known.add(told)
            seen.texts.append(told)
            _chain(told, seen, known, layer)
    if layer >= MAX_LAYERS:
        return
    readable: list[str] = []
    runs = _B64_RUN.findall(text) if _DIGITS_SIGN.found(text) else ()
    for run in dict.fromkeys(runs):  # a name that comes up often is one run
        _open_base64(run, readable, seen)
    apart = len(text) > 60 and any(c in text for c in "\r\n ")
    whole = "".join(text.split()) if apart else ""
    if whole and _B64_RUN.fullmatch(whole):
        _open_base64(whole, readable, seen)
    if _HEX_SIGN.found(text):
        for run in dict.fromkeys(_B32_RUN.findall(text) if _B32_SIGN.found(text) else ()):
            _open_base32(run, readable)
        if whole and _B32_RUN.fullmatch(whole.rstrip("=")):
            _open_base32(whole.rstrip("="), readable)
        runs = _HEX_RUN.findall(text) if _HEX_RUN_SIGN.found(text) else ()
        for digits in dict.fromkeys(runs):
            _read(bytes.fromhex(digits[: len(digits) & ~1]), readable, seen)
        for pairs in dict.fromkeys(_HEX_PAIRS.findall(text) if _PAIRS_SIGN.found(text) else ()):
            digits = pairs.replace("0x", "").encode().translate(None, b":, ")
            _read(binascii.unhexlify(digits), readable, seen)
    if readable:
        decoded = "\n".join(dict.fromkeys(readable))
        if decoded not in known:
            _chain(decoded, seen, known, layer + 1)


def _open_base64(run: str, readable: list[str], seen: Views) -> None:
    digits = run.rstrip("=").replace("-", "+").replace("_", "/")
    if digits.islower() or digits.isdigit():
        return  # a word or a number: base64 of readable text has capitals
    for start in range(4 if len(digits) <= _SHORT else 1):
        part = digits[start:]
        part = part[: len(part) - 1] if len(part) % 4 == 1 else part
        raw = binascii.a2b_base64(part + "=" * (-len(part) % 4))
        if _read(raw, readable, seen if start == 0 else None):
            return


def _open_base32(digits: str, readable: list[str]) -> None:
    bits = len(digits) * 5  # as a number: `base64` decodes it in Python, sign by sign
    number = int(digits.translate(_BASE32), 32) >> bits % 8
    _read(number.to_bytes(bits // 8, "big"), readable, None)


def _read(raw: bytes, readable: list[str], seen: Views | None) -> bool:
    """Note what `raw` says: all of it where it is text, its readable runs where it is not."""
    text = as_text(raw)
    if text is not None:
        readable.append(text)
        return True
    if seen is not None:
        pattern = _LONG_BINARY_RUN if len(raw) > _LONG_BINARY else _BINARY_RUN
        seen.noise += [run.decode("ascii") for run in pattern.findall(raw)]
    return False


def as_text(raw: bytes) -> str | None:
    """`raw` as text where it is text (UTF-8 or UTF-16, no control characters), else None."""
    if len(raw) < 4:
        return None
    codec = "utf-8"
    if 0 in raw:
        if raw[1::2].count(0) * 2 >= len(raw) - 2:
            codec = "utf-16-le"
        elif raw[::2].count(0) * 2 >= len(raw) - 2:
            codec = "utf-16-be"
        else:
            return None
        raw += b"\0" * (len(raw) % 2)  # `A.B`, with nothing behind the last sign
    elif raw[:512].translate(None, _CONTROLS) != raw[:512]:
        return None
    try:
        text = raw.decode(codec)
    except UnicodeDecodeError:
        return None
    return text if _CONTROL.search(text) is None else None


_CONTROLS = bytes(set(range(32)) - {9, 10, 13} | {127})
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]")


def every_view(text: str) -> Iterator[str]:
    """The text and its decoded views; one that nothing fits where not all of it was decoded."""
    yield text
    if not plain(text):
        seen = views(text)
        yield from seen.texts
        if seen.bound:
            yield "\0"
