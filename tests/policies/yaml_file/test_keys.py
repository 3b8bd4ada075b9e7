"""A key that stands twice is refused however it is written; merge keys fill in the rest."""

from __future__ import annotations

import pytest

from edgeward.policies.yaml_file import ConfigParseError, parse_yaml

from .texts import data, refused


def test_C07_a_repeated_key_is_refused_with_file_key_and_both_lines() -> None:
    """A deny list that is emptied at the end of the file does not load."""
    message = refused("tool_denylist: [send_email]\nversion: 1\ntool_denylist: []\n")
    assert message.startswith("policy.yaml:3: tool_denylist: ")
    assert "stands twice: in lines 1 and 3" in message


def test_all_repeated_keys_are_named_at_once() -> None:
    """Two repeated keys, one of them nested, give two problems."""
    with pytest.raises(ConfigParseError) as caught:
        parse_yaml("a: 1\nb:\n  c: 1\n  c: 2\na: 2\n", name="p.yaml")
    assert [(p.where, p.field) for p in caught.value.problems] == [
        ("p.yaml:4", "b.c"),
        ("p.yaml:5", "a"),
    ]


@pytest.mark.parametrize(
    "text",
    ['a: 1\n"a": 2', "a: 1\n'a': 2", "a: 1\n? a\n: 2", '{a: 1, "\\x61": 2}', "&k a: 1\n*k : 2"],
)
def test_a_key_written_in_another_way_is_the_same_key(text: str) -> None:
    """Quotes, escapes, `?` and aliases do not hide a repetition."""
    assert "stands twice" in refused(text)


def test_a_repeated_key_is_refused_though_both_values_are_equal() -> None:
    """Equal values are no excuse: the next edit would change only one."""
    assert "stands twice" in refused("a: 1\na: 1")


def test_a_repeated_key_is_reported_before_a_later_bound_is_hit() -> None:
    """An error that ends the reading does not swallow the repetitions seen so far."""
    message = refused("a: 1\na: 2\nb: !!binary aGk=\n")
    assert "stands twice" in message
    assert "!!binary" in message


# Merge keys


def test_merge_keys_work_and_own_keys_win() -> None:
    """`<<` takes a mapping or a list, the first source wins, and own keys win in any order."""
    text = (
        "base: &b {x: 1, y: 2}\n"
        "one: {y: 3, <<: *b}\n"
        "two: {<<: *b, y: 3}\n"
        "many: {<<: [*b, {x: 9, z: 4}]}\n"
    )
    assert data(text) == {
        "base": {"x": 1, "y": 2},
        "one": {"x": 1, "y": 3},
        "two": {"x": 1, "y": 3},
        "many": {"x": 1, "y": 2, "z": 4},
    }


def test_a_merged_key_keeps_the_line_on_which_it_is_written() -> None:
    """A wrong value that came in by `<<` is to be mended where it stands."""
    document = parse_yaml("base: &b\n  x: 1\nuse:\n  <<: *b\n  y: 2\n", name="p")
    assert document.line(("use", "x")) == 2
    assert document.line(("use", "y")) == 5


def test_two_merge_keys_in_one_mapping_are_refused() -> None:
    """`<<` is a key like others; the message says how to write two."""
    assert "[*first, *second]" in refused("a: &a {x: 1}\nb:\n  <<: *a\n  <<: *a\n")


@pytest.mark.parametrize("text", ["b: {<<: 3}", "b: {<<: [1]}", "a: &a [1]\nb: {<<: *a}"])
def test_a_merge_of_anything_but_mappings_is_refused(text: str) -> None:
    """Only mappings can be merged."""
    assert "takes a mapping" in refused(text)


def test_a_quoted_merge_key_is_refused() -> None:
    """A quoted `<<` is neither a merge nor a sensible key."""
    assert "unquoted" in refused('"<<": {a: 1}')
