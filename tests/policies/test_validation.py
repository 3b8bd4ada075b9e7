"""`validate`: every fault at once, each with its line, its field and what to do; never a secret."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from edgeward.policies.yaml_file import (
    ConfigValidationError,
    Flag,
    Problem,
    from_data,
    parse_yaml,
    validate,
)


class Strict(BaseModel):
    """The base of the models below."""

    model_config = ConfigDict(extra="forbid")


class Tool(Strict):
    """A nested mapping."""

    requested: list[str] = []
    args: dict[str, str | list[str] | dict[str, int]] = {}
    otherwise: Literal["ask", "block"] = "block"
    max_calls: int = Field(default=5, ge=1)


class Llm(Strict):
    """A mapping with secrets."""

    provider: Literal["openai", "anthropic"] | None = None
    api_key: SecretStr | None = None
    password: Literal["none", "ask"] = "none"
    base_url: str = Field(default="", pattern="^https://")
    headers: dict[str, str] = {}


class Agent(Strict):
    """The top level."""

    name: str = Field(min_length=1)
    age: int | None = Field(default=None, ge=0)
    quick: Flag = True
    plain: bool = True
    tools: dict[str, Literal["allow", "ask", "block"] | Tool] = {}
    llm: Llm = Llm()
    path: Path | None = None
    traits: tuple[str, ...] = ("calm",)
    threshold: float = 0.5
    rules: list[Tool] = Field(default=[], max_length=3)

    @field_validator("path")
    @classmethod
    def relative(cls, path: Path | None) -> Path | None:
        """A validator with a sentence of its own."""
        if path is not None and path.is_absolute():
            raise ValueError("is absolute; use a relative path")
        return path


def problems(text: str) -> list[Problem]:
    """The problems of `text` as an `Agent`."""
    document = parse_yaml(text, name="p.yaml")
    with pytest.raises(ConfigValidationError) as caught:
        validate(Agent, document.data, document)
    # pydantic's own error shows the values; it must not hang on as context.
    assert caught.value.__context__ is None
    return list(caught.value.problems)


def agent(text: str) -> Agent:
    """The `Agent` that `text` gives."""
    document = parse_yaml(text, name="p.yaml")
    return validate(Agent, document.data, document)


def test_all_problems_come_at_once_in_the_order_of_the_lines() -> None:
    """Nobody mends a file one complaint at a time."""
    text = (
        "age: -1\n"
        "tools:\n"
        "  pay: {requested: send, otherwise: aks}\n"
        "nme: x\n"
        "rules:\n"
        "  - max_calls: 0\n"
        "  -\n"
    )
    assert [(p.where, p.field, p.kind) for p in problems(text)] == [
        ("p.yaml:1", "age", "greater_than_equal"),
        ("p.yaml:1", "name", "missing"),
        ("p.yaml:3", "tools.pay.otherwise", "literal_error"),
        ("p.yaml:3", "tools.pay.requested", "list_type"),
        ("p.yaml:4", "nme", "extra_forbidden"),
        ("p.yaml:6", "rules[0].max_calls", "greater_than_equal"),
        ("p.yaml:7", "rules[1]", "model_type"),
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "nmae: x",
            "p.yaml:1: nmae: unknown key (extra_forbidden); allowed: name, age, quick, plain, "
            "tools, llm, path, traits, threshold or rules; did you mean name?",
        ),
        (
            "llm: {base-url: x}",
            "p.yaml:1: llm.base-url: unknown key (extra_forbidden); allowed: provider, api_key, "
            "password, base_url or headers; did you mean base_url?",
        ),
        (
            "tools: {a: {arg: {}}}",
            "p.yaml:1: tools.a.arg: unknown key (extra_forbidden); allowed: requested, args, "
            "otherwise or max_calls; did you mean args?",
        ),
        (
            "rules: [{zzz: 1}]",
            "p.yaml:1: rules[0].zzz: unknown key (extra_forbidden); allowed: requested, args, "
            "otherwise or max_calls; remove it",
        ),
        (
            "tools: {a: alow}",
            "p.yaml:1: tools.a: is alow, which is not one of the words (literal_error); allowed: "
            "allow, ask, block or a mapping (`key: value` lines); did you mean allow?",
        ),
        (
            "tools: {a: [x]}",
            "p.yaml:1: tools.a: is a list (literal_error); allowed: "
            "allow, ask, block or a mapping (`key: value` lines)",
        ),
        (
            "tools: {a: {args: {to: 5}}}",
            "p.yaml:1: tools.a.args.to: is a whole number (string_type); allowed: text, a list or "
            "a mapping (`key: value` lines); put it in quotes",
        ),
        (
            "traits: calm",
            "p.yaml:1: traits: is text (tuple_type); allowed: a list; "
            "write [value], or one `- value` a line",
        ),
        (
            "rules: 1",
            "p.yaml:1: rules: is a whole number (list_type); allowed: a list; "
            "write [value], or one `- value` a line",
        ),
        ('name: ""', "p.yaml:1: name: is empty (string_too_short); allowed: a length of 1 or more"),
        ("llm: x", "p.yaml:1: llm: is text (model_type); allowed: a mapping (`key: value` lines)"),
        ("path: /etc", "p.yaml:1: path: is absolute; use a relative path (value_error)"),
        (
            "llm: {base_url: x}",
            "p.yaml:1: llm.base_url: does not have the form (string_pattern_mismatch); "
            "allowed: text that matches ^https://",
        ),
        (
            "rules: [{}, {}, {}, {}]",
            "p.yaml:1: rules: has too many entries (too_long); allowed: at most 3",
        ),
    ],
)
def test_what_a_problem_says(text: str, sentence: str) -> None:
    """Place, field, fault with pydantic's word for it, what is allowed, what to do."""
    whole = text if text.startswith(("name", "nmae")) else "name: x\n" + text
    found = [str(p) for p in problems(whole) if p.kind != "missing"]
    assert found == [sentence.replace(":1:", ":2:") if whole != text else sentence]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("age: '27'", "int_type"),
        ("age: 27.0", "int_type"),
        ("age: 27.5", "int_type"),
        ("age: true", "int_type"),
        ("age: [1]", "int_type"),
        ("threshold: '0.5'", "float_type"),
        ("threshold: true", "float_type"),
        ("plain: 1", "bool_type"),
        ("plain: 'true'", "bool_type"),
        ("plain: yes", "bool_type"),
        ("quick: maybe", "bool_type"),
        ("traits: [1]", "string_type"),
        ("traits: {a: b}", "tuple_type"),
        ("llm: {headers: {a: 1}}", "string_type"),
        ("llm: {api_key: 123}", "string_type"),
    ],
)
def test_no_value_is_taken_for_one_of_another_kind(text: str, kind: str) -> None:
    """Text is no number, true is no 1, 27.0 is no 27, and a lone value is no list."""
    assert [p.kind for p in problems("name: x\n" + text)] == [kind]


def test_what_yaml_writes_plainly_is_taken() -> None:
    """A list may become a tuple, text a path, a whole number a float, `yes` a flag."""
    read = agent("name: x\ntraits: [a]\npath: a/b\nthreshold: 1\nquick: No\nllm: {api_key: k}\n")
    assert (read.traits, read.path, read.threshold, read.quick) == (("a",), Path("a/b"), 1.0, False)
    assert read.llm.api_key == SecretStr("k")


def test_a_blank_key_counts_as_omitted() -> None:
    """`traits:` with no value gives the default (D019), at any depth; a blank block too."""
    read = agent("name: x\ntraits:\nage: ~\nllm:\ntools:\n  a:\n    max_calls:\n")
    assert read == Agent(name="x", tools={"a": Tool()})
    assert [p.kind for p in problems("name:\n")] == ["missing"]


def test_a_blank_list_item_is_not_omitted() -> None:
    """A lone dash is a mistake, not a value to be dropped."""
    assert [p.field for p in problems("name: x\ntraits:\n  - a\n  -\n")] == ["traits[1]"]


def test_no_message_shows_a_value_that_may_be_secret() -> None:
    """Neither under secret names, nor text of any length under others."""
    text = (
        "name: x\n"
        "llm:\n"
        "  api_key: {x: sk-aaaa}\n"
        "  password: hunter2\n"
        "  provider: sk-ant-api03-abcdefghijklmnopqrstuvwxyz\n"
        "  headers: {Authorization: [Bearer sk-bbbb]}\n"
        "  base_url: sk-cccc\n"
        "age: sk-dddd\n"
    )
    message = "\n".join(map(str, problems(text)))
    assert len(message.splitlines()) == 6
    assert "sk-" not in message
    assert "hunter2" not in message


def test_a_key_in_the_place_of_a_field_name_is_masked() -> None:
    """An API key that slipped to the left of a colon is an unknown key like no other."""
    (unknown,) = problems("sk-proj-abcdefghijklmnopqrstuvwx: 1\nname: x\n")
    assert unknown.field == "[REDACTED:openai_key]"
    assert "sk-proj" not in str(unknown)


def test_problems_below_a_part_name_the_whole_path() -> None:
    """A block of a file can be checked on its own; lines and fields count from the file's top."""
    document = parse_yaml("agent:\n  llm:\n    provider: opnai\n", name="p.yaml")
    with pytest.raises(ConfigValidationError) as caught:
        validate(Llm, {"provider": "opnai"}, document, at=("agent", "llm"))
    (problem,) = caught.value.problems
    assert (problem.where, problem.field) == ("p.yaml:3", "agent.llm.provider")
    assert problem.fix == "did you mean openai?"


def test_a_document_that_is_no_mapping_is_one_problem() -> None:
    """A list, a word or nothing at all where keys belong."""
    for text, wrong in (("- a", "is a list"), ("word", "is text"), ("", "is blank")):
        (problem,) = problems(text)
        assert (problem.wrong, problem.kind) == (wrong, "model_type")


def test_data_from_python_is_checked_alike() -> None:
    """Without a file there is no line; the rest is the same."""
    document = from_data({"nme": "x"}, name="<mapping>")
    with pytest.raises(ConfigValidationError) as caught:
        validate(Agent, document.data, document)
    assert str(caught.value).splitlines()[0].startswith("<mapping>: name: is missing")
