"""The system prompt and its placeholders."""

from __future__ import annotations

import pytest

from edgeward.policies.yaml_file import ConfigValidationError
from edgeward.profiles.prompt import PLACEHOLDERS, parse_template, system_prompt
from edgeward.profiles.schema import AgentProfile

MINIMAL = "id: bot\nname: Helper"


def rendered(text: str, **values: object) -> str:
    """The text with values, given that nothing is wrong with it."""
    template, faults = parse_template(text)
    assert faults == []
    return template.render(values)


def test_D043_the_minimal_prompt_is_one_sentence(load):
    """Unset lines are left out, the default horizon too."""
    assert system_prompt(load(MINIMAL)) == "You are Helper."


def test_D041_D043_traits_are_the_second_line(load):
    """As in the documented example."""
    profile = load(f"{MINIMAL}\ntraits: concise, technical")
    assert system_prompt(profile) == "You are Helper.\nTraits: concise, technical"


def test_the_whole_identity_in_its_order(load):
    """Opening, traits, background, plan, horizon."""
    profile = load(
        "id: a\nname: Nova Patel\nage: 27\ntraits: methodical\nbackstory: Automation.\n"
        "initial_plan: ship v3\ncognitive:\n  planning_horizon: this sprint"
    )
    assert system_prompt(profile) == (
        "You are Nova Patel, a 27-year-old.\nTraits: methodical\n\nBackground: Automation.\n\n"
        "Today's plan: ship v3\n\nYour planning horizon for this run: this sprint."
    )


@pytest.mark.parametrize(
    ("age", "article"),
    [
        (8, "an"),
        (11, "an"),
        (18, "an"),
        (80, "an"),
        (1, "a"),
        (81, "an"),
        (110, "a"),
        (0, "a"),
        (27, "a"),
    ],
)
def test_the_article_fits_the_age(load, age, article):
    """An 8-year-old, a 27-year-old."""
    assert f"{article} {age}-year-old" in system_prompt(load(f"{MINIMAL}\nage: {age}"))


def test_D050_X14_the_horizon_is_the_last_line_where_it_is_set(load):
    """It is read, and it is last."""
    profile = load(f"{MINIMAL}\ncognitive:\n  planning_horizon: 1 day")
    assert system_prompt(profile).splitlines()[-1].endswith("1 day.")


def test_D044_all_six_placeholders_render_on_a_minimal_profile(load):
    """Unset fields are empty, None too."""
    text = "|".join("{" + name + "}" for name in PLACEHOLDERS)
    profile = load(f"{MINIMAL}\nprompt:\n  system: '{text}'")
    assert system_prompt(profile) == "bot|Helper||||"


def test_D045_inline_then_file_then_built(load):
    """A blank `system` does not count, a file beats the built prompt."""
    assert system_prompt(load(f"{MINIMAL}\nprompt:\n  system: Inline")) == "Inline"
    profile = load(f"{MINIMAL}\nprompt:\n  system: ' '\n  path: p.md", p_DOT_md="From {id}")
    assert system_prompt(profile) == "From bot"
    assert system_prompt(load(f"{MINIMAL}\nprompt:\n  path: ''")) == "You are Helper."


def test_D046_X13_both_sources_are_an_error(load):
    """Load raises, and says what to do."""
    with pytest.raises(ConfigValidationError, match="both set"):
        load(f"{MINIMAL}\nprompt:\n  path: p.md\n  system: x", p_DOT_md="x")


def test_D047_X13_a_missing_file_is_an_error_at_load(load):
    """With the line of `path`."""
    with pytest.raises(ConfigValidationError, match=r"profile\.yaml:5.*no file p\.md"):
        load(f"{MINIMAL}\nprompt:\n  path: p.md")


@pytest.mark.parametrize("path", ["../p.md", "/etc/hostname", "a/../../p.md"])
def test_a_prompt_file_outside_the_bundle_is_refused(load, path):
    """Neither by dots nor by an absolute path."""
    with pytest.raises(ConfigValidationError, match="leads out"):
        load(f"{MINIMAL}\nprompt:\n  path: {path}")


def test_a_prompt_file_that_links_outside_is_refused(load, tmp_path):
    """A link is followed before it is judged."""
    (tmp_path / "p.md").symlink_to("/etc/hostname")
    with pytest.raises(ConfigValidationError, match="leads out"):
        load(f"{MINIMAL}\nprompt:\n  path: p.md")


def test_a_prompt_file_must_be_text(load, tmp_path):
    """Bytes that are no UTF-8, a folder and a NUL in the path are said so."""
    (tmp_path / "p.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigValidationError, match="UTF-8"):
        load(f"{MINIMAL}\nprompt:\n  path: p.md")
    with pytest.raises(ConfigValidationError, match="no file"):
        load(f"{MINIMAL}\nprompt:\n  path: .")
    with pytest.raises(ConfigValidationError, match="cannot be read"):
        load(f'{MINIMAL}\nprompt:\n  path: "a\\0b"')


def test_the_file_is_read_once_at_load(load, tmp_path):
    """What was checked is what is used."""
    profile = load(f"{MINIMAL}\nprompt:\n  path: p.md", p_DOT_md="Hi {name}")
    (tmp_path / "p.md").write_text("{date}")
    assert system_prompt(profile) == "Hi Helper"


def test_D048_C59_an_unknown_placeholder_is_an_error_at_load_that_names_it(load):
    """With file and line, the nearest name, and how to write the braces themselves."""
    with pytest.raises(ConfigValidationError) as caught:
        load(f"{MINIMAL}\nprompt:\n  path: p.md", p_DOT_md="Hi {name}\nIt is {date}, {nmae}.")
    first, second = caught.value.problems
    assert first.where == "p.md:2"
    assert "{date}" in first.wrong
    assert "{{date}}" in first.fix
    assert "did you mean name" in second.fix


def test_C59_inline_templates_are_checked_too(load):
    """The place is the key in the profile, with the line of the text."""
    with pytest.raises(ConfigValidationError, match=r"profile\.yaml:5.*line 2 of the text"):
        load(f"{MINIMAL}\nprompt:\n  system: |\n    Hi\n    {{date}}")


@pytest.mark.parametrize(
    "text",
    [
        "{name.__class__.__mro__}",
        "{name.foo}",
        "{name!r}",
        "{name:>200000000}",
        "{name[0]}",
        "{ name }",
        "{user.name}",
        "{Name}",
    ],
)
def test_C59_attributes_formats_and_conversions_are_refused(text):
    """A placeholder is a name and nothing else."""
    template, faults = parse_template(text)
    assert len(faults) == 1
    assert template.render({"name": "x"}) == text


@pytest.mark.parametrize(
    "text",
    [
        '{"ok": true}',
        '{"a": {"b": {"c": [1, {}]}}}',
        "{}",
        "{0}",
        "a{2,3}",
        "body {color: red}",
        "{",
        "}",
        "a } b { c",
        "{\n}",
        "set {1, 2}",
        "$x^{2}$",
    ],
)
def test_C59_all_other_braces_stay(text):
    """JSON, CSS, TeX and single braces are text."""
    assert rendered(text) == text


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("{{name}}", "{name}"),
        ("{{{name}}}", "{N}"),
        ('{{"ok": true}}', '{"ok": true}'),
        ('{{"a": {"b": 1}}}', '{"a": {"b": 1}}'),
        ('{{"a": {{"b": 1}}}}', '{"a": {"b": 1}}'),
        ('{{"a": {"b": "{name}"}}}', '{"a": {"b": "N"}}'),
        ('{"a": "{name}"}', '{"a": "N"}'),
        ('{"a": {"b": "{name}"}}', '{"a": {"b": "N"}}'),
        ('{"a": {{name}}}', '{"a": {name}}'),
        ("{{ and }}", "{ and }"),
        ("}}", "}"),
        ("{{", "{"),
        ('{"x": "{{"}', '{"x": "{"}'),
        ("{{date}} {{x.y}} {{name:>9}}", "{date} {x.y} {name:>9}"),
    ],
)
def test_double_braces_stand_for_single_ones(text, seen):
    """Escaped braces close their own pair; JSON means what one sees, escaped or not."""
    assert rendered(text, name="N") == seen


def test_C59_values_are_not_expanded_again(load):
    """`{id}` in the traits stays `{id}`."""
    profile = load(
        'id: bot\nname: Helper\ntraits: "{id} {{name}} {x.y}"\nprompt:\n'
        """  system: 'You are {name}. {traits} Reply as {"ok": true}'"""
    )
    expected = 'You are Helper. {id} {{name}} {x.y} Reply as {"ok": true}'
    assert system_prompt(profile) == expected


def test_D049_extra_instructions_come_last_and_python_wins(load):
    """After a blank line, once, from the right source, and not as a template."""
    profile = load(f"{MINIMAL}\nprompt:\n  extra_instructions: 'As JSON {{}} {{name}}.'")
    assert system_prompt(profile) == "You are Helper.\n\nAs JSON {} {name}."
    assert system_prompt(profile, extra="Be {brief}.") == "You are Helper.\n\nBe {brief}."
    assert system_prompt(profile, extra="") == "You are Helper."


def test_extra_instructions_follow_a_file_too(load):
    """Whatever the prompt came from."""
    text = f"{MINIMAL}\nprompt:\n  path: p.md\n  extra_instructions: Last."
    assert system_prompt(load(text, p_DOT_md="Hi\n\n")) == "Hi\n\nLast."


def test_a_profile_made_in_python_has_its_prompt():
    """Without a file the template is parsed on first use."""
    profile = AgentProfile.from_mapping({"id": "a", "name": "b", "prompt": {"system": "I {name}"}})
    assert system_prompt(profile) == "I b"


@pytest.mark.parametrize("unit", ["{", "}", "{{", "}}", "{name", "{a ", "{ ", "{name:", "{x}\n"])
def test_parsing_is_linear(unit):
    """Long runs of anything are taken apart without getting stuck, and lose no text."""
    text = unit * 20_000
    template, _ = parse_template(text)
    assert len(template.render({})) >= len(text) // 2
