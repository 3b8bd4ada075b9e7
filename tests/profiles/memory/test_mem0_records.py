"""mem0 on a Qdrant server: several processes, one memory, and still one scope at a time."""

from __future__ import annotations

import logging

import pytest

from edgeward.policies.problems import ConfigError
from edgeward.profiles.memory.memory import Mem0Memory, MemoryBackendConfig
from edgeward.profiles.memory.records import Note, Scope
from edgeward.profiles.schema import AgentProfile
from tests.fakes import WordEmbedder
from tests.wire.qdrant import qdrant

from .conftest import ALICE, BOB, said

KEY = "qdrant-TESTTESTTESTTEST"

pytestmark = pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")


@pytest.fixture
def server():
    """A server and its address."""
    with qdrant() as running:
        yield running


def memory(folder, url, *, embedder=None, by="profile", **block):
    """A memory on the server, whose folder is its own."""
    folder.mkdir(exist_ok=True)
    given = {"qdrant_url": url, "qdrant_api_key": KEY} if by == "profile" else {}
    profile = AgentProfile.from_mapping(
        {"id": "bot", "name": "B", "memory": {**given, **block}}, base_dir=folder
    )
    env = {"MEMORY_QDRANT_URL": url, "MEMORY_QDRANT_API_KEY": KEY} if by == "env" else {}
    backend = MemoryBackendConfig(qdrant_url=url, qdrant_api_key=KEY) if by == "python" else None
    return Mem0Memory(profile, embedder=embedder or WordEmbedder(), env=env, backend=backend)


def test_a_server_here_is_known_by_the_environment_s_certificates(tmp_path, monkeypatch):
    """As one elsewhere is, though no proxy is asked for it; what cannot be read is named."""
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    with pytest.raises(ConfigError, match="SSL_CERT_FILE: names certificates that cannot"):
        memory(tmp_path / "a", "https://127.0.0.1:9").add([Note("x", "outcome")], ALICE)


def texts(found):
    """What records say."""
    return [record.note.text for record in found]


@pytest.mark.parametrize("by", ["profile", "env", "python"])
def test_C37_two_holders_share_a_server(tmp_path, server, by):
    """What one keeps the other finds, each with a folder of its own, whoever names the server."""
    wire, url = server
    with memory(tmp_path / "a", url, by=by) as one, memory(tmp_path / "b", url, by=by) as two:
        note = Note("the tea is here", "outcome", sources=("tool find",), trust="untrusted")
        (key,) = one.add([note], ALICE)
        (found,) = two.search_records("where is the tea", scope=ALICE)
        assert (found.id, found.note) == (key, note)
        assert texts(two.records(ALICE)) == ["the tea is here"]
        assert not (tmp_path / "a" / "memory" / "vectors.db").exists()
        assert KEY not in repr(one.block)
        assert KEY in one.secrets.values()
    assert KEY in wire.keys


def test_C37_a_server_takes_no_lock(tmp_path, server):
    """Two holders of one folder are fine where the records are not in it."""
    _, url = server
    first = memory(tmp_path, url)
    first.add([said("tea")], ALICE)
    from edgeward.profiles.memory.storage import Storage

    other = Storage(first.folder.resolve(), alone=False)
    other.close()
    first.close()


def test_C49_D064_scopes_do_not_meet_on_a_server(tmp_path, server):
    """Search, list, delete and roll-back look at one scope."""
    _, url = server
    with memory(tmp_path, url, history_mode="overwrite") as shared:
        (mine,) = shared.add([said("the tea is mine")], ALICE, block="task")
        shared.add([said("the tea is theirs")], BOB, block="task")
        for other in (BOB, Scope("bot"), Scope("bot", "*"), Scope("*", "alice")):
            assert "the tea is mine" not in texts(shared.search_records("tea mine", scope=other))
            assert "the tea is mine" not in texts(shared.records(other))
            assert shared.forget(other, [mine]) == 0
        shared.add([said("another tea")], ALICE, block="task")
        assert texts(shared.records(ALICE)) == ["another tea"]
        assert shared.rollback(ALICE, block="task")
        assert texts(shared.records(ALICE)) == ["the tea is mine"]
        assert shared.forget(ALICE) == 1
        assert texts(shared.records(BOB)) == ["the tea is theirs"]


def test_D034_C20_another_embedder_on_a_server_is_refused(tmp_path, server):
    """Its collection keeps what it has; the error names both."""
    _, url = server
    with memory(tmp_path, url, embedder=WordEmbedder(16, "small")) as first:
        first.add([said("tea")], ALICE)
    with (
        memory(tmp_path, url, embedder=WordEmbedder(32, "large")) as second,
        pytest.raises(
            ValueError, match="vectors of small with 16 numbers each, and large gives 32"
        ),
    ):
        second.add([said("ale")], ALICE)
    with (
        memory(tmp_path, url, embedder=WordEmbedder(16, "other")) as third,
        pytest.raises(ValueError, match="vectors of small"),
    ):
        third.search_records("tea", scope=ALICE)


def test_it_asks_nobody_for_models(tmp_path, server, caplog):
    """No warning of mem0's about models that it would fetch, on the server neither."""
    _, url = server
    with memory(tmp_path, url) as shared, caplog.at_level(logging.WARNING):
        shared.add([said("tea")], ALICE)
        shared.search_records("tea", scope=ALICE)
    assert caplog.records == []


def test_a_server_that_is_gone_is_an_error_not_a_hang(tmp_path):
    """Nobody listens: it is said, and no record is lost elsewhere."""
    with (
        memory(tmp_path, "http://127.0.0.1:9") as nobody,
        pytest.raises(Exception, match="refused"),
    ):
        nobody.add([said("tea")], ALICE)
