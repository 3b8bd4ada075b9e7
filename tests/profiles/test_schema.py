"""The profile file: what loads, what is refused, and how it is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgeward.policies.yaml_file import (
    ConfigError,
    ConfigFileMissing,
    ConfigParseError,
    ConfigValidationError,
)
from edgeward.profiles.schema import AgentProfile, shipped_bundles

MINIMAL = "id: bot\nname: Helper"


def refused(load, text: str) -> str:
    """The message with which a profile of these lines is refused."""
    with pytest.raises(ConfigValidationError) as caught:
        load(text)
    return str(caught.value)


def test_D013_a_file_without_agent_is_a_parse_error_naming_the_file(tmp_path):
    """Without `agent:` at the top the file is not a profile."""
    file = tmp_path / "p.yaml"
    for text in ("id: bot\nname: x\n", "", "- a\n", "agent: 3\n", "agent:\n"):
        file.write_text(text)
        with pytest.raises(ConfigParseError, match=r"p\.yaml"):
            AgentProfile.from_yaml(file)


def test_D013_other_keys_at_the_top_are_refused(tmp_path):
    """A key beside `agent:` is unknown; every one is named with its line."""
    file = tmp_path / "p.yaml"
    file.write_text("agent: {id: a, name: b}\nllm: {}\nextra: 1\n")
    with pytest.raises(ConfigValidationError) as caught:
        AgentProfile.from_yaml(file)
    assert [problem.field for problem in caught.value.problems] == ["llm", "extra"]
    assert "p.yaml:2" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("nmae: x", "nmae"),
        ("llm:\n  modle: x", "agent.llm.modle"),
        ("tools:\n  mcp:\n    - command: x\n      comand: y", "agent.tools.mcp[0].comand"),
        ("memory:\n  history: add", "agent.memory.history"),
        ("prompt:\n  pth: x", "agent.prompt.pth"),
        ("cognitive:\n  max_steps: 3", "agent.cognitive.max_steps"),
        ("rag:\n  enable: true", "agent.rag.enable"),
    ],
)
def test_D014_an_unknown_key_at_any_depth_is_named(load, text, key):
    """A typo is refused with its full path, whatever block it is in."""
    message = refused(load, f"{MINIMAL}\n{text}")
    assert key in message
    assert "extra_forbidden" in message


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('id: ""\nname: x', "string_too_short"),
        ('id: "   "\nname: x', "string_too_short"),
        ('id: x\nname: ""', "string_too_short"),
        ('id: x\nname: " "', "string_too_short"),
        ("name: x", "missing"),
        ("id: x", "missing"),
        ("id: x\nname: y\nage: -1", "greater_than_equal"),
        ("id: x\nname: y\nage: 27.5", "int_type"),
        ("id: x\nname: y\nage: 27.0", "int_type"),
        ('id: x\nname: y\nage: "27"', "int_type"),
        ("id: x\nname: y\nage: true", "int_type"),
        ("id: 42\nname: y", "string_type"),
    ],
)
def test_D015_D039_D040_X22_bad_input_fails_at_load(load, text, kind):
    """Every row of the failure table, and its spirit, is an error of from_yaml."""
    assert kind in refused(load, text)


def test_D015_all_faults_are_told_at_once(load):
    """Three faults make three problems, each with its line."""
    with pytest.raises(ConfigValidationError) as caught:
        load("id: ''\nname: Helper\nage: -1\nllm:\n  provider: opnai")
    assert len(caught.value.problems) == 3
    assert all("profile.yaml:" in problem.where for problem in caught.value.problems)


def test_D016_paths_follow_the_bundle_and_not_the_current_directory(load, tmp_path, monkeypatch):
    """Moving the bundle and changing the directory changes nothing."""
    load(f"{MINIMAL}\nprompt:\n  path: prompts/system.md", prompts__system_DOT_md="Hi {name}")
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    for name in ("profile.yaml", "prompts"):
        (tmp_path / name).rename(moved / name)
    monkeypatch.chdir("/")
    profile = AgentProfile.from_yaml(moved / "profile.yaml")
    assert profile.template is not None
    assert profile.template.render({"name": "X"}) == "Hi X"
    assert profile.base_dir == moved.resolve()
    assert profile.storage_dir == moved.resolve() / "memory"
    assert profile.resolve("rag_corpus") == moved.resolve() / "rag_corpus"


def test_D016_a_relative_profile_path_still_has_an_absolute_folder(load, tmp_path, monkeypatch):
    """The folder is fixed at load, whatever the current directory is later."""
    load(MINIMAL)
    monkeypatch.chdir(tmp_path)
    profile = AgentProfile.from_yaml("profile.yaml")
    monkeypatch.chdir("/")
    assert profile.base_dir == tmp_path.resolve()


def test_D017_loading_creates_nothing(load, tmp_path):
    """No memory folder, no cache, no log appears by loading."""
    load(MINIMAL)
    assert [file.name for file in tmp_path.iterdir()] == ["profile.yaml"]


def test_D018_three_bad_inputs_give_three_classes_under_one(tmp_path):
    """Missing, unparsable and invalid are told apart, and all are ConfigError."""
    (tmp_path / "broken.yaml").write_text("agent: [")
    (tmp_path / "invalid.yaml").write_text("agent: {id: a}")
    kinds = set()
    for name in ("none.yaml", "broken.yaml", "invalid.yaml"):
        with pytest.raises(ConfigError) as caught:
            AgentProfile.from_yaml(tmp_path / name)
        kinds.add(type(caught.value))
    assert kinds == {ConfigFileMissing, ConfigParseError, ConfigValidationError}


def test_D019_a_blank_key_counts_as_omitted(load):
    """`traits:` and whole blank blocks give their defaults."""
    profile = load(
        f"{MINIMAL}\nage:\ntraits:\nllm:\ncognitive:\n  planning_horizon:\nmemory:\nrag:\ntools:\n"
        "  skills:\n  mcp:\n    - command: uvx\n      args:\n      env:\n        TOKEN: ''\nprompt:"
    )
    assert profile.age is None
    assert profile.traits == ""
    assert profile.memory.context_limit == 128_000
    assert "memory" not in profile.model_fields_set
    assert "planning_horizon" not in profile.cognitive.model_fields_set
    assert profile.tools.mcp[0].args == []
    with pytest.raises(ConfigValidationError, match="missing"):
        load("id:\nname: x")


def test_an_unknown_key_is_refused_also_where_nothing_stands_behind_it(load):
    """A misspelt key whose value is still to come would be passed over for good."""
    for text in ("colour:", "cognitive:\n  max_stpes:", "tools:\n  mcp: [{command: x, cmd: }]"):
        with pytest.raises(ConfigValidationError, match="unknown key"):
            load(f"{MINIMAL}\n{text}")


def test_D020_only_id_and_name_are_needed(load):
    """A minimal profile loads, with every documented default."""
    profile = load(MINIMAL)
    assert (profile.cognitive.max_steps_per_cycle, profile.cognitive.reflection_threshold) == (
        10,
        5,
    )
    assert profile.cognitive.importance_threshold == 7
    assert profile.cognitive.planning_horizon == "1 day"
    memory = profile.memory
    assert memory.is_retrieve is True
    assert memory.history_mode == "add"
    assert memory.search_limit == 10
    assert memory.ignore_roles == ["tool", "system"]
    assert memory.ignore_fields == ["reasoning_content"]
    assert memory.context_limit == 128_000
    assert (memory.prune_protect, memory.prune_minimum) == (40_000, 20_000)
    assert memory.reserved_buffer == 20_000
    assert memory.enable_summary is True
    rag = profile.rag
    assert (rag.enabled, rag.documents_dir, rag.storage_dir) == (False, "rag_corpus", "rag_index")
    assert rag.embedding_provider == "openai"
    assert (rag.chunk_size, rag.chunk_overlap, rag.top_k) == (512, 50, 5)
    assert (rag.score_threshold, rag.retrieve_only, rag.use_huggingface) == (0.0, True, False)
    tools = profile.tools
    assert (tools.skills, tools.mcp, tools.python) == ([], [], [])
    assert (tools.allow_skill_execution, tools.skill_execution_timeout) == (False, 300)


def test_D039_white_space_around_id_and_name_does_not_count(load):
    """They are kept without it."""
    profile = load('id: " bot "\nname: " Helper "')
    assert (profile.id, profile.name) == ("bot", "Helper")


@pytest.mark.parametrize("bad", ["../../escaped", "a/b", "a\\\\b", "..", ".hidden", "C:x", "a\\nb"])
def test_D042_an_id_that_would_leave_its_folder_is_refused(load, bad):
    """The id names files: no separators, no dots at the ends, no control characters."""
    assert "file name" in refused(load, f'id: "{bad}"\nname: x')


@pytest.mark.parametrize(
    "text",
    [
        "max_steps_per_cycle: 0",
        "max_steps_per_cycle: '3'",
        "max_steps_per_cycle: 2.0",
        "reflection_threshold: 0",
        "importance_threshold: 0.5",
        "importance_threshold: 10.1",
        "importance_threshold: '7'",
        "planning_horizon: ' '",
    ],
)
def test_D051_D054_D055_cognitive_ranges(load, text):
    """Values outside the documented ranges are refused by name."""
    key = text.split(":")[0]
    assert f"agent.cognitive.{key}" in refused(load, f"{MINIMAL}\ncognitive:\n  {text}")


def test_D055_a_whole_number_is_a_threshold(load):
    """`importance_threshold: 7` is as good as 7.0."""
    profile = load(f"{MINIMAL}\ncognitive:\n  importance_threshold: 5")
    assert profile.cognitive.importance_threshold == 5


@pytest.mark.parametrize(
    "text",
    [
        "history_mode: append",
        "search_limit: 0",
        "context_limit: 1023",
        "prune_protect: -1",
        "prune_minimum: -1",
        "reserved_buffer: -1",
        "ignore_roles: tool",
        "enable_summary: 'maybe'",
        "context_limit: 2048\n  reserved_buffer: 2048",
    ],
)
def test_D056_D057_D059_D060_D061_memory_ranges(load, text):
    """Values outside the documented ranges are refused."""
    assert "agent.memory" in refused(load, f"{MINIMAL}\nmemory:\n  {text}")


@pytest.mark.parametrize(
    "text",
    [
        "default_importance: 0.5",
        "scoring: {similarity: 0.55}",
        "tier_limits: {working_ttl_seconds: 3600}",
        "consolidation: {enabled: true}",
    ],
)
def test_D069_tiers_and_their_consolidation_are_refused_and_not_passed_over(load, text):
    """Nothing is forgotten or moved by a model's rating here: whoever wrote such a key is told."""
    key = text.partition(":")[0]
    assert f"agent.memory.{key}: unknown key" in refused(load, f"{MINIMAL}\nmemory:\n  {text}")


def test_memory_defaults_shrink_with_a_small_context(load):
    """A small context limit alone is valid: the buffers below it follow."""
    memory = load(f"{MINIMAL}\nmemory:\n  context_limit: 1024").memory
    assert memory.reserved_buffer < memory.context_limit
    assert memory.prune_protect + memory.reserved_buffer <= memory.context_limit


@pytest.mark.parametrize(
    "text",
    [
        "embedding_provider: cohere",
        "embedding_dims: 0",
        "chunk_size: 0",
        "chunk_overlap: -1",
        "chunk_size: 10\n  chunk_overlap: 10",
        "top_k: 0",
        "score_threshold: 1.1",
        "score_threshold: -0.1",
        "use_huggingface: 1",
    ],
)
def test_D082_D084_D085_rag_ranges(load, text):
    """Other words and values are refused, overlap beyond the chunk too."""
    assert "agent.rag" in refused(load, f"{MINIMAL}\nrag:\n  {text}")


def test_D083_embedding_fields_load_and_the_key_is_not_shown(load):
    """Each field may be set alone; the embedder's key stays out of the profile's repr."""
    profile = load(f"{MINIMAL}\nrag:\n  embedding: m\n  embedding_api_key: sk-embedder-secret")
    assert profile.rag.embedding == "m"
    assert profile.rag.embedding_base_url is None
    assert "sk-embedder-secret" not in repr(profile)


@pytest.mark.parametrize(
    "server",
    [
        "command: a\n      url: http://x.example",
        "args: []",
        "url: http://x.example",
        "transport: sse\n      command: a",
        "transport: http\n      url: http://x.example",
        "command: a\n      include: [x]\n      exclude: [y]",
        "command: a\n      timeout: 0",
        "command: a\n      args: x",
    ],
)
def test_mcp_servers_have_one_way_in(load, server):
    """Command xor url, each with its transport; include xor exclude."""
    text = f"{MINIMAL}\ntools:\n  mcp:\n    - {server}"
    assert "agent.tools.mcp[0]" in refused(load, text)


def test_mcp_secrets_are_not_shown(load):
    """Headers and environment of a server are no part of the repr."""
    profile = load(
        f"{MINIMAL}\ntools:\n  mcp:\n    - transport: sse\n      url: http://x.example\n"
        "      headers: {Authorization: Bearer secret-token}"
    )
    assert "secret-token" not in repr(profile)


@pytest.mark.parametrize("entry", ["calc.py", "calc.py:", ":f", "a.py:f g", "a.py:1f"])
def test_D113_a_python_entry_has_a_form(load, entry):
    """An entry that is no `source:function` is refused at load."""
    assert "agent.tools.python" in refused(load, f"{MINIMAL}\ntools:\n  python: ['{entry}']")


def test_a_folder_means_its_profile(load, tmp_path):
    """A bundle's folder can be named instead of the file in it."""
    load(MINIMAL)
    assert AgentProfile.from_yaml(tmp_path).id == "bot"
    assert AgentProfile.from_yaml(str(tmp_path)).id == "bot"


def test_a_shipped_name_means_the_shipped_bundle(tmp_path, monkeypatch):
    """A folder of the same name in the current directory cannot take its place."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "assistant").mkdir()
    (tmp_path / "assistant" / "profile.yaml").write_text("agent: {id: evil, name: Evil}\n")
    assert "assistant" in shipped_bundles()
    assert AgentProfile.from_yaml("assistant").id != "evil"
    assert AgentProfile.from_yaml("./assistant").id == "evil"


def test_a_misspelt_shipped_name_is_corrected():
    """The error lists the names and offers the nearest."""
    with pytest.raises(ConfigFileMissing, match="did you mean assistant"):
        AgentProfile.from_yaml("asistant")


def test_a_folder_without_a_profile_is_told_as_one(tmp_path, monkeypatch):
    """Not as a name that nobody knows: what is missing is the file in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    with pytest.raises(ConfigFileMissing, match=r"mine/profile\.yaml: there is no such file"):
        AgentProfile.from_yaml("mine")


def test_a_profile_from_data_is_as_strict(tmp_path):
    """from_mapping takes the same mapping, and refuses the same things."""
    profile = AgentProfile.from_mapping({"id": "a", "name": "b"}, base_dir=tmp_path)
    assert profile.base_dir == tmp_path.resolve()
    with pytest.raises(ConfigValidationError):
        AgentProfile.from_mapping({"id": "a", "name": "b", "age": "3"})


def test_a_key_in_a_faulty_profile_is_never_shown(load):
    """The message names the place of the fault, not what stands there."""
    message = refused(load, f"{MINIMAL}\nllm:\n  api_key: [sk-proj-TESTTESTTESTTESTTEST]")
    assert "agent.llm.api_key" in message
    assert "TESTTEST" not in message


def test_readme_example_loads_whole():
    """Every key of the documented blocks is known."""
    profile = AgentProfile.from_mapping(
        {
            "id": "agent_001",
            "name": "Nova Patel",
            "age": 27,
            "traits": "...",
            "backstory": "...",
            "initial_plan": "...",
            "llm": {"provider": "deepseek", "model": "x", "base_url": "https://a.example"},
            "cognitive": {"max_steps_per_cycle": 10, "planning_horizon": "1 day"},
            "tools": {"mcp": [{"command": "uvx", "args": ["a"], "env": {"DEBUG": "1"}}]},
        },
        base_dir=Path("/"),
    )
    assert profile.llm.provider == "deepseek"
