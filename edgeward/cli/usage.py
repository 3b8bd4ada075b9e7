"""A command line that cannot be read is told in one line, as every other error."""

from __future__ import annotations

import sys
from typing import Any

import typer
from typer.core import TyperGroup

from .failures import FAILED, complain, exit_code, lines_of
from .pipes import keep_pipes


class Edgeward(TyperGroup):
    """The commands. Typer draws a box around what is wrong with a command line; here it is a line,
    which says where to look."""

    def main(self, *args: Any, standalone_mode: bool = True, **extra: Any) -> Any:
        """Run a command, and exit with its code."""
        extra["standalone_mode"] = False
        if not standalone_mode:
            return super().main(*args, **extra)
        given = list(extra.get("args") or sys.argv[1:])
        try:
            keep_pipes(given)
            code = super().main(*args, **extra)
        except typer.Abort:
            complain("stopped: the input has ended")
            sys.exit(FAILED)
        except OSError as error:  # before a command began, or in an option of Typer's own
            if "--debug" in given:
                raise
            complain(*lines_of(error))
            sys.exit(exit_code(error))
        except Exception as error:
            # Which click this is (Typer has its own, or not) depends on Typer's version.
            if not hasattr(error, "format_message"):
                raise
            _tell(error)
            sys.exit(getattr(error, "exit_code", FAILED))
        sys.exit(code if isinstance(code, int) else 0)


def _tell(error: Any) -> None:
    context: Any = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":  # Typer has printed the help
        return
    # Typer's words for a choice that is none hold the name of another library's exception.
    wrong = " ".join(error.format_message().replace("Value error, ", "").split())
    if context is None:
        complain(wrong)
    else:
        path = context.command_path
        complain(f"{path}: {wrong.rstrip('.')}; `{path} --help` says what it takes")
