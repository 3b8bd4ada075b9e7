"""Passwords that people choose, behind a word that says so: `password: Tr0ub4dor`, `DB_PASSWORD=…`.

They are shorter and less random than keys, so more has to speak for them: the word, the sign behind
it, letters with digits or signs among them. A literal that a program assigns (`password = "abc1"`)
is not taken for one, nor is what only stands for a password.
"""

from __future__ import annotations

import re
from typing import Any

_WORDS = (
    "passw(?:or)?d|pwd|passphrase|passcode|passwort|kennwort|mot de passe|contrase(?:ñ|n)a"
    "|wachtwoord|senha|hasło|parola|identified by"
)
_OTHER_WORDS = "пароль|密码|密碼|パスワード|비밀번호"
_BEHIND = (
    r"\\{0,8}[\"'`*]{0,3}\s{0,3}:\*{0,2}\s{0,3}\\{0,8}[\"'`]?"
    r"|\s?=\s?|>|\s(?:is|was|ist|war|lautet|est|es|è)\s?:?\s\\{0,8}[\"'`]?"
    # `PASSWORD 'abc1'`, `<add key="password" value="abc1"/>`, `"name": "PWD", "value": "abc1"`
    r"|\s{1,2}[\"'`]|[\"']?,?\s{1,12}[\"']?value[\"']?\s{0,3}[:=]\s{0,3}[\"']?"
)
CHOSEN_PASSWORD = (
    rf"(?i)(?:(?:{_WORDS})(?:{_BEHIND})|(?:{_OTHER_WORDS}) ?(?::|=) ?"
    r"|--[a-z-]{0,20}passw(?:or)?d\s{1,3}[\"']?|(?-i:[A-Z0-9]_PASS)="
    # `curl -u ann:abc1`, `sshpass -p abc1`
    r"|\s(?:-u|--user)[= ]{1,2}[\"']?[\w.@+-]{0,64}:[\"']?|\bsshpass\s{1,2}-p\s?[\"']?)"
    r"(?P<secret>[^\s\"'`<>,;\\]{5,}[^\s\"'`<>,;\\.:)\]}?])"
)
"""The word, what leads to the value, and six characters or more (RE2)."""

_SIGN = re.compile(r"[0-9]|(?<=.)[!@#$%^+](?=.)")
_NO_VALUE = re.compile(
    r"[$%&*(\[{/\\.~<-]|[a-z]+://|[A-Za-z]:|(?:base|sha|md|utf|oauth|argon|aes|pbkdf)-?[0-9]|[0-9]fa\b"
    r"|[0-9]+-?(?:char|letter|digit|sign|bit|byte)",
    re.IGNORECASE,
)
"""How paths, variables, links and words of prose begin, and no password that is looked for."""
_CODE = re.compile(
    r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+|[a-z]+(?:_[a-z0-9]+)+|[A-Z]+(?:_[A-Z0-9]+)+"
    r"|.*[()\[\]{}|].*"
)
"""Attributes, names of variables, calls and types."""
_STAND_INS = (
    "your", "example", "placeholder", "changeme", "change-me", "replace", "dummy", "sample", "xxx",
    "redacted", "insert", "test", "foo", "string", "passw", "pwd", "secret", "null", "none", "user",
    "required", "optional", "minimum", "enter", "12345678",
)  # fmt: skip


def is_chosen(match: Any) -> bool:
    """Whether a match of `CHOSEN_PASSWORD` is a password, and nothing that stands for one."""
    value = match["secret"]
    if not any(map(str.isalpha, value)) or _SIGN.search(value) is None:
        return False
    if _NO_VALUE.match(value) or _CODE.fullmatch(value):
        return False
    lower = value.casefold()
    return not any(word in lower for word in _STAND_INS)
