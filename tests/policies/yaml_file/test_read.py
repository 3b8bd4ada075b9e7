"""The one YAML reader: what values, lines, files and errors it gives."""

from __future__ import annotations

import errno
import os
import pickle
from pathlib import Path

import pytest

from edgeward.policies.yaml_file import (
    ConfigError,
    ConfigFileMissing,
    ConfigParseError,
    ConfigValidationError,
    Document,
    Problem,
    from_data,
    parse_yaml,
    read_yaml,
)

from .texts import data

# What plain words mean


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("TRUE", True),
        ("yes", "yes"),
        ("No", "No"),
        ("on", "on"),
        ("off", "off"),
        ("y", "y"),
        ("", None),
        ("~", None),
        ("null", None),
        ("1", 1),
        ("-17", -17),
        ("+3", 3),
        ("0", 0),
        ("20_000", 20000),
        ("0x1F", 31),
        ("010", "010"),
        ("0o17", "0o17"),
        ("0b11", "0b11"),
        ("12:30", "12:30"),
        ("190:20:30", "190:20:30"),
        ("0.80", 0.8),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1.", 1.0),
        ("1.2.3", "1.2.3"),
        ("127.0.0.1", "127.0.0.1"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("1e999", "1e999"),
        ("9" * 5000, "9" * 5000),
        ("2020-01-01", "2020-01-01"),
        ("2001-12-14t21:59:43.10-05:00", "2001-12-14t21:59:43.10-05:00"),
        ('"true"', "true"),
        ("'1'", "1"),
        ("=", "="),
        ("+", "+"),
        (".", "."),
        ("- 1", [1]),
    ],
)
def test_what_a_plain_word_means(text: str, value: object) -> None:
    """Nothing becomes a date, an octal or a sexagesimal; only true and false are booleans."""
    read = data(f"x:\n  {text}\n")
    assert read == {"x": value}
    assert type(read["x"]) is type(value)  # type: ignore[index,call-overload]


def test_the_key_on_is_the_word_on() -> None:
    """YAML 1.1 would make it True."""
    assert data("on: 1\nyes: 2\n") == {"on": 1, "yes": 2}


def test_an_empty_file_holds_nothing() -> None:
    """Neither nothing nor comments alone make a document."""
    assert data("") is None
    assert data("# only a comment\n") is None
    assert parse_yaml("", name="p").line(("a",)) == 0


def test_aliases_give_separate_copies() -> None:
    """Changing one use changes no other."""
    read = data("a: &a [1]\nb: *a\n")
    assert isinstance(read, dict)
    assert read["a"] == read["b"]
    assert read["a"] is not read["b"]


# Lines


def test_lines_are_exact() -> None:
    """A key, a list item, an item of a flow list, and what stands after a block text."""
    text = (
        "# comment\n"
        "description: >\n"
        "  some\n"
        "  text\n"
        "\n"
        "tools:\n"
        '  "get_*": allow\n'
        "  send:\n"
        "    args: {a: known,\n"
        "           b: clean}\n"
        "rules:\n"
        "  - name: x\n"
        "    regex: y\n"
        "  -\n"
        "    name: z\n"
        "many: [1,\n"
        "  2]\n"
    )
    document = parse_yaml(text, name="p.yaml")
    expected = {
        ("description",): 2,
        ("tools",): 6,
        ("tools", "get_*"): 7,
        ("tools", "send", "args", "a"): 9,
        ("tools", "send", "args", "b"): 10,
        ("rules",): 11,
        ("rules", 0): 12,
        ("rules", 0, "regex"): 13,
        ("rules", 1, "name"): 15,
        ("many", 0): 16,
        ("many", 1): 17,
        (): 2,
    }
    assert {path: document.line(path) for path in expected} == expected
    assert document.where(("many", 1)) == "p.yaml:17"


def test_a_path_that_is_not_there_has_the_line_of_its_nearest_parent() -> None:
    """A missing key is reported where it should stand."""
    document = parse_yaml("a:\n  b: [1]\n", name="p")
    assert document.line(("a", "x", "y")) == 1
    assert document.line(("a", "b", 7)) == 2
    assert document.line(("a", "b", "c")) == 2


# Files


def test_a_missing_file_a_folder_and_a_bad_name_are_three_ordinary_errors(tmp_path: Path) -> None:
    """What cannot be opened is `ConfigFileMissing`, with the path as the user wrote it."""
    for path in (tmp_path / "no.yaml", tmp_path, Path("bad\0name")):
        with pytest.raises(ConfigFileMissing) as caught:
            read_yaml(path)
        assert caught.value.__context__ is None
    with pytest.raises(ConfigFileMissing, match=r"^no/such\.yaml: there is no such file"):
        read_yaml("no/such.yaml")


def test_why_a_file_cannot_be_read_is_said_in_the_systems_words(tmp_path: Path) -> None:
    """Not by the name of a class, which tells a user nothing."""
    ring = tmp_path / "ring.yaml"
    ring.symlink_to(ring)
    with pytest.raises(ConfigFileMissing, match=f"cannot be read .{os.strerror(errno.ELOOP)}."):
        read_yaml(ring)


def test_the_three_errors_are_distinct_under_one_base() -> None:
    """Missing, unparsable, invalid (D018); all are ValueErrors too."""
    kinds = (ConfigFileMissing, ConfigParseError, ConfigValidationError)
    assert len(set(kinds)) == 3
    for kind in kinds:
        assert kind.__bases__ == (ConfigError,)
    assert issubclass(ConfigError, ValueError)


def test_a_file_is_read_as_utf8(tmp_path: Path) -> None:
    """A byte order mark is no part of the first key; other encodings are refused by line."""
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_bytes("name: Zoë\n".encode("utf-8-sig"))
    bad.write_bytes("a: 1\nname: Zoë\n".encode("latin-1"))
    assert read_yaml(good, name="shown").data == {"name": "Zoë"}
    assert read_yaml(good, name="shown").name == "shown"
    with pytest.raises(ConfigParseError, match=r"bad\.yaml:2: is not UTF-8"):
        read_yaml(bad)


# Errors and problems as values


def test_a_problem_reads_as_one_line() -> None:
    """Place, field, fault, what is allowed, what to do; what is absent leaves no trace."""
    full = Problem("p.yaml:3", "a.b[0]", "is text", "a list", "write [value]", "list_type")
    assert str(full) == "p.yaml:3: a.b[0]: is text (list_type); allowed: a list; write [value]"
    assert str(Problem("p.yaml", "", "is a folder")) == "p.yaml: is a folder"


def test_an_error_survives_pickling() -> None:
    """Errors cross process borders in test runners and task queues."""
    error = ConfigParseError(Problem("p:1", "a", "x"), Problem("p:2", "b", "y"))
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is ConfigParseError
    assert again.problems == error.problems
    assert str(again) == "p:1: a: x\np:2: b: y"


# Data that came from no file


def test_data_from_a_mapping_has_a_name_and_no_lines() -> None:
    """A policy can be written in Python; messages then name it without a line."""
    document = from_data({"a": [1, ("x", 2.5)], "b": {"c": None}}, name="<mapping>")
    assert document == Document({"a": [1, ["x", 2.5]], "b": {"c": None}}, "<mapping>")
    assert document.line(("a",)) == 0
    assert document.where(("a",)) == "<mapping>"


def test_data_that_is_not_plain_is_refused() -> None:
    """Objects, keys that are no text, NaN and self-reference are refused with the field."""
    loop: dict[str, object] = {}
    loop["me"] = loop
    for bad, field in (
        ({"a": {1: 2}}, "a"),
        ({"a": [object()]}, "a[0]"),
        ({"a": float("nan")}, "a"),
        ({"a": {"x", "y"}}, "a"),
        ({"a": b"x"}, "a"),
    ):
        with pytest.raises(ConfigValidationError) as caught:
            from_data(bad)
        assert caught.value.problems[0].field == field
    with pytest.raises(ConfigValidationError, match="too deep or too large"):
        from_data(loop)
