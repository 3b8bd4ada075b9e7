"""The agent's tools: the signature is the schema, the docstring what the model reads."""

from pathlib import Path

NOTES = Path(__file__).parent / "notes.txt"


def list_notes() -> list[str]:
    """The notes that were taken so far."""
    return NOTES.read_text(encoding="utf-8").splitlines() if NOTES.exists() else []


def add_note(text: str) -> str:
    """Take a note.

    Args:
        text: One line.
    """
    with NOTES.open("a", encoding="utf-8") as file:
        file.write(" ".join(text.split()) + "\n")
    return "noted"
