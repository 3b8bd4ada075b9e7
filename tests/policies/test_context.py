"""The numbers of a context: bounds, defaults, and defaults that shrink with a small limit."""

from __future__ import annotations

import pytest

from edgeward.nodes.compress import Spec
from edgeward.policies.context import ContextNumbers
from edgeward.profiles.schema import AgentProfile


def test_defaults() -> None:
    """Those of the specification."""
    numbers = ContextNumbers()
    assert (numbers.context_limit, numbers.prune_protect) == (128_000, 40_000)
    assert (numbers.prune_minimum, numbers.reserved_buffer) == (20_000, 20_000)
    assert numbers.enable_summary is True


def test_profile_and_strategy_share_them() -> None:
    """A profile's memory block and a compress node take the same fields with the same bounds."""
    memory = AgentProfile.from_mapping({"id": "a", "name": "A"}).memory
    for name, field in ContextNumbers.model_fields.items():
        for model in (type(memory), Spec):
            assert model.model_fields[name].default == field.default
            assert model.model_fields[name].metadata == field.metadata


@pytest.mark.parametrize("limit", [1_024, 8_192, 64_000, 127_999, 200_000])
def test_defaults_shrink_with_the_limit(limit: int) -> None:
    """In proportion, and never beyond what is specified."""
    numbers = ContextNumbers(context_limit=limit)
    assert numbers.prune_protect == min(40_000, limit * 40 // 128)
    assert numbers.prune_protect + numbers.reserved_buffer <= limit * 0.47
    assert ContextNumbers(context_limit=limit, prune_protect=7).prune_protect == 7


def test_a_buffer_that_leaves_nothing() -> None:
    """Is refused, with what to do."""
    with pytest.raises(ValueError, match="make it smaller"):
        ContextNumbers(context_limit=2_048, reserved_buffer=2_048)
