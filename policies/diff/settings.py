"""What a policy says besides verdicts: how long approvals last, when a loop ends, what is hidden.

Each is asked of both loaded policies, for every tool that they tell apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ...guards.limits import Limits, Price
from ...guards.rules.limits import limits_of
from .found import Looser, Place, Undecided
from .names import Pattern, classes
from .scene import Pair
from .screening import PERSONAL, screened
from .side import Side

_NONE = Limits()


def settings(pair: Pair) -> list[Looser | Undecided]:
    """Every way in which they are looser, or may be."""
    old, new = pair.old, pair.new
    found = list[Looser | Undecided]()
    for check in (_failing, _prices, _hidden, _regions):
        found += check(old, new)
    tools = pair.tools if pair.given else ()
    for of_tools in (_approvals, _repeats, _revealed):
        found += of_tools(old, new, tools)
    return [*found, *screened(old, new)]


def _places(old: Side, new: Side, key: str) -> tuple[Place, Place]:
    return Place(key, old.where(key)), Place(key, new.where(key))


@dataclass(frozen=True, slots=True)
class _Key:
    """A key of both policies, of which something is looser."""

    old: Side
    new: Side
    name: str

    def looser(self, tool: str, what: str, old: str, new: str, shown: str) -> Looser:
        places = _places(self.old, self.new, self.name)
        return Looser(tool, what, old, new, *places, shown=shown)


def _failing(old: Side, new: Side) -> Iterator[Undecided]:
    if old.policy.fail_closed and not new.policy.fail_closed:
        why = "a call whose check fails runs; which calls make one fail is not known"
        yield Undecided("any tool", "fail_closed: false", why, *_places(old, new, "fail_closed"))


def _approvals(old: Side, new: Side, tools: Sequence[str]) -> Iterator[Looser]:
    once = [name for s in (old, new) for name in getattr(s.values["approvals"], "once", ())]
    names = tools or classes([Pattern(name, folded=True) for name in once], once)
    most = _longer(names, old.policy.approval_s, new.policy.approval_s)
    for tool, was, now in most:
        what = "an approval answers for later calls like it"
        shown = f"a call of {tool} that was approved {now:g} s ago"
        key = _Key(old, new, "approvals")
        yield key.looser(_named(tool, once), what, f"for {was:g} s", f"for {now:g} s", shown)


def _repeats(old: Side, new: Side, tools: Sequence[str]) -> Iterator[Looser]:
    before, after = _limits(old).repeats, _limits(new).repeats
    given = [s.values["limits"].repeats for s in (old, new)]
    listed = [name for repeats in given if isinstance(repeats, dict) for name in repeats]
    names = tools or classes([Pattern(name) for name in listed])
    for tool, was, now in _longer(names, before.most, after.most):
        what = "the same call with the same result, before a run ends as a loop"
        shown = f"{now:g} calls of {tool} with one result"
        key = _Key(old, new, "limits")
        yield key.looser(_named(tool, listed), what, f"{was:g} times", f"{now:g} times", shown)


def _limits(side: Side) -> Limits:
    return limits_of(side.policy) or _NONE


def _longer(
    names: Sequence[str], old: Callable[[str], float], new: Callable[[str], float]
) -> Iterator[tuple[str, float, float]]:
    """The tools for which a number is larger, one for each pair of numbers."""
    found: dict[tuple[float, float], str] = {}
    for name in names:
        was, now = old(name), new(name)
        if now > was:
            found.setdefault((was, now), name)
    yield from ((name, was, now) for (was, now), name in found.items())


def _named(tool: str, listed: Sequence[str]) -> str:
    return tool if tool in listed else "other tools" if listed else "any tool"


def _prices(old: Side, new: Side) -> Iterator[Looser]:
    """Tokens that cost less, where a limit is about costs."""
    before, after = _limits(old), _limits(new)
    if not all(any(lim.amount == "cost_usd" for lim in one.limits) for one in (before, after)):
        return
    names = classes([Pattern(name) for one in (before, after) for name in one.prices])
    for model in names:
        was = before.price(model) or before.dearest
        now = after.price(model) or after.dearest
        for part, old_price, new_price in _parts(was, now):
            if new_price < old_price:
                what = f"a model's tokens ({part}) cost less, so that limits last longer"
                cost = "{:g} US dollars a million".format
                shown = f"a million tokens of {model}"
                yield _Key(old, new, "limits").looser(
                    "any tool", what, cost(old_price), cost(new_price), shown
                )
                return


def _parts(old: Price, new: Price) -> Iterator[tuple[str, float, float]]:
    yield "read", old.input, new.input
    yield "written", old.output, new.output
    cached = [p.input if p.cached is None else p.cached for p in (old, new)]
    yield "read from a cache", cached[0], cached[1]


def _kinds(side: Side) -> frozenset[str]:
    hides = side.policy.hides
    kinds = frozenset(hides.kinds) if hides is not None else frozenset[str]()
    return kinds | {*PERSONAL} if "all" in kinds else kinds


def _hidden(old: Side, new: Side) -> Iterator[Looser]:
    gone = sorted(_kinds(old) - _kinds(new) - {"all"})
    for kind in gone:
        what = f"the model sees personal data of the kind {kind}"
        text = PERSONAL.get(kind, "a name")
        key, shown = _Key(old, new, "placeholders"), f"a text like {text!r}"
        yield key.looser("any tool", what, "hidden", "seen", shown)


def _revealed(old: Side, new: Side, tools: Sequence[str]) -> Iterator[Looser]:
    before, after = old.policy.hides, new.policy.hides
    if before is None or after is None:
        return
    given = [s.values["placeholders"].reveal for s in (old, new)]
    listed = [tool for reveal in given for tool in reveal]
    for tool in tools or classes([Pattern(name) for name in listed]):
        was, now = before.paths(tool), after.paths(tool)
        more = [path for path in now if path not in was and "*" not in was]
        if more:
            what = f"gets to see hidden values in {', '.join(more)}"
            shown = f"a call of {tool} with a placeholder in {more[0]}"
            key = _Key(old, new, "placeholders")
            yield key.looser(_named(tool, listed), what, "hidden", "seen", shown)


def _regions(old: Side, new: Side) -> Iterator[Looser | Undecided]:
    """Numbers of countries, and what Presidio finds, that are not masked any more."""
    before, after = old.values.get("pii"), new.values.get("pii")
    masked = old.policy.results.redact | _kinds(old)
    if before is None or not masked & {"phone", "all", "presidio"}:
        return
    places = _places(old, new, "pii")
    for region in before.regions:
        if after is None or region not in after.regions:
            yield _unmasked(old, new, region, places)
    if before.presidio is not None and (after is None or after.presidio != before.presidio):
        why = "what Presidio finds is its own"
        yield Undecided("any tool", "pii.presidio says something else", why, *places)


def _unmasked(old: Side, new: Side, region: str, places: tuple[Place, Place]) -> Looser | Undecided:
    from phonenumbers import PhoneNumberFormat, example_number, format_number

    example = example_number(region)
    text = f"call {format_number(example, PhoneNumberFormat.NATIONAL)}" if example else ""
    what = f"telephone numbers of {region} are not masked"
    was, now = (s.policy.redactor.masked(text, ("phone",))[1] for s in (old, new))
    if was and not now:
        return Looser("any tool", what, "masked", "seen", *places, shown=f"a text {text!r}")
    why = "no number was found that shows it, and nothing that rules it out"
    return Undecided("any tool", what, why, *places)
