"""Thinking told from the answer, in a text and in a stream."""

from __future__ import annotations

import pytest

from edgeward.profiles.calls import CallPieces, RawCall, judged, sendable
from edgeward.profiles.thinking import ThinkingFilter, split_thinking

CASES = [
    ("<think>use it</think>Answer 4", "Answer 4", "use it"),
    ("\n<think>\na\n</think>\n\nAnswer 4\n", "Answer 4", "a"),
    ("use it</think>Answer 4", "Answer 4", "use it"),
    ("<think>cut off", "", "cut off"),
    ("<think>a</think>One <think>b</think>two", "One two", "ab"),
    ("<THINKING>a</THINKING>b", "b", "a"),
    ("a < b and <thin> and </thinks>", "a < b and <thin> and </thinks>", ""),
    ("plain  text ", "plain  text ", ""),
    ("", "", ""),
]


@pytest.mark.parametrize(("text", "answer", "thought"), CASES)
def test_C40_a_text_is_split(text, answer, thought):
    """Whole tags, one of two, none."""
    assert split_thinking(text) == (answer, thought)
    assert split_thinking(answer) == (answer, "")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
@pytest.mark.parametrize(("text", "answer", "thought"), CASES)
def test_C40_a_stream_is_split_the_same_way(text, answer, thought, size):
    """However the pieces fall, the tags are found."""
    filtering = ThinkingFilter(from_start=True)
    pieces = [filtering.feed(text[at : at + size]) for at in range(0, len(text), size)]
    pieces.append(filtering.close())
    said = "".join(piece[0] for piece in pieces)
    thoughts = "".join(piece[1] for piece in pieces)
    assert said.strip() == answer.strip()
    assert thoughts.strip() == thought


def test_a_stream_without_thinking_is_not_held_back():
    """Text goes on at once, except what may begin a tag."""
    filtering = ThinkingFilter()
    assert filtering.feed("Good day <") == ("Good day ", "")
    assert filtering.feed("b> you") == ("<b> you", "")
    assert filtering.close() == ("", "")


def test_calls_of_one_index_with_new_ids_are_several():
    """Some servers send every call under index 0."""
    pieces = CallPieces()
    for number in (1, 2):
        pieces.add({"index": 0, "id": f"c{number}", "name": "f", "arguments": "{"})
        pieces.add({"index": 0, "id": f"c{number}", "arguments": f'"n": {number}}}'})
    assert [(c.id, c.arguments) for c in pieces.whole()] == [("c1", '{"n": 1}'), ("c2", '{"n": 2}')]


def test_a_name_repeated_with_every_piece_is_one_name():
    """Others send the name again and again."""
    pieces = CallPieces()
    for part in ('{"a"', ": 1}"):
        pieces.add({"index": 0, "id": "c", "name": "f", "arguments": part})
    assert pieces.whole() == [RawCall("f", "c", '{"a": 1}')]


def test_a_call_without_a_name_is_invalid():
    """There is nothing to run."""
    good, bad = judged([RawCall("", "c", "{}"), RawCall("f", "d", "")])
    assert [call["name"] for call in good] == ["f"]
    assert bad[0]["error"] == "the call has no name"


@pytest.mark.parametrize("text", ["", "  ", "[1]", "{", None, 3, '{"a": 1, "a": 2}'])
def test_only_objects_are_sent_back(text):
    """Whatever else stood there is emptied."""
    assert sendable(text) == "{}"
    assert sendable('{"a": 1}') == '{"a": 1}'
