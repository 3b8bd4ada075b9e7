"""What is suspicious in a policy that loads: rules that nothing reaches, gaps, slips of the pen.

Each check is a function from a `Reading` to problems, whose `kind` is the check's name; nothing
here decides about a call. `lint_policy` gives all of them, or what keeps the file from loading.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ..guards.hosts import HostList, canonical_host, is_address
from ..guards.names import folded_name
from ..guards.outputs import creates
from ..guards.patterns import compile_pattern
from .globs import covers, is_glob, overlap
from .problems import ConfigError, FieldPath, Problem, either, speak
from .reading import Reading
from .schema import load_policy, policy_document
from .written_secrets import secrets_in

ANY_TEXT = ("a", "7", "the quick brown fox", "C:\\x", '{"a": 1}', "\u00e4 \u4e2d")
"""What an attack does not look like: a pattern that is in all of it is in everything."""

_LISTS_OF_TOOLS = ("tool_allowlist", "tool_denylist")

SUSPICIOUS = frozenset(
    {
        *("unreachable", "shadowed", "never_runs", "bare_sink", "open_default"),
        *("no_such_tool", "unnamed_tool", "in_shadow", "open_egress", "anything", "never_created"),
    }
)
"""Kinds of problem that may be meant as they are; the others are errors."""

SENDING = frozenset({"send", "post", "forward", "share", "publish", "upload", "invite"})
"""First words of tools that give something away: `egress_allowlist` binds them."""

SINKS = SENDING | {
    *("pay", "transfer", "wire", "refund", "buy", "order", "book"),
    *("delete", "remove", "drop", "execute", "run", "deploy", "cancel"),
}
"""First words of tools that do something which cannot be taken back."""

FETCHING = frozenset({"fetch", "browse", "download", "request", "call", "http", "open", "webhook"})
"""First words of tools that go where an argument says."""

QUIET = frozenset(
    """get list search read find show view count describe lookup look grep query check write edit
    create update append insert save note log draft format convert translate calculate""".split()  # noqa: SIM905 - reads better
)
"""First words of tools that look, or write where their owner does: data may be anything there."""

_SERVER = re.compile(r".*(?:__|[./:])")
_FIRST_WORD = re.compile(r"[A-Za-z][a-z]*")


def lint_policy(source: str | Path) -> list[Problem]:
    """Everything that is wrong or suspicious in a policy, by line."""
    found = list[Problem]()
    try:
        reading = Reading(policy_document(source))
        found += written_secrets(reading)
        load_policy(source)
        found += (problem for check in CHECKS for problem in check(reading))
    except ConfigError as error:
        found += (replace(problem, kind=problem.kind or "invalid") for problem in error.problems)
    return sorted(found, key=lambda problem: problem.place[1])


def unreachable(policy: Reading) -> Iterator[Problem]:
    """What lets a tool run that something else refuses."""
    allowed, denied = policy.listed("tool_allowlist"), policy.listed("tool_denylist")
    runs = [name for name, entry in policy.tools.items() if entry != "block"]
    entries: list[tuple[FieldPath, str]] = [(("tools", name), name) for name in runs]
    entries += ((("tool_allowlist", at), name) for at, name in enumerate(allowed))
    for path, name in entries:
        folded = folded_name(name)
        denies = next((d for d in denied if covers(folded_name(d), folded)), None)
        if denies is not None:
            wrong = f"nothing reaches it: tool_denylist has {speak(denies)}"
            yield policy.problem("unreachable", path, wrong, "remove one of the two")
        elif path[0] == "tool_allowlist":
            if policy.tools and policy.closed and not any(overlap(name, run) for run in runs):
                wrong = "nothing reaches it: no entry of `tools` lets it run"
                yield policy.problem("unreachable", path, wrong, "remove one of the two")
        elif allowed and not any(covers(name, listed) for listed in allowed):
            wrong = "nothing reaches it: tool_allowlist has no such tool"
            fix = "add it there, or remove tool_allowlist: `tools` says the same"
            yield policy.problem("unreachable", path, wrong, fix)


def shadowed(policy: Reading) -> Iterator[Problem]:
    """What repeats what another entry says already."""
    for key, part in (("arg_rules", "regex"), ("secret_patterns", "regex")):
        seen: dict[str, int] = {}
        for number, rule in enumerate(policy.listed(key)):
            first = seen.setdefault(repr((rule[part], rule.get("tools"), rule.get("args"))), number)
            if first != number:
                wrong = f"has the pattern of {key}[{first}]"
                yield policy.problem("shadowed", (key, number), wrong, "remove one of the two")
    hosts = policy.listed("egress_allowlist")
    for number, host in enumerate(hosts):
        wider = [h for i, h in enumerate(hosts) if i != number and _wider(h, host)]
        wider += [h for h in hosts[:number] if h.casefold() == host.casefold()]
        if wider:
            wrong = f"{speak(wider[0])} lets it through already"
            yield policy.problem("shadowed", ("egress_allowlist", number), wrong, "remove it")
    for key in _LISTS_OF_TOOLS:
        names = policy.listed(key)
        globs, before = [name for name in names if is_glob(name)], set[str]()
        for at, name in enumerate(names):
            also = (n for n in globs if n != name and not covers(name, n))
            wide = name if name in before else next((n for n in also if covers(n, name)), None)
            before.add(name)
            if wide is not None:
                wrong = f"{speak(wide)} says the same of it"
                yield policy.problem("shadowed", (key, at), wrong, "remove it")
    globs = [name for name in policy.tools if is_glob(name)]
    for name, entry in policy.tools.items():
        others = [n for n in globs if n != name and covers(n, name)]
        nearest = max(others, key=len, default="")
        if nearest and isinstance(entry, str) and policy.tools[nearest] == entry:
            wrong = f"{speak(nearest)} says the same of it"
            yield policy.problem("shadowed", ("tools", name), wrong, "remove it")


def never_runs(policy: Reading) -> Iterator[Problem]:
    """A rule about a tool that may never run."""
    if not policy.tools or not policy.closed:
        return
    runs = [name for name, entry in policy.tools.items() if entry != "block"]
    for path, name in policy.named_tools():
        if not any(overlap(name, other) for other in runs):
            fix = f"did you mean one of {either(sorted(runs)[:8])}?"
            wrong = f"no entry of `tools` lets {speak(name)} run"
            yield policy.problem("never_runs", path, wrong, fix)


def bare_sinks(policy: Reading) -> Iterator[Problem]:
    """A tool that does something for good is free, while others like it have conditions."""
    held = SENDING if "egress_allowlist" in policy.data else frozenset[str]()
    sinks = {name: entry for name, entry in policy.tools.items() if _verb(name) in SINKS - held}
    bound = [name for name, entry in sinks.items() if entry != "allow"]
    for name, entry in sinks.items():
        if entry == "allow" and bound:
            wrong = f"is free, while {either(bound[:3])} has conditions"
            fix = "give it conditions, `ask`, or `{}` (text must be clean)"
            yield policy.problem("bare_sink", ("tools", name), wrong, fix)


def open_egress(policy: Reading) -> Iterator[Problem]:
    """A tool that gives something away is free, and nothing says to which hosts."""
    if "egress_allowlist" in policy.data or policy.data.get("version", 1) < 2:
        return
    if any(True for _ in bare_sinks(policy)):
        return  # which says it already
    for name, entry in policy.tools.items():
        if entry == "allow" and _verb(name) in SENDING | FETCHING:
            wrong = "is free, and without `egress_allowlist` it may lead to any host"
            fix = "list the hosts, give it conditions, or `ask`"
            yield policy.problem("open_egress", ("tools", name), wrong, fix)


def anything(policy: Reading) -> Iterator[Problem]:
    """An argument of a tool that does something is not looked at."""
    for path in policy.worded("any"):
        if _verb(str(path[1])) not in QUIET:
            wrong = "is not looked at: whatever a text from outside asks for goes through"
            fix = "`known`, `clean`, `words`, a range or `ask`"
            yield policy.problem("anything", path, wrong, fix)


def never_created(policy: Reading) -> Iterator[Problem]:
    """`created`, where no tool that may run makes anything."""
    runs = [name for name, entry in policy.tools.items() if entry != "block"]
    if not policy.closed or any(creates(name) or name.startswith("*") for name in runs):
        return
    for path in policy.worded("created"):
        wrong = (
            "no value is: by its name no tool here makes anything (`create_…`, `add_…`, `new_…`)"
        )
        fix = "`known`, with an entry of `trust` for what the tool that makes it returns"
        yield policy.problem("never_created", path, wrong, fix)


def open_default(policy: Reading) -> Iterator[Problem]:
    """Every tool that nothing names may run."""
    if policy.data.get("default") == "allow" and policy.tools:
        wrong = "every tool that `tools` does not name may run"
        yield policy.problem("open_default", ("default",), wrong, "block or ask")


def in_shadow(policy: Reading) -> Iterator[Problem]:
    """Nothing is enforced. The other checks read the file as if all of it were."""
    if policy.data.get("mode") == "shadow":
        wrong = "the whole policy is in shadow: it decides nothing"
        fix = "write `enforce` once `edgeward report` shows what you want"
        yield policy.problem("in_shadow", ("mode",), wrong, fix)


def patterns(policy: Reading) -> Iterator[Problem]:
    """A pattern that is in every text, or in none of its own examples."""
    for key in ("arg_rules", "secret_patterns"):
        for number, rule in enumerate(policy.listed(key)):
            pattern, path = compile_pattern(rule["regex"]), (key, number, "regex")
            # That some argument holds nothing at all can be meant.
            bound = rule.get("args") or rule.get("tools")
            if all(pattern.search(text) for text in (*ANY_TEXT, *([""] if bound else []))):
                wrong = "the pattern matches every text"
                yield policy.problem("matches_everything", path, wrong, "make it say more")
            for at, example in enumerate(rule.get("examples") or ()):
                if not pattern.search(example):
                    place = (key, number, "examples", at)
                    wrong = "the pattern does not match this example"
                    yield policy.problem("misses_example", place, wrong, "correct one of the two")


def conditions(policy: Reading) -> Iterator[Problem]:
    """A condition on an argument that every value meets, or none."""
    for path, condition in policy.conditions():
        for key in ("in", "hosts", "under"):
            if condition.get(key) == []:
                wrong = "nothing reaches it: no value is in an empty list"
                yield policy.problem("unreachable", (*path, key), wrong, "list values, or `block`")
        pattern = condition.get("match")
        if pattern is not None and all(compile_pattern(pattern).fullmatch(t) for t in ANY_TEXT):
            fix = "make it say more, or write `any`"
            yield policy.problem(
                "matches_everything", (*path, "match"), "the pattern matches every text", fix
            )


def written_secrets(policy: Reading) -> Iterator[Problem]:
    """A key in the file."""
    yield from secrets_in(policy.document)


CHECKS: tuple[Callable[[Reading], Iterator[Problem]], ...] = (
    unreachable,
    shadowed,
    never_runs,
    bare_sinks,
    open_egress,
    anything,
    never_created,
    open_default,
    in_shadow,
    patterns,
    conditions,
)


def mismatches(policy: str | Path, names: Sequence[str], *, whole: bool = True) -> list[Problem]:
    """Tools that the policy names and the agent does not have, and the other way round.

    `names` are the agent's tools; `whole`: there are no others.
    """
    reading = Reading(policy_document(policy))
    found = []
    for name in reading.tools if whole else ():
        if not any(covers(name, tool) for tool in names):
            wrong = "the agent has no such tool"
            found.append(reading.problem("no_such_tool", ("tools", name), wrong, "remove it"))
    for tool in names if reading.tools else ():
        if not any(covers(name, tool) for name in reading.tools):
            word = reading.data.get("default", "block")
            wrong = (
                f"the agent's tool {speak(tool)} is not named, so that `default` ({word}) counts"
            )
            found.append(reading.problem("unnamed_tool", ("tools",), wrong, "name it"))
    return found


def _verb(name: str) -> str:
    """The first word of a tool's name, whichever server it is of."""
    found = _FIRST_WORD.match(_SERVER.sub("", name))
    return found[0].casefold() if found else ""


def _wider(wide: str, narrow: str) -> bool:
    """Whether a host that is let through by `narrow` is let through by `wide`."""
    bare = canonical_host(narrow.removeprefix("*."))
    if bare is None or wide.casefold() == narrow.casefold():
        return False
    hosts = HostList([wide])
    below = is_address(bare) or f"x.{bare}" in hosts
    return below and (narrow.startswith("*.") or bare in hosts)
