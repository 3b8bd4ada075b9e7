"""docs/policy.md: every key of the language is explained there, and every example comes out."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from edgeward.guards.decide import Policy, decide
from edgeward.guards.ledger import USER, History, Ledger
from edgeward.guards.verdict import ToolCall
from edgeward.policies.schema import load_policy, policy_model
from edgeward.policies.yaml_file import parse_yaml

from .blocks import ROOT, Block, blocks_of

PAGE = ROOT / "docs" / "policy.md"
BLOCKS = blocks_of(PAGE)
EXAMPLES = [(policy, calls) for policy, calls in pairwise(BLOCKS) if policy.language]
PLACES = [policy.place for policy, _ in EXAMPLES]
_CALL = re.compile(r"(?P<tool>\S+) (?P<arguments>\{.*?\}) (?P<sign>->|=) (?P<rest>.+)")


@dataclass
class Thread:
    """A thread that an example plays."""

    policy: Policy
    ledger: Ledger = field(default_factory=Ledger)

    def play(self, line: str) -> None:
        """One line: what the user wrote, what a tool gave, or a call and its verdict."""
        if line.startswith("user: "):
            self._keep(Ledger().observed(line.removeprefix("user: "), source=USER))
            return
        found = _CALL.fullmatch(line)
        assert found, f"no line of an example: {line}"
        call = ToolCall(found["tool"], json.loads(found["arguments"]), id=f"c{len(self.ledger)}")
        if found["sign"] == "=":
            self._keep(self.policy.observed(call, found["rest"], source=f"tool {call.name}"))
            return
        said, _, would_be = found["rest"].partition("; in shadow: ")
        word, _, reason = said.partition(": ")
        verdict = decide(self.policy, call, History(self.ledger))
        assert verdict.word == word, f"{line}\n{verdict.reason}"
        assert verdict.would_be.word == (would_be or word), line
        assert reason in verdict.reason, verdict.reason

    def _keep(self, entry: dict[str, object] | None) -> None:
        self.ledger = self.ledger.appended([entry] if entry else [])


@pytest.mark.parametrize(("policy", "calls"), EXAMPLES, ids=PLACES)
def test_an_example_comes_out_as_it_is_shown(policy: Block, calls: Block) -> None:
    """Each policy is followed by calls, and decides on them as the page says."""
    assert (policy.language, calls.language) == ("yaml", "")
    thread = Thread(load_policy(parse_yaml(policy.text, name=policy.place).data))
    lines = calls.text.splitlines()
    assert any(" -> " in line for line in lines)
    for line in lines:
        thread.play(line)


def test_every_key_has_its_place_on_the_page() -> None:
    """A key that nobody explains is one that nobody uses."""
    text = PAGE.read_text(encoding="utf-8")
    assert not [key for key in policy_model().model_fields if f"`{key}" not in text]


def test_every_page_that_is_linked_is_there() -> None:
    """A link leads somewhere."""
    links = re.findall(r"\]\(([\w./-]+\.md)\)", PAGE.read_text(encoding="utf-8"))
    assert not [link for link in links if not (PAGE.parent / link).is_file()]
