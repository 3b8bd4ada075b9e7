"""The package as one folder, for the tools that read packages so."""

from __future__ import annotations

from pathlib import Path

import pytest

from .tree import link_package


@pytest.fixture(scope="session")
def linked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The parent folder of `edgeward`, laid out as it is when installed."""
    return link_package(tmp_path_factory.mktemp("linked"))
