"""The embedded index: one scope at a time, kept in step with its file, the size never mixed."""

from __future__ import annotations

import random
import threading

import pytest

from edgeward.profiles.memory.vectors import KEPT_SCOPES, StoreMismatch, Vectors

IDS = {"user_id": "u", "agent_id": "a", "run_id": "r"}


def opened(folder, dims=4, embedder="e"):
    """The index of a folder."""
    return Vectors(folder / "vectors.db", embedder=embedder, dims=dims)


def near(store, vector, top_k=5, **more):
    """The ids nearest to a vector."""
    return [found.id for found in store.search("", vector, top_k, {**IDS, **more})]


def put(store, key, vector, **more):
    """One record."""
    store.insert([vector], [{**IDS, "data": key, **more}], [key])


def test_the_nearest_come_first_whatever_their_length(tmp_path):
    """What counts is the direction: scores are cosines, best first."""
    store = opened(tmp_path)
    put(store, "far", [0, 1, 0, 0])
    put(store, "near", [9, 1, 0, 0])
    put(store, "exact", [0.1, 0, 0, 0])
    assert near(store, [5, 0, 0, 0]) == ["exact", "near", "far"]
    (best, *_) = store.search("", [5, 0, 0, 0], 1, IDS)
    assert best.score == pytest.approx(1.0)
    assert best.payload["data"] == "exact"
    assert near(store, [5, 0, 0, 0], 2) == ["exact", "near"]
    store.close()


def test_it_is_the_same_after_it_was_closed(tmp_path):
    """Records, their order and what belongs to them are in the file."""
    store = opened(tmp_path)
    for number in range(40):
        put(store, f"k{number}", [1, number, 0, 0], memory_type="outcome" if number % 2 else "x")
    before = near(store, [0, 1, 0, 0], 40)
    store.close()
    store = opened(tmp_path)
    assert near(store, [0, 1, 0, 0], 40) == before
    assert len(near(store, [0, 1, 0, 0], 40, memory_type="outcome")) == 20
    (listed,) = store.list(IDS, 3)
    assert [one.id for one in listed] == ["k37", "k38", "k39"]
    store.close()


def test_what_is_kept_in_memory_follows_the_file(tmp_path):
    """Any mixture of writes, deletions and updates leaves the same as a fresh reading of it."""
    pick, store = random.Random(7), opened(tmp_path)
    alive = set()
    near(store, [1, 0, 0, 0])
    for number in range(300):
        key = f"k{pick.randrange(60)}"
        vector = [pick.random() for _ in range(4)]
        if key in alive and pick.random() < 0.4:
            store.delete(key)
            alive.discard(key)
        elif key in alive:
            store.update(key, vector, {**IDS, "data": str(number)})
        else:
            put(store, key, vector)
            alive.add(key)
    held = near(store, [1, 1, 0, 0], 100)
    assert set(held) == alive
    store.close()
    store = opened(tmp_path)
    assert near(store, [1, 1, 0, 0], 100) == held
    assert store.get("nobody") is None
    store.delete("nobody")
    store.close()


def test_C49_a_scope_is_named_whole_or_nothing_is_looked_into(tmp_path):
    """No search, list or write without user, agent and run; no filter that would be ignored."""
    store = opened(tmp_path)
    put(store, "mine", [1, 0, 0, 0])
    for missing in IDS:
        part = {name: value for name, value in IDS.items() if name != missing}
        for filters in (part, {**part, missing: ""}, {**IDS, "role": "user"}, None):
            with pytest.raises(ValueError, match=r"missing|no filter"):
                store.search("", [1, 0, 0, 0], 5, filters)
            with pytest.raises(ValueError, match=r"missing|no filter"):
                store.list(filters)
        with pytest.raises(ValueError, match="missing"):
            store.insert([[1, 0, 0, 0]], [part], ["other"])
        other = {**IDS, missing: "someone else"}
        assert store.search("", [1, 0, 0, 0], 5, other) == []
    store.close()


def test_many_scopes_do_not_pile_up(tmp_path):
    """Only so many are kept in memory; all are found."""
    store = opened(tmp_path)
    for number in range(KEPT_SCOPES + 20):
        ids = {**IDS, "user_id": f"u{number}"}
        store.insert([[1, 0, 0, 0]], [ids], [f"k{number}"])
        assert store.search("", [1, 0, 0, 0], 5, ids)[0].id == f"k{number}"
    assert len(store._scopes) == KEPT_SCOPES
    assert store.search("", [1, 0, 0, 0], 5, {**IDS, "user_id": "u0"})[0].id == "k0"
    store.close()


def test_D034_C20_another_size_or_embedder_is_refused_with_both(tmp_path):
    """A store of 768 numbers, opened with 1024, says so and is as it was."""
    opened(tmp_path, 768).close()
    with pytest.raises(StoreMismatch, match=r"768 numbers each, and e gives 1024.*storage_path"):
        opened(tmp_path, 1024)
    with pytest.raises(StoreMismatch, match=r"vectors of e with 768.*and other gives 768"):
        opened(tmp_path, 768, "other")
    store = opened(tmp_path, 768)
    with pytest.raises(StoreMismatch, match="3 numbers does not fit"):
        put(store, "short", [1, 2, 3])
    assert store.list(IDS) == [[]]
    store.close()


def test_eight_threads_lose_nothing(tmp_path):
    """Writers and readers at once: every record is there, no call fails."""
    store, faults = opened(tmp_path), []

    def work(number):
        try:
            for step in range(40):
                put(store, f"{number}-{step}", [number + 1, step, 1, 0])
                assert near(store, [1, 1, 1, 0], 3)
        except Exception as error:  # noqa: BLE001 - whatever it is
            faults.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert len(near(store, [1, 1, 1, 0], 1_000)) == 320
    store.close()
    store = opened(tmp_path)
    assert len(near(store, [1, 1, 1, 0], 1_000)) == 320
    store.close()
