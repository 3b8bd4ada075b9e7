"""The file of a local model: by path, out of a cache, fetched where the profile says so."""

from __future__ import annotations

import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from edgeward import AgentConfig, ReActAgent
from edgeward.profiles.llm import (
    LLMConfigError,
    LLMProviderError,
)
from edgeward.profiles.local_engine import digest_of

pytest.importorskip("xllamacpp", reason="the extra `local` is not installed", exc_type=ImportError)


def test_a_file_that_is_not_there_is_told_at_build(made, tmp_path):
    """With its path and what to do, before any question."""
    with pytest.raises(LLMConfigError, match=r"there is no file .*none\.gguf"):
        made(tmp_path / "none.gguf")


def test_a_file_that_is_no_model_is_told_at_build(made, tmp_path):
    """Whatever its name says."""
    (tmp_path / "notes.gguf").write_text("hello")
    with pytest.raises(LLMConfigError, match="is no GGUF file"):
        made(tmp_path / "notes.gguf")


def test_a_damaged_model_is_told_at_the_first_question(made, weights, tmp_path):
    """The package says no more than that it failed."""
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(weights.read_bytes()[:9000])
    with pytest.raises(LLMProviderError, match=r"broken\.gguf cannot be loaded"):
        made(broken).invoke("hello")


def test_the_hash_in_the_profile_is_checked(made, weights):
    """Another file under the same name is not run."""
    good = digest_of(weights)
    assert made(max_tokens=4, local={"sha256": good}).invoke("hello").text
    with pytest.raises(LLMProviderError, match="sha256"):
        made(local={"sha256": "0" * 64}).invoke("hello")


def test_a_relative_path_is_the_profile_s(weights, tmp_path, monkeypatch):
    """Relative to its folder, not to the current one."""
    (tmp_path / "tiny.gguf").write_bytes(weights.read_bytes())
    (tmp_path / "profile.yaml").write_text(
        "agent:\n  id: bot\n  name: Helper\n"
        "  llm: {provider: local, model: tiny.gguf, max_tokens: 4}"
    )
    monkeypatch.chdir("/")
    with ReActAgent(AgentConfig(profile=tmp_path)) as agent:
        assert agent.run_sync("hello").final_answer


@pytest.mark.parametrize("where", ["hub", "home", "ours"])
def test_an_hf_model_is_found_in_a_cache(made, weights, tmp_path, monkeypatch, where):
    """In the hub tool's, by branch; or in ours. No network."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    if where == "ours":
        file = Path(os.environ["EDGEWARD_HOME"]) / "models/acme/tiny/main/q4/tiny.gguf"
    else:
        hub = tmp_path / "hf/hub"
        if where == "home":
            hub = tmp_path / "elsewhere"
            monkeypatch.setenv("HF_HUB_CACHE", str(hub))
        (hub / "models--acme--tiny/refs").mkdir(parents=True)
        (hub / "models--acme--tiny/refs/main").write_text("abc123")
        file = hub / "models--acme--tiny/snapshots/abc123/q4/tiny.gguf"
    file.parent.mkdir(parents=True)
    file.write_bytes(weights.read_bytes())
    assert made("hf:acme/tiny/q4/tiny.gguf", max_tokens=4).invoke("hello").text


def test_an_hf_model_that_is_not_there_is_not_fetched_unasked(made, monkeypatch, tmp_path):
    """The message is the command that helps, and the key that allows it."""
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    with pytest.raises(LLMConfigError) as caught:
        made("hf:acme/tiny/tiny.gguf")
    assert "hf download acme/tiny tiny.gguf" in str(caught.value)
    assert "llm.local.download: true" in str(caught.value)


@pytest.mark.parametrize(
    "name",
    ["hf:", "hf:acme", "hf:acme/tiny", "hf:acme/tiny/x.bin", "hf:../x/y.gguf", "hf:a/b/../c.gguf"],
)
def test_a_reference_without_its_form_is_refused(made, name):
    """OWNER/NAME/FILE.gguf, and no way out of the cache."""
    with pytest.raises(LLMConfigError, match="hf:OWNER/NAME/FILE"):
        made(name)


@pytest.fixture
def hub(weights: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """A hub on this machine; it has one model."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Keep quiet."""

        def do_GET(self) -> None:
            asked.append(self.path)
            found = self.path == "/acme/tiny/resolve/v1/tiny.gguf"
            body = weights.read_bytes() if found else b"no"
            self.send_response(200 if found else 404)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    yield asked
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_model_is_fetched_where_the_profile_says_so(made, hub):
    """Once; then it is on this machine."""
    for _ in range(2):
        model = made("hf:acme/tiny@v1/tiny.gguf", max_tokens=4, local={"download": True})
        assert model.invoke("hello").text
    assert hub == ["/acme/tiny/resolve/v1/tiny.gguf"]


@pytest.mark.parametrize(
    ("name", "sha256", "told"),
    [
        ("hf:acme/none/tiny.gguf", None, "the hub answered 404"),
        ("hf:acme/tiny@v1/tiny.gguf", "0" * 64, "another sha256"),
    ],
)
def test_what_cannot_be_fetched_leaves_nothing_behind(made, hub, name, sha256, told):
    """Neither half a file nor a wrong one."""
    with pytest.raises(LLMConfigError, match=told):
        made(name, local={"download": True, "sha256": sha256})
    kept = Path(os.environ["EDGEWARD_HOME"])
    assert [path for path in kept.rglob("*") if path.is_file()] == []


def test_offline_a_fetch_is_told_as_what_it_is(made, monkeypatch, tmp_path):
    """The hub cannot be reached, and what can be done without it."""
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    with pytest.raises(LLMConfigError, match="cannot be reached"):
        made("hf:acme/tiny/tiny.gguf", local={"download": True})
