"""A message in which the user only agrees: `Yes, that is right, please go ahead.`

It is no new request: what the message before it asked for and chose still holds.
"""

from __future__ import annotations

from .tokens import words

_LONGEST = 120
_YES = frozenset(
    """yes yeah yep yup y sure agreed agree confirm confirmed proceed ahead
    absolutely definitely ja jawohl einverstanden klar gern gerne
    oui accord sí si vale sim claro va akkoord""".split()  # noqa: SIM905
)
_OK = frozenset("ok okay right correct exactly genau richtig stimmt".split())  # noqa: SIM905
_THANKS = frozenset("thanks thank danke merci gracias obrigado obrigada grazie bedankt".split())  # noqa: SIM905
"""With nothing but an OK (`All right, thanks!`) they end a talk."""
_WITH_IT = frozenset(
    """i you we m re s it that this all is are looks sounds do so go and the with to of course
    please very much just now both well then my me for your help perfect good great fine
    das ist so bitte mach machen sie tun weiter sehr gut passt alles es parfait bien por favor
    bene goed""".split()  # noqa: SIM905
)
_ALL = _YES | _OK | _THANKS | _WITH_IT


def only_agrees(message: str) -> bool:
    """Whether a message says yes, and nothing else."""
    if len(message) > _LONGEST:
        return False
    said = frozenset(words(message))
    yes = _YES if said & _THANKS else _YES | _OK
    return said <= _ALL and not said.isdisjoint(yes)
