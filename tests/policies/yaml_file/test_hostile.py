"""Files that would cost, import or hide something are refused, and no message quotes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgeward.policies.yaml_file import (
    MAX_BYTES,
    ConfigParseError,
    read_yaml,
)

from .texts import data, refused


def test_C94_nested_aliases_are_counted_before_they_are_written_out() -> None:
    """Nine levels of nine aliases are refused, and the message names file and line."""
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    message = refused("\n".join(levels))
    assert message.startswith("policy.yaml:")
    assert "too many values once aliases are written out" in message


def test_merge_keys_cannot_grow_without_bound() -> None:
    """A merge counts like the alias that it is."""
    keys = ", ".join(f"k{n}: 1" for n in range(2000))
    uses = "\n".join(f"u{n}: {{<<: *a}}" for n in range(30))
    assert "too many values" in refused(f"a: &a {{{keys}}}\n{uses}\n")


def test_many_values_without_aliases_are_refused() -> None:
    """The bound holds for plain values as well."""
    assert "too many values" in refused("a: [" + "1," * 60_000 + "]")


def test_aliases_cannot_nest_deeper_than_the_bound() -> None:
    """Depth is counted as written out, not as typed."""
    text = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 60))
    assert "nested too deep once aliases are written out" in refused(text)


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? ", "[? ", "{? [", "a: &a\n "])
def test_deep_nesting_is_an_error_and_no_crash(opening: str) -> None:
    """A hundred thousand openings end in one ordinary error."""
    message = refused(opening * 100_000)
    assert len(message) < 500


@pytest.mark.parametrize(
    "tag",
    [
        "!!python/object/apply:os.getcwd []",
        "!!python/name:os.system ''",
        "!!python/tuple [1]",
        "!!binary aGk=",
        "!!set {a, b}",
        "!!omap [{a: 1}]",
        "!!timestamp 2020-01-01",
        "!custom 1",
        "!custom [1]",
        "!custom {a: 1}",
        "!!str [1]",
        "!!map [1]",
        "!!merge x",
    ],
)
def test_C94_tags_outside_the_core_are_refused(tag: str) -> None:
    """No tag builds an object; the message names file, line and field."""
    message = refused(f"version: 1\nx: {tag}\n")
    assert message.startswith("policy.yaml:2: x: tag ")
    assert "is not read" in message


def test_core_tags_are_read() -> None:
    """`!!str` and its kind are plain YAML."""
    text = 'a: !!str 5\nb: !!int "7"\nc: !!float 3\nd: !!seq [1]\ne: !!map {x: 1}\nf: ! 12'
    assert data(text) == {"a": "5", "b": 7, "c": 3.0, "d": [1], "e": {"x": 1}, "f": "12"}


@pytest.mark.parametrize("value", ["!!int x", "!!bool 1", "!!float true", "!!null x", "!!int 1.5"])
def test_a_core_tag_that_its_value_belies_is_refused(value: str) -> None:
    """A tag converts nothing."""
    assert "not what its tag" in refused(f"a: {value}")


def test_C94_a_file_that_contains_itself_is_refused() -> None:
    """An alias inside its own anchor has no end."""
    assert "stands inside &x (line 1)" in refused("a: &x [*x]")
    assert "stands inside &x (line 2)" in refused("a:\n  b: &x\n    c: [{d: *x}]\n")


def test_an_alias_without_anchor_and_an_anchor_set_twice_are_refused() -> None:
    """Both leave open what is meant."""
    assert "has no anchor &b" in refused("a: *b")
    assert "already set in line 1" in refused("a: &x 1\nb: &x 2")


def test_C94_a_file_of_fifty_megabytes_is_not_read(tmp_path: Path) -> None:
    """No more than the bound is read from disk, and the message names the file."""
    big = tmp_path / "big.yaml"
    with big.open("wb") as file:
        file.truncate(50_000_000)
    with pytest.raises(ConfigParseError, match=r"big\.yaml: the file is too big; allowed: 1,000,"):
        read_yaml(big)


def test_a_text_beyond_the_bound_is_refused() -> None:
    """The bound holds for text that came from no file."""
    assert "too big" in refused("#" * (MAX_BYTES + 1))


def test_a_second_document_is_refused() -> None:
    """What stands after `---` would go unread."""
    message = refused("tool_denylist: [a]\n---\ntool_denylist: []\n")
    assert message.startswith("policy.yaml:2: a second document begins here")


@pytest.mark.parametrize("text", ["1: a", "true: a", "~: a", "1.5: a", "[a]: b", "? {a: 1}\n: b"])
def test_keys_that_are_no_text_are_refused(text: str) -> None:
    """A key is text, or is put in quotes."""
    assert "a key is not text" in refused(text)


@pytest.mark.parametrize("text", ["a: \x07", "a: \x00", "a: \ud800", 'a: "\\ud800"'])
def test_control_characters_and_half_characters_are_refused(text: str) -> None:
    """Text that cannot be written again is not read."""
    assert refused("v: 1\n" + text).startswith("policy.yaml:2: ")


def test_no_message_quotes_the_line_of_a_syntax_error() -> None:
    """A key in an unclosed quote stays out of the message."""
    message = refused('a: 1\napi_key: "sk-verysecret\nb: 2\n')
    assert "sk-verysecret" not in message
    assert "line 2" in message


def test_an_odd_key_cannot_forge_a_line_of_the_message() -> None:
    """A line break in a key is shown as an escape, a long key is cut."""
    message = refused('"a\\nb": 1\n"a\\nb": 2\n')
    assert len(message.splitlines()) == 1
    assert len(refused(f"{'k' * 500}: 1\n{'k' * 500}: 2\n")) < 400
