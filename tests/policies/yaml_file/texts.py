"""A text as the YAML reader reads or refuses it."""

from __future__ import annotations

import pytest

from edgeward.policies.yaml_file import (
    ConfigError,
    ConfigParseError,
    parse_yaml,
)


def refused(text: str, error: type[ConfigError] = ConfigParseError) -> str:
    """The message with which `text` is refused."""
    with pytest.raises(error) as caught:
        parse_yaml(text, name="policy.yaml")
    # Nothing of PyYAML's own error, which quotes the file, hangs on.
    assert caught.value.__context__ is None
    return str(caught.value)


def data(text: str) -> object:
    """The data that `text` is read as."""
    return parse_yaml(text, name="policy.yaml").data
