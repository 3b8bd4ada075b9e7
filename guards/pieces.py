"""What leaves in pieces: a secret or a private code that is spread over the calls of a thread.

A piece is a short run of letters and digits that no prose has: with a digit or a capital inside, or
the beginning of a key. The pieces of the calls that went before, and of those proposed beside this
one, are put together with its own, in their order and against it, and each beginning of a key with
all of them; what the result says, also decoded, is judged as if it stood in one text. The window is
bounded, so that a decision costs the same however long the thread is.

Not seen: pieces shorter than four characters, pieces that look like words, pieces between which
more than `WINDOW` others were sent, and what is enciphered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from .arguments import MAX_DEPTH
from .encodings import MIN_RUN, plain, views
from .outputs import leaves

WINDOW = 24
"""Pieces of earlier calls that are kept."""

MOST = 24
"""Pieces of one call that count: the first and the last of them."""

HEAD = (
    r"(?:^|[^A-Za-z0-9])(?:sk-|AKIA|ASIA|AIza|ya29|GOCSPX|gh[opsru]_|github_pat|gl[a-z]{2,4}-|xox"
    r"|xapp-|[rs]k_|whsec_|hf_|gsk_|xai-|pplx-|nvapi-|tvly-|lsv2_|npm_|pypi-|SG\.|eyJ"
    r"|AGE-SECRET|apify_api|ATATT3|cf(?:[au]t|k)_|CFPAT-|dckr_|do[opr]_v1|figd_|gl(?:c|sa)_|HRKU-|hv[bsr]\."
    r"|lin_api|nfp_|NRAK-|ntn_|pcsk_|PMAK-|pscale_|sbp_|shp(?:at|ca|pa|ss)_|tgp_v1|tskey-|vc[aikpr]_"
    r"|xkeysib)"
)
"""How keys of common providers begin (RE2 and Python)."""

_READ = 20_000
_TOKEN = re.compile(r"[A-Za-z0-9_+~.-]{4,}")
_ESCAPED = re.compile(r"%[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}")
"""Read with its decoded view; the digits of an escape are no part of the piece behind it."""
_ODD = re.compile(r"[0-9_A-Z](?:(?<![A-Z])|(?<=[A-Za-z][A-Z]))")
"""A digit, a `_`, or a capital behind a letter; a search for the first sign is fast."""
_BEGINS = re.compile(HEAD)
_CODED = re.compile(r"(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9+_-]{8,200}|[0-9A-Fa-f]{8,200}")
"""What can be a part of base64 or hexadecimal digits."""
_LETTER = re.compile("[A-Za-z]")
_HEADS = 4


def pieces(arguments: object) -> tuple[str, ...]:
    """The pieces in the arguments of a call, each once, in order; those of decoded texts, too."""
    if type(arguments) is dict and not any(map(_may_hold_some, arguments.values())):
        return ()  # nearly always, and told without a walk
    found: dict[str, None] = {}
    for leaf in leaves(arguments, keys=False, depth=MAX_DEPTH):
        if len(leaf) < 4 or not may_hold_pieces(leaf):
            continue
        text = leaf if len(leaf) <= _READ else leaf[: _READ // 2] + " " + leaf[-_READ // 2 :]
        decoded = [] if len(text) < MIN_RUN or plain(text) else views(text).texts
        for seen in (_ESCAPED.sub(" ", text) if decoded else text, *decoded):
            for token in _TOKEN.findall(seen):
                piece = token.strip(".")
                # What already stands in the typed text is no second piece beside it.
                if _is_piece(piece) and (seen is text or piece not in text):
                    found.setdefault(piece)
    if len(found) <= MOST:
        return tuple(found)
    listed = list(found)
    return (*listed[: MOST // 2], *listed[-MOST // 2 :])


def _may_hold_some(value: object) -> bool:
    return type(value) is not str or may_hold_pieces(value)


def may_hold_pieces(text: str) -> bool:
    """Whether something in a text, or in what JSON text says, can be a piece or encode one.

    Most of what is sent cannot. An escape of JSON that says a letter or digit has a digit itself.
    """
    return "-" in text or _ODD.search(text) is not None


def _is_piece(token: str) -> bool:
    return len(token) >= 4 and bool(_ODD.search(token) or _BEGINS.match(token))


def beside(calls: Sequence[object]) -> list[tuple[str, ...]]:
    """For each call of one turn (its arguments) the pieces of all of them, where others have some:
    what is sent in pieces is not safe in any order. One tuple for all; its own count once."""
    if len(calls) < 2:
        return [()] * len(calls)
    each = [pieces(arguments) for arguments in calls]
    every = tuple(dict.fromkeys(piece for own in each for piece in own))
    some = sum(map(bool, each))
    return [every if some > bool(own) else () for own in each]


def put_together(own: Sequence[str], sent: Sequence[str]) -> Iterator[str]:
    """What the pieces of a call make with those that were sent: texts in which to look."""
    if not own:
        return
    mine = set(own)
    every = [*(piece for piece in dict.fromkeys(sent) if piece not in mine), *own]
    if len(every) < 2:
        return
    heads = dict.fromkeys(piece for piece in every if _BEGINS.match(piece))
    others = [piece for piece in every if piece not in heads]
    joined = ["".join(others), "".join(reversed(others))]
    for head in islice(heads, _HEADS):
        # A number after a word about keys is no key: what follows a beginning has letters.
        rest = [piece for piece in every if piece != head and _LETTER.search(piece)]
        joined += [head + "".join(rest), head + "".join(reversed(rest))]
    yield from dict.fromkeys(joined)
    if any(map(_CODED.fullmatch, own)):
        coded = [piece for piece in others if _CODED.fullmatch(piece)]
        for text in dict.fromkeys(("".join(coded), "".join(reversed(coded)))):
            yield from views(text).texts


def kept(sent: Sequence[str], calls: Sequence[Any]) -> tuple[str, ...]:
    """The window once calls (their arguments) were let through."""
    new = [piece for arguments in calls for piece in pieces(arguments)]
    return tuple(dict.fromkeys([*sent, *new]))[-WINDOW:] if new else tuple(sent)
