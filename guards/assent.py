"""A message in which the user only agrees: `Yes, that is right, please go ahead.`

It is no new request: what the message before it asked for and chose still holds.
"""

from __future__ import annotations

from .tokens import words

_LONGEST = 120
_MOST_WORDS = 16
_YES = frozenset(
    """yes yeah yep yup y ok okay sure agreed agree confirm confirmed proceed ahead correct right
    exactly absolutely definitely perfect good great fine thanks thank
    ja jawohl genau richtig stimmt einverstanden klar gern gerne danke passt
    oui accord merci s\u00ed si vale gracias sim claro va bene grazie goed akkoord""".split()  # noqa: SIM905
)
_WITH_IT = frozenset(
    """i you we m re s it that this all is are looks sounds do so go and the with to of course
    please very much just now both well then my me for your help
    das ist so bitte mach machen sie tun weiter sehr gut alles es parfait bien por favor""".split()  # noqa: SIM905
)

_ALL = _YES | _WITH_IT


def only_agrees(message: str) -> bool:
    """Whether a message says yes, and nothing else."""
    if len(message) > _LONGEST:
        return False
    said = words(message)
    return 0 < len(said) <= _MOST_WORDS and _ALL.issuperset(said) and not _YES.isdisjoint(said)
