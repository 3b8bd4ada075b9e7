"""Links in text: `scheme://host`, `//host/x`, `\\\\host\\share`, wherever they stand.

Time is linear in the text. Where parsers are known to disagree on the host there is a fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .fields import Kind
from .hosts import EDGE, Destination, canonical_host, is_address, looks_like_host, short
from .identifiers import TOP_LABELS
from .stand_ins import USER, is_name, left_open, stands_for_a_host

_SCHEMES = ("https", "http", "wss", "ws", "ftp")
"""Of which a browser needs no slashes to see the host."""
_BEHIND = "|".join(f"(?<={scheme}:)" for scheme in _SCHEMES)
_START = re.compile(
    rf":(?:(?:{_BEHIND})(?:[\t\r\n]*[/\\][\t\r\n/\\]*)?|[/\\](?:[\t\r\n]*[/\\])?)",
    re.ASCII | re.IGNORECASE,
)
"""Begins with one sign, so that it is soon found; what stands before it says what it is."""
_TWO_SLASHES = re.compile(r":[/\\][\t\r\n]*[/\\]")
_OF_ONE_SLASH = frozenset(
    """dict ftps gopher gophers imap imaps ldap ldaps mqtt pop3 pop3s rtmp rtsp scp sftp smb smbs
    smtp smtps telnet tftp""".split()  # noqa: SIM905 - reads better
)
"""Schemes behind which `curl` takes a host after one slash, too: `gopher:/127.0.0.1:6379/_`."""
_SCHEME_BEFORE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,31}\Z")
_GO_ON = frozenset("+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
"""Signs of a scheme, of which one that is meant is then only the end."""
_AUTHORITY = re.compile(
    "[^\\s\\x00-\\x1f\\x7f/\\\\?#\"'<>`{}|\uff0c\u3001\uff01\uff1f\uff1b\uff08\uff09\u300c\u300d\u300e\u300f"
    "\u3010\u3011\u300a\u300b]{0,400}"
)
_REST = re.compile(r"[^\s/?#]{1,400}")
_BARE_HOST = re.compile(r"[^\s/\\?#:]{1,255}[.\u3002\uff0e\uff61]|\[")
_DOT_SIGNS = frozenset(".\u3002\uff0e\uff61")
_CLOSED_BEFORE_AT = re.compile(r"[\"'<>`{}|]@")
ONLY_SPECIAL = re.compile("|".join(_SCHEMES), re.IGNORECASE)
_NEXT_URL = re.compile(r"[,;|\u3001\u3002\u2013\u2014]+[A-Za-z][A-Za-z0-9+.-]{0,31}:\Z")
_NETWORK_PATH = re.compile(
    r"""(?:^\s*|["'(=\[]\s?|\]:\s{1,3}|([<,`]\s?)|(\s)(?=[/\\]{2,9}[\w\[]))([/\\][\t\r\n]*[/\\])"""
)
_BEHIND_USER = re.compile(r"[^\s/?#]{0,1000}@([^\s/?#\\@]{0,255})")
_MORE_SLASHES = re.compile(r"[/\\]*")
_UNC_DEVICE = re.compile(r"[/\\]{2}[?.][/\\](?:UNC[/\\]|(?=[A-Za-z]:|pipe))", re.IGNORECASE)
_DOUBLED_ESCAPE = re.compile(r"[A-Za-z0](?:\\\\|\Z)")
"""`\\\\n\\\\t`: an escape as a string of a program holds it, and no share."""
_CJK_PROSE = re.compile("[,;:!?()]+[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3][^.\u3002]*\\Z")
"""What follows a link in a script that writes no spaces, after its punctuation was folded."""
_STOP_AND_PROSE = re.compile("[\u3002\uff61]([\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]+)\\Z")
_WIDE_LABELS = TOP_LABELS.union(
    """みんな コム クラウド グーグル ストア セール ファッション ポイント アマゾン テスト 家電
    書籍 通販 닷컴 닷넷 삼성 商店 商城 商标 网店 我爱你 手机 娱乐 游戏 时尚 世界 信息 健康
    企业 购物 集团 移动 政务 政府 新闻 招聘 中文网 公益 广东 佛山 慈善 机构 组织机构 八卦
    微博 点看 珠宝 食品 餐厅 大拿 联通 谷歌 嘉里 诺基亚 飞利浦 香格里拉 澳門 澳门 臺灣""".split()  # noqa: SIM905 - reads better
)
"""Last labels of hosts in such scripts; most of them are common words, too."""
_HUNG_ON = re.compile("(?<=[A-Za-z])[\u2019\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")
"""What a script that writes no spaces hangs on to a host (`example.com\u3092`), and the `\u2019s`
of English: no last label of a host begins with Latin letters and goes on so."""
_MORE_PROSE = re.compile(r"(?:[&\u2013\u2014]|%(?:20|22|0[AaDd]|3[CcEe]))[\w=&%+-]*\Z")
"""What follows a link in a form, behind a dash or an encoded blank: no full stop is in it, so it
is no host."""
_GLUED = re.compile(
    r"""['"`{}][\w'"`{}$-]{0,200}\.(?:[\w-]{1,63}\.){0,20}([A-Za-z]{2,24})(?=[/?#:\s)\]>]|\Z)"""
)
"""A host that goes on behind a sign that ends it in prose, but not for every parser of links."""
_OPENED = re.compile(r"""(['"`{])(?:[A-Za-z][A-Za-z0-9+.-]{0,31}:)?[/\\]*\Z""")
_OF_NO_NETWORK = frozenset(
    """gid chrome chrome-extension moz-extension package resource content asset hxxp
    hxxps""".split()  # noqa: SIM905 - reads better
)
"""Schemes of things within a program (`gid://shopify/Order/1`), behind which no host stands, and of
links that are spoilt on purpose (`hxxp://evil.test`)."""
_ESCAPED_LETTER = re.compile(r"[A-Za-z](?![\w.-])")
"""What stands behind the backslash of `"http:\\n"` in a program, of `https?:\\/\\/\\S+`."""


def links(text: str, *, stand_ins: bool = False) -> Iterator[Destination]:
    """Links with a scheme, wherever they stand.

    `stand_ins`: a host that is only a variable (`http://$HOST/`, `https://%s/x`) is one, too.
    """
    users = "@" in text
    begin = len(text) - len(text.lstrip())
    known: dict[str, Destination | None] = {}
    for match in _START.finditer(text):
        start, at = match.span()
        before = text[max(0, start - 5) : start].lower()
        scheme = slashes = None
        special = next(filter(before.endswith, _SCHEMES), "")
        if special and text[max(0, start - len(special) - 1) : start - len(special)] in _GO_ON:
            special = ""  # `aws:kms`
        if not special:
            slashes = _TWO_SLASHES.match(text, start)
            scheme = _SCHEME_BEFORE.search(text, max(0, start - 32), start)
            if slashes is not None:
                at = slashes.end()
            elif text[at - 1] != "/" or scheme is None or scheme[0].lower() not in _OF_ONE_SLASH:
                continue
            if scheme is None:
                if start > begin:
                    continue  # its beginning may stand in another value
            elif scheme[0].lower() in _OF_NO_NETWORK:
                continue
            elif scheme[0].lower() == "file" and text.startswith(("//", "\\\\"), at):
                at += 2  # file:////host/share
        elif text[at - 1] == ":" and start > len(special) and _BARE_HOST.match(text, at) is None:
            continue  # "http:400" in prose
        elif text[at - 1] == "\\" and _ESCAPED_LETTER.match(text, at):
            continue
        if special and not stand_ins and is_name(text, at):
            continue
        found = authority_at(text, at) if users else _again(text, at, known)
        if found is None or (not stand_ins and stands_for_a_host(found.shown)):
            continue
        unsure = scheme is not None and (len(scheme[0]) == 1 or not (slashes or found.fault))
        if unsure and not _ends_like_host(found.host):
            continue  # `C://Users`, `ldap:/etc`
        if found.fault and not stand_ins:
            found = left_open(text, at, found)
        if found is not None:
            yield found


def _again(text: str, at: int, known: dict[str, Destination | None]) -> Destination | None:
    """`authority_at` of a text without @, where the same link often stands again and again."""
    match = _AUTHORITY.match(text, at)
    assert match is not None
    told = text[at : match.end() + 2]  # what it depends on
    if told not in known:
        known[told] = authority_at(text, at, users=False)
    return known[told]


def authority_at(
    text: str, at: int, *, strict: bool = False, users: bool = True
) -> Destination | None:
    """The destination whose authority begins at `at`; None where there is none.

    `strict`: the whole text is the link, so that nothing in it is punctuation of prose. `users`:
    there is an @ somewhere in the text.
    """
    match = _AUTHORITY.match(text, at)
    assert match is not None
    authority, end = match[0], match.end()
    fault = _ambiguity(authority, text, at, end, strict=strict, users=users)
    if fault:
        shown = text[at : end + 40].split(None, 1)  # of blanks nothing is left
        return Destination("", short(shown[0] if shown else ""), fault)
    whole = authority
    if text.startswith("//", end):
        authority = _NEXT_URL.sub("", authority)
    if not strict and (authority != whole or not text.startswith(("/", "?", "#"), end)):
        authority = _without_edge(authority)
    if not authority:
        return None
    name, port = split_port(authority)
    host = canonical_host(name)
    if host is None or port is None:
        return Destination("", short(authority), "it is no well-formed host")
    return Destination(host, short(authority))


def _ambiguity(authority: str, text: str, at: int, end: int, *, strict: bool, users: bool) -> str:
    """Why parsers could disagree on the host, or an empty text."""
    after = text[end : end + 1]
    if users:
        rest = _REST.match(text, end)
        if "@" in authority or (rest and "@" in rest[0] and _closed_before_at(rest[0])):
            return USER
    if not strict and after and after in "'\"`{}" and _goes_on(text, at, end):
        return "a host that goes on behind a sign that only some parsers take"
    if after == "\\" and (strict or not authority or text[end + 1 : end + 2] in _DOT_SIGNS):
        return "a backslash before the host ends"
    if strict and after and after not in "/?#":
        if after.isspace():
            return "white space before the host ends"
        return "it is no well-formed host"
    return ""


def _goes_on(text: str, at: int, end: int) -> bool:
    """Whether a host goes on behind a quote or brace that closes nothing around the link."""
    more = _GLUED.match(text, end)
    if more is None or more[1].lower() not in TOP_LABELS:
        return False
    opened = _OPENED.search(text, max(0, at - 40), at)
    return opened is None or text[end] != ("}" if opened[1] == "{" else opened[1])


def _closed_before_at(rest: str) -> bool:
    """Whether a backslash or a closing sign stands before an @ of what follows the authority."""
    slash = rest.find("\\")
    return 0 <= slash < rest.rfind("@") or _CLOSED_BEFORE_AT.search(rest) is not None


def _without_edge(authority: str) -> str:
    """Without the punctuation of the prose around it."""
    bracket = authority.find("]") if authority[:1] == "[" else -1
    if bracket > 0:
        rest = authority[bracket + 1 :]
        port = re.match(r":[0-9]+", rest)
        behind = rest[port.end() :] if port else rest
        # Punctuation only: what goes on behind it belongs to the host, and makes it none.
        kept = rest if EDGE.sub("", behind) else rest[: port.end() if port else 0]
        return authority[: bracket + 1] + kept
    if not authority.isascii():
        authority = before_prose(authority)
    return EDGE.sub("", _MORE_PROSE.sub("", EDGE.sub("", authority)))


def before_prose(name: str) -> str:
    """A host without what a script that writes no spaces goes on with."""
    name = EDGE.sub("", _CJK_PROSE.sub("", name))
    stop = _STOP_AND_PROSE.search(name)
    if stop is not None and stop[1] not in _WIDE_LABELS:
        name = name[: stop.start()]
    hung = _HUNG_ON.search(name, max(map(name.rfind, _DOT_SIGNS)) + 1)
    return name[: hung.start()] if hung is not None else name


def split_port(authority: str) -> tuple[str, str | None]:
    """Host and port (empty: none; None: what stands there is no port)."""
    if authority[:1] == "[":
        host, bracket, port = authority.partition("]")
        host += bracket
        if port and port[0] != ":":
            return host, None
        port = port[1:]
    else:
        host, _, port = authority.partition(":")
    real = not port or (len(port) <= 5 and port.isascii() and port.isdigit() and int(port) < 65_536)
    return host, port if real else None


def network_paths(text: str, kind: int) -> Iterator[Destination]:
    """`//host/x` and `\\\\host\\share` where a value, a quote, a bracket or a word begins."""
    begin = len(text) - len(text.lstrip())
    users = "@" in text
    known: dict[str, Destination | None] = {}
    for match in _NETWORK_PATH.finditer(text):
        at = match.end()
        start = match.start(3)
        first = start <= begin
        device = _UNC_DEVICE.match(text, start)
        if device is not None:
            if not device[0].upper().rstrip("/\\").endswith("UNC"):
                continue
            at = device.end()
        unc = text[start] == "\\" and text[at - 1] == "\\"
        if unc:
            at += 2 if text.startswith("\\\\", at) else 0  # as a string of a program holds it
            found = _unc(text, at)
        else:
            more = _MORE_SLASHES.match(text, at)  # they mean no less to a browser
            at = more.end() if more is not None else at
            strict = first and bool(kind & (Kind.URL | Kind.LINK))
            plain = not (users or strict)
            found = _again(text, at, known) if plain else authority_at(text, at, strict=strict)
        if found is None:
            continue
        typed = first and kind & (Kind.URL | Kind.LINK | Kind.HOST)
        behind = text[at + len(found.shown) : at + len(found.shown) + 1]
        if typed or (first and unc and behind == "\\"):
            yield found
        elif found.shown.isdecimal() and len(found.shown) < 8:
            continue  # `//5`: a number that was taken out, and no address
        elif match[2]:
            # In prose, or behind the code of a line: only with a path, and as hosts end.
            if found.host and behind in ("/", "\\", "?") and _ends_like_host(found.host):
                yield found
        elif found.host:
            # `//console.log(x)` is a line of a program that was taken out.
            sure = _ends_like_host(found.host) if match[1] else looks_like_host(found.host)
            if sure and behind != "(":
                yield found
        elif _names_host_behind_user(text, at) or _ends_like_host(_name(text, at)):
            yield found


def _ends_like_host(host: str) -> bool:
    name, _, last = host.rpartition(".")
    return is_address(host) or (name != "" and last in TOP_LABELS)


def _name(text: str, at: int) -> str:
    """What stands where a host does, without its port, as parsers read it that take any sign."""
    match = _AUTHORITY.match(text, at)
    return split_port(match[0])[0].casefold() if match is not None else ""


def _names_host_behind_user(text: str, at: int) -> bool:
    """Whether what stands behind the last @ is a host, as in no comment (`//@ts-ignore`)."""
    user = _BEHIND_USER.match(text, at)
    name, port = split_port(EDGE.sub("", user[1])) if user is not None else ("", None)
    host = canonical_host(name) if name else None
    return host is not None and (looks_like_host(host) or bool(port))


def _unc(text: str, at: int) -> Destination | None:
    if _DOUBLED_ESCAPE.match(text, at):
        return None
    match = _AUTHORITY.match(text, at)
    name = match[0] if match else ""
    if "@" in name:
        return Destination("", short(name), USER)
    host = canonical_host(name.partition(":")[0])
    return Destination(host, short(name)) if host else None
