"""The memory itself: what is kept, for whom, what replaces what, and what another process sees."""

from __future__ import annotations

import json
import os
import pickle
import sqlite3
import subprocess
import sys
import threading

import pytest

from edgeward.extras import MissingExtra
from edgeward.profiles.embedding import EmbeddingConfigError, EmbeddingError
from edgeward.profiles.memory.memory import Mem0Memory, MemoryBackendConfig
from edgeward.profiles.memory.records import Note, Scope
from edgeward.profiles.memory.storage import MemoryLocked
from edgeward.profiles.memory.vectors import StoreMismatch
from edgeward.profiles.minilm import LocalEmbedder
from edgeward.profiles.schema import AgentProfile
from tests.fakes import WordEmbedder
from tests.wire.embeddings import vectors

from .conftest import ALICE, BOB, said

KEY = "sk-proj-TESTTESTTESTTESTTEST"

PROBE = """
import sys
from edgeward.profiles.memory.memory import Mem0Memory
from edgeward.profiles.schema import AgentProfile
profile = AgentProfile.from_mapping({"id": "bot", "name": "B", "memory": {}}, base_dir=sys.argv[1])
Mem0Memory(profile, env={}).close()
"""


def texts(found):
    """What records say."""
    return [record.note.text for record in found]


def test_what_was_kept_is_found_again_by_another(make):
    """Closed and opened anew, a record is found with all that belongs to it."""
    memory = make()
    note = Note("The tea is in the cupboard", "outcome", sources=("tool find",), thread="t1")
    (key,) = memory.add([note], ALICE)
    memory.close()
    (found,) = make().search_records("where is the tea", scope=ALICE)
    assert (found.id, found.note) == (key, note)
    assert found.created_at


def test_D059_a_search_gives_at_most_the_limit(make):
    """Asking for 20 gives what `search_limit` allows, asking for fewer gives fewer."""
    memory = make(search_limit=4)
    memory.add([said(f"tea number {n}") for n in range(9)], ALICE)
    assert len(memory.search_records("tea", scope=ALICE, top_k=20)) == 4
    assert len(memory.search_records("tea", scope=ALICE, top_k=2)) == 2
    assert memory.search_records("  ", scope=ALICE) == []


def test_D058_add_keeps_every_copy(make):
    """The same run twice is stored twice."""
    memory = make(history_mode="add")
    for _ in range(2):
        memory.add([said("the same words")], ALICE, block="task")
    assert texts(memory.records(ALICE)) == ["the same words"] * 2
    with pytest.raises(ValueError, match="history_mode: overwrite"):
        memory.rollback(ALICE)


def test_D058_overwrite_keeps_the_current_state(make):
    """The same run twice is one block; a different one takes its place; rollback brings it back."""
    memory = make(history_mode="overwrite")
    first = [said("draft one"), said("it is cold")]
    ids = memory.add(first, ALICE, block="task")
    assert memory.add(first, ALICE, block="task") == ids
    assert texts(memory.records(ALICE)) == ["draft one", "it is cold"]
    memory.add([said("draft two")], ALICE, block="task")
    memory.add([said("unrelated")], ALICE, block="another task")
    assert texts(memory.records(ALICE)) == ["draft two", "unrelated"]
    assert memory.rollback(ALICE, block="task")
    assert sorted(texts(memory.records(ALICE))) == ["draft one", "it is cold", "unrelated"]
    assert texts(memory.search_records("draft one", scope=ALICE))[0] == "draft one"
    assert not memory.rollback(ALICE, block="task")
    assert not memory.rollback(ALICE)
    assert not memory.rollback(BOB, block="task")


def test_D058_generations_can_be_rolled_back_one_by_one(make):
    """Three overwrites are three steps back, also after a restart."""
    memory = make(history_mode="overwrite")
    for number in range(4):
        memory.add([said(f"state {number}")], ALICE, block="task")
    memory.close()
    memory = make(history_mode="overwrite")
    for number in (2, 1, 0):
        assert memory.rollback(ALICE)
        assert texts(memory.records(ALICE)) == [f"state {number}"]
    assert not memory.rollback(ALICE)


def test_D062_D063_three_artefacts_lie_in_the_folder(make, tmp_path):
    """The stream, the index and the hash cache; nothing before the first record."""
    memory = make()
    assert memory.search_records("tea", scope=ALICE) == []
    assert memory.records(ALICE) == []
    assert memory.forget(ALICE) == 0
    assert memory.unreflected(ALICE) == 0
    assert not (tmp_path / "memory").exists()
    memory.add([said("tea, please")], ALICE)
    assert {"stream.db", "vectors.db", "cache.db"} <= set(os.listdir(tmp_path / "memory"))
    memory.close()
    stream = sqlite3.connect(tmp_path / "memory" / "stream.db")
    rows = stream.execute("SELECT new_memory, event, role FROM history").fetchall()
    stream.close()
    assert rows == [("tea, please", "ADD", "user")]
    if os.name == "posix":
        assert (tmp_path / "memory").stat().st_mode & 0o077 == 0


def test_D062_the_folder_can_be_another(make, tmp_path):
    """`storage_path` is relative to the profile."""
    make(storage_path="kept/here").add([said("tea")], ALICE)
    assert (tmp_path / "kept" / "here" / "vectors.db").exists()
    assert not (tmp_path / "memory").exists()


@pytest.mark.parametrize(
    "other",
    [
        Scope("bot", "bob"),
        Scope("bot"),
        Scope("bot", "alice", run="project"),
        Scope("bot", "alice", tenant="acme"),
        Scope("bot", "", tenant="alice"),
        Scope("bot", " alice"),
        Scope("bot", "ALICE"),
        Scope("bot2", "alice"),
        Scope("bot", "a/lice"),
        Scope("bot", "%61lice"),
    ],
)
def test_D042_D064_C49_no_scope_sees_another(make, other):
    """Not by search, list, delete, roll-back nor reflection, however alike the names are."""
    memory = make(history_mode="overwrite")
    (mine,) = memory.add([said("the tea is mine")], ALICE, block="task")
    memory.add([said("their own note")], other, block="task")
    assert texts(memory.search_records("tea mine", scope=other)) in ([], ["their own note"])
    assert texts(memory.records(other)) == ["their own note"]
    assert texts(memory.take_unreflected(other)) == ["their own note"]
    assert memory.forget(other, [mine]) == 0
    assert memory.forget(other) == 1
    assert texts(memory.records(ALICE)) == ["the tea is mine"]
    assert memory.unreflected(ALICE) == 1


def test_C49_a_memory_is_somebodys():
    """Without an agent there is no scope, so there is nothing that could search everything."""
    for wrong in ("", None, 7):
        with pytest.raises(ValueError, match="one agent"):
            Scope(wrong)
    with pytest.raises(ValueError, match="one agent"):
        Scope("bot", None)


def test_C49_two_users_at_once(make):
    """Eight threads for two users: nobody finds the other's words, nothing is lost."""
    memory, faults = make(), []

    def work(scope, word):
        try:
            for number in range(10):
                memory.add([said(f"{word} {number}")], scope)
                found = texts(memory.search_records(f"{word} {number}", scope=scope, top_k=10))
                assert all(text.startswith(word) for text in found)
        except Exception as error:  # noqa: BLE001 - whatever it is
            faults.append(error)

    jobs = [threading.Thread(target=work, args=pair) for pair in [(ALICE, "tea"), (BOB, "ale")] * 4]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert not faults
    assert len(memory.records(ALICE)) == len(memory.records(BOB)) == 40


def test_C37_the_agents_of_a_process_share_a_folder(make):
    """Two at once; one closing does not take it from the other; the last one frees it."""
    one, two = make(), make()
    one.add([said("tea")], ALICE)
    assert texts(two.search_records("tea", scope=ALICE)) == ["tea"]
    one.close()
    one.close()
    assert texts(two.search_records("tea", scope=ALICE)) == ["tea"]
    two.close()
    assert texts(make().search_records("tea", scope=ALICE)) == ["tea"]


def probe(folder):
    """What another process says that opens the memory of this folder."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(folder)], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


def test_C37_a_second_process_is_told_what_to_do(make, tmp_path):
    """One clear error while the folder is held, and none once it is free; a leak frees it too."""
    memory = make(embedder=LocalEmbedder())
    memory.add([said("tea")], ALICE)
    code, told = probe(tmp_path)
    assert code == 1
    assert "MemoryLocked" in told
    assert str(tmp_path / "memory") in told
    assert "storage_path" in told
    assert "qdrant_url" in told
    memory.close()
    assert probe(tmp_path)[0] == 0

    def failing():
        with make(embedder=LocalEmbedder()) as held:
            held.add([said("tea")], ALICE)
            raise KeyError

    with pytest.raises(KeyError):
        failing()
    assert probe(tmp_path)[0] == 0


def test_C37_a_folder_that_is_held_elsewhere_is_refused_at_once(make, tmp_path):
    """The other way round: another process has it, and building says so."""
    make().add([said("tea")], ALICE)
    make().close()
    code = (
        "import sys, pathlib; from edgeward.profiles.memory.storage import acquire;"
        "acquire(pathlib.Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    )
    gone = tmp_path / "elsewhere"
    gone.mkdir()
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(gone)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(MemoryLocked, match="in use by another process"):
            make(storage_path="elsewhere")
        holder.kill()
    make(storage_path="elsewhere").add([said("tea")], ALICE)


def test_D034_C20_another_embedder_is_noticed_before_the_first_write(make):
    """Building says so, with both names and sizes; nothing was written."""
    memory = make(embedder=WordEmbedder(16, "small"))
    memory.add([said("tea")], ALICE)
    memory.close()
    with pytest.raises(StoreMismatch, match="vectors of small with 16 numbers each, and words"):
        make()
    again = make(embedder=WordEmbedder(16, "small"))
    assert texts(again.records(ALICE)) == ["tea"]
    with pytest.raises(StoreMismatch, match="small with 16"):  # while the other has it open
        make(embedder=WordEmbedder(32, "small"))


def test_D034_C20_an_endpoint_of_another_size_writes_nothing(tmp_path, wire):
    """EMBEDDING_DIMS=1536 and an embedder of 768: one error with both numbers, an empty store."""
    env = {
        "EMBEDDING_BASE_URL": wire.openai_url,
        "EMBEDDING_MODEL": "m",
        "EMBEDDING_API_KEY": KEY,
        "EMBEDDING_DIMS": "1536",
    }
    wire.script(vectors(768))
    profile = AgentProfile.from_mapping({"id": "bot", "name": "B", "memory": {}}, base_dir=tmp_path)
    with Mem0Memory(profile, env=env) as memory:
        with pytest.raises(EmbeddingError, match="768 numbers, and 1536 were expected"):
            memory.add([said("tea")], ALICE)
        assert memory.records(ALICE) == []


def test_D033_D068_the_embedder_comes_from_profile_environment_or_python(tmp_path, wire):
    """EMBEDDING_* serves the memory alone; `MemoryBackendConfig` does with an empty environment."""
    given = {"id": "bot", "name": "B", "memory": {}}
    profile = AgentProfile.from_mapping(given, base_dir=tmp_path)
    backend = MemoryBackendConfig(
        embedder_provider="openai",
        embedder_model="emb-1",
        embedder_base_url=wire.openai_url,
        embedder_api_key=KEY,
        embedder_dims=32,
    )
    assert KEY not in repr(backend)
    wire.script(*[vectors(32)] * 2)
    with Mem0Memory(profile, backend=backend, env={}) as memory:
        memory.add([said("tea with milk"), said("ale")], ALICE)
        assert texts(memory.search_records("tea with milk", scope=ALICE)) == ["tea with milk"]
    assert [len(seen.body["input"]) for seen in wire.requests] == [2, 1]
    with pytest.raises(EmbeddingConfigError, match="EMBEDDING_API_KEY"):
        Mem0Memory(profile, env={"EMBEDDING_MODEL": "m"})


def test_what_is_written_holds_no_secret(make):
    """Whoever writes it: a key never reaches the store, in no file of it."""
    memory = make()
    memory.add([Note(f"the key is {KEY}", "outcome")], ALICE)
    (found,) = memory.records(ALICE)
    assert KEY not in found.note.text
    long = f"{KEY}{'A' * 190} "
    memory.add([Note(long * 400, "outcome")], ALICE)  # cut off, and none is cut in two
    assert not any(KEY[:12] in record.note.text for record in memory.records(ALICE))
    memory.close()
    for file in memory.folder.iterdir():
        assert KEY.encode() not in file.read_bytes()


def test_odd_texts_are_kept_and_bounded(make):
    """Blank ones are left out; half characters, NUL and a long text do no harm."""
    memory = make()
    assert memory.add([said(" \n"), said("")], ALICE) == []
    memory.add([said("\ud800 tea"), said("nul \x00 tea"), said("x" * 50_000)], ALICE)
    found = texts(memory.records(ALICE))
    assert found[:2] == ["? tea", "nul \x00 tea"]
    assert len(found[2]) == 8_000


def test_what_a_store_does_not_say_counts_as_untrusted(make):
    """A record whose trust was lost or made up is untrusted when it is read."""
    memory = make()
    memory.add([said("tea")], ALICE)
    memory.close()
    file = memory.folder / "vectors.db"
    base = sqlite3.connect(file)
    ((payload,),) = base.execute("SELECT payload FROM records").fetchall()
    changed = {**json.loads(payload), "trust": "very much"}
    base.execute("UPDATE records SET payload = ?", (json.dumps(changed),))
    base.commit()
    base.close()
    assert make().records(ALICE)[0].note.trust == "untrusted"


def test_a_failing_embedder_writes_nothing(make):
    """Of several notes all are kept, or none."""

    class Broken(WordEmbedder):
        def embed(self, given):
            raise EmbeddingError("down")

    memory = make(embedder=Broken())
    with pytest.raises(EmbeddingError):
        memory.add([said("one"), said("two")], ALICE)
    assert memory.records(ALICE) == []
    assert memory.unreflected(ALICE) == 0


def test_a_memory_can_be_pickled(make):
    """What was opened is opened again by the copy."""
    memory = make()
    memory.add([said("tea")], ALICE)
    copy = pickle.loads(pickle.dumps(memory))
    assert texts(copy.search_records("tea", scope=ALICE)) == ["tea"]
    copy.close()


def test_D002_without_mem0_the_error_names_the_extra(monkeypatch, tmp_path):
    """Said when the memory is built, not at the first run."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    profile = AgentProfile.from_mapping({"id": "b", "name": "B"}, base_dir=tmp_path)
    with pytest.raises(MissingExtra, match=r"pip install 'edgeward\[memory\]'"):
        Mem0Memory(profile)


QUIET = """
import os, socket, sys
tried = []
def refuse(*arguments, **_):
    tried.append(arguments)
    raise OSError("no network")
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse
from edgeward.profiles.memory.memory import Mem0Memory
from edgeward.profiles.memory.records import Note, Scope
from edgeward.profiles.schema import AgentProfile
profile = AgentProfile.from_mapping({"id": "bot", "name": "B", "memory": {}}, base_dir=sys.argv[1])
with Mem0Memory(profile, env={}) as memory:
    memory.add([Note("Emma drinks tea, never coffee.", "outcome")], Scope("bot"))
    memory.add([Note("The invoice 4711 is paid.", "outcome")], Scope("bot"))
    found = memory.search_records("which beverage does she like", scope=Scope("bot"))
    assert found[0].note.text.startswith("Emma"), found
from mem0.memory import telemetry
assert not telemetry.MEM0_TELEMETRY and telemetry._oss_telemetry_instance is None
assert not tried, tried
assert "MEM0_TELEMETRY" not in os.environ and "MEM0_DIR" not in os.environ
assert "torch" not in sys.modules and "spacy" not in sys.modules
print("quiet")
"""


def test_C58_out_of_the_box_it_needs_no_key_and_no_network(tmp_path):
    """Real embedder, real mem0: no connection, no telemetry, nothing in the home folder."""
    home = tmp_path / "home"
    home.mkdir()
    keep = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    env = {**keep, "HOME": str(home), "DEEPSEEK_API_KEY": KEY, "DEEPSEEK_MODEL": "m"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", QUIET, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env=env,
        cwd=tmp_path,
    )
    assert (done.stdout, done.stderr) == ("quiet\n", "")
    assert list(home.iterdir()) == []
