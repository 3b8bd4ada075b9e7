"""`edgeward replay`: which recorded verdicts come out otherwise under another policy."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options, shipped
from .failures import FAILED, WRONG, complain, reported

if TYPE_CHECKING:
    from ..graphs.recordings import Recording
    from ..graphs.schema import Strategy
    from ..policies.replay.flips import Allowed, Flip, Replayed
    from ..policies.replay.recorded import Old

EXAMPLE = "Example:  edgeward replay receipts.jsonl --policy new.yaml --allow-flips ask:allow"


def replay(
    log: Annotated[
        Path,
        typer.Argument(
            help="What was recorded: receipts (JSON lines or SQLite, kept with `receipts: "
            "history`), a LangGraph checkpoint database (SQLite), or exported conversations (JSON "
            "or JSON lines: messages of OpenAI, Anthropic, Gemini or LangChain, LangSmith runs)."
        ),
    ],
    policy: Annotated[
        str,
        typer.Option(
            "--policy",
            "-p",
            help="The policy to try: a shipped name, or a path.",
            autocompletion=shipped.policies,
        ),
    ],
    strategy: Annotated[
        str | None,
        typer.Option(
            "--strategy",
            "-s",
            help="A strategy to try. It changes no verdict, for each of its calls reaches a guard; "
            "said is which calls come after the last round of calls that it allows in a run.",
            autocompletion=shipped.strategies,
        ),
    ] = None,
    allow_flips: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FLIP",
            help="A flip that is meant: OLD:NEW (`ask:allow`), `tighter` for all that let less "
            "through, or the name of one call as it is printed. May be given several times.",
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(help="The key of a log of receipts. Default: LOG.key.pub, or LOG.key."),
    ] = None,
    unverified: Annotated[
        bool, typer.Option("--unverified", help="Replay a log that is not as it was written, too.")
    ] = False,
    user: options.User = None,
    tenant: options.Tenant = None,
    role: options.Roles = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    debug: options.Debug = False,
) -> None:
    """Decide recorded calls again under another policy, each on what was known then.

    Lists every verdict that comes out otherwise, the most dangerous first, with the rules on both
    sides. Runs no tool, asks no model, writes nothing. --user, --tenant and --role say for whom,
    where the record does not.

    Exit code: 0 no flip but those of --allow-flips, 1 another one, 2 where something given is wrong
    or nothing could be replayed.
    """
    with reported(debug=debug):
        from ..graphs.recordings import open_recording
        from ..graphs.rounds import rounds_in_a_run
        from ..graphs.schema import load_strategy
        from ..guards.caller import Caller
        from ..policies.replay.flips import DANGER, TIGHTER, Allowed
        from ..policies.replay.flips import replay as replayed
        from ..policies.schema import load_policy
        from .printable import one_line
        from .progress import progress

        allowed = Allowed.of(allow_flips or ())
        loaded = load_policy(policy)
        tried = load_strategy(strategy) if strategy is not None else None
        caller = Caller(user or "", tenant or "", tuple(role or ()))
        recording = open_recording(log, key=key, unverified=unverified, caller=caller)
        rounds = rounds_in_a_run(tried) if tried is not None else None
        with progress("Replaying", recording.calls or 0) as tick:
            found = replayed(loaded, recording.threads(), rounds=rounds, tick=tick)
        shown = _as_json if as_json else _as_text
        shown(log, recording, found, tried, allowed)
        for name in sorted(allowed.names - {flip.name for flip in found.flips}):
            told = f"--allow-flips {name}: no call of that name came out otherwise; allowed: "
            typer.echo(f"note: {one_line(told)}{', '.join(DANGER)}, {TIGHTER}", err=True)
    if not found.replayed:
        if not as_json:
            complain(f"{log}: nothing could be replayed")
        raise typer.Exit(WRONG)
    raise typer.Exit(FAILED if any(not allowed.holds(flip) for flip in found.flips) else 0)


def _as_text(
    log: Path, recording: Recording, found: Replayed, tried: Strategy | None, allowed: Allowed
) -> None:
    from .printable import counted, one_line

    for flip in found.ranked():
        first, *rest = _lines(flip, meant=allowed.holds(flip))
        typer.echo("\n    ".join([one_line(first), *map(one_line, rest)]))
    looser = sum(flip.looser for flip in found.flips)
    flips = f"{counted(len(found.flips), 'flip')}, {looser:,} of them looser" if looser else ""
    typer.echo(
        f"{counted(found.replayed, 'call')} decided again: "
        f"{flips or counted(len(found.flips), 'flip')}"
    )
    for why, skipped in found.skipped.items():
        places = ", ".join(skipped.places) + (", …" if skipped.calls > len(skipped.places) else "")
        typer.echo(one_line(f"{counted(skipped.calls, 'call')} not decided: {why} ({places})"))
    if tried is not None:
        typer.echo(one_line(_of_strategy(tried, found)))
    if recording.note:
        typer.echo(one_line(f"{log}: {recording.note}"))


def _lines(flip: Flip, *, meant: bool) -> list[str]:
    """A flip for a person."""
    old, new = flip.pair.split(":")
    at = ", ".join(filter(None, [flip.place, flip.thread and f"thread {flip.thread}", flip.time]))
    mark = " (meant)" if meant else ""
    return [
        f"{old} -> {new}{mark}  {flip.tool} {flip.arguments}",
        f"{flip.name} ({at}){_answer(flip.old)}",
        *_side("then", flip.old),
        *_side("now", flip.new),
    ]


def _side(when: str, verdict: Old) -> list[str]:
    if verdict.word == "allow":
        return [f"{when}: no rule objects"]
    told = [
        ": ".join(filter(None, [" ".join(filter(None, [s.where, s.rule])), s.reason]))
        for s in verdict.deciding
    ]
    return [f"{when}: {text}" for text in told or [f"{verdict.word}; the record names no rule"]]


def _answer(old: Old) -> str:
    """What a person said to it then."""
    if old.approval is None:
        return ""
    said = {"approve": "approved", "reject": "rejected", "edit": "edited"}
    word = said.get(str(old.approval.get("decision")), "answered")
    by, at = (str(old.approval.get(name) or "") for name in ("by", "at"))
    return "".join([f", {word}", f" by {by}" if by else "", f" at {at}" if at else ""])


def _of_strategy(tried: Strategy, found: Replayed) -> str:
    from ..graphs.rounds import rounds_in_a_run
    from .printable import counted

    rounds = rounds_in_a_run(tried)
    others = sum(n for digest, n in found.strategies.items() if digest not in ("", tried.digest))
    told = f"strategy {tried.name} ({tried.digest[:12]})"
    if others:
        told = f"{told}: {counted(others, 'call')} recorded under another"
    if rounds is None:
        return f"{told}; it sets no bound of its own to the rounds of a run"
    beyond = found.beyond
    places = f" ({', '.join(beyond.places)})" if beyond.calls else ""
    return (
        f"{told}; {counted(beyond.calls, 'call')} beyond the {counted(rounds, 'round')} of calls "
        f"that it allows in a run{places}"
    )


def _as_json(
    log: Path, recording: Recording, found: Replayed, tried: Strategy | None, allowed: Allowed
) -> None:
    from ..graphs.rounds import rounds_in_a_run

    told = {
        "log": str(log),
        "kind": recording.kind,
        "note": recording.note,
        "calls": found.calls,
        "decided": found.replayed,
        "same": found.same,
        "flips": [
            {"pair": flip.pair, "meant": allowed.holds(flip), **asdict(flip)}
            for flip in found.ranked()
        ],
        "not_decided": [{"why": why, **asdict(skipped)} for why, skipped in found.skipped.items()],
    }
    if tried is not None:
        told["strategy"] = {
            "name": tried.name,
            "digest": tried.digest,
            "recorded": found.strategies,
            "rounds": rounds_in_a_run(tried),
            "beyond": asdict(found.beyond),
        }
    typer.echo(json.dumps(told))
