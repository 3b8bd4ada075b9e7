"""The page of a run: all of it is there, and nothing that an attacker wrote is markup or secret."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from edgeward.cli.pictures.of_log import story_of_log
from edgeward.cli.pictures.of_thread import story_of_thread
from edgeward.cli.pictures.page import page_of
from edgeward.graphs.checkpoints import SqliteThreads
from edgeward.guards.receipts.log import ReceiptLog

from ...guards.secret_examples import EXAMPLES
from .conftest import KEY, MARKUP, THREAD, Ran
from .markup import Parsed

PASSWORD = "S3cr3tP4ssw0rd99"
SECRETS = [text for found in EXAMPLES.values() for text in found.whole]


def page_of_thread(ran: Ran) -> str:
    """The page of the run's thread."""
    with closing(SqliteThreads(ran.threads)) as saver:
        return page_of(story_of_thread(saver, THREAD, limit=100))


def page_of_log(log: Path) -> str:
    """The page of a log, which can be written to a file."""
    key = log.with_name(f"{log.name}.key.pub")
    return page_of(story_of_log(log, thread=None, key=key, limit=100)).encode().decode()


@pytest.fixture(params=["thread", "log"])
def page(request: pytest.FixtureRequest, ran: Ran) -> str:
    """The page of the same run, from its thread and from its receipts."""
    return page_of_thread(ran) if request.param == "thread" else page_of_log(ran.log)


def told_of(page: str, gist: str) -> str:
    """What a page says of one call, from the gist of it to its record."""
    return Parsed(page).text.split(gist, 1)[1].split(" Record ")[0]


def test_everything_that_was_decided_stands_there(page: str) -> None:
    """Each call with its verdict, the rule and its line, and where its arguments came from."""
    read = Parsed(page)
    words = [a["data-word"] for tag, a in read.elements if tag == "details"]
    assert words == [
        *("allow", "allow", "allow", "block", "ask", "redact", "allow", "ask", "block"),
    ]
    blocked = told_of(page, "host 'attacker.example' is not on the egress allowlist")
    assert re.search(r"rule egress_allowlist at \S+clerk.yaml:11\b", blocked)
    assert "to archive@attacker.example tool read_mail ( its call )" in blocked
    assert "subject </pre></details>" in blocked
    assert "allow in shadow block read_mail id=m2" in read.text


def test_who_answered_and_what_they_changed(page: str) -> None:
    """With the time and the reason; the amount that was proposed is there if it was kept."""
    text = Parsed(page).text
    paid = text.split("approved with other arguments by ann", 1)[1].split("wipe", 1)[0]
    assert "Approval: Approved with other arguments" in paid
    assert re.search(r"when 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC", paid)
    assert "half now [REDACTED:openai_key]" in paid
    assert re.search(r"amount 450 (was 900|edited) written by the person who answered", paid)
    assert "invoice INV-17 the user" in paid
    assert "Rejected" in text
    assert "never" in text


def test_a_thread_tells_more_than_its_receipts(ran: Ran) -> None:
    """What a person was asked and changed, what the user said, and the answer."""
    text = Parsed(page_of_thread(ran)).text
    assert "450 was 900" in text
    assert "Why a person was asked ask argument 'amount'" in text
    mailed = text.split("approved by ann@corp.example", 1)[1].split("Record")[0]
    assert mailed.count("Why") == mailed.count("is not known") == 1
    assert "Send Dana the figures, pay INV-17." in text
    assert "The model answers" in text


def test_what_was_masked_is_named(page: str) -> None:
    """At the call, by its kind."""
    noted = told_of(page, "a secret (openai_key) stands in the arguments")
    assert "The key is [REDACTED:openai_key]" in noted
    assert "Masked: [REDACTED:openai_key]" in noted


def test_hostile_text_of_a_run_is_text(page: str) -> None:
    """A tool's output, a name, an argument, a person's words are read as they were written."""
    read = Parsed(page)
    assert read.policy().startswith("default-src 'none'; style-src 'sha256-")
    assert MARKUP in read.text
    assert KEY not in page


HOSTILE = f"{MARKUP}<style>*{{}}</style>]]>--><!-- \x00\x1b\r\u2028\ud800 {KEY}"


def hostile(fields: Mapping[str, Any], numbers: Iterator[int]) -> dict[str, Any]:
    """The same fields with an attack in every text, each marked with a number."""
    made: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, dict):
            made[name] = hostile(value, numbers)
        elif isinstance(value, list):
            made[name] = [hostile(v, numbers) if isinstance(v, dict) else v for v in value]
        else:
            made[name] = f"{value}{HOSTILE}#{next(numbers)}#"
    return made


RULE = {
    "rule": "r",
    "word": "block",
    "reason": "why",
    "where": "f:1",
    "argument": "to",
    "value": "v",
    "origin": "tool t (c1)",
    "allowed": "less",
}
RECORD = {
    "id": "c1",
    "tool": "send",
    "word": "block",
    "reason": "why",
    "rules": [RULE],
    "fingerprint": "ab",
    "policy": "cd",
    "receipt": "1",
    "time": "2026",
    "session": "s",
    "thread": "t",
    "agent": "a",
    "user": "u",
    "tenant": "x",
    "door": "d",
    "strategy": "st",
    "policy_problem": "p",
    "arguments": {"to": "me"},
    "approval": {
        "decision": "approve",
        "by": "ann",
        "reason": "ok",
        "at": "now",
        "scope": {"arguments": ["to"], "until": "then", "call": "c0"},
    },
    "shadow": {"word": "ask", "rules": [RULE]},
    "past": {"entries": [{"said": "hello"}, {"tool": "t", "call": "c0", "text": "result"}]},
}
NUMBER = re.compile(r"#(\d+)#")


def test_no_field_of_a_receipt_can_be_markup_or_a_secret(tmp_path: Path) -> None:
    """Whoever can write a log can write anything into it; all of it is shown as text, masked."""
    log = tmp_path / "log.jsonl"
    body = hostile(RECORD, count())
    ReceiptLog(log).write([body])
    page = page_of_log(log)
    read = Parsed(page)
    read.policy()
    assert KEY not in page
    assert "\\x00\\x1b\\x0d\\u2028" in read.text
    entry = body["past"]["entries"][1]
    unshown = json.dumps([body["session"], entry["call"], entry["tool"]])
    wanted = set(NUMBER.findall(json.dumps(body))) - set(NUMBER.findall(unshown))
    assert wanted <= set(NUMBER.findall(read.text))


def test_the_name_of_an_argument_is_no_markup(tmp_path: Path) -> None:
    """It is the model's to choose, too."""
    log = tmp_path / "log.jsonl"
    ReceiptLog(log).write([{"tool": "t", "word": "allow", "arguments": {HOSTILE: {HOSTILE: 1}}}])
    page = page_of_log(log)
    Parsed(page).policy()
    assert KEY not in page


@pytest.mark.parametrize(
    "value", [None, 3, True, [], [3], ["x"], {}, {"a": 1}, [[{}]], "", [{"rule": None}]]
)
def test_a_field_of_another_type_breaks_nothing(tmp_path: Path, value: object) -> None:
    """The page is written, whatever stands in a record."""
    log = tmp_path / "log.jsonl"
    bodies = [{**RECORD, name: value} for name in RECORD]
    bodies += [{**RECORD, "rules": [{**RULE, name: value}]} for name in RULE]
    bodies += [{**RECORD, "approval": {"decision": value, "scope": value, "at": value}}]
    bodies += [{**RECORD, "past": {"entries": value}}, {"shadow": {"rules": value, "word": value}}]
    ReceiptLog(log).write(bodies)
    Parsed(page_of_log(log)).policy()


@pytest.mark.parametrize("secret", SECRETS)
def test_no_shipped_pattern_gets_through(tmp_path: Path, secret: str) -> None:
    """Also where the log was written without masks."""
    log = tmp_path / "log.jsonl"
    ReceiptLog(log).write(
        [
            {
                "tool": secret,
                "thread": secret,
                "word": "allow",
                "reason": f"see {secret}",
                "arguments": {"a": secret, secret: ["x", {"b": f"so {secret}"}]},
                "past": {"entries": [{"said": secret}, {"tool": "t", "text": secret}]},
            }
        ]
    )
    assert secret not in page_of_log(log)


def test_a_secret_that_only_its_name_betrays(tmp_path: Path) -> None:
    """Neither as the value of an argument, nor in a text, nor as a part of it that was seen."""
    arguments = {"password": PASSWORD, "in": {"text": f"password={PASSWORD} to ann@corp.example"}}
    past = {
        "entries": [{"tool": "t", "call": "c0", "text": f"password={PASSWORD} ann@corp.example"}]
    }
    log = tmp_path / "log.jsonl"
    ReceiptLog(log).write(
        [{"tool": "t", "word": "allow", "arguments": arguments, "past": past}, {"past": past}]
    )
    page = page_of_log(log)
    assert PASSWORD.casefold() not in page.casefold()
    assert "<code>ann@corp.example</code>" in page


def test_a_long_text_is_cut_after_it_was_masked(tmp_path: Path) -> None:
    """So that no half of a key is left where the cut goes through it."""
    log = tmp_path / "log.jsonl"
    for start in range(3_950, 4_001, 7):
        ReceiptLog(log).write(
            [{"tool": "t", "word": "allow", "arguments": {"a": "x" * start + f" {KEY}"}}]
        )
    page = page_of_log(log)
    assert "sk-proj" not in page
    assert "more characters" in page


def test_deep_and_wide_arguments_are_bounded(tmp_path: Path) -> None:
    """The page says that something is left out."""
    deep: Any = "x"
    for _ in range(60):
        deep = {"a": [deep]}
    log = tmp_path / "log.jsonl"
    wide = {f"k{n}": n for n in range(1_000)}
    ReceiptLog(log).write([{"tool": "t", "arguments": a} for a in (deep, wide, "text", [])])
    page = page_of_log(log)
    assert "more than 200 values" in page
    assert len(page) < 200_000


def test_a_source_leads_to_a_call_of_its_own_thread(tmp_path: Path) -> None:
    """Ids are used again in other threads; what is not on the page is named, and no link."""
    read = {"id": "c1", "tool": "read", "word": "allow"}
    heard = {"entries": [{"tool": "read", "call": "c1", "text": "from bob@corp.example"}]}
    mail = {"id": "c2", "tool": "mail", "word": "allow", "arguments": {"to": "bob@corp.example"}}
    log = tmp_path / "log.jsonl"
    ReceiptLog(log).write(
        [
            {**read, "thread": "a"},
            {**mail, "thread": "a", "past": heard},
            {**mail, "thread": "b", "past": heard},
        ]
    )
    first, second = page_of_log(log).split("<h2>Thread <code>b</code></h2>")
    assert '<span class="outside">tool read</span> (<a href="#call-1">its call</a>)' in first
    assert '<span class="outside">tool read</span></td>' in second
