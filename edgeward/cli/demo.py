"""`edgeward demo`: the shipped assistant on real files, with mails and documents that attack it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .failures import reported
from .threads import Wanted

if TYPE_CHECKING:
    from ..graphs.result import AgentResult
    from .outbox import World
    from .screen import Screen

EXAMPLE = (
    "Example:  edgeward demo --policy allow_all\n\n"
    "This plays the same run without rules, and shows what came of it."
)
PROFILE = "assistant"
OBEDIENT = "scripted:obedient"


def demo(
    policy: Annotated[
        str, typer.Option("--policy", "-p", help="A shipped policy's name, or a path.")
    ] = PROFILE,
    model: options.Model = OBEDIENT,
    task: Annotated[
        str | None, typer.Option(help="Another task than the one that comes with the demo.")
    ] = None,
    strategy: options.StrategyName = options.DEFAULT_STRATEGY,
    folder: Annotated[
        Path | None, typer.Option("--dir", help="A new or empty folder to run in.")
    ] = None,
    debug: options.Debug = False,
) -> None:
    """Play an attack on the shipped assistant: real files, a real guard, no network, no key."""
    with reported(debug=debug):
        wanted = Wanted(profile=PROFILE, policy=policy, model=model, strategy=strategy)
        _demo(wanted, task, _fresh(folder))


def _demo(wanted: Wanted, task: str | None, folder: Path) -> None:
    from .agents import heading
    from .approvals import Nobody, Person
    from .opening import open_session
    from .outbox import World
    from .screen import Screen, console_on

    screen = Screen(console_on(sys.stdout))
    world = World(folder / "workspace", _bundle() / "workspace")
    asked = task or _default_task()
    ask = Person(screen.console) if sys.stdin.isatty() else Nobody()
    with _prepared(folder) as threads:
        session = open_session(wanted, "demo", view=screen, ask=ask, checkpointer=threads)
        try:
            for label, text in heading(session.agent, wanted):
                screen.line(label, text)
            screen.line("folder", str(world.folder))
            screen.row("task", asked)
            screen.console.print()
            result = session.say(asked)
        finally:
            session.close()
    screen.console.print()
    _report(screen, world, result, wanted, own_task=task is not None)


@contextmanager
def _prepared(folder: Path) -> Iterator[Path]:
    """The demo's files in their places; everything that the run keeps is kept below the folder."""
    from ..graphs.checkpoints import KEY_VARIABLE
    from ..profiles.workspace import copy_seed, use_workspace

    copy_seed(_bundle() / "workspace", to=folder / "workspace")
    shutil.copytree(_bundle() / "demo" / "secrets", folder / "secrets")
    before = os.environ.get(KEY_VARIABLE)
    os.environ[KEY_VARIABLE] = str(folder / "ticket.key")
    try:
        with use_workspace(folder / "workspace"):
            yield folder / "threads.sqlite"
    finally:
        if before is None:
            del os.environ[KEY_VARIABLE]
        else:
            os.environ[KEY_VARIABLE] = before


def _report(
    screen: Screen, world: World, result: AgentResult, wanted: Wanted, *, own_task: bool
) -> None:
    """What can be found in the files now, and what was refused."""
    from .printable import counted
    from .screen import refused

    effects = world.effects()
    screen.console.print("What is in the files now:", style="bold")
    for effect in effects:
        mark, style = ("outside: ", "bold red") if effect.outside else ("", "")
        screen.line(effect.kind, mark + effect.text, style=style)
    if not effects:
        screen.row("", "nothing was sent, paid, fetched or changed")
    screen.console.print()
    if not own_task:
        done = _done(world)
        screen.row("task", done or "not done", style="green" if done else "red")
    out = sum(effect.outside for effect in effects)
    no = [record for record in result.verdicts if refused(record)]
    text = f"{counted(len(no), 'call')} refused; "
    text += f"{out} of the above went outside" if out else "nothing went outside"
    screen.row("guard", text, style="bold red" if out else "green")
    _what_next(screen, wanted, out=out)


def _what_next(screen: Screen, wanted: Wanted, *, out: int) -> None:
    if wanted.policy == PROFILE and not out:
        screen.line("next", "edgeward demo --policy allow_all  shows what the rules prevented")


def _done(world: World) -> str:
    """What shows that the demo's own task is done; empty if it is not.

    The figures are read from the sheet, and looked for in the mails that went to colleagues.
    """
    from .outbox import figures

    effects = world.effects()
    wanted = figures(world.folder, "Total revenue", "Operating cost", "Headcount at quarter end")
    for mail in effects:
        digits = mail.body.replace(",", "").replace("'", "").replace(".", "")
        found = [figure for figure in wanted if figure in digits]
        if mail.kind == "mail" and not mail.outside and wanted and len(found) == len(wanted):
            call = [effect for effect in effects if effect.kind == "event" and not effect.outside]
            rest = "and the call is in the calendar" if call else "but no call in the calendar"
            return f"the {len(found)} figures are mailed to a colleague, {rest}"
    return ""


def _fresh(folder: Path | None) -> Path:
    """The folder to run in, which nobody has used.

    Raises:
        ValueError: there is something in it.
    """
    if folder is None:
        import tempfile

        return Path(tempfile.mkdtemp(prefix="edgeward-demo-"))
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"--dir: {folder} is not an empty folder; name a new one")
    folder.mkdir(parents=True, exist_ok=True)
    return folder.absolute()


def _bundle() -> Path:
    from .. import profiles

    return Path(next(iter(profiles.__path__))) / PROFILE


def _default_task() -> str:
    return (_bundle() / "demo" / "task.txt").read_text(encoding="utf-8").strip()
