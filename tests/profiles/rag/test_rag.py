"""The documents of an agent: opened, searched, closed; from threads, without network."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from edgeward import AgentProfile, ConfigError, MissingExtra
from edgeward.profiles.rag.rag import LlamaIndexRAG

from .conftest import Counting


def test_d081_folders_are_relative_to_the_bundle(bundle, monkeypatch):
    """Never to the current folder; both can be named otherwise."""
    monkeypatch.chdir("/")
    bundle.write("a.md", "apples")
    bundle.rag().refresh()
    assert (bundle.folder / "rag_index" / "index.sqlite3").is_file()
    bundle.rag(storage_dir="elsewhere/index").refresh()
    assert (bundle.folder / "elsewhere" / "index" / "index.sqlite3").is_file()


def test_a_folder_of_documents_that_is_not_there_is_an_error_at_once(tmp_path):
    """It names the key, the folder and what to do."""
    named = {"id": "a", "name": "A", "rag": {"enabled": True}}
    profile = AgentProfile.from_mapping(named, base_dir=tmp_path)
    with pytest.raises(ConfigError, match=r"agent.rag.documents_dir: rag_corpus: there is no such"):
        LlamaIndexRAG(profile, env={})
    (tmp_path / "rag_corpus").write_text("x")
    with pytest.raises(ConfigError, match="is no folder"):
        LlamaIndexRAG(profile, env={})


def test_d002_a_missing_package_is_named_with_its_extra(bundle, monkeypatch):
    """When the profile turns documents on, not at the first search."""
    monkeypatch.setitem(sys.modules, "faiss", None)
    monkeypatch.delitem(sys.modules, "faiss")
    find = __import__("importlib.util").util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name, *rest: None if name == "faiss" else find(name)
    )
    with pytest.raises(MissingExtra, match=r"faiss-cpu: pip install 'edgeward\[rag\]'"):
        bundle.rag()


def test_the_text_of_a_document_scores_one(bundle):
    """And the best comes first."""
    bundle.write("a.md", "A drone weighs nine hundred grams.")
    bundle.write("b.md", "Cats sleep all day.")
    first, second = bundle.rag().search("A drone weighs nine hundred grams.")
    assert first["score"] == pytest.approx(1.0)
    assert first["metadata"] == {"source": "a.md", "section": "", "page": None, "resources": []}
    assert second["score"] < 0.5


def test_d085_top_k_and_threshold_are_the_profiles(bundle):
    """Unless the search says how many."""
    for number in range(9):
        bundle.write(f"{number}.md", f"apples number {number}")
    rag = bundle.rag(top_k=3)
    assert len(rag.search("apples")) == 3
    assert len(rag.search("apples", 5)) == 5
    assert bundle.rag(score_threshold=1.0).search("pears") == []


def test_d090_a_cited_table_is_given_in_full(bundle):
    """By the id that a passage names; an unknown id is an error that says what ids are."""
    rows = "".join(f"p{n},{n}\n" for n in range(100))
    bundle.write("parts.csv", f"part,price\n{rows}")
    rag = bundle.rag()
    hit = rag.search("p7", 1)[0]
    (cited,) = hit["metadata"]["resources"]
    assert cited.startswith("table-")
    text = rag.get_resource(cited)
    assert all(f"| p{n} | {n} |" in text for n in range(100))
    with pytest.raises(LookupError, match="results of a search"):
        rag.get_resource("table-000000000000")


def test_a_blank_query_finds_nothing(bundle):
    """Without asking the embedder."""
    embedder = Counting()
    assert bundle.rag(embedder).search("  ") == []
    assert embedder.asked == []


def test_many_threads_share_one_index(bundle):
    """It is made once; every search finds its text."""
    for number in range(12):
        bundle.write(f"{number}.md", f"text number{number} alone")
    embedder = Counting()
    rag = bundle.rag(embedder)
    found: dict[int, str] = {}

    def look(number: int) -> None:
        found[number] = rag.search(f"text number{number} alone", 1)[0]["text"]

    threads = [threading.Thread(target=look, args=(n,)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: f"text number{n} alone" for n in range(12)}
    assert len(embedder.asked) == 24


def test_a_search_that_cannot_wait_is_told_so(bundle):
    """`ready` gives None while it still goes on; the work itself goes on."""
    free = threading.Event()

    class Slow(Counting):
        def embed(self, texts):
            free.wait(30)
            return super().embed(texts)

    bundle.write("a.md", "apples")
    rag = bundle.rag(Slow())
    assert rag.ready(0.01) is None
    free.set()
    assert rag.ready(30) is not None


def test_closed_documents_are_not_searched(bundle):
    """And closing twice is fine."""
    bundle.write("a.md", "apples")
    rag = bundle.rag()
    rag.refresh()
    rag.close()
    rag.close()
    with pytest.raises(RuntimeError, match="are closed"):
        rag.search("apples")


def test_the_search_is_a_retriever_of_llamaindexs(bundle):
    """For its query engines: nodes with text, score and where they are from."""
    bundle.write("a.md", "apples")
    (node,) = bundle.rag().as_retriever(2).retrieve("apples")
    assert node.score == pytest.approx(1.0)
    assert (node.node.get_content(), node.node.metadata["source"]) == ("apples", "a.md")


OFFLINE = """
import socket, sys
from pathlib import Path

def refused(*args, **kwargs):
    raise AssertionError("somebody tried the network")

socket.socket.connect = socket.socket.connect_ex = refused
socket.getaddrinfo = socket.create_connection = refused

from edgeward import AgentProfile
from edgeward.profiles.rag.rag import LlamaIndexRAG

profile = AgentProfile.from_mapping({"id": "a", "name": "A", "rag": {"enabled": True}},
                                    base_dir=sys.argv[1])
rag = LlamaIndexRAG(profile, env={})
print(rag.refresh().chunks, rag.search("How heavy is a drone?", 1)[0]["text"])
rag.close()
"""


def test_it_works_without_network_and_leaves_nothing_elsewhere(bundle):
    """The local embedder, the splitter, LlamaIndex: nobody looks for anything, not even a name."""
    bundle.write("a.md", "A drone weighs 900 grams.")
    bundle.write("b.md", "Cats sleep all day.")
    home = bundle.folder / "home"
    home.mkdir()
    env = {**os.environ, "HOME": str(home), "XDG_CACHE_HOME": str(home), "TMPDIR": str(home)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", OFFLINE, str(bundle.folder)],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "2 A drone weighs 900 grams.\n", done.stderr
    assert [path for path in Path(home).rglob("*") if path.is_file()] == []
