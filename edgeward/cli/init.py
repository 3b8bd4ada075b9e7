"""`edgeward init`: a commented starter, which lints clean and runs."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated

import typer

from . import options
from .failures import reported
from .schema import FileKind, schema_for

EXAMPLE = "Example:  edgeward init policy my_policies"

STARTERS = Path(__file__).parent.parent / "starters"
_NEXT = {
    "policy": "edgeward lint {0}/policy.yaml && edgeward test {0}/policy.yaml",
    "profile": "edgeward run {0} 'Take a note: add_note(text=\"The rent is due.\")'"
    " --policy {0}/policy.yaml --model scripted:obedient",
    "strategy": "edgeward lint {0}/strategy.yaml && edgeward graph {0}/strategy.yaml",
}
_THEN = {
    "profile": 'with a key:  edgeward run {0} "Note that the rent is due." --policy {0}/policy.yaml'
}


def init(
    kind: Annotated[FileKind, typer.Argument(help="What to begin with.")],
    folder: Annotated[Path, typer.Argument(help="Where; made if it is not there.")],
    debug: options.Debug = False,
) -> None:
    """Write a starter into a folder: files that load, with comments, and the schema for editors.

    A policy comes with its cases, a profile with its tools and a policy. Nothing is overwritten.
    """
    with reported(debug=debug):
        made = {
            path.relative_to(STARTERS / kind.value): path.read_text(encoding="utf-8")
            for path in sorted((STARTERS / kind.value).rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        }
        schema = json.dumps(schema_for(kind.value), indent=2, ensure_ascii=False)
        made[Path(f"{kind.value}.schema.json")] = schema + "\n"
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"{folder}: is no folder; name another one")
        there = [name.as_posix() for name in made if (folder / name).exists()]
        if there:
            many = f" and {len(there) - 1} more are" if len(there) > 1 else " is"
            raise ValueError(f"{folder}: {there[-1]}{many} there already; name another folder")
        for name, text in made.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
            typer.echo(f"{(folder / name).as_posix()}")
        for words in (f"Next:  {_NEXT[kind.value]}", _THEN.get(kind.value)):
            if words:
                typer.echo(words.format(shlex.quote(folder.as_posix())))
