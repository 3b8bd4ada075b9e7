"""Credentials that stand in a file: a policy, a profile, a strategy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..guards.redact import Redactor
from .problems import Problem, spell
from .reading import texts
from .yaml_file import Document

_COMMENT = re.compile(r"(?:\A|\s)#(.*)")


def secrets_in(document: Document) -> Iterator[Problem]:
    """Values and comments of a file that look like a credential; the examples of a pattern are
    none."""
    redactor, told = Redactor(), set[str]()
    for path, text in texts(document.data):
        found = redactor.secrets(text)[1]
        where = document.where(path)
        if found:
            told.add(where)
        if found and "examples" not in path:
            yield _secret(where, spell(path), "holds", found)
    for number, line in enumerate(document.text.splitlines(), start=1):
        comment, where = _COMMENT.search(line), f"{document.name}:{number}"
        found = redactor.secrets(comment[1])[1] if comment and where not in told else ()
        if found:
            yield _secret(where, "", "a comment holds", found)


def _secret(where: str, field: str, holds: str, found: Sequence[str]) -> Problem:
    wrong = f"{holds} what looks like a secret ({', '.join(dict.fromkeys(found))})"
    fix = "take it out, and take it from the environment" if field else "take it out"
    return Problem(where, field, wrong, fix=fix, kind="secret")
