"""Two policies, compared: for each way in which a tool can be named, each rule of the old one.

A rule of the old policy is left out of account where the new policy's rules are shown to object
whenever it does. For the rest a call is looked for that the new policy decides more loosely, and
each that is found is decided under both policies before it is told. What is neither shown nor found
is undecided, and counts as looser.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice, product

from ...guards.names import folded_name, glob_pattern
from ...guards.verdict import STRICTNESS, Verdict
from . import callers, order, wishes
from .aspects import search
from .boxes import Aspect, Attempts, Term, joined, outside
from .found import Difference, Looser, Place, Undecided
from .names import Pattern, TooManyNames, classes
from .plain import as_text
from .points import Point, put_together
from .rules import ASK, BLOCK, REDACT, SHUT, Rule, paths_of, place_of, rules_of
from .scene import Pair, Scene
from .settings import settings
from .side import Side, Source
from .trusted import believed, believes_no_more, unhidden
from .wanted import Wanted
from .witness import Witness

MOST_TERMS = 64
"""Combinations of the ways that the new policy's entries give."""


def compare(
    old: Source, new: Source, *, tools: Sequence[str] = (), stricter: bool = False
) -> Difference:
    """What the new policy allows that the old one did not; with `stricter`, also the reverse.

    `tools` are the agent's, where there are no others: then no other name is looked at.

    Raises:
        ConfigError: one of them cannot be loaded.
    """
    before, after = Side.read(old), Side.read(new)
    found = _difference(before, after, tools)
    back = _difference(after, before, tools) if stricter else Difference()
    return Difference(found.looser, found.undecided, back.looser)


def _difference(old: Side, new: Side, tools: Sequence[str]) -> Difference:
    try:
        return _Comparison(pair_of(old, new, tools)).difference()
    except TooManyNames as error:
        places = (Place("tools", side.where("tools")) for side in (old, new))
        return Difference(undecided=(Undecided("any tool", "names", str(error), *places),))


def pair_of(old: Side, new: Side, tools: Sequence[str] = ()) -> Pair:
    """Both sides, and what is shown of them once and for all."""
    private = unhidden(old, new)
    names = tuple(dict.fromkeys(tools)) or tuple(_names(old, new))
    return Pair(
        old,
        new,
        believes_no_more=believes_no_more(old, new),
        hides_no_less=not private,
        believed=believed(old, new),
        unhidden=private,
        tools=names,
        carrying=wishes.carrying(old, new, names),
        given=bool(tools),
        events=tuple(_events(old, new)),
    )


def _names(old: Side, new: Side) -> list[str]:
    """A name for each way in which the two policies can name the tool of a call."""
    patterns: list[Pattern] = []
    told: list[dict[str, list[str]]] = []
    for side in (old, new):
        said: dict[str, list[str]] = {}
        for name, what in _named(side):
            said.setdefault(folded_name(name), []).append(what)
            patterns.append(Pattern(name, folded=True))
        told.append(said)
        patterns += [Pattern(name) for name in (*side.values["tools"], *side.private)]
        patterns += [Pattern(n, literal=True) for n in side.listed("tool_allowlist")]
    suspects = {
        name
        for name in {**told[0], **told[1]}
        if sorted(told[0].get(name, [])) != sorted(told[1].get(name, []))
    }
    return classes(patterns, suspects)


def _named(side: Side) -> Iterator[tuple[str, str]]:
    """The names that fit every spelling, each with what is said of it."""
    otherwise = side.values["otherwise"]
    for name, entry in side.values["tools"].items():
        yield name, f"tools {otherwise} {as_text(entry)}"
    for name in side.listed("tool_denylist"):
        yield name, "denied"
    for rule in side.listed("arg_rules"):
        for name in rule.tools:
            yield name, f"arg_rules {rule.regex} {sorted(rule.args)}"
    for entry in side.listed("sequence"):
        for key in ("ask", "block", "before"):
            for name in getattr(entry, key, None) or ():
                yield name, f"sequence {key} {as_text(entry)}"


def _events(old: Side, new: Side) -> list[str]:
    """Tools that stand for all, as far as gates are moved by them."""
    gates = [gate for s in (old, new) if s.automata is not None for gate in s.automata.gates]
    patterns = [Pattern(name, folded=True) for gate in gates for name in gate.shuts]
    patterns += [Pattern(name) for gate in gates for name in gate.opens]
    return classes(patterns) if patterns else []


@dataclass(slots=True)
class _Comparison:
    pair: Pair
    looser: dict[tuple[object, ...], Looser] = field(default_factory=dict)
    tools: dict[tuple[object, ...], list[str]] = field(default_factory=dict)
    undecided: dict[tuple[object, ...], Undecided] = field(default_factory=dict)
    seen: set[object] = field(default_factory=set)

    def difference(self) -> Difference:
        for name in self.pair.tools:
            for level in (BLOCK, ASK, REDACT):
                self._at(name, level)
        found = [
            *settings(self.pair),
            *(_of_tools(one, self.tools[key]) for key, one in self.looser.items()),
        ]
        open_ones = [
            _of_tools(one, self.tools[key])
            for key, one in self.undecided.items()
            if key not in self.looser and not self._told(one)
        ]
        return Difference(
            tuple(f for f in found if isinstance(f, Looser)),
            tuple(f for f in (*found, *open_ones) if isinstance(f, Undecided)),
        )

    def _told(self, one: Undecided) -> bool:
        """Whether the same rule is looser for certain, for the same tool."""
        return any(
            key[0] == one.old_place and one.tool == found.tool for key, found in self.looser.items()
        )

    def _at(self, name: str, level: int) -> None:
        """One tool, at one level of strictness."""
        old, new = self.pair.old, self.pair.new
        paths = paths_of(old, name) | paths_of(new, name)
        new_rules = list(rules_of(new, name, level, paths))
        if any(rule.boxes == SHUT for rule in new_rules):
            return
        old_rules = [r for r in rules_of(old, name, level, paths) if r.boxes != ({},)]
        signature = (level, _key(old_rules), _key(new_rules))
        if signature in self.seen:
            return
        self.seen.add(signature)
        terms = product(*(rule.boxes for rule in new_rules))
        for boxes in islice(terms, MOST_TERMS):
            term = joined(boxes)
            scene = Scene(self.pair, name, term, paths)
            # Where a tool may run that might not, what else was said of it says nothing new.
            shut = [rule for rule in old_rules if rule.boxes == SHUT]
            for rule in shut or old_rules:
                for attempts in outside(term, rule.boxes, partial(search, scene)):
                    if self._tell(scene, rule, attempts) and len(rule.boxes) > 1:
                        break  # one of several ways to miss all of them is enough
        if next(terms, None) is not None:
            where = Place("tools", new.where("tools"))
            why = "the entries give too many ways to go through"
            key = (name, "ways")
            self.undecided[key] = Undecided(name, "tools", why, where, where)
            self.tools[key] = [name]

    def _tell(self, scene: Scene, rule: Rule, attempts: Attempts) -> bool:
        """Note what a call shows, or that none was found; whether one was."""
        label = self._label(scene, rule)
        bare = label.partition(" as ")[0]
        own = rule.place.rule.startswith(("tools", "default"))
        key = (rule.place, attempts.taken, attempts.what, bare if own else "")
        labels = self.tools.setdefault(key, [])
        if not {label, bare} & {*labels}:
            labels.append(label)
        if key in self.looser:
            return True
        witness = _first_flip(scene, rule, attempts)
        new_place = self._new_place(scene, rule)
        if witness is None:
            why = "no call was found that shows it, and nothing that rules it out"
            what = attempts.what or "what it objects to"
            self.undecided.setdefault(key, Undecided(label, what, why, rule.place, new_place))
            return False
        was, now = witness.verdict(scene.old.policy), witness.verdict(scene.new.policy)
        what = attempts.what or _allowed(now, scene)
        places = _spoke(was, rule.place), _spoke(now, new_place)
        self.looser[key] = Looser(label, what, was.word, now.word, *places, witness=witness)
        return True

    def _label(self, scene: Scene, rule: Rule) -> str:
        """The tools as the policies name them."""
        if rule.place.rule.startswith("tools."):
            name = rule.place.rule.removeprefix("tools.")
            return name if glob_pattern(name).fullmatch(scene.name) else f"{name} as {scene.name}"
        if rule.place.rule == "tool_denylist":
            return scene.name
        sides = (scene.new,) if rule.place.rule == "default" else (scene.new, scene.old)
        names = (row.name for side in sides for row in side.rows(scene.name)[:1])
        return next(filter(None, names), "any other tool")

    def _new_place(self, scene: Scene, rule: Rule) -> Place:
        """The rule of the new policy that stands where the old one stood."""
        key = rule.place.rule.partition(".")[0]
        side = scene.new
        given = isinstance(side.document.data, dict) and key in side.document.data
        if key not in ("tools", "default", "tool_denylist", "tool_allowlist") and given:
            return Place(key, side.where(key))
        rows = side.rows(scene.name)
        return place_of(side, rows[0]) if rows else Place("no rule", side.document.name)


def _first_flip(scene: Scene, rule: Rule, attempts: Attempts) -> Witness | None:
    """The first attempt that the new policy decides more loosely, and for this reason."""
    rest = list(_rest(scene, attempts.taken))
    opened = _opened(scene.term)
    spoke = _spoken_by(rule, attempts.taken)
    for points in attempts.each:
        for more in _said(scene, points):
            witness, shut = put_together(scene.name, [*rest, *points, *more])
            witness = order.ordered(scene, witness, opened, shut)
            was, now = witness.verdict(scene.old.policy), witness.verdict(scene.new.policy)
            if STRICTNESS[now.word] < STRICTNESS[was.word] and (
                not spoke or any(finding.rule == spoke for finding in was.findings)
            ):
                return witness
    return None


def _said(scene: Scene, points: Sequence[Point]) -> Iterator[tuple[Point, ...]]:
    """Nothing more; where values have to stand together, also that the user wrote them so."""
    yield ()
    if any(aspect[0] in ("together", "at_most") for aspect in scene.term):
        values = [str(value) for point in points for _, value in point.arguments]
        yield (Point(said=(" ".join(values),)),) if values else ()


def _spoken_by(rule: Rule, taken: Sequence[Aspect]) -> str:
    """The name under which the old policy says that one of an entry's conditions fails; empty
    where it could be several."""
    if not rule.place.rule.startswith("tools.") or len(rule.boxes) != 1 or len(taken) != 1:
        return ""
    name, *path = taken[0]
    parts = {"wish": "requested", "calls": "max_calls", "caller": "callers", "rest": "args"}
    part = parts.get(name, name)
    if name == "argument":  # of one that it does not name, an entry speaks as of any other text
        named = isinstance(rule.boxes[0][taken[0]], Wanted)
        part = ".".join(["args", *path]) if named else "args"
    return f"{rule.place.rule}.{part}"


def _rest(scene: Scene, taken: Sequence[Aspect]) -> Iterator[Point]:
    """What the new policy wants of aspects that nothing was found for."""
    for aspect, demands in scene.term.items():
        if aspect in taken:
            continue
        if aspect == ("caller",):
            yield from callers.search(scene, aspect, demands, ()).points[:1]
        elif aspect == ("wish",):
            yield wishes.wished(demands)


def _opened(term: Term) -> frozenset[int]:
    demands = term.get(("order",), ())
    return frozenset(g for d in demands if isinstance(d, order.Open) for g in d.gates)


def _key(rules: Sequence[Rule]) -> object:
    return tuple(
        (r.place, tuple(frozenset((a, d.key) for a, d in box.items()) for box in r.boxes))
        for r in rules
    )


def _spoke(verdict: Verdict, place: Place) -> Place:
    """The rule that decided, as far as it is the one that is meant; that one where none spoke."""
    found = [f for f in verdict.deciding if f.where]
    same = next((f for f in found if f.rule.startswith(place.rule)), None)
    chosen = same or next(iter(found), None)
    return place if chosen is None else Place(chosen.rule, chosen.where)


def _allowed(now: Verdict, scene: Scene) -> str:
    if now.word == "ask":
        return "a person is asked"
    conditions = any(row.ways for row in scene.new.rows(scene.name))
    return "runs under conditions" if conditions else "allowed: no rule objects"


def _of_tools(one: Looser | Undecided, labels: Sequence[str]) -> Looser | Undecided:
    """The finding, with all tools that it is about."""
    more = f" and {len(labels) - 4} more" if len(labels) > 4 else ""
    return replace(one, tool=", ".join(labels[:4]) + more)
