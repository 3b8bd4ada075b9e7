"""What stands in a call's arguments that must not be kept, whatever stands before it."""

from __future__ import annotations

import pytest

from edgeward.guards.redact import Redactor
from edgeward.guards.withheld import masked_arguments

from .secret_examples import EXAMPLES


@pytest.mark.parametrize("before", ["", "see ", "see\n", "see\t", 'see "', "see \\"])
@pytest.mark.parametrize("name", EXAMPLES)
def test_no_escape_hides_a_secret(name: str, before: str) -> None:
    """JSON writes a new line as a letter; the secret behind it is masked, and has its label."""
    for secret in EXAMPLES[name].whole:
        masked, labels = masked_arguments({"what": [f"{before}{secret}"]}, Redactor())
        assert secret not in masked["what"][0]
        assert labels


def test_what_the_whole_tells_has_a_label() -> None:
    """And arguments that are no JSON are looked at all the same."""
    assert masked_arguments({"a": 1}, Redactor()) == ({"a": 1}, ())
    assert masked_arguments({"a": {1}}, Redactor()) == ({"a": {1}}, ())
    redactor = Redactor(literals={"pin": "12345678"})
    assert masked_arguments({"a": 12345678}, redactor) == ({"a": 12345678}, ("pin",))
