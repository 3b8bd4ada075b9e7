"""How the obedient model works on a task: what to look at next, what to write, what to answer.

A few rules, all of them on what the messages hold: nothing here knows a mail, a figure or an
address. Lists come first, then what shares words with the task is read, then what the mail asks
for is looked up in the tables that were read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import re2

from .obedient_orders import Order, Tools
from .obedient_reading import WORD, Done, body, records, sender, subject, tables_in, words_in

TOPICS: Mapping[str, frozenset[str]] = {
    "mail": frozenset({"mail", "mails", "email", "emails", "e-mail", "inbox", "message"}),
    "documents": frozenset({"document", "documents", "file", "files", "report", "notes", "rules"}),
    "payments": frozenset({"payment", "payments", "bank", "account", "paid", "ledger"}),
    "events": frozenset({"calendar", "event", "events", "meeting", "appointment", "schedule"}),
}
"""Words of a task that call for a `list_<topic>` tool."""

COMMON = frozenset(
    WORD.findall(
        "a an the my me i you he she her him they it its this that and or of in on at to for from "
        "with by about into is are was were be do does what which who when where how please all "
        "any new read find send put show list get tell give write reply answer make create add "
        "asks asked proposes summary summarise summarize figures call"
    )
).union(*TOPICS.values())

_DAY = re2.compile(r"\b20\d\d-\d\d-\d\d\b")
_TIME = re2.compile(r"\b([01]?\d|2[0-3]):([0-5]\d)\b")
_MINUTES = re2.compile(r"\b(\d{1,3}) ?min")


@dataclass(frozen=True, slots=True)
class Work:
    """The task, and what was done for it so far, in order."""

    task: str
    done: Sequence[Done]
    tools: Tools

    def results(self, prefix: str) -> list[Done]:
        """The calls of tools whose name begins so, as far as they were carried out."""
        return [d for d in self.done if d.tool.startswith(prefix) and not d.refused]

    def tried(self, tool: str) -> bool:
        """Whether this tool was called for the task already, with whatever end."""
        return any(d.tool == tool for d in self.done)

    @property
    def words(self) -> set[str]:
        """The words that tell this task from others: names if there are any, else all."""
        words = [w.removesuffix("'s") for w in WORD.findall(self.task)]
        words = [w for w in words if w.lower() not in COMMON]
        names = {w.lower() for w in words if any(c.isupper() or c.isdigit() for c in w)}
        return names or {w.lower() for w in words if len(w) > 2}

    def asks(self, topic: str) -> bool:
        """Whether the task speaks of this topic."""
        return not TOPICS[topic].isdisjoint(w.lower() for w in WORD.findall(self.task))


def next_orders(work: Work) -> list[Order]:
    """What to do next for the task; empty when all that can be done is done."""
    for rule in (_lists, _reads, _days, _deeds):
        found = list(rule(work))
        if found:
            return found
    return []


def _lists(work: Work) -> Iterator[Order]:
    topics = [t for t in ("mail", "documents", "payments") if f"list_{t}" in work.tools]
    asked = [t for t in topics if work.asks(t)]
    if not asked and not any(work.asks(t) for t in TOPICS) and not work.done:
        asked = [t for t in topics if t != "payments"]
    for topic in asked:
        if not work.tried(f"list_{topic}"):
            yield Order(f"list_{topic}", {})


def _reads(work: Work) -> Iterator[Order]:
    """One topic after the other: what a mail asks for decides how its documents are read."""
    for topic, tool in (("mail", "read_mail"), ("documents", "read_document")):
        parameter = next(iter(work.tools.get(tool, ())), None)
        if parameter is None:
            continue
        read = {str(d.arguments.get(parameter)) for d in work.done if d.tool == tool}
        wanted = [
            str(record[parameter])
            for listing in work.results(f"list_{topic}")
            for record in records(listing.text)
            if parameter in record and words_in(" ".join(record.values())) & work.words
        ]
        orders = [Order(tool, {parameter: name}) for name in wanted if name not in read]
        if orders:
            yield from orders
            return


def _days(work: Work) -> Iterator[Order]:
    """The days that the task, or the mail it speaks of, names."""
    if "list_events" not in work.tools or not work.asks("events"):
        return
    mail = _mail_of_person(work)
    seen = {str(d.arguments.get("day")) for d in work.done if d.tool == "list_events"}
    for day in dict.fromkeys(_DAY.findall(work.task) + _DAY.findall(body(mail) if mail else "")):
        if day not in seen:
            yield Order("list_events", {"day": day})


def _deeds(work: Work) -> Iterator[Order]:
    mail = _mail_of_person(work)
    if mail is None:
        return
    words = {w.lower() for w in WORD.findall(work.task)}
    name, address = sender(mail)
    asked = words & {"send", "mail", "reply", "write", "answer"} and "send_email" in work.tools
    if asked and not any(address in d.arguments.get("to", ()) for d in work.done):
        yield Order("send_email", {"to": [address], **_letter(work, mail, name)})
    if work.asks("events") and words & {"put", "add", "create", "schedule", "book"}:
        slot = _free_slot(work, body(mail))
        if slot and "create_event" in work.tools and not work.tried("create_event"):
            start, end = (f"{t:%Y-%m-%dT%H:%M}" for t in slot)
            call = {"title": f"Call with {name}", "start": start, "end": end}
            yield Order("create_event", {**call, "attendees": [address]})


def _letter(work: Work, mail: Done, name: str) -> dict[str, str]:
    lines = [f"- {line}" for line in figures(work, body(mail))]
    opening = "here is what you asked for:" if lines else "I found no figures that match your mail."
    text = "\n".join([f"Hello {name.split()[0]},", "", opening, *lines, "", "Regards"])
    return {"subject": f"Re: {subject(mail) or 'your mail'}", "body": text}


def figures(work: Work, asked: str) -> list[str]:
    """The rows of the tables read so far whose label stands in `asked`, with their value.

    The value is that of the column which the task names, else the last one.
    """
    asked = " ".join(asked.lower().split())
    found: dict[str, None] = {}
    for document in work.results("read_document"):
        for header, rows in tables_in(document.text):
            column = next((i for i, h in enumerate(header) if h.lower() in work.words), -1)
            unit = next((i for i, h in enumerate(header) if h.lower() == "unit"), None)
            for row in rows:
                if row[0].lower() in asked:
                    value = f"{int(row[column]):,}" if row[column].isdecimal() else row[column]
                    after = f" {row[unit]}" if unit is not None else ""
                    source = document.arguments.get("name", "")
                    found.setdefault(f"{row[0]}, {header[column]}: {value}{after} ({source})")
    return list(found)


def _free_slot(work: Work, text: str) -> tuple[datetime, datetime] | None:
    """The first time that `text` proposes and the calendar leaves free."""
    minutes = _MINUTES.search(text)
    try:
        day = datetime.fromisoformat(str(next(iter(_DAY.findall(text)), "")))
    except ValueError:  # no day, or one that no calendar has
        return None
    taken = [e for d in work.results("list_events") for e in records(d.text)]
    length = timedelta(minutes=int(minutes.group(1)) if minutes else 30)
    for hour, minute in _TIME.findall(text):
        start = day + timedelta(hours=int(hour), minutes=int(minute))
        times = f"{start:%Y-%m-%dT%H:%M}", f"{start + length:%Y-%m-%dT%H:%M}"
        if all(e.get("end", "") <= times[0] or e.get("start", "~") >= times[1] for e in taken):
            return start, start + length
    return None


def _mail_of_person(work: Work) -> Done | None:
    """The first mail read whose sender the task names."""
    for mail in work.results("read_mail"):
        name, address = sender(mail)
        if address and words_in(name) & work.words:
            return mail
    return None


def answer(work: Work) -> str:
    """What was found and what was done, from the results alone."""
    mail = _mail_of_person(work)
    found = figures(work, body(mail)) if mail else []
    for step in work.results("read_file" if found else "read_"):
        found += _lines_about(work, step)
    for step in work.results("list_payments"):
        rows = [", ".join(record.values()) for record in records(step.text)]
        found += [row for row in rows if words_in(row) & work.words] or rows
    for step in work.results("list_events"):
        found += [f"{e.get('start', '')} {e.get('title', '')}" for e in records(step.text)]
    deeds = [d for d in work.done if not d.tool.startswith(("list_", "read_"))]
    refused = [d for d in work.done if d.refused]
    parts = (
        ("Found:", found),
        ("Done:", [_line(d) for d in deeds if not d.refused]),
        ("Not done:", [_line(d) for d in refused]),
    )
    told = ["\n- ".join([head, *dict.fromkeys(lines)]) for head, lines in parts if lines]
    return "\n".join(told) or "I found nothing about that."


def _line(step: Done) -> str:
    return f"{step.tool}: {step.text.strip().partition(chr(10))[0][:300]}"


def _lines_about(work: Work, step: Done) -> list[str]:
    """The lines of a result that share words with the task; of a mail, who wrote about what."""
    name = next(iter(step.arguments.values()), step.tool)
    lines = [line for line in body(step).splitlines() if line.strip()]
    if step.tool == "read_mail":
        return [f"{name}: {sender(step)[0]}, {subject(step)}: {' '.join(lines)[:160]}"]
    about = [line for line in lines if words_in(line) & work.words] or lines
    return [f"{name}: {line[:200]}" for line in about[:3]]
