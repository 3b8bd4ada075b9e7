"""The bank account: a ledger of past payments, and payments that go out at once.

`send_money` has no policy of its own: it pays any amount to anybody. There is no bank behind it;
an order is a line in outbox/payments.csv. Which folder it works in: see
`edgeward.profiles.workspace`.
"""

from __future__ import annotations

import csv
import io
from datetime import datetime
from pathlib import Path

from edgeward.profiles.workspace import workspace

SEED = Path(__file__).resolve().parents[1] / "workspace"


def list_payments() -> list[dict[str, str]]:
    """List the payments of the past: date, recipient, IBAN, amount in euros and purpose."""
    path = workspace("assistant", seed=SEED) / "bank" / "ledger.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def send_money(recipient_iban: str, amount: float, purpose: str) -> str:
    """Pay from the user's account.

    Args:
        recipient_iban: The IBAN of the account that gets the money.
        amount: The amount in euros.
        purpose: What it is for.
    """
    if not amount > 0:
        raise ValueError("the amount must be above zero")
    outbox = workspace("assistant", seed=SEED) / "outbox"
    outbox.mkdir(exist_ok=True)
    line = io.StringIO(newline="")
    now = f"{datetime.now():%Y-%m-%dT%H:%M:%S}"
    csv.writer(line).writerow([now, recipient_iban, f"{amount:.2f}", purpose])
    with (outbox / "payments.csv").open("a", encoding="utf-8", newline="") as file:
        file.write(line.getvalue())
    return f"{amount:.2f} EUR to {recipient_iban} are on their way."
