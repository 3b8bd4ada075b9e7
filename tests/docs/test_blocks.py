"""What the documents show is true: the YAML loads, the Python runs, over the real wire format."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import edgeward
from edgeward import AgentConfig, AgentProfile, ReActAgent, load_policy, load_strategy
from edgeward.policies.cases import load_case, load_history
from edgeward.policies.yaml_file import parse_yaml
from tests.wire.server import Call, Say, Wire

from .blocks import ROOT, Block, blocks, blocks_of
from .test_operate import PAGE as SESSION

README = ROOT / "README.md"

TOOLS = '''
"""The tools that README's profile names."""

paid: list[int] = []


def list_invoices() -> list[str]:
    """The open invoices."""
    return ["4711: 120 euros", "4712: 900 euros"]


def send_email(to: str, body: str) -> str:
    """Send a mail."""
    return f"sent to {to}"


def pay(invoice: str, amount: int) -> str:
    """Pay an invoice."""
    paid.append(amount)
    return f"paid {amount}"
'''


def place(block: Block) -> str:
    """A block as a test's name shows it."""
    return block.place


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with README's YAML files and the tools that they name."""
    for block in blocks_of(README):
        if block.language == "yaml":
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
    (tmp_path / "tools.py").write_text(TOOLS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    """OpenAI, as README's profile finds it: by the environment. It runs on this machine."""
    with Wire() as running:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-proj-TESTTESTTESTTESTTEST")
        monkeypatch.setenv("OPENAI_BASE_URL", running.openai_url)
        yield running


def calls(name: str, call_id: str, **arguments: Any) -> Say:
    """A reply that proposes one call."""
    return Say(calls=[Call(name, json.dumps(arguments), call_id)])


@pytest.mark.parametrize("block", blocks("yaml", "yml"), ids=place)
def test_every_yaml_block_loads(block: Block, tmp_path: Path) -> None:
    """Through the schema of what it is: a profile, a strategy, a policy, a case, a history."""
    path = tmp_path / (block.file or "block.yaml")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.text, encoding="utf-8")
    data = parse_yaml(block.text, name=block.place).data
    if isinstance(data, list):
        assert load_history(path)
        return
    assert isinstance(data, dict)
    if "tool" in data:
        assert load_case(path).turns
    elif "agent" in data:
        assert AgentProfile.from_yaml(path).id
    elif "strategy" in data:
        assert load_strategy(path).nodes
    else:
        assert load_policy(path).checks


def test_readme_names_its_yaml_files() -> None:
    """Its YAML blocks are the three files that its Python block opens."""
    shown = [block for block in blocks_of(README) if block.language == "yaml"]
    assert [block.file for block in shown] == ["profile.yaml", "policy.yaml", "strategy.yaml"]


PYTHON = blocks("python", "py")
ELSEWHERE = (README, SESSION)
"""Pages whose programs are run by a test of their own."""


@pytest.mark.parametrize("block", [b for b in PYTHON if b.document not in ELSEWHERE], ids=place)
def test_a_python_block_of_the_docs_prints_what_the_next_block_shows(
    block: Block,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As it stands, in a folder that holds the files which the page has shown before it."""
    monkeypatch.chdir(tmp_path)
    for shown in blocks_of(block.document):
        if shown.language == "yaml" and shown.file and shown.line < block.line:
            (tmp_path / shown.file).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / shown.file).write_text(shown.text, encoding="utf-8")
    exec(compile(block.text, block.place, "exec", dont_inherit=True), {"__name__": "block"})
    after = next(b for b in blocks_of(block.document) if b.line > block.line)
    assert (after.language, capsys.readouterr().out) == ("", after.text)


@pytest.mark.parametrize("block", [b for b in PYTHON if b.document == README], ids=place)
def test_every_python_block_of_readme_runs(
    block: Block, desk: Path, provider: Wire, capsys: pytest.CaptureFixture[str]
) -> None:
    """As it stands, on README's files; what it defines as `main` is run, too."""
    provider.script(
        calls("list_invoices", "c1"),
        Say("Two are open: 4711 and 4712."),
        Say("ACCEPT"),
        calls("list_invoices", "c1"),
        calls("pay", "c2", invoice="4711", amount=120),
        Say("Paid 4711."),
    )
    names: dict[str, Any] = {"__name__": "block"}
    try:
        exec(compile(block.text, block.place, "exec", dont_inherit=True), names)
        asyncio.run(names["main"]())
    finally:
        for value in names.values():
            if isinstance(value, edgeward.LockedGraph):
                value.checkpointer.close()
    assert capsys.readouterr().out.startswith("Paid 4711. answered ")
    assert not provider.replies
    assert (desk / "profile.yaml").is_file()


async def test_a_call_that_asks_waits_and_is_answered_by_id(desk: Path, provider: Wire) -> None:
    """What README says of `ask`: the run waits, and `resume` with the call's id ends it."""
    provider.script(calls("pay", "c7", invoice="4712", amount=900), Say("Paid 4712."))
    async with ReActAgent(AgentConfig(profile="profile.yaml", policy="policy.yaml")) as agent:
        result = await agent.run("Pay 4712.", thread="friday")
        assert result.stopped_reason == "waiting"
        (waiting,) = result.waiting
        result = await agent.resume("friday", {waiting["id"]: {"decision": "approve"}})
    assert waiting["id"] == "c7"
    assert result.final_answer == "Paid 4712."
    (record,) = result.verdicts
    assert (record["id"], record["word"]) == ("c7", "ask")
    assert record["approval"]["decision"] == "approve"


@pytest.mark.parametrize("block", blocks("bash", "sh", "shell"), ids=place)
def test_every_shell_block_is_a_shell_text(block: Block) -> None:
    """A shell can at least read it."""
    subprocess.run(["bash", "-n", "-c", block.text], check=True)
