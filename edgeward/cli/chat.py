"""`edgeward chat`: a conversation on one thread."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import typer

from . import options
from .failures import reported
from .threads import Wanted, fresh_thread

if TYPE_CHECKING:
    from .screen import Screen
    from .session import Session

EXAMPLE = (
    "Example:  edgeward chat ./my-agent -p policy.yaml\n\n"
    "Ctrl-C stops a turn, /continue goes on with it; /exit or Ctrl-D ends."
)
EXITS = frozenset({"/exit", "/quit"})
CONTINUE = "/continue"
OPEN = f"not finished: {CONTINUE} goes on with it, anything else drops it"


def chat(
    profile: options.Profile,
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
    debug: options.Debug = False,
) -> None:
    """Talk with a profile. Ctrl-C stops a turn; the thread stays for another time."""
    with reported(debug=debug):
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
        _chat(wanted, thread or fresh_thread(), images=tuple(image or ()), debug=debug)


def _chat(wanted: Wanted, thread: str, *, images: tuple[str, ...], debug: bool) -> None:
    """The conversation; the images belong to what is said first."""
    from .agents import heading
    from .approvals import Nobody, Person
    from .opening import open_session
    from .screen import Screen, console_on

    screen = Screen(console_on(sys.stdout))
    ask = Person(screen.console) if sys.stdin.isatty() else Nobody()
    session = open_session(wanted, thread, view=screen, ask=ask)
    try:
        for label, text in [*heading(session.agent, wanted), ("thread", thread)]:
            screen.line(label, text, style="dim")
        screen.console.print()
        if session.state == "open":
            screen.row("", OPEN)
        while (said := _read()) is not None:
            if said:
                _turn(session, screen, said, images=images, debug=debug)
                images = () if said != CONTINUE else images
    finally:
        session.close()
    if wanted.can_wait:
        typer.echo(f"to go on:  {wanted.again('chat', thread)}", err=True)


def _read() -> str | None:
    """What the person says; None at the end."""
    try:
        said = input("> " if sys.stdin.isatty() else "").strip()
    except (EOFError, KeyboardInterrupt):
        typer.echo("")
        return None
    return None if said in EXITS else said


def _turn(
    session: Session, screen: Screen, said: str, *, images: tuple[str, ...], debug: bool
) -> None:
    """One turn; what goes wrong in it is said, and the conversation goes on."""
    try:
        with reported(debug=debug):
            if said == CONTINUE:
                _continue(session)
            else:
                session.say(said, images)
    except typer.Exit as stopped:
        _say_how_it_ended(screen, stopped)


def _continue(session: Session) -> Any:
    if session.state != "open":
        raise ValueError("there is nothing to go on with: the last turn is finished")
    return session.go_on()


def _say_how_it_ended(screen: Screen, stopped: typer.Exit) -> None:
    from .failures import STOPPED

    if stopped.exit_code == STOPPED:
        screen.console.print()
        screen.row("stopped", OPEN, style="yellow")
