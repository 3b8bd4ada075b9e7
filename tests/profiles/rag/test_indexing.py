"""The index follows its folder: only what is new or changed is embedded, what is gone is gone."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from edgeward.profiles.embedding import EmbeddingError, local_embedder
from edgeward.profiles.minilm import count_tokens
from edgeward.profiles.rag.content import Resource, StructuredChunk
from edgeward.profiles.rag.extraction import StructuredDocExtractor
from edgeward.profiles.rag.indexing import EmbedderChanged, Stopped, bring_up_to_date

from .conftest import Counting
from .made import pdf


def texts(rag, query="anything", top_k=50):
    """The texts that a search finds."""
    return [hit["text"] for hit in rag.search(query, top_k)]


def test_c56_d142_deleted_and_changed_documents_do_not_answer(bundle):
    """Only the changed file is embedded anew; nothing of the old text is found."""
    gone = bundle.write("a.md", "apples only")
    bundle.write("b.md", "bananas only")
    bundle.write("c.md", "cherries only")
    assert len(texts(bundle.rag())) == 3
    gone.unlink()
    bundle.write("b.md", "blueberries only")
    second = Counting()
    rag = bundle.rag(second)
    report = rag.refresh()
    assert second.asked == ["blueberries only"]
    assert (report.added, report.changed, report.removed) == ([], ["b.md"], ["a.md"])
    assert (report.unchanged, report.chunks) == (1, 1)
    assert sorted(texts(rag)) == ["blueberries only", "cherries only"]


def test_d087_a_second_process_embeds_nothing(bundle):
    """The index is on the disk; also a file that was only touched is as it was."""
    file = bundle.write("a.md", "apples")
    bundle.rag().refresh()
    file.touch()
    embedder = Counting()
    rag = bundle.rag(embedder)
    assert rag.refresh().unchanged == 1
    assert embedder.asked == []
    assert texts(rag) == ["apples"]


def test_a_renamed_file_is_a_new_one(bundle):
    """Its passages have the new name."""
    file = bundle.write("a.md", "apples")
    bundle.rag().refresh()
    file.rename(bundle.documents / "b.md")
    rag = bundle.rag()
    report = rag.refresh()
    assert (report.added, report.removed) == (["b.md"], ["a.md"])
    assert [hit["metadata"]["source"] for hit in rag.search("apples")] == ["b.md"]


def test_c85_one_bad_file_is_reported_and_skipped(bundle):
    """Good files beside it are found; it is named each time and read again when it has changed."""
    bundle.write("good.md", "apples")
    bundle.write("old.txt", b"caf\xe9")
    bundle.write("broken.pdf", b"%PDF-1.4 broken")
    bundle.write("empty.md", "")
    bundle.write(".DS_Store", b"\0\1")
    rag = bundle.rag()
    skipped = [("broken.pdf", "is damaged: no readable PDF"), ("empty.md", "is empty")]
    assert rag.refresh().skipped == skipped
    assert sorted(texts(rag)) == ["apples", "café"]
    again = bundle.rag().ready()
    assert (again.skipped, again.unchanged) == (skipped, 4)
    tried = bundle.rag().refresh()
    assert (tried.skipped, tried.unchanged) == (skipped, 2)
    bundle.write("broken.pdf", pdf(["mended"]))
    assert bundle.rag().refresh().changed == ["broken.pdf"]


def test_a_file_that_breaks_loses_its_old_text(bundle):
    """What is not in the file any more does not answer."""
    bundle.write("a.pdf", pdf(["apples"]))
    bundle.rag().refresh()
    bundle.write("a.pdf", b"%PDF-1.4 broken")
    assert texts(bundle.rag()) == []


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ({}, {"embedder": Counting("other")}),
        ({}, {"embedder": Counting("words", 32), "embedding_dims": 32}),
        ({}, {"chunk_size": 20}),
        ({}, {"chunk_overlap": 3}),
    ],
)
def test_d087_another_embedder_or_size_is_noticed(bundle, first, then):
    """Before the first query: every document is embedded anew, and the report says so."""
    bundle.write("a.md", "apples")
    bundle.rag(**first).refresh()
    embedder = then.pop("embedder", None) or Counting()
    rag = bundle.rag(embedder, **then)
    report = rag.refresh()
    assert report.changed == ["a.md"]
    assert "documents are read anew" in report.notes[0]
    assert embedder.asked == ["apples"]
    assert rag.search("apples")[0]["score"] == pytest.approx(1.0)


def test_vectors_of_another_size_under_the_same_name_are_refused(bundle):
    """An endpoint may change its model in silence: nothing is mixed, and the message says what to
    do."""
    bundle.write("a.md", "apples")
    bundle.rag(Counting(dims=64)).refresh()
    with pytest.raises(
        EmbedderChanged, match=r"vectors of 32 numbers, and those of the index .*64"
    ):
        bundle.rag(Counting(dims=32)).search("apples")
    bundle.write("b.md", "bananas")
    with pytest.raises(EmbedderChanged, match=r"delete .*rag_index"):
        bundle.rag(Counting(dims=32)).refresh()
    assert texts(bundle.rag(Counting(dims=64)))


class Failing(Counting):
    """An embedder that is down from its third text on."""

    def embed(self, texts):
        if len(self.asked) + len(texts) > 2:
            raise ConnectionError("the embedder is down")
        return super().embed(texts)


def test_a_crash_in_the_middle_keeps_what_was_there(bundle, monkeypatch):
    """The old index answers on, what was done stays done, and the next one goes on from there."""
    monkeypatch.setattr("edgeward.profiles.rag.indexing.BATCH", 1)
    bundle.write("a.md", "apples")
    bundle.rag().refresh()
    for name in "bcde":
        bundle.write(f"{name}.md", f"text {name}")
    with pytest.raises(ConnectionError, match="is down"):
        bundle.rag(Failing()).refresh()
    embedder = Counting()
    rag = bundle.rag(embedder)
    assert rag.refresh().added == ["d.md", "e.md"]
    assert embedder.asked == ["text d", "text e"]
    assert len(texts(rag)) == 5


def test_after_a_failure_the_next_search_tries_again(bundle):
    """An endpoint that was down for a moment does not cost the whole session."""
    bundle.write("a.md", "apples")
    embedder = Failing()
    embedder.asked = ["used", "up"]
    rag = bundle.rag(embedder)
    with pytest.raises(ConnectionError):
        rag.search("apples")
    embedder.asked = []
    assert texts(rag) == ["apples"]


def test_small_files_are_embedded_together(bundle):
    """One request for many of them, not one each."""
    calls = []

    class Batches(Counting):
        def embed(self, texts):
            calls.append(len(texts))
            return super().embed(texts)

    for number in range(70):
        bundle.write(f"{number}.md", f"text {number}")
    bundle.rag(Batches()).refresh()
    assert calls == [64, 6]


def test_progress_is_told(bundle):
    """After each file: how many of how many, and which."""
    for name in "abc":
        bundle.write(f"{name}.md", name)
    told = []
    rag = bundle.rag()
    rag.refresh(progress=told.append)
    assert [(p.done, p.total, p.name) for p in told] == [
        (1, 3, "a.md"),
        (2, 3, "b.md"),
        (3, 3, "c.md"),
        (3, 3, ""),
    ]
    assert rag.progress.chunks == 3


def test_a_chunk_longer_than_the_embedders_view_has_several_vectors(bundle):
    """The local embedder reads 256 tokens; what stands behind them is found, too."""
    filler = "The weather was mild and the road was long. " * 30
    text = f"{filler}The password of the vault is swordfish. {filler[:300]}"
    assert count_tokens([text])[0] > 300
    bundle.write("a.md", text)
    bundle.write("b.md", "Bread is made of flour, water and salt.")
    rag = bundle.rag(local_embedder())
    best = rag.search("The password of the vault is swordfish.", 1)[0]
    assert "swordfish" in best["text"]
    assert best["score"] > 0.5


def test_d084_chunks_of_the_index_obey_the_profile(bundle):
    """None has more tokens than it says."""
    bundle.write("a.md", "Nothing is quite as long as a sentence that goes on. " * 60)
    rag = bundle.rag(chunk_size=40, chunk_overlap=8)
    found = texts(rag)
    assert len(found) > 10
    assert max(count_tokens(found)) <= 40


def test_d089_a_csv_extractor_registered_first_is_used(bundle):
    """In place of the built-in one; a file that it gets is the path and the bytes."""

    class Mine:
        def supports(self, source):
            return str(source).endswith(".csv")

        def extract(self, source):
            with open(source, encoding="utf-8") as file:
                assert file.read().encode() == source.read_bytes()
            return [StructuredChunk("mine", section="s", page=2)]

    bundle.write("a.csv", "x\n1\n")
    bundle.rag().refresh()
    extractor = StructuredDocExtractor()
    extractor.register(Mine(), prepend=True)
    rag = bundle.rag(more={"extractor": extractor})
    assert rag.refresh().changed == ["a.csv"]
    (hit,) = rag.search("mine")
    assert (hit["text"], hit["metadata"]["section"], hit["metadata"]["page"]) == ("mine", "s", 2)


def test_an_extractor_that_fails_costs_one_file(bundle):
    """One that comes after the built-in ones gets what they do not know."""

    class Broken:
        def supports(self, source):
            return True

        def extract(self, source):
            raise KeyError("oh")

    bundle.write("a.md", "apples")
    bundle.write("b.xyz", "bananas")
    extractor = StructuredDocExtractor()
    extractor.register(Broken())
    report = bundle.rag(more={"extractor": extractor}).refresh()
    assert report.added == ["a.md"]
    assert report.skipped == [("b.xyz", "Broken failed: KeyError: 'oh'")]
    Broken.extract = lambda self, source: [StructuredChunk("mended")]
    assert sorted(texts(bundle.rag(more={"extractor": extractor}))) == ["apples", "mended"]


def test_an_extractor_says_when_it_reads_otherwise(bundle):
    """By its `version`: what it has read is read anew."""

    class Mine:
        version = 1

        def supports(self, source):
            return True

        def extract(self, source):
            return [StructuredChunk(f"as of version {self.version}")]

    bundle.write("a.md", "apples")
    extractor = StructuredDocExtractor([Mine()])
    assert texts(bundle.rag(more={"extractor": extractor})) == ["as of version 1"]
    Mine.version = 2
    assert texts(bundle.rag(more={"extractor": extractor})) == ["as of version 2"]


def test_an_index_that_nobody_may_write_to_is_searched_as_it_is(bundle):
    """In a container that is read-only, say; the report says so."""
    bundle.write("a.md", "apples")
    bundle.rag().refresh()
    lock = bundle.folder / "rag_index" / "index.lock"
    lock.unlink()
    lock.mkdir()
    bundle.write("b.md", "bananas")
    rag = bundle.rag()
    assert rag.ready().notes == ["the index cannot be written to; it is searched as it is"]
    assert texts(rag) == ["apples"]


def test_two_at_once_do_the_work_once(bundle):
    """Two agents over one folder: the second waits, finds it done, and both search."""
    for number in range(20):
        bundle.write(f"{number}.md", f"text {number}")
    embedders = [Counting(), Counting(), Counting()]
    rags = [bundle.rag(embedder) for embedder in embedders]
    threads = [threading.Thread(target=rag.refresh) for rag in rags]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(len(embedder.asked) for embedder in embedders) == 20
    assert all(len(texts(rag)) == 20 for rag in rags)


def test_what_another_process_changed_is_seen(bundle):
    """Without asking the folder again."""
    bundle.write("a.md", "apples")
    here = bundle.rag()
    assert texts(here) == ["apples"]
    bundle.write("b.md", "bananas")
    bundle.rag().refresh()
    assert sorted(texts(here)) == ["apples", "bananas"]


def test_an_indexing_can_be_stopped(bundle):
    """It ends at the next file, and keeps what was done."""
    for name in "abc":
        bundle.write(f"{name}.md", name)
    rag = bundle.rag()
    asked = iter([False, False, True])
    with pytest.raises(Stopped):
        bring_up_to_date(
            rag._collection, rag._store, told=lambda _: None, stopped=lambda: next(asked)
        )


def test_text_that_is_none_can_be_stored(bundle):
    """Half of a surrogate pair in a page does not stop the indexing."""

    class Odd:
        def supports(self, source):
            return True

        def extract(self, source):
            image = Resource("image", b"x", "image/png", "odd \ud800 caption")
            return [StructuredChunk("odd \ud800 text", section="\ud800", resources=(image,))]

    bundle.write("a.md", "x")
    rag = bundle.rag(more={"extractor": StructuredDocExtractor([Odd()])})
    (hit,) = rag.search("odd")
    assert (hit["text"], hit["metadata"]["section"]) == ("odd ? text", "?")
    assert rag.get_resource(hit["metadata"]["resources"][0]).startswith("odd ? caption")


def test_an_embedder_that_miscounts_is_found_out(bundle):
    """Before a text gets the vector of another."""

    class Short(Counting):
        def embed(self, texts):
            return super().embed(texts)[1:]

    bundle.write("a.md", "apples")
    with pytest.raises(EmbeddingError, match="gave 0 vectors for 1 texts"):
        bundle.rag(Short()).refresh()


PROCESS = """
import sys
from edgeward import AgentProfile
from edgeward.profiles.rag.rag import LlamaIndexRAG
from tests.wire.embeddings import vector

class Embedder:
    name, dims = "words", 64

    def embed(self, texts):
        print(len(texts), flush=True)
        if sys.argv[2] == "hangs":
            sys.stdin.readline()
        return [vector(text, 64) for text in texts]

profile = AgentProfile.from_mapping({"id": "a", "name": "A"}, base_dir=sys.argv[1])
rag = LlamaIndexRAG(profile, embedder=Embedder(), env={})
rag.refresh()
rag.close()
"""


def process(bundle, way):
    """A process of its own that indexes the bundle, and says how many texts it embeds."""
    return subprocess.Popen(
        [sys.executable, "-c", PROCESS, str(bundle.folder), way],
        cwd=Path(__file__).parents[3],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_two_processes_do_not_corrupt_it_and_do_the_work_once(bundle):
    """The second waits for the first, and finds nothing to do."""
    for number in range(10):
        bundle.write(f"{number}.md", f"text {number}")
    said = [one.communicate(timeout=120)[0] for one in [process(bundle, "x"), process(bundle, "x")]]
    assert sorted(said) == ["", "10\n"]
    embedder = Counting()
    rag = bundle.rag(embedder)
    assert rag.refresh().unchanged == 10
    assert len(texts(rag)) == 10


def test_a_process_that_is_killed_leaves_the_index_usable(bundle):
    """In the middle of its work, without a word; the next one does the rest."""
    bundle.write("a.md", "apples")
    bundle.rag().refresh()
    bundle.write("b.md", "bananas")
    with process(bundle, "hangs") as killed:
        assert killed.stdout.readline() == "1\n"
        killed.kill()
    embedder = Counting()
    rag = bundle.rag(embedder)
    assert rag.refresh().added == ["b.md"]
    assert sorted(texts(rag)) == ["apples", "bananas"]
