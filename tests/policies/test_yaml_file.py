"""The one YAML reader: what it reads, what it refuses, and that every refusal names the place."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
import yaml

from edgeward.policies import composer
from edgeward.policies.yaml_file import (
    MAX_BYTES,
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


@pytest.fixture(autouse=True, params=["CSafeLoader", "SafeLoader"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test runs on libyaml's parser and on PyYAML's own, where both are there."""
    loader = getattr(yaml, request.param, None)
    if loader is None:
        pytest.skip("PyYAML was built without libyaml")
    monkeypatch.setattr(composer, "LOADER", loader)


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


# Repeated keys


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


# Hostile files


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
