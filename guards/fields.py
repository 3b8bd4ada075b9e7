"""What the name of an argument says about its value: a host, a link, a mail address, a command.

Tools turn such values into connections or processes without a scheme in front of them, so they are
looked at with more suspicion than prose.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from .folding import folded


class Kind:
    """What kinds of value a field takes: bits, because a name can say several.

    Plain numbers and no enum: they are joined and tested for every leaf of every call.
    """

    TEXT: Final = 0
    HOST: Final = 1
    """The value is a host, with or without port: `host`, `server`, `proxy`."""
    DOMAIN: Final = 2
    """A domain; also what a subject area is called."""
    URL: Final = 4
    """A link that may lack its scheme: `url`, `endpoint`, `webhook`."""
    LINK: Final = 8
    """A link or a file of the same site: `href`, `src`."""
    MAIL: Final = 16
    COMMAND: Final = 32
    PATH: Final = 64
    SECRET: Final = 128
    """A credential, by its name: some are known only with it (`aws_secret_access_key=...`)."""

    PLACE: Final = 256
    """Where something goes, of whatever kind: `destination`, `target`, `address`."""

    LABELLED: Final = 512
    """Something that a label of the call's own stands before: `urls: {live: ...}`."""

    NAME: Final = 1_024
    """The value names a field, whose value stands beside it: `{name: url, value: ...}`."""

    VALUE: Final = 2_048
    """The value of a field whose name stands beside it."""

    POINTS = HOST | DOMAIN | URL | LINK | PLACE | MAIL | LABELLED
    """The value may be a destination although it has no sign of one."""


_KINDS = {
    Kind.HOST: "host hosts hostname hostnames server servers proxy proxies ip ips ipaddress "
    "nameserver nameservers netloc sni servidor serveur hôte 主机 服务器 хост сервер",
    Kind.DOMAIN: "domain domains fqdn dns",
    Kind.URL: "url urls uri uris endpoint endpoints webhook webhooks callback website site sites "
    "homepage baseurl weburl imageurl enlace lien 网址 链接 ссылка",
    Kind.LINK: "href src",
    Kind.LINK | Kind.PLACE: "link links",
    Kind.MAIL: "to cc bcc mail mails email emails recipient recipients attendee attendees "
    "participant participants invitee invitees sender mailto destinatario destinataire empfänger "
    "reply_to replyto reply-to to_address to_addresses to_addr toaddress send_to sendto "
    "收件人 получатель",
    Kind.COMMAND: "command commands cmd cmds script shell bash argv powershell commandline",
    Kind.SECRET: "secret secrets apikey token password passwd authorization auth credential",
    Kind.PLACE: "address addresses addr addrs target targets destination destinations dest dst "
    "remote remotes peer peers upstream upstreams gateway gateways broker brokers registry "
    "referer referrer location feed "
    "repo repository base dsn connection connect relay mirror redirect authority origin hostport "
    "host_port",
    Kind.NAME: "name id type kind label title k field param parameter property option attribute "
    "attr header setting variable var column",
    Kind.SECRET | Kind.NAME: "key",
    Kind.VALUE: "value values val vals v default",
    Kind.PATH: "path paths route resource pathname suffix file filename dir directory folder",
}
_OF_WORD: dict[str, int] = {word: kind for kind, words in _KINDS.items() for word in words.split()}
_ABOUT = frozenset(
    """count number num total id ids type kind status title description text label code method port
    timeout version size limit format encoding mode index body subject content message note
    enabled flag template reason date time""".split()  # noqa: SIM905 - one word a value reads better
)
"""Last words that say that the value is something about the host, link or address, not it."""

_GENERIC = frozenset(
    ("name", "address", "addr", "value", "target", "to", "location", "full", "href", "raw")
)
"""Names below which the value is what the parent's name says: `server: {name: ...}`."""

_SCHEMES = frozenset(("http", "https", "ftp", "all", "socks", "socks5"))
"""Names below which a value may be a host where the parent's is one: `proxies: {https: ...}`."""

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


MAX_NAME = 80
"""Characters of a name that says something; a longer one says nothing, and is kept in no cache."""


@lru_cache(maxsize=1_024)
def kind_of(name: str) -> int:
    """What the field's name says: by its words, in snake_case, kebab-case or camelCase."""
    name = folded(name)
    whole = _OF_WORD.get(name.casefold())
    if whole is not None:
        return whole
    words = [word.casefold() for word in _WORDS.findall(name)]
    if not words or words[-1] in _ABOUT:
        return Kind.TEXT
    found: int = Kind.TEXT
    for word in words:
        # `to`, `site` and the like mean something only as the whole name.
        if (len(word) > 2 or word == "ip") and word[:4] != "site":
            found |= _OF_WORD.get(word, Kind.TEXT)
    # `remote_addr` is a place, `base_image` and `target_language` are none.
    return found if _OF_WORD.get(words[-1], 0) & Kind.PLACE else found & ~Kind.PLACE


@lru_cache(maxsize=1_024)
def kind_below(name: str, parent: int) -> int:
    """`kind_of(name)`; for a generic name, also what the parent's name says."""
    kind = kind_of(name)
    plain = folded(name).casefold()
    if plain in _SCHEMES and parent & Kind.POINTS:
        return kind | Kind.PLACE
    if plain in _GENERIC:
        return kind | parent
    if not kind and parent & _LABELLING and _ABOUT.isdisjoint(_WORDS.findall(plain)[-1:]):
        return Kind.LABELLED
    return kind


def kind_of_word(name: str) -> int:
    """`kind_named` of one of the known words, whatever its case; of other names none."""
    word = name.casefold()
    return kind_named(word) if word in _OF_WORD else Kind.TEXT


LISTED_NAMES = frozenset(
    f"{sign}{form}"
    for word, kind in _OF_WORD.items()
    if kind & (Kind.HOST | Kind.DOMAIN | Kind.URL | Kind.SECRET)
    for form in (word, word.title(), word.upper())
    for sign in ("", "--")
)
"""Names behind which their value may stand in a plain list, as headers and options do."""


_LABELLING = Kind.HOST | Kind.DOMAIN | Kind.URL
_NAMES_A_FIELD = _LABELLING | Kind.LINK | Kind.PLACE | Kind.MAIL | Kind.COMMAND | Kind.SECRET


def kind_named(name: str) -> int:
    """The kind of a value beside which its field's name stands, in a pair or a table; what may be
    a machine by its name is one only with a sign of it (`{name: server, value: on}`)."""
    return _kind_named(name) if len(name) <= MAX_NAME else Kind.TEXT


@lru_cache(maxsize=1_024)
def _kind_named(name: str) -> int:
    kind = kind_of(name.strip(" :")) & _NAMES_A_FIELD
    return kind & ~Kind.HOST | Kind.URL if kind & Kind.HOST else kind


_SHELLS = frozenset(
    """shell bash sh zsh powershell pwsh exec execute spawn subprocess terminal command
    cmd""".split()  # noqa: SIM905 - reads better
)
"""Words in the name of a tool that runs what it is given."""


@lru_cache(maxsize=1_024)
def kind_for_tool(tool: str) -> int:
    """COMMAND for a tool that hands its arguments to a shell."""
    words = {word.casefold() for word in _WORDS.findall(tool[:80])}
    return Kind.COMMAND if words & _SHELLS else Kind.TEXT
