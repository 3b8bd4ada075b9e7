"""The calendar: one CSV file with a row an event.

Which folder it lies in: see `edgeward.profiles.workspace`.
"""

from __future__ import annotations

import csv
from datetime import datetime
from pathlib import Path

from edgeward.profiles.workspace import workspace

SEED = Path(__file__).resolve().parents[1] / "workspace"


def list_events(day: str) -> list[dict[str, str]]:
    """List the events of one day: start, end, title and attendees of each.

    Args:
        day: The day as YYYY-MM-DD.
    """
    datetime.strptime(day, "%Y-%m-%d")
    with _calendar().open(encoding="utf-8", newline="") as file:
        return sorted(
            (row for row in csv.DictReader(file) if row["start"].startswith(day)),
            key=lambda row: row["start"],
        )


def create_event(title: str, start: str, end: str, attendees: list[str] | None = None) -> str:
    """Put an event into the calendar.

    Args:
        title: What it is about.
        start: When it begins, as YYYY-MM-DDTHH:MM.
        end: When it ends, as YYYY-MM-DDTHH:MM.
        attendees: Mail addresses of those who take part.
    """
    begins, ends = datetime.fromisoformat(start), datetime.fromisoformat(end)
    if ends <= begins:
        raise ValueError("the event ends before it begins")
    row = [f"{begins:%Y-%m-%dT%H:%M}", f"{ends:%Y-%m-%dT%H:%M}", title, " ".join(attendees or [])]
    with _calendar().open("a", encoding="utf-8", newline="") as file:
        csv.writer(file).writerow(row)
    return f"'{title}' is in the calendar, {begins:%Y-%m-%d %H:%M} to {ends:%H:%M}."


def _calendar() -> Path:
    return workspace("assistant", seed=SEED) / "calendar" / "events.csv"
