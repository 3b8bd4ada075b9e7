"""A profile with one tool that asks, for servers: whether it ran, a file tells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.studio.server import Server

PROFILE = """
agent:
  id: scribe
  name: Scribe
  tools:
    python: [tools.py:write_note]
"""
TOOLS = '''
from pathlib import Path

NOTES = Path(__file__).with_name("notes.txt")


def write_note(text: str) -> str:
    """Write a note.

    Args:
        text: What it says.
    """
    with NOTES.open("a") as notes:
        notes.write(text + "\\n")
    return "written"
'''
POLICY = """
version: 2
default: block
tools:
  write_note: ask
"""
TASK = "write_note(text='one') and write_note(text='two')"
"""What makes the scripted model propose two calls."""


def scribe(folder: Path) -> dict[str, str]:
    """Write the bundle into `folder`; the variables that make a server use it."""
    (folder / "profile.yaml").write_text(PROFILE)
    (folder / "tools.py").write_text(TOOLS)
    (folder / "policy.yaml").write_text(POLICY)
    return {
        "EDGEWARD_PROFILE": str(folder / "profile.yaml"),
        "EDGEWARD_POLICY": str(folder / "policy.yaml"),
        "EDGEWARD_MODEL": "scripted",
    }


def questions(server: Server, thread: str) -> list[Any]:
    """The calls that a thread waits for, as its state shows them."""
    found = [i["value"] for t in server.state(thread)["tasks"] for i in t["interrupts"]]
    assert all(value["type"] == "approval" for value in found)
    return [call for value in found for call in value["calls"]]


def answer(server: Server, thread: str, resume: Any) -> Any:
    """Resume with an answer."""
    return server.run("react", thread, command={"resume": resume})
