"""The provider table, and where each of the model's settings comes from."""

from __future__ import annotations

import importlib.util
import itertools
import pickle

import pytest

from edgeward.policies.yaml_file import ConfigError, ConfigValidationError
from edgeward.profiles.llm import (
    PROVIDERS,
    LLMBlock,
    LLMConfigError,
    LLMProviderError,
    build_model,
    read_env,
    resolve_llm,
)

KEY = "sk-proj-TESTTESTTESTTESTTEST"
MINIMAL = "id: bot\nname: Helper"

DOCUMENTED = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "deepseek": "https://api.deepseek.com/v1",
    "qwen": "https://dashscope.aliyuncs.com/compatible-mode/v1",
    "google": "https://generativelanguage.googleapis.com/v1beta/openai",
    "vllm": "http://localhost:8000/v1",
}


def test_D021_any_subset_of_the_block_loads(load):
    """All four fields are optional, alone or together."""
    fields = ["provider: qwen", "model: m", "base_url: https://x.example", "api_key: k"]
    for size in range(5):
        for chosen in itertools.combinations(fields, size):
            load(f"{MINIMAL}\nllm:\n" + "".join(f"  {field}\n" for field in chosen))


TIERS = {
    "model": ("LLM_MODEL_ID", "DEEPSEEK_MODEL", None),
    "base_url": ("LLM_BASE_URL", "DEEPSEEK_BASE_URL", "https://api.deepseek.com/v1"),
    "api_key": ("LLM_API_KEY", "DEEPSEEK_API_KEY", None),
}


@pytest.mark.parametrize("field", TIERS)
@pytest.mark.parametrize("blank", [None, "", "  ", "\t\n"])
@pytest.mark.parametrize("tier", range(4))
def test_D022_D023_each_field_is_looked_up_on_its_own(field, tier, blank):
    """Four tiers, the first filled one wins; blank in a tier above does not hide it."""
    shared, own, default = TIERS[field]
    given = [f"https://tier{n}.example" for n in range(3)]
    values = [blank] * tier + given[tier:]
    env = {
        "LLM_MODEL_ID": "m",
        "LLM_API_KEY": "k",
        shared: values[1] or "",
        own: values[2] or "",
    }
    block = LLMBlock.model_validate({"provider": "deepseek", field: values[0]}, strict=False)
    if tier == 3 and default is None:
        with pytest.raises(LLMConfigError) as caught:
            resolve_llm(block, env)
        message = str(caught.value)
        assert f"llm.{field}" in message
        assert shared in message
        assert own in message
        return
    settings = resolve_llm(block, env)
    found = getattr(settings, field)
    found = found.get_secret_value() if field == "api_key" else found
    assert found == (given[tier] if tier < 3 else default)
    assert dict(settings.sources)[field] == ("profile", shared, own, "default")[tier]


def test_D023_a_blank_provider_does_not_hide_the_environment(load):
    """`provider: "  "` is unset, not unknown."""
    profile = load(f'{MINIMAL}\nllm:\n  provider: "  "\n  model: m')
    env = {"AGENT_LAB_LLM_PROVIDER": " qwen ", "QWEN_API_KEY": f" {KEY} "}
    settings = resolve_llm(profile.llm, env)
    assert (settings.provider, settings.api_key.get_secret_value()) == ("qwen", KEY)


def test_D024_the_environment_alone_picks_the_adapter():
    """And the profile's provider beats it."""
    env = {"AGENT_LAB_LLM_PROVIDER": "anthropic", "LLM_API_KEY": "k", "LLM_MODEL_ID": "m"}
    assert PROVIDERS[resolve_llm(LLMBlock(), env).provider].adapter == "anthropic"
    assert resolve_llm(LLMBlock(provider="qwen"), env).provider == "qwen"


def test_D025_the_documented_example_resolves_to_its_four_values():
    """The DeepSeek example of the reference."""
    env = {
        "LLM_API_KEY": "sk-shared",
        "DEEPSEEK_API_KEY": "sk-deepseek",
        "DEEPSEEK_BASE_URL": "https://api.deepseek.com/v1",
        "DEEPSEEK_MODEL": "deepseek-chat",
    }
    settings = resolve_llm(LLMBlock(provider="deepseek", model="deepseek-reasoner"), env)
    assert settings.provider == "deepseek"
    assert settings.model == "deepseek-reasoner"
    assert settings.base_url == "https://api.deepseek.com/v1"
    assert settings.api_key.get_secret_value() == "sk-shared"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_D026_every_provider_has_its_address(provider):
    """The documented defaults, and one for each further provider."""
    env = {"LLM_API_KEY": "k", "LLM_MODEL_ID": "m"}
    settings = resolve_llm(LLMBlock(provider=provider), env)
    if provider in DOCUMENTED:
        assert settings.base_url == DOCUMENTED[provider]
    assert settings.base_url or provider in ("scripted", "local")


def test_D026_X22_an_unknown_provider_is_refused(load):
    """In the profile at load, in the environment when it is read; both with the nearest name."""
    with pytest.raises(ConfigValidationError, match="did you mean openai"):
        load(f"{MINIMAL}\nllm:\n  provider: opnai")
    with pytest.raises(LLMConfigError, match="did you mean deepseek"):
        resolve_llm(LLMBlock(), {"AGENT_LAB_LLM_PROVIDER": "deepsek"})
    with pytest.raises(LLMConfigError, match="AGENT_LAB_LLM_PROVIDER"):
        resolve_llm(LLMBlock(), {})


def test_D027_two_adapters_serve_all():
    """Anthropic has its own; every other service speaks OpenAI's language."""
    adapters = {name: row.adapter for name, row in PROVIDERS.items()}
    assert adapters.pop("anthropic") == "anthropic"
    assert adapters.pop("scripted") == "scripted"
    assert adapters.pop("local") == "local"
    assert set(adapters.values()) == {"openai"}


def test_D029_dotenv_comes_from_the_current_directory(tmp_path, monkeypatch):
    """It is found where one runs Python, it fills gaps, and it is not put into os.environ."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text(f"QWEN_API_KEY={KEY}\nQWEN_MODEL=file\nBLANK_HERE=x\n")
    process = {"QWEN_MODEL": "process", "BLANK_HERE": " "}
    env = read_env(environ=process)
    assert env["QWEN_API_KEY"] == KEY
    assert env["QWEN_MODEL"] == "process"
    assert env["BLANK_HERE"] == "x"
    read_env()
    import os

    assert "QWEN_API_KEY" not in os.environ
    assert read_env(load_env=False, environ=process) == process


def test_D029_another_file_can_be_named(tmp_path, monkeypatch):
    """dotenv_path must exist then; a folder called .env in the current directory is no file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").mkdir()
    assert read_env(environ={"A": "b"}) == {"A": "b"}
    other = tmp_path / "prod.env"
    other.write_text("A=c\nB=d\n")
    assert read_env(dotenv_path=other, environ={"A": "b"}) == {"A": "b", "B": "d"}
    with pytest.raises(LLMConfigError, match="no such file"):
        read_env(dotenv_path=tmp_path / "none.env", environ={})
    other.write_bytes(b"A=\xff\xff")
    with pytest.raises(LLMConfigError, match="UTF-8"):
        read_env(dotenv_path=other, environ={})


def test_D032_vllm_and_ollama_need_no_key():
    """The conventional literal stands in."""
    assert (
        resolve_llm(LLMBlock(provider="vllm", model="m"), {}).api_key.get_secret_value() == "EMPTY"
    )
    assert resolve_llm(LLMBlock(provider="ollama", model="m"), {}).model == "m"


def test_C58_all_missing_settings_are_named_at_once():
    """And never a setting of another provider."""
    with pytest.raises(LLMConfigError) as caught:
        resolve_llm(LLMBlock(provider="deepseek"), {"OPENAI_API_KEY": KEY, "OPENAI_MODEL": "m"})
    message = str(caught.value)
    assert len(caught.value.problems) == 2
    assert "DEEPSEEK_API_KEY" in message
    assert "DEEPSEEK_MODEL" in message
    assert "OPENAI" not in message


def test_an_override_names_provider_and_model():
    """It beats the profile; the model's name may hold colons."""
    block = LLMBlock(
        provider="openai", model="gpt-4o", api_key="sk-openai", base_url="https://o.example"
    )
    settings = resolve_llm(block, {}, model_override="ollama:llama3:8b")
    assert (settings.provider, settings.model) == ("ollama", "llama3:8b")


def test_an_override_does_not_send_the_profiles_key_to_another_provider():
    """Key and address of the profile belong to the profile's provider."""
    block = LLMBlock(provider="openai", api_key="sk-openai", base_url="https://o.example")
    settings = resolve_llm(block, {"QWEN_API_KEY": "k"}, model_override="qwen:m")
    assert settings.api_key.get_secret_value() == "k"
    assert settings.base_url == DOCUMENTED["qwen"]
    same = resolve_llm(block, {}, model_override="openai:m")
    assert same.api_key.get_secret_value() == "sk-openai"


@pytest.mark.parametrize("text", ["gpt-4o", "opnai:m", ":m", "openai:", "https://x"])
def test_an_override_without_its_form_is_refused(text):
    """PROVIDER:NAME, and a known provider."""
    with pytest.raises(LLMConfigError, match="PROVIDER:NAME"):
        resolve_llm(LLMBlock(provider="openai"), {}, model_override=text)


@pytest.mark.parametrize(
    "url", ["ftp://x.example", "x.example/v1", "https://", "http://[::1", "https://u:pw@x.example"]
)
def test_an_address_that_is_none_is_refused_without_quoting_it(url):
    """Also one that holds a password."""
    with pytest.raises(LLMConfigError, match=r"llm\.base_url") as caught:
        resolve_llm(LLMBlock(provider="openai", model="m", api_key="k", base_url=url), {})
    assert "pw" not in str(caught.value)


@pytest.mark.parametrize("key", ["sk-abc def", "sk-\u2019abc", "sk\nabc"])
def test_a_key_that_no_header_takes_is_refused_without_quoting_it(key):
    """The package's own complaint would quote it."""
    with pytest.raises(LLMConfigError, match=r"llm\.api_key") as caught:
        resolve_llm(LLMBlock(provider="openai", model="m", api_key=key), {})
    assert "abc" not in str(caught.value)


def test_C16_no_key_in_repr_of_profile_or_settings(load):
    """What is printed, logged or shown in a traceback holds no key."""
    profile = load(f"{MINIMAL}\nllm:\n  provider: openai\n  model: m\n  api_key: {KEY}")
    settings = resolve_llm(profile.llm, {})
    assert settings.api_key.get_secret_value() == KEY
    for shown in (repr(profile), str(profile), repr(settings), profile.model_dump_json()):
        assert KEY not in shown


def test_a_missing_package_is_named(monkeypatch):
    """The message is the command that helps."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    for provider, extra in (("deepseek", "openai"), ("anthropic", "anthropic")):
        settings = resolve_llm(LLMBlock(provider=provider, model="m", api_key="k"), {})
        with pytest.raises(LLMConfigError, match=rf"pip install 'edgeward\[{extra}\]'"):
            build_model(settings)


def test_the_scripted_provider_needs_nothing():
    """It answers without key, network or package."""
    model = build_model(resolve_llm(LLMBlock(provider="scripted"), {}))
    assert model.invoke("Hello").text == "You said: Hello"


def test_D037_errors_have_their_kinds():
    """Configuration is a ConfigError; a provider's error keeps its status, pickled too."""
    assert issubclass(LLMConfigError, ConfigError)
    error = pickle.loads(pickle.dumps(LLMProviderError("no", provider="x", status=429)))
    assert (str(error), error.provider, error.status) == ("no", "x", 429)


def test_settings_are_frozen():
    """They are shared by whoever builds a model from them."""
    settings = resolve_llm(LLMBlock(provider="vllm", model="m"), {})
    with pytest.raises(AttributeError):
        settings.model = "other"


@pytest.mark.parametrize(
    "text",
    [
        "temperature: '0.5'",
        "temperature: 3",
        "max_tokens: 0",
        "timeout_s: 0",
        "max_retries: -1",
        "model: 4",
    ],
)
def test_numbers_of_the_block_are_strict(load, text):
    """Text is never taken for a number, and ranges hold."""
    with pytest.raises(ConfigValidationError, match=r"agent\.llm"):
        load(f"{MINIMAL}\nllm:\n  {text}")


def test_importing_the_settings_loads_no_vendor_package():
    """The SDKs come with the first model."""
    import subprocess
    import sys

    code = (
        "import sys, edgeward.profiles.schema, edgeward.profiles.llm;"
        "bad = {'openai', 'anthropic', 'langchain_openai', 'langchain_anthropic'};"
        "print(sorted(bad & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
