"""One call of a story as HTML: its verdict, and why; its arguments, and where they came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...guards.ledger import USER
from ...guards.verdict import Origin
from .story import Argument, Call, mapping_of, mappings_in, text_of
from .writing import MAX_NAME, Writer, masks_in, tag

DECISIONS = {"approve": "Approved", "edit": "Approved with other arguments", "reject": "Rejected"}


class CallWriter:
    """Writes calls, each with a place of its own in the page that others can point at."""

    def __init__(self, write: Writer) -> None:
        self._write = write
        self._places: dict[str, int] = {}
        self._count = 0

    def begin(self) -> None:
        """Go on with another thread, whose calls have ids of their own."""
        self._places = {}

    def write(self, call: Call) -> str:
        """The call; one that simply ran is closed."""
        self._count += 1
        number = self._count
        inside = "".join(self._inside(call))  # before it has its place: nothing points at itself
        if call.id:
            self._places[call.id] = number
        would_be = text_of(call.shadow.get("word")) or call.word
        calm = would_be == call.word == "allow" and not call.approval and not call.failed
        word = call.word if call.word in ("allow", "redact", "ask", "block", "waits") else "other"
        name = tag("code", self._write.text(call.tool, MAX_NAME) or "(no name)")
        shadow = f" in shadow {self._write.word(would_be)}" if would_be != call.word else ""
        gist = tag("span", self._gist(call), "gist")
        head = f"{self._write.word(call.word)}{shadow} {name} {gist}"
        return (
            f'<details class="call" id="call-{number}" data-word="{word}"{"" if calm else " open"}>'
            f'<summary>{head}</summary><div class="inside">{inside}</div></details>'
        )

    def _gist(self, call: Call) -> str:
        if call.word == "waits":
            return "waits for a person"
        decision = text_of(call.approval.get("decision"))
        if decision in DECISIONS:
            by = text_of(call.approval.get("by"))
            return DECISIONS[decision].lower() + (f" by {self._write.text(by, 100)}" if by else "")
        if call.reason:
            return self._write.text(call.reason, 300)
        values = ", ".join(f"{a.path}={a.value}" for a in (call.arguments or ())[:3])
        return self._write.text(values, 120)

    def _inside(self, call: Call) -> Iterator[str]:
        yield from self._why(call)
        yield from self._approval(call)
        yield from self._arguments(call)
        if shadowed := mappings_in(call.shadow.get("rules")):
            word = self._write.word(text_of(call.shadow.get("word")))
            yield f"<h4>With the rules in shadow: {word}</h4>{self._rules(shadowed)}"
        if call.result is not None:
            refused = call.word == "block" or call.approval.get("decision") == "reject"
            title = "What the model was told" if refused else "What came back"
            title += " (it failed)" if call.failed and not refused else ""
            yield f"<h4>{title}</h4><pre>{self._write.text(call.result)}</pre>"
        if call.facts:
            rows = "".join(
                f"<dt>{label}</dt><dd>{self._write.name(text)}</dd>" for label, text in call.facts
            )
            yield f"<h4>Record</h4><dl>{rows}</dl>"

    def _why(self, call: Call) -> Iterator[str]:
        asked = mappings_in(call.asked.get("rules"))
        if asked:
            yield f"<h4>Why a person was asked</h4>{self._rules(asked)}"
        rules = [rule for rule in call.rules if rule not in asked]
        if rules:
            yield f"<h4>Why</h4>{self._rules(rules)}"
        elif asked:
            return
        elif call.reason:
            yield f"<h4>Why</h4><p>{self._write.text(call.reason)}</p>"
        elif call.word == "allow":
            yield '<h4>Why</h4><p class="soft">No rule objects.</p>'

    def _rules(self, rules: list[Mapping[str, Any]]) -> str:
        told = dict.fromkeys(self._rule(rule) for rule in rules)
        return tag("ul", "".join(tag("li", rule) for rule in told), "rules")

    def _rule(self, rule: Mapping[str, Any]) -> str:
        """What a rule said: the reason, its name and line, the value and its origin."""
        of = {name: text_of(rule.get(name)) for name in RULE_FIELDS}
        place = f" at {self._write.name(of['where'])}" if of["where"] else ""
        lines = [
            f"{self._write.word(of['word'])} {self._write.text(of['reason'], 1_000)}",
            f"rule {self._write.name(of['rule'])}{place}",
        ]
        if of["value"]:
            path = f" in {self._write.name(of['argument'])}" if of["argument"] else ""
            source = self._origin_text(of["origin"]) if of["origin"] else ""
            lines.append(f"value {tag('code', self._write.text(of['value'], 300))}{path}{source}")
        if of["allowed"]:
            lines.append(f"allowed: {self._write.text(of['allowed'], 1_000)}")
        first, *rest = lines
        return tag("p", first) + "".join(tag("p", line, "soft") for line in rest)

    def _origin_text(self, origin: str) -> str:
        kind = "" if origin == USER else ' class="outside"'
        return f", first seen in <span{kind}>{self._write.text(origin, 200)}</span>"

    def _approval(self, call: Call) -> Iterator[str]:
        approval = call.approval
        if not approval:
            if call.word == "waits":
                yield "<h4>Approval</h4><p>Nobody has answered yet.</p>"
            return
        decision = text_of(approval.get("decision"))
        scope = mapping_of(approval.get("scope"))
        rows = [
            ("who", self._write.text(text_of(approval.get("by")), 200) or "(not said)"),
            ("when", self._write.time(text_of(approval.get("at")))),
            ("reason", self._write.text(text_of(approval.get("reason")), 1_000)),
            ("edited", self._names(approval.get("edited"))),
        ]
        if scope:
            same = self._names(scope.get("arguments"))
            until = self._write.time(text_of(scope.get("until")))
            rows.append(("lasts", f"until {until}, for calls with the same {same}"))
            if given := text_of(scope.get("call")):
                rows.append(("given with", self._write.name(given)))
        listed = "".join(f"<dt>{label}</dt><dd>{text}</dd>" for label, text in rows if text)
        title = DECISIONS.get(decision) or self._write.text(decision, MAX_NAME)
        yield f"<h4>Approval: {title}</h4><dl>{listed}</dl>"

    def _names(self, listed: object) -> str:
        names = map(text_of, listed) if isinstance(listed, list) else ()
        return ", ".join(map(self._write.name, names))

    def _arguments(self, call: Call) -> Iterator[str]:
        if call.arguments is None:
            if call.word:
                yield '<p class="soft">The record has no arguments, but their digest.</p>'
            return
        if not call.arguments:
            yield '<h4>Arguments</h4><p class="soft">None.</p>'
            return
        rows = "".join(map(self._row, call.arguments))
        head = "".join(f'<th scope="col">{title}</th>' for title in ("name", "value", "first seen"))
        yield "<h4>Arguments</h4>"
        yield f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
        masked = (self._write.masked(a.value, a.path) for a in call.arguments)
        if masks := dict.fromkeys(mask for value in masked for mask in masks_in(value)):
            yield f"<p>Masked: {', '.join(map(self._write.text, masks))}</p>"

    def _row(self, argument: Argument) -> str:
        path = argument.path
        value = tag("code", self._write.text(argument.value, path=path)) if argument.value else ""
        if argument.edited:
            before = self._write.text(argument.before, 500, path=path)
            value = (
                f"{value} {tag('span', f'was <del>{before}</del>' if before else 'edited', 'soft')}"
            )
        name = tag("code", self._write.text(path, MAX_NAME))
        return (
            f'<tr><th scope="row">{name}</th><td>{value}</td><td>{self._seen(argument)}</td></tr>'
        )

    def _seen(self, argument: Argument) -> str:
        if argument.edited:
            return "written by the person who answered"
        if argument.seen is None:
            return '<span class="soft">the record does not say</span>'
        if not argument.seen:
            return '<span class="soft">no source known</span>'
        if len(argument.seen) == 1 and argument.seen[0][0] == argument.value:
            return self._source(argument.seen[0][1])
        # A part of a secret would not be known as one.
        shown = self._write.masked(argument.value, argument.path).casefold()
        items = [
            f"{tag('code', self._write.text(part, 100))}: {self._source(origin)}"
            for part, origin in argument.seen
            if part in shown
        ]
        listed = "".join(tag("li", item) for item in items)
        return tag("ul", listed) if listed else '<span class="soft">masked</span>'

    def _source(self, origin: Origin) -> str:
        if origin.source == USER:
            return "the user"
        shown = tag("span", self._write.text(origin.source, 200), "outside")
        place = self._places.get(origin.call_id)
        return f'{shown} (<a href="#call-{place}">its call</a>)' if place else shown


RULE_FIELDS = ("rule", "word", "reason", "where", "argument", "value", "origin", "allowed")
