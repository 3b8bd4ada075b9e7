"""Where a setting comes from: the profile, the environment with `.env`, or a default.

Each setting is looked up on its own, and blank counts as unset in every tier. What is found
nowhere is noted, so that all of it can be told at once. No value is ever part of a message.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from ..policies.problems import Problem, either, speak
from .failures import LLMConfigError


def read_env(
    *,
    load_env: bool = True,
    dotenv_path: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The environment, with what `.env` of the current directory adds to it.

    The process environment wins, but a blank value there does not hide one of the file. Nothing
    is written to `os.environ`: a key from the file does not reach child processes.

    Raises:
        LLMConfigError: `dotenv_path` names no file, or the file is not text.
    """
    process = dict(os.environ if environ is None else environ)
    if not load_env:
        return process
    file = Path.cwd() / ".env" if dotenv_path is None else Path(dotenv_path)
    if not file.is_file():
        if dotenv_path is None:
            return process
        raise LLMConfigError(Problem(speak(str(file)), "dotenv_path", "there is no such file"))
    from dotenv import dotenv_values

    try:
        added = dotenv_values(file, encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        added = None
    if added is None:
        raise LLMConfigError(Problem(speak(str(file)), "", "cannot be read as UTF-8 text"))
    filled_in = {name: value for name, value in process.items() if value.strip()}
    return {**process, **{name: value for name, value in added.items() if value}, **filled_in}


class Lookup:
    """One provider's search through the tiers, noting what was found where and what nowhere.

    `shared`: whether the variables that hold for any provider (LLM_*) have a say. `at` is the
    block of the profile, as messages name it.
    """

    def __init__(
        self, provider: str, *, env: Mapping[str, str], at: str = "llm", shared: bool = True
    ) -> None:
        self.prefix, self.env, self.at, self.shared = provider.upper(), env, at, shared
        self.sources: dict[str, str] = {}
        self.missing: list[Problem] = []

    def find(
        self, name: str, profile: str | None, shared: str, own: str, default: str | None
    ) -> str:
        """The first filled one of the profile's value, LLM_`shared`, `<PROVIDER>_own`, default."""
        variables = [f"LLM_{shared}"] * self.shared + [f"{self.prefix}_{own}"]
        tiers = [("profile", profile), *((v, self.env.get(v)) for v in variables)]
        for source, value in tiers:
            if found := filled(value):
                self.sources[name] = source
                return found
        if default is None:
            self.missing.append(unset(f"{self.at}.{name}", variables))
            return ""
        self.sources[name] = "default"
        return default


def filled(value: str | None) -> str:
    """The value without white space around it; empty where it counts as unset."""
    return (value or "").strip()


def unset(name: str, variables: list[str], allowed: str = "") -> Problem:
    """What to say of a setting that is found nowhere."""
    fix = f"set {name} in the profile, or {either(variables)} in the environment or in .env"
    return Problem("profile", name, "is not set", allowed, fix)


def bad_url(url: str, name: str) -> list[Problem]:
    """What is wrong with an address, without quoting it."""
    if not url:
        return []
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        good, parts = False, urlsplit("")
    if not good:
        return [Problem("profile", name, "is not an http(s) address")]
    if parts.username or parts.password:
        fix = "put the key into api_key"
        return [Problem("profile", name, "holds a user name or password", fix=fix)]
    return []


def bad_key(key: str, name: str) -> list[Problem]:
    """What is wrong with a key: the SDK's own complaint about such a header would quote it."""
    if all("!" <= letter <= "~" for letter in key):
        return []
    fix = "copy the key again, without spaces or line breaks"
    return [Problem("profile", name, "holds characters that no key has", fix=fix)]
