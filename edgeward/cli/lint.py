"""`edgeward lint`: what is wrong or suspicious in policies, profiles and strategies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options
from .failures import FAILED, reported

if TYPE_CHECKING:
    from ..policies.problems import Problem
    from ..profiles.schema import AgentProfile

UNREADABLE = "unreadable"
"""A file that is no YAML: which kind it should be cannot be told."""

EXAMPLE = "Example:  edgeward lint policy.yaml profile.yaml strategy.yaml"


def lint(
    files: Annotated[
        list[str],
        typer.Argument(
            help="Files, folders of them, or shipped policies' names. A policy is compared with "
            "the tools of the profile in its folder, or of all that are named where there is none."
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the problems as JSON.")] = False,
    sarif: Annotated[
        bool, typer.Option(help="Print the problems as SARIF 2.1.0, for code hosts.")
    ] = False,
    debug: options.Debug = False,
) -> None:
    """Look for rules that nothing reaches, gaps, contradictions, and secrets in files.

    Exit code: 0 nothing found, 1 something found, 2 where a file is missing.
    """
    with reported(debug=debug):
        files = list(_each_file(files))
        found = list(_problems(files))
        if sarif:
            from .sarif import sarif_log

            typer.echo(json.dumps(sarif_log(found), indent=2))
        elif as_json:
            typer.echo(json.dumps([_plain(p) for p in found], indent=2))
        else:
            from .printable import counted, printable

            for problem in found:
                typer.echo(printable(str(problem)))
            typer.echo(f"{counted(len(files), 'file')}, {counted(len(found), 'problem')}")
    raise typer.Exit(FAILED if found else 0)


def _each_file(named: list[str]) -> Iterator[str]:
    """The files, and the YAML files of folders; what lies deeper, as the cases of a policy, is
    not meant."""
    from ..policies.problems import ConfigFileMissing, Problem
    from ..policies.schema import shipped_file

    for name in named:
        if shipped_file(name) is not None or not Path(name).is_dir():
            yield name
            continue
        inside = sorted(f for f in Path(name).iterdir() if f.suffix in (".yaml", ".yml"))
        if not inside:
            wrong, fix = "is a folder without a YAML file", "name a file"
            raise ConfigFileMissing(Problem(name, "", wrong, fix=fix))
        yield from map(str, inside)


def _problems(files: list[str]) -> Iterator[Problem]:
    """The problems of each file, and what the files say of each other."""
    from ..policies.lint import lint_policy, mismatches

    policies: list[str] = []
    profiles: list[tuple[str, AgentProfile]] = []
    for file in files:
        kind = _kind(file)
        if kind in ("policy", UNREADABLE):
            policies += [file] if kind == "policy" else []
            yield from lint_policy(file)
        elif kind == "profile":
            profile, problems = _profile(file)
            profiles += [(file, profile)] if profile else []
            yield from problems
        else:
            yield from _strategy(file)
    paired = {Path(file).parent for file, _ in profiles} & {Path(file).parent for file in policies}
    for file, profile in profiles:
        names, whole = _tool_names(profile)
        for policy in policies:
            # Of many agents, each in a folder, each policy is that of its neighbour.
            beside = {Path(file).parent, Path(policy).parent}
            if len(beside) == 1 or paired.isdisjoint(beside):
                yield from mismatches(policy, names, whole=whole)


def _kind(file: str) -> str:
    """Which kind of file it is: by a key that only that kind has."""
    from ..policies.problems import ConfigParseError
    from ..policies.schema import policy_document

    try:
        data = policy_document(file).data
    except ConfigParseError:
        return UNREADABLE
    keys = data if isinstance(data, dict) else {}
    return "profile" if "agent" in keys else "strategy" if "nodes" in keys else "policy"


def _profile(file: str) -> tuple[AgentProfile | None, list[Problem]]:
    from ..policies.problems import ConfigError
    from ..policies.written_secrets import secrets_in
    from ..policies.yaml_file import read_yaml
    from ..profiles.schema import AgentProfile

    secrets = list(secrets_in(read_yaml(file)))
    try:
        return AgentProfile.from_yaml(Path(file)), secrets
    except ConfigError as error:
        return None, [*error.problems, *secrets]


def _strategy(file: str) -> list[Problem]:
    from ..graphs.schema import load_strategy
    from ..policies.problems import ConfigError
    from ..policies.written_secrets import secrets_in
    from ..policies.yaml_file import read_yaml

    secrets = list(secrets_in(read_yaml(file)))
    try:
        load_strategy(Path(file))
    except ConfigError as error:
        return [*error.problems, *secrets]
    return secrets


def _tool_names(profile: AgentProfile) -> tuple[list[str], bool]:
    """The names of the profile's tools, as far as its text says them, and whether it says all.

    Nothing of the user's is imported or started for it.
    """
    names = [re.split(r"[:.]", entry)[-1] for entry in profile.tools.python]
    return names, not (profile.tools.mcp or profile.tools.skills or profile.rag.enabled)


def _plain(problem: Problem) -> dict[str, Any]:
    file, line = problem.place
    fields = {
        "file": file,
        "line": line,
        "kind": problem.kind or "invalid",
        "field": problem.field,
        "wrong": problem.wrong,
        "allowed": problem.allowed,
        "fix": problem.fix,
    }
    return {name: value for name, value in fields.items() if value}
