"""Approvals: who answers for calls whose verdict is `ask`, and how.

A person at the terminal sees each call whole: the tool, its arguments, why it is asked about, the
rule and its line, and where the value came from. All answers go back at once.
"""

from __future__ import annotations

import getpass
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .printable import printable
from .screen import value_line
from .session import Answers, Questions

if TYPE_CHECKING:
    from rich.console import Console

NOBODY = "there is no terminal, so nobody could be asked"
DECISIONS = {"a": "approve", "l": "lasting", "e": "edit", "r": "reject"}


class Person:
    """Asks whoever sits at the terminal; Ctrl-C or Ctrl-D leaves the calls waiting."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def __call__(self, questions: Questions) -> Answers | None:
        by = user()
        answers: dict[str, Mapping[str, Any]] = {}
        for number, question in enumerate(questions, start=1):
            self._show(question, f"{number} of {len(questions)}" if len(questions) > 1 else "")
            answers[question["id"]] = answer = {**self._answer(question), "by": by}
            if "scope" in answer:
                break  # it may answer for the next ones, too; what it does not comes back
        return answers

    def _show(self, question: Mapping[str, Any], place: str) -> None:
        self._console.print()
        self._console.print(f"May this call run? {place}".rstrip(), style="bold yellow")
        show_question(self._console, question)

    def _answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        lasting = question.get("scope")
        if lasting:
            self._console.print(printable(f"  [l]asting: {covers(question)}"), markup=False)
        while True:
            letter = self._read("  [a]pprove, [e]dit or [r]eject? ").strip().casefold()[:1]
            match DECISIONS.get(letter):
                case "approve":
                    return {"decision": "approve"}
                case "lasting" if lasting:
                    return {"decision": "approve", "scope": dict(lasting)}
                case "reject":
                    return {"decision": "reject", "reason": self._read("  why? (may be empty) ")}
                case "edit":
                    return {"decision": "edit", "args": self._edited(question["args"])}

    def _edited(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments as the person wants them; asks until they are one JSON object."""
        from ..guards.normalise import parse_arguments

        text = json.dumps(args, ensure_ascii=False, indent=2)
        while True:
            there = _editor() and shutil.which(_editor()[0])
            text = _in_editor(text) if there else self._in_line(text)
            edited, fault = parse_arguments(text)
            if edited is not None and text.strip():
                return edited
            wrong = f"  not usable: {fault or 'nothing is written'}"
            self._console.print(printable(wrong), style="red")

    def _in_line(self, text: str) -> str:
        """The text for editing in the input line, where the terminal can do that."""
        line = " ".join(part.strip() for part in text.splitlines())
        try:
            import readline
        except ImportError:  # not on Windows; an empty line keeps what is there
            return self._read("  new arguments (JSON): ") or line
        readline.set_startup_hook(lambda: readline.insert_text(line))
        try:
            return self._read("  arguments: ")
        finally:
            readline.set_startup_hook(None)

    def _read(self, prompt: str) -> str:
        try:
            if sys.stdout.isatty():
                return input(prompt)  # the prompt goes here, for the line editor to know of it
            self._console.print(prompt, end="")
            return input()
        except EOFError:
            raise KeyboardInterrupt from None


class Nobody:
    """Rejects every call, with the reason that nobody can be asked."""

    def __call__(self, questions: Questions) -> Answers:
        return {q["id"]: {"decision": "reject", "reason": NOBODY} for q in questions}


class Later:
    """Leaves the calls waiting: the thread outlives the process, and an answer may come later."""

    def __call__(self, questions: Questions) -> None:
        return None


def show_question(console: Console, question: Mapping[str, Any]) -> None:
    """One waiting call, whole: nothing of it is cut."""

    def say(text: str, style: str = "") -> None:
        console.print(printable(text), style=style, soft_wrap=True)

    say(f"  {question['tool']}", "bold")
    say(_indented(whole(question["args"]), 4))
    for said in question.get("rules", ()):
        say(f"  why   {said.get('reason', '')}")
        say(f"  rule  {', '.join(said[key] for key in ('rule', 'where') if key in said)}")
        value = value_line(said)
        if value:
            say(f"  value {value}")
        if said.get("allowed"):
            say(f"  allowed {said['allowed']}")


def covers(question: Mapping[str, Any]) -> str:
    """What the lasting approval that a question offers would answer for, in words."""
    scope = question["scope"]
    fixed = " and ".join(
        f"{name} {json.dumps(question['args'][name], ensure_ascii=False)}"
        for name in scope["arguments"]
    )
    same = f"{question['tool']} with {fixed}" if fixed else question["tool"]
    return f"also later calls of {same}, in this thread, for {scope['for_s'] / 60:g} min"


def whole(args: Any) -> str:
    """Arguments as indented JSON, nothing left out."""
    return json.dumps(args, ensure_ascii=False, indent=2)


def user() -> str:
    """The operating system's name of whoever answers; empty where there is none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # no such user in a container, no pwd on Windows
        return ""


def _indented(text: str, by: int) -> str:
    return "\n".join(" " * by + line for line in text.splitlines())


def _editor() -> list[str]:
    """The person's editor as a command; empty where none is set."""
    return shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")


def _in_editor(text: str) -> str:
    """`text` as the person's editor saves it; in a folder that nobody else can read."""
    with tempfile.TemporaryDirectory(prefix="edgeward-") as folder:
        file = Path(folder) / "arguments.json"
        file.write_text(text, encoding="utf-8")
        subprocess.run([*_editor(), str(file)], check=False)  # noqa: S603 - the person's own
        return file.read_text(encoding="utf-8-sig")
