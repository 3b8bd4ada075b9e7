"""Every test of the YAML reader runs on both parsers."""

from __future__ import annotations

import pytest
import yaml

from edgeward.policies import composer


@pytest.fixture(autouse=True, params=["CSafeLoader", "SafeLoader"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test runs on libyaml's parser and on PyYAML's own, where both are there."""
    loader = getattr(yaml, request.param, None)
    if loader is None:
        pytest.skip("PyYAML was built without libyaml")
    monkeypatch.setattr(composer, "LOADER", loader)
