"""What one entry of `tools` asks of a call: compiled once, held against each call.

Every part that fails is a finding that names the argument, its value, where that came from, and
what would have been allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from .arguments import MAX_DEPTH
from .caller import CallerTest
from .choices import Open, opened, other_than_said
from .conditions import ABSENT, EVERY, Requirement, as_number, values_at
from .flow import WISHES, Facts, private_over
from .identifiers import identifiers
from .ledger import History
from .names import bare_argument, shown_name
from .naming import is_number_of
from .normalise import Examined
from .outputs import leaves
from .redact import Redactor
from .requests import Requested
from .standing import parts_of
from .sums import MINOR
from .tokens import subjects
from .unnamed import (
    Tree,
    Unnamed,
    bare_names,
    holds_by_name,
    other_spellings,
    respelled,
    root_of,
    tree_of,
    unnamed_names,
    unnamed_numbers,
    unnamed_texts,
)
from .verdict import Finding, Word

Place = str
"""`file:line`."""

Path = tuple[str, ...]
"""An argument path, step by step."""

_SHOWN, _READ = 120, 2_000


class Given(NamedTuple):
    """What an entry asks of a call whose arguments have certain names."""

    demands: tuple[tuple[Requirement, Place], ...]
    """Those that can fail."""
    left: tuple[Open, ...]
    """Those that leave it to the user's words which value it is."""
    asked: Tree
    """What something is asked of, where a name may be another spelling of it; otherwise empty."""
    tree: Tree
    """What has a condition of its own, or `any`; also in the spelling of this call."""
    unnamed: Unnamed


_MOST_KEPT, _LONGEST_KEPT = 256, 1_000
"""Lists of names that are kept, and the letters of one."""


@dataclass(frozen=True, slots=True, eq=False)
class Conditions:
    """All that an entry asks besides its word."""

    requirements: tuple[tuple[Requirement, Place], ...] = ()
    callers: CallerTest | None = None
    requested: Requested | None = None
    max_calls: int | None = None
    together: tuple[tuple[str, ...], ...] = ()
    at_most: tuple[tuple[Path, Path], ...] = ()
    """A number's path, and the path of what it has to stand with."""
    many: bool = False
    """Whether the entry is for many tools (`"*_event"`)."""
    default: Place = ""
    """Where the entry stands: what nothing names must be clean, numbers free of private data."""
    places: Mapping[str, Place] = field(default_factory=dict)
    tree: Tree = field(init=False, repr=False)
    """What has a condition of its own, or `any`."""
    demands: tuple[tuple[Requirement, Place], ...] = field(init=False, repr=False)
    """The requirements that not every value fulfils."""
    asked: Tree = field(init=False, repr=False)
    """What something is asked of."""
    bare: frozenset[str] = field(init=False, repr=False)
    """The names in it, as the most forgiving reader takes them."""
    deep: bool = field(init=False, repr=False)
    """Whether some of it lies below an argument."""
    given: dict[tuple[str, ...], Given] = field(default_factory=dict, init=False, repr=False)
    """By the names of a call's arguments."""
    small: frozenset[Path] = field(init=False, repr=False)
    """Those of `together` and `at_most` that are sums in hundredths."""
    bound: frozenset[str] = field(init=False, repr=False)
    """The arguments of `together` and `at_most`."""
    left: tuple[Open, ...] = field(init=False, repr=False)
    """Those of them that leave it to the user's words which value it is."""

    def __post_init__(self) -> None:
        demands = tuple(pair for pair in self.requirements if not pair[0].anything)
        bound = [*self.together, *(path for pair in self.at_most for path in pair)]
        asked = [*(required.path for required, _ in demands), *bound]
        object.__setattr__(self, "tree", tree_of(r.path for r, _ in self.requirements))
        object.__setattr__(self, "demands", demands)
        object.__setattr__(self, "asked", tree_of(asked))
        object.__setattr__(self, "bare", bare_names(self.asked))
        object.__setattr__(self, "deep", any(self.asked.values()))
        sums = (*self.together, *(number for number, _ in self.at_most))
        small = frozenset(path for path in sums if not MINOR.isdisjoint(subjects(path[-1])))
        object.__setattr__(self, "small", small)
        object.__setattr__(self, "bound", frozenset(path[0] for path in bound))
        object.__setattr__(self, "left", opened(demands, self._wished))

    @property
    def _wished(self) -> frozenset[str]:
        return self.requested.forms if self.requested is not None else frozenset()

    def _given(self, arguments: Mapping[str, Any]) -> Given:
        """What it asks of a call by the names of its arguments: nearly all of a tool have the same.

        An entry for many tools names arguments of all of them; a call pays for its own.
        """
        here = {EVERY, *arguments}
        meant = other_spellings(arguments.keys(), self.asked, self.bound)
        own = tuple(
            (required.but_for(meant) if meant else required, place)
            for required, place in self.demands
            if required.path[0] in here
        )
        others = map(bare_argument, arguments.keys() - self.asked.keys() - meant.keys())
        spelt = tuple(
            (required.spelt(name), place)
            for name, names in meant.items()
            for required, place in self.demands
            if required.path[0] in names
        )
        new = dict.fromkeys(meant)
        tree = {**self.tree, **new} if new else self.tree
        given = Given(
            (*own, *spelt),
            (*self.left, *opened(spelt, self._wished)) if spelt else self.left,
            {**self.asked, **new} if self.deep or not self.bare.isdisjoint(others) else {},
            tree,
            unnamed_names(arguments, tree),
        )
        if len(self.given) < _MOST_KEPT and sum(map(len, arguments)) <= _LONGEST_KEPT:
            self.given[tuple(arguments)] = given
        return given

    def failures(self, call: Examined, history: History, facts: Facts) -> list[Failure]:
        """What of it does not hold; nearly always that is nothing, which is told first."""
        found: list[Failure] = []
        if self.callers is not None and not self.callers.holds(facts.caller):
            found.append(self._of_caller(call, self.callers))
        wish = self.requested
        if wish is not None and not wish.is_open(call, facts):
            found.append(self._not_asked(call, facts, wish))
        elif self.many and wish is not None and not wish.for_verb(call.name).holds(facts):
            found.append(self._asked_otherwise(call, wish.for_verb(call.name)))
        if self.max_calls is not None and history.calls.get(call.name, 0) >= self.max_calls:
            found.append(self._too_often(call, self.max_calls))
        given = self.given.get(tuple(call.arguments)) or self._given(call.arguments)
        for required, place in given.demands:
            if failing := required.failures(call.arguments, facts):
                found += self._unmet(call, facts, required, place, failing)
        if given.asked:
            found += self._respelled(call, given.asked)
        digits: list[tuple[str, str]] = []
        unnamed = given.unnamed if facts.beside is None else None
        for path, text in unnamed_texts(facts.beside or call, given.tree, unnamed):
            if not text[:1].isalpha():
                digits.append((path, text))
            if facts.nothing_private and not identifiers(text):
                continue
            why, piece = facts.stain(text)
            if why:
                found.append(self._unclean(call, facts, path, text, why, piece))
        if not facts.nothing_private:
            for path, text in unnamed_numbers((facts.beside or call).arguments, given.tree):
                why, piece = facts.private_number(text)
                if why:
                    found.append(self._unclean(call, facts, path, text, why, piece))
            if piece := private_over(facts.beside or call, facts.ledger):
                reason = f"arguments of tool {shown_name(call.name)} hold private data together"
                allowed = f"texts {WISHES['clean']}"
                found.append(Failure("args", reason, self.default, "", piece, None, allowed))
        if self.together:
            found += self._apart(call, facts)
        for number, beside in self.at_most:
            found += self._above(call, facts, number, beside)
        if not found and (given.left or digits or call.numbers):
            found += self._not_chosen(call, facts, digits, given)
        return found

    def _respelled(self, call: Examined, asked: Tree) -> Iterator[Failure]:
        """Names of arguments that a tool may take for those of which something is asked."""
        for path, name, value in respelled(call.arguments, asked, self.bare):
            tool = shown_name(call.name)
            reason = f"argument '{path}' of tool {tool} is another spelling of '{name}'"
            yield Failure(f"args.{name}", reason, self.default, path, value, allowed=f"'{name}'")

    def _of_caller(self, call: Examined, callers: CallerTest) -> Failure:
        reason = f"tool {shown_name(call.name)} is not for this caller"
        place = self.places["callers"]
        return Failure("callers", reason, place, allowed=f"for {callers.wish}", rests_on=())

    def _not_asked(self, call: Examined, facts: Facts, wish: Requested) -> Failure:
        tool, place = shown_name(call.name), self.places["requested"]
        if not wish.holds(facts):
            reason = f"the user did not ask for {tool}"
            allowed = f"once the user writes one of: {', '.join(wish.words)}"
            return Failure("requested", reason, place, word="block", allowed=allowed)
        reason = f"the user asked for {tool} before, and that was done"
        allowed = "once the user asks again, or names what it is about"
        return Failure("requested", reason, place, word="ask", allowed=allowed)

    def _asked_otherwise(self, call: Examined, wish: Requested) -> Failure:
        reason = f"the user asked for something else than what tool {shown_name(call.name)} does"
        allowed = f"once the user writes one of: {', '.join(wish.words)}"
        return Failure("requested", reason, self.places["requested"], word="ask", allowed=allowed)

    def _too_often(self, call: Examined, most: int) -> Failure:
        reason = (
            f"tool {shown_name(call.name)} has run {most} time(s), which is all it may in a run"
        )
        return Failure("max_calls", reason, self.places["max_calls"], allowed=f"{most} in a run")

    def _unmet(
        self,
        call: Examined,
        facts: Facts,
        required: Requirement,
        place: Place,
        failing: Iterable[tuple[str, Any]],
    ) -> Iterator[Failure]:
        """The values that fail a requirement, where the argument's name helps none of them."""
        for path, value in failing:
            nearer = replace(facts, about=(*facts.about, required.about or subjects(path)))
            if holds_by_name(required, path, value, call.arguments, nearer):
                continue
            tool = shown_name(call.name)
            reason = f"argument '{path}' of tool {tool} is not {required.wish}{facts.unseen}"
            allowed = required.allowed(facts.caller)
            if value is ABSENT:
                part = ".".join(required.path)
                reason = (
                    f"argument '{path}' of tool {tool} has no parts, of which '{part}' is judged"
                )
                allowed = f"an object with '{part}': {allowed}"
            rule = f"args.{'.'.join(required.path)}"
            asks = required.asks or required.flows(value, replace(nearer, doubts=True))
            word: Word | None = "ask" if asks else None
            rests_on = required.path[:1]
            yield Failure(rule, reason, place, path, value, word, allowed, rests_on)

    def _unclean(
        self, call: Examined, facts: Facts, path: str, text: str, why: str, piece: str
    ) -> Failure:
        """The default for text that no condition names."""
        tool = shown_name(call.name)
        reason = f"argument '{path}' of tool {tool} {why}; it must be {WISHES['clean']}"
        asks = not replace(facts, doubts=True).stain(text)[0]
        word: Word | None = "ask" if asks else None
        rests_on = root_of(path, call.arguments)
        allowed = f"a text {WISHES['clean']}"
        return Failure("args", reason, self.default, path, piece, word, allowed, rests_on)

    def _not_chosen(
        self, call: Examined, facts: Facts, digits: Sequence[tuple[str, str]], given: Given
    ) -> Iterator[Failure]:
        """Values that the entry leaves open, where the user's last message says another one."""
        tool = shown_name(call.name)
        others = other_than_said(call, facts, given.left, given.tree, self.default, digits)
        for path, value, place in others:
            reason = f"argument '{path}' of tool {tool} is not what the user wrote for it"
            rests_on = root_of(path, call.arguments)
            allowed = "the value that the user's last message says"
            yield Failure("args", reason, place, path, value, "ask", allowed, rests_on)

    def _apart(self, call: Examined, facts: Facts) -> Iterator[Failure]:
        """Values of which no message and no trusted record holds all."""
        ledger, common = facts.ledger, None
        given = [
            (path, shown, text)
            for path in self.together
            for shown, value in values_at(call.arguments, path)
            for text in leaves(value, keys=False, depth=MAX_DEPTH)
        ]
        numbers = {
            text: number
            for path, _, text in given
            if (number := as_number(text)) is not None and not is_number_of(path[-1])
        }
        sums, small = frozenset(numbers.values()), frozenset[str]()
        if self.small:
            small = (
                frozenset(text for path, _, text in given if path in self.small) & numbers.keys()
            )
            sums = frozenset(n / 100 if text in small else n for text, n in numbers.items())
        parts: dict[Path, set[float]] = {path: set() for path in self.together}
        for path, _, text in given if numbers else ():
            parts[path] |= parts_of(text)
        for path, shown, text in given:
            found = ledger.places(text, doubts=True)
            if text not in numbers:
                found = (ledger.priced(text) if numbers else None) or found
            elif text in small:
                found = ledger.places_of_sum(numbers[text])
            elif any(numbers[text] in own for at, own in parts.items() if at != path):
                found = frozenset()  # it stands there as the digits of the other value
            if common is None:  # what is none of these is none of those that are left, either
                common = {place for place in found if ledger.tells_sum(place, sums)}
            else:
                common &= found
            if not common:
                names = ", ".join(".".join(p) for p in self.together)
                reason = (
                    f"arguments {names} of tool {shown_name(call.name)} stand together in"
                    " no message of the user and no trusted record"
                )
                place = self.places["together"]
                roots = tuple(dict.fromkeys(p[0] for p in self.together))
                allowed = "values of one message of the user or one trusted record"
                yield Failure("together", reason, place, shown, text, None, allowed, roots)
                return

    def _above(self, call: Examined, facts: Facts, number: Path, beside: Path) -> Iterator[Failure]:
        """A number above all that stand with a value; what is not there binds nothing."""
        # Each once: a list may hold the same again and again.
        named = dict.fromkeys(
            text
            for _, value in values_at(call.arguments, beside)
            for text in leaves(value, keys=False, depth=MAX_DEPTH)
        )
        given = [pair for pair in values_at(call.arguments, number) if pair[1] is not None]
        if not named or not given:
            return
        small = number in self.small
        sure = min(facts.ledger.ceiling(text, small=small) for text in named)
        amounts = [(shown, value, as_number(value)) for shown, value in given]
        above = [pair for pair in amounts if pair[2] is None or pair[2] > sure]
        doubtful = (
            min(facts.ledger.ceiling(text, doubts=True, small=small) for text in named)
            if above
            else sure
        )
        for shown, value, amount in above:
            reason = (
                f"argument '{shown}' of tool {shown_name(call.name)} is above every number that"
                f" stands with its {'.'.join(beside)} in one message of the user or one trusted"
                " record"
            )
            asks = amount is not None and amount <= doubtful
            place = self.places["at_most"]
            word: Word | None = "ask" if asks else None
            allowed = f"at most {sure:g}" if sure >= 0 else "a number that stands there"
            roots = (number[0], beside[0])
            yield Failure("at_most", reason, place, shown, value, word, allowed, roots)


@dataclass(frozen=True, slots=True)
class Failure:
    """One part of an entry that does not hold."""

    rule: str
    reason: str
    place: Place
    argument: str = ""
    value: Any = ABSENT
    word: Word | None = None
    """What happens; None: what the entry says under `otherwise`."""
    allowed: str = ""
    rests_on: tuple[str, ...] | None = None
    """See `Finding`."""

    def finding(self, entry: str, otherwise: Word, history: History, redactor: Redactor) -> Finding:
        """The finding, with the value masked where it is secret."""
        value = self.value
        text = value if isinstance(value, str) else "" if value is ABSENT else repr(value)
        return Finding(
            f"tools.{entry}.{self.rule}",
            self.word or otherwise,
            self.reason,
            self.place,
            self.argument,
            redactor.secrets(text[:_READ])[0][:_SHOWN],
            history.origin(text) if text else None,
            allowed=self.allowed,
            rests_on=self.rests_on,
        )
