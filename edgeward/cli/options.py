"""The options that several commands have, each written once."""

from __future__ import annotations

from typing import Annotated

import typer

from . import shipped

Profile = Annotated[
    str,
    typer.Argument(
        help="A shipped profile's name, a folder, or a profile.yaml.",
        autocompletion=shipped.profiles,
    ),
]
StrategyName = Annotated[
    str,
    typer.Option(
        "--strategy",
        "-s",
        help="A shipped strategy (react, reflexion ...), or the path of a strategy file.",
        autocompletion=shipped.strategies,
    ),
]
PolicyName = Annotated[
    str | None,
    typer.Option(
        "--policy",
        "-p",
        help="A shipped policy's name, or a path. Left out: the shipped policy of the profile's "
        "name, or else `default`.",
        autocompletion=shipped.policies,
    ),
]
Reload = Annotated[
    bool,
    typer.Option(
        "--reload",
        help="Follow the policy's file: what is changed there counts from the next call on. "
        "Keep it where no tool can write.",
    ),
]
Model = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        metavar="PROVIDER:NAME",
        help="The model, instead of the profile's. `scripted:obedient` needs no key.",
    ),
]
Thread = Annotated[
    str | None, typer.Option("--thread", "-t", help="The thread to go on with, or to begin.")
]
MaxSteps = Annotated[
    int | None,
    typer.Option(
        "--max-steps", min=1, help="Rounds of tool calls at most, instead of the profile's."
    ),
]
Checkpointer = Annotated[
    str,
    typer.Option(
        "--checkpointer",
        help="Where threads are kept: sqlite (a file in the state folder), a path, a "
        "postgresql:// URL, or memory.",
    ),
]
User = Annotated[
    str | None,
    typer.Option("--user", help="For whom the agent works, as policies ask (`callers`)."),
]
Tenant = Annotated[
    str | None, typer.Option("--tenant", help="The tenant or organisation of that user.")
]
Roles = Annotated[
    list[str] | None,
    typer.Option("--role", help="A role of that user; may be given several times."),
]
Images = Annotated[
    list[str] | None,
    typer.Option(
        "--image",
        metavar="FILE_OR_URL",
        help="An image for the model to see beside the task; may be given several times. The "
        "profile's `images.folders` says which files may be sent.",
    ),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]

DEFAULT_STRATEGY = "react"
DEFAULT_CHECKPOINTER = "sqlite"
