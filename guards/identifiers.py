"""What in a text points somewhere: addresses, links, hosts, account numbers, file paths.

Free text is not compared word by word; what in it could send, lead or pay somewhere is. Linear in
the text: it is cut into words, and each word is looked at once.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from .addresses import is_machine
from .folding import folded
from .hosts import DOTS
from .scripts import apart
from .sign import SignSet

_IBANS, _ACCOUNTS, _WALLETS, _SPELT, _WORDS = range(1, 6)
_SIGNS = SignSet(
    r"[A-Za-z]{2}\p{Nd}{2}[A-Za-z0-9 -]",
    r"\p{Nd}{9}|\p{Nd}{4}[ -]\p{Nd}{4}|\p{Nd}{3}-\p{Nd}{3,6}-\p{Nd}{3}|\+\p{Nd}"
    r"|0\p{Nd}{2,5}\)?[ /-]{1,2}\p{Nd}{3}",
    r"0x[0-9A-Fa-f]{40}|bc1[a-z0-9]{25}|[13][1-9A-HJ-NP-Za-km-z]{25}",
    r"(?i)[\[(\s](?:\.|dot)[\])\s]",
    # The last two: a port of this machine, two colons of an IPv6 address.
    r"(?i)[@/\\]|\.(?:\w|[^\x00-\x7f])|localhost:\p{Nd}|[0-9a-f]{1,4}:[0-9a-f]{0,4}:",
)
"""Without one of these, by its number, nothing of a kind stands in a text: mostly none does."""
_TO_SPACE = str.maketrans(
    dict.fromkeys(
        "\t\r\n\v\f\"'`<>()[]{},;|*\u2018\u2019\u201c\u201d\u00ab\u00bb\u3001\u3002\uff0c\uff1b"
        "\uff1a\uff08\uff09\uff01\uff1f\u3008\u3009\u300a\u300b\u300c\u300d\u300e\u300f\u3010\u3011\u30fb",
        " ",
    )
)
_SPACES = bytes(ord(_TO_SPACE.get(n, chr(n))) & 127 for n in range(128)) + bytes(128)
"""The same for ASCII."""
_OF_NUMBERS = "0123456789.,:-+%"
_DOTS_OF_ADDRESS = 3
_HOST = re.compile(r"(?:[^\W_](?:[\w-]*[^\W_])?\.)+([^\W\d_]{2,24}|xn--[a-z0-9-]+)(?::\d{1,5})?")
_LOCAL = re.compile(r"localhost(?::\d{1,5})?")
_SCHEME = re.compile(r"(?:https?|ftp|wss?):(?=[^\d/\\]|[/\\]|\d+\.)[/\\]*")
"""`http:evil.test` is a link to a browser; `http:400` is prose."""
_ASSIGNED = re.compile(r"[a-z]{1,20}=(?=.{4})", re.IGNORECASE)
"""`href=//evil.test`"""
# What stands before them is looked at second: a search for a first sign is fast.
_WALLET = re.compile(
    r"[0b13](?<![A-Za-z0-9].)(?:(?<=0)x[0-9A-Fa-f]{40}|(?<=b)c1[a-z0-9]{25,60}"
    r"|(?<=[13])(?=[a-z0-9]*[A-Z])(?=[A-Z0-9]*[a-z])[1-9A-HJ-NP-Za-km-z]{25,34})(?![A-Za-z0-9])"
)
_ADDRESS = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?")
_IBAN = re.compile(
    r"[A-Za-z]{2}\d{2}(?<![A-Za-z0-9].{4})(?:[A-Za-z0-9]{11,30}|(?:[ -]?[A-Za-z0-9]){10,30})"
    r"(?![A-Za-z0-9])"
)
_RUN = re.compile(r"\d{3}")
"""Every account number has one; two short codes beside each other do not."""
_WORDS_BEHIND = re.compile(r"(?:[ -][A-Za-z]+)+\Z")
"""What follows an account number that is written in groups, and is none of them."""
_ACCOUNT = re.compile(
    r"[\d+(](?<![\w.-].)(?:(?<=\d)(?:\d{8,33}|\d{3}(?:[ -]\d{4}){2,7}|\d{2,5}(?:-\d{3,6}){2,5})"
    r"|(?<=\+)\d{1,4}(?:[ -]?\(?\d{2,6}\)?){2,5}"
    r"|(?:(?<=\()0|(?<=0))\d{2,5}\)?[ /-]{1,2}\d{3,9}(?:[ -]\d{2,6}){0,3})(?!\w)"
)
_SPELT_OUT = re.compile(
    r"([A-Za-z0-9][\w-]{1,62})\s{0,3}(?:\[(?:\.|dot)\]|\((?:\.|dot)\)|\sdot\s)\s{0,3}"
    r"(com|net|org|io|co|dev|app|info|biz|xyz|me|ai|link|site|online|top|ru|cn|de|uk|fr|eu|ch|test|example)\b",
    re.IGNORECASE,
)
"""A host that is written so as not to be taken for one: `evil dot com`, `evil[.]com`."""
_ARTICLES = frozenset({"a", "an", "the", "this", "that", "every", "any", "whole", "early", "late"})
_SEVERAL = re.compile(r"\s*[,;]\s*")
_LISTED_CODE = re.compile(r"(?=[^\d]{0,40}\d)[#\w][\w-]{2,60}")
_BETWEEN = re.compile(r"[^<>]*<([^<>\s]+)>")
_PATH = re.compile(r"(?:~?/|\.{1,2}[/\\]|[a-z]:[/\\]|\\\\)[^\s/\\]")

TOP_LABELS = frozenset(
    """com net org edu gov mil int info biz name io co ly dev app xyz me ai gg link site online
    top to tk de uk fr eu ru cn us ca nl it es ch at be se no dk fi pl pt cz gr hu ro ie au nz
    jp kr in br mx ar za il tr ua by su ws tv cc id sg hk tw vn th my ph ng ke eg sa ae ir pk
    web cloud tech store shop blog live club page pro space website host press agency email
    network digital example test invalid local onion click icu fun vip work world news media
    solutions services systems group zone today life
    рф рус укр бел бг срб мкд қаз сайт онлайн орг дети москва ею ευ ελ გე հայ 中国 中國 香港 台湾
    台灣 新加坡 公司 网络 在线 网址 网站 한국 भारत ไทย ישראל امارات السعودية مصر ایران شبكة
    موقع""".split()  # noqa: SIM905 - reads better
)
"""Last labels that make a word with dots a host; those that are also file endings are left out."""
ATTRIBUTES = frozenset(
    "name host site link page email network services group info id app store global".split()  # noqa: SIM905 - reads better
)
"""Last labels that are attributes in programs as well: `host = args.host`."""
_WIDE_LABELS = "|".join(sorted(label for label in TOP_LABELS if label >= "\u2e80"))
_STOP = re.compile(rf"[\u3002\uff61](?![A-Za-z0-9]|(?:{_WIDE_LABELS})(?!\w))")
"""A full stop that ends a sentence, and no dot of a host: `evil\u3002com` has one."""


def identifiers(text: str) -> Iterable[str]:
    """What points somewhere in `text`, in order; as it stands there, but for disguised letters."""
    return _kept_identifiers(text) if len(text) <= _KEPT else _identifiers(text)


_KEPT = 300
"""Characters up to which what a text points to is kept."""


@lru_cache(maxsize=1_024)
def _kept_identifiers(text: str) -> tuple[str, ...]:
    return tuple(_identifiers(text))


def _identifiers(text: str) -> Iterable[str]:
    if not text.isascii():
        text = DOTS.sub(".", _STOP.sub(" ", folded(text)))
    signs = _SIGNS.found(text)
    return _found(text, signs) if len(signs) > 1 else ()


def _found(text: str, signs: Collection[int]) -> Iterator[str]:
    yield from _numbers(text, signs)
    if _SPELT in signs:
        for match in _SPELT_OUT.finditer(text):
            if match[1].casefold() not in _ARTICLES:
                yield f"{match[1]}.{match[2]}"
    if _WORDS not in signs:
        return
    spaced = (
        text.encode().translate(_SPACES).decode()  # several times faster, and most text
        if text.isascii()
        else apart(text.translate(_TO_SPACE))
    )
    for raw in spaced.split():
        word = raw.strip(".:!?\u2026")
        if word.isalnum() or not (word.strip(_OF_NUMBERS) or word.count(".") >= _DOTS_OF_ADDRESS):
            continue  # a word, a date, a time, a sum
        if "=" in word:
            word = _ASSIGNED.sub("", word, count=1)
        if len(word) > 3 and points(word.casefold()):
            yield word


def _numbers(text: str, signs: Collection[int]) -> Iterator[str]:
    seen = -1
    for match in _IBAN.finditer(text) if _IBANS in signs else ():
        if sum(map(str.isdigit, match[0])) >= 8 and _RUN.search(match[0]):
            seen = match.end()
            yield _WORDS_BEHIND.sub("", match[0])
    for match in _ACCOUNT.finditer(text) if _ACCOUNTS in signs else ():
        if match.start() >= seen:
            yield match[0]
    for match in _WALLET.finditer(text) if _WALLETS in signs else ():
        yield match[0]


def is_account(found: str) -> bool:
    """Whether what was found is the number of a bank account (an IBAN)."""
    return _IBAN.fullmatch(found) is not None


def points(word: str) -> bool:
    """Whether one word (in lower case) is an address, a link, a host or a file path."""
    if "@" in word[1:-1] or "://" in word:
        return True
    if word.isalnum():
        return False
    scheme = _SCHEME.match(word)
    if scheme is not None or word[:2] == "//":
        word = word[scheme.end() :] if scheme is not None else word.lstrip("/")
    head, slash, _ = word.partition("/")
    if head[:9] == "localhost" and _LOCAL.fullmatch(head):
        return bool(slash) or ":" in head
    host = _HOST.fullmatch(head) or _ADDRESS.fullmatch(head)
    if host is not None and (slash or head[0].isdecimal() or host[1] in TOP_LABELS):
        return not (slash and head.replace(".", "").isdecimal() and head.count(".") < 3)
    if word.startswith(("www.", "mailto:")) or is_machine(head.partition("%")[0]):
        return True
    return _PATH.match(word) is not None or "../" in word or "..\\" in word


def addresses_of(value: str) -> list[str]:
    """The mail addresses of a list of them, bare (`Ann <a@x.example>, b@x.example`), and of one;
    none where the value says anything else."""
    if "@" not in value:
        return []
    parts = [part for part in _SEVERAL.split(value.strip()) if part]
    bare = [m[1] if (m := _BETWEEN.fullmatch(part)) else part for part in parts]
    return bare if all(map(points, bare)) else []


def codes_of(value: str) -> list[str]:
    """The codes of a list of them (`OPS-142, OPS-143`), each with a digit and without blanks; none
    where the value says anything else."""
    parts = [part for part in _SEVERAL.split(value.strip()) if part]
    return parts if len(parts) > 1 and all(map(_LISTED_CODE.fullmatch, parts)) else []


def looks_dated(text: str) -> bool:
    """Whether the value is nothing but a date, a time or a number."""
    return len(text) < 40 and not text.strip("0123456789 :.TtZz+-/")
