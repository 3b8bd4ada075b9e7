"""`edgeward run`: one task for the user's own profile, or the rest of an interrupted one."""

from __future__ import annotations

import json
import os
import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .failures import STOPPED, WAITING, reported
from .threads import Wanted, fresh_thread

if TYPE_CHECKING:
    from ..graphs.result import AgentResult
    from .screen import Screen
    from .session import Answers, Asked, Session

EXAMPLE = (
    'Example:  edgeward run ./my-agent "Summarise my mail" -p policy.yaml\n\n'
    'Example:  edgeward run ./my-agent "What is on it?" --image screens/shot.png\n\n'
    "Without a task, --thread goes on where a run was interrupted, or asks again what waits."
)


def run(
    profile: options.Profile,
    task: Annotated[
        str | None, typer.Argument(help="What to do. Left out: go on with --thread.")
    ] = None,
    strategy: options.StrategyName = options.DEFAULT_STRATEGY,
    policy: options.PolicyName = None,
    reload: options.Reload = False,
    thread: options.Thread = None,
    model: options.Model = None,
    max_steps: options.MaxSteps = None,
    user: options.User = None,
    tenant: options.Tenant = None,
    role: options.Roles = None,
    checkpointer: options.Checkpointer = options.DEFAULT_CHECKPOINTER,
    image: options.Images = None,
    json_lines: Annotated[
        bool, typer.Option("--json", help="One JSON object a line for each event, the result last.")
    ] = False,
    answers: Annotated[
        str | None,
        typer.Option(
            metavar="FILE_OR_JSON",
            help='Answers for calls that wait: {"call id": "approve"}, or {"decision": "edit", '
            '"args": {…}} in place of the word.',
        ),
    ] = None,
    debug: options.Debug = False,
) -> None:
    """Do one task with a profile. Each step is shown as it happens; asks are put to you."""
    with reported(debug=debug):
        if task is None and thread is None:
            raise ValueError("nothing to do: give a task, or --thread to go on with")
        if task is not None and not task.strip():
            raise ValueError("the task is blank; say what to do, or leave it out to go on")
        if task is None and image:
            raise ValueError("--image goes with a task, and there is none")
        wanted = Wanted(
            profile=profile,
            strategy=strategy,
            policy=policy,
            reload=reload,
            model=model,
            checkpointer=checkpointer,
            max_steps=max_steps,
            user=user or "",
            tenant=tenant or "",
            roles=tuple(role or ()),
        )
        said = None if task is None else Said(_written(task), tuple(image or ()))
        code = _run(wanted, said, thread or fresh_thread(), json_lines=json_lines, answers=answers)
    raise typer.Exit(code)


@dataclass(frozen=True, slots=True)
class Said:
    """A task and the images that belong to it."""

    task: str
    images: tuple[str, ...] = ()


def _written(task: str) -> str:
    """The task as it was typed: in a locale without UTF-8, Python keeps its bytes one by one."""
    try:
        task.encode()
    except UnicodeEncodeError:
        return os.fsencode(task).decode("utf-8", "replace")
    return task


def _run(
    wanted: Wanted, said: Said | None, thread: str, *, json_lines: bool, answers: str | None
) -> int:
    from ..profiles.images import ImageRefused
    from .answers import Given, read_answers
    from .opening import open_session
    from .screen import Screen, console_on
    from .views import JsonLines

    given = read_answers(answers) if answers is not None else {}
    # People are spoken to where no JSON goes.
    screen = Screen(console_on(sys.stderr if json_lines else sys.stdout))
    ask = Given(given, rest=_who_answers(wanted, screen))
    view = JsonLines() if json_lines else screen
    session = open_session(wanted, thread, view=view, ask=ask)
    began = False
    try:
        _check(session, said, answers=given)
        if not json_lines:
            _head(screen, session, wanted)
        began = True
        result = session.go_on() if said is None else session.say(said.task, said.images)
    except KeyboardInterrupt:
        typer.echo("", err=True)
        _say_how_to_go_on(wanted, thread, "stopped")
        return STOPPED
    except Exception as error:
        if began and not isinstance(error, ImageRefused):
            _say_how_to_go_on(wanted, thread, "the run broke off")
        raise
    finally:
        session.close()
    if ask.unused:
        typer.echo(f"not used: the answers for {', '.join(ask.unused)}", err=True)
    if result.waiting:
        _waits(screen, result, wanted, shown=not json_lines)
        return WAITING
    if not json_lines and wanted.can_wait:
        screen.line("next", f'{wanted.again("run", thread)} "another task"', style="dim")
    return 0


def _who_answers(wanted: Wanted, screen: Screen) -> Asked:
    from .approvals import Later, Nobody, Person

    if sys.stdin.isatty():
        return Person(screen.console)
    return Later() if wanted.can_wait else Nobody()


def _check(session: Session, said: Said | None, *, answers: Answers) -> None:
    """Whether the thread can do what was asked.

    Raises:
        ValueError, NothingWaiting: it cannot.
    """
    from ..graphs.admitted import NothingWaiting

    state, name = session.state, session.thread
    if said is not None and state == "open":
        raise ValueError(
            f"thread {name} is in the middle of a task; leave the new one out to go on with it, "
            "or take another --thread"
        )
    if said is not None:
        return
    if state == "new":
        raise ValueError(f"there is no thread {name}; give a task to begin it")
    if state == "done" and answers:
        raise NothingWaiting(f"thread {name} asks nothing: the answers are not used")
    if state == "done":
        raise ValueError(f"thread {name} is done; give a task to go on with it")


def _head(screen: Screen, session: Session, wanted: Wanted) -> None:
    from .agents import heading

    for label, text in [*heading(session.agent, wanted), ("thread", session.thread)]:
        screen.line(label, text, style="dim")
    screen.console.print()


def _waits(screen: Screen, result: AgentResult, wanted: Wanted, *, shown: bool) -> None:
    """The calls that wait for an answer, and how to give it."""
    from .approvals import show_question
    from .printable import printable

    for question in result.waiting if shown else ():
        screen.console.print()
        show_question(screen.console, question)
        screen.console.print(printable(f"  id    {question['id']}"), soft_wrap=True)
    answer = json.dumps({str(question["id"]): "approve" for question in result.waiting})
    words = f"{wanted.again('run', result.thread)} --answers {shlex.quote(answer)}"
    typer.echo(printable(f"waiting; to answer:  {words}"), err=True)


def _say_how_to_go_on(wanted: Wanted, thread: str, what: str) -> None:
    if wanted.can_wait:
        typer.echo(f"{what}; to go on:  {wanted.again('run', thread)}", err=True)
    else:
        typer.echo(f"{what}; the thread was in memory and is gone", err=True)
