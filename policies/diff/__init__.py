"""What a new policy allows that the old one did not.

`compare(old, new)` proves, tool by tool and rule by rule, that the new policy is as strict as the
old one, or finds a call that it is looser on: a `Looser` holds that call, decided under both. Where
neither is done (other people's rules, regular expressions), an `Undecided` says so.
"""

from __future__ import annotations

from .compare import compare
from .found import Difference, Looser, Undecided
from .witness import Witness

__all__ = ["Difference", "Looser", "Undecided", "Witness", "compare"]
