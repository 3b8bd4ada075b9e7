"""A strategy's drawing: it shows what runs, nothing lies on another, and no name is markup."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from edgeward.cli.pictures.ascii import as_ascii
from edgeward.cli.pictures.drawing import Drawing, drawing
from edgeward.cli.pictures.layout import layout
from edgeward.cli.pictures.mermaid import as_mermaid
from edgeward.cli.pictures.svg import as_svg
from edgeward.graphs.build import build_graph
from edgeward.graphs.schema import load_strategy, shipped_strategies
from edgeward.profiles.scripted import ScriptedModel

HOSTILE = """\
strategy: "<script>alert(1)</script>"
description: "</title><script>alert(2)</script> \\u202e \\e[2J & \\"quotes\\" `ticks`"
start: 'a"]; click x "javascript alert(3)"'
nodes:
  'a"]; click x "javascript alert(3)"': act
  '</text><image href=x onerror=alert(4)>': guard
  "end]\\n  evil --> x": {kind: tool, timeout_s: 5}
  'a name that is very long indeed and goes on and on': {kind: reflect, mode: critique}
  'graph': compress
  '漢字の名前': act
edges:
  'a"]; click x "javascript alert(3)".call': '</text><image href=x onerror=alert(4)>'
  'a"]; click x "javascript alert(3)".answer': 'a name that is very long indeed and goes on and on'
  'a"]; click x "javascript alert(3)".limit': end
  '</text><image href=x onerror=alert(4)>.allow': "end]\\n  evil --> x"
  '</text><image href=x onerror=alert(4)>.block': graph
  "end]\\n  evil --> x.done": 'graph'
  'a name that is very long indeed and goes on and on.accept': '漢字の名前'
  'a name that is very long indeed and goes on and on.revise':
    'a name that is very long indeed and goes on and on'
  'graph.done': 'a"]; click x "javascript alert(3)"'
  '漢字の名前.call': '</text><image href=x onerror=alert(4)>'
  '漢字の名前.answer': end
  '漢字の名前.limit': end
"""


@pytest.fixture(params=[*shipped_strategies(), "hostile"])
def drawn(request: pytest.FixtureRequest, strategy_file: Callable[[str], Path]) -> Drawing:
    """Each shipped strategy, and one whose names are attacks."""
    name = str(request.param)
    return drawing(load_strategy(strategy_file(HOSTILE) if name == "hostile" else name))


@pytest.fixture
def hostile(strategy_file: Callable[[str], Path]) -> Drawing:
    """The strategy whose names are attacks."""
    return drawing(load_strategy(strategy_file(HOSTILE)))


@pytest.mark.parametrize("name", shipped_strategies())
def test_the_drawing_is_what_langgraph_made_of_it(name: str) -> None:
    """Node for node and edge for edge, with the outcomes."""
    made = build_graph(name, model=ScriptedModel()).get_graph()
    ends = {"__start__": "start", "__end__": "end"}
    edges = {
        (ends.get(e.source, e.source), str(e.data or ""), ends.get(e.target, e.target))
        for e in made.edges
    }
    shown = drawing(load_strategy(name))
    assert {box.name for box in shown.boxes} == {ends.get(node, node) for node in made.nodes}
    assert edges == {
        (arrow.source, outcome, arrow.target)
        for arrow in shown.arrows
        for outcome in arrow.outcomes or ("",)
    }


def test_nothing_lies_on_another(drawn: Drawing) -> None:
    """Each line beside the boxes has one way at most; lanes do not touch; boxes stand apart."""
    placed = layout(drawn)
    for above, below in zip(placed.boxes, placed.boxes[1:], strict=False):
        assert above.bottom + 1 < below.top
    for side in ("left", "right"):
        lanes = [lane for lane in placed.lanes if lane.side == side]
        lines = [line for lane in lanes for line in (lane.entry, *(e.line for e in lane.exits))]
        assert len(lines) == len(set(lines))
        for lane in lanes:
            for other in lanes:
                if lane is not other and lane.number == other.number:
                    (a, b), (c, d) = lane.lines, other.lines
                    assert b + 1 < c or d + 1 < a
    arrows = sum(len(lane.exits) for lane in placed.lanes) + len(placed.downs)
    assert arrows == len(drawn.arrows)


def test_every_outcome_stands_in_the_picture(drawn: Drawing) -> None:
    """Whole, and as often as there are arrows with it."""
    text = as_ascii(drawn)
    for label in {arrow.label for arrow in drawn.arrows} - {""}:
        wanted = sum(arrow.label == label for arrow in drawn.arrows)
        found = len(re.findall(rf"(?<=[ -]){re.escape(label)}(?=[ -]|$)", text, re.MULTILINE))
        assert found >= wanted, label


def test_no_name_is_markup_in_an_svg(hostile: Drawing) -> None:
    """It is text of the picture, control characters are escapes, and there is no other element."""
    svg = as_svg(hostile)
    root = ElementTree.fromstring(svg)
    kinds = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert kinds <= {"svg", "title", "desc", "style", "rect", "path", "g", "text"}
    texts = [element.text for element in root.iter() if element.text]
    assert "<script>alert(1)</script>" in texts
    assert all(letter.isprintable() or letter == "\n" for letter in svg)


def test_no_name_is_markup_in_mermaid(hostile: Drawing) -> None:
    """What is not a letter, a digit or plain punctuation stands as its number, in quotes."""
    box = r'n\d+(\(\[|\[\[|\[|\{\{)"[\w .,:()+/#;-]*(<br/>[\w .,:()+/#;-]*)*"(\]\)|\]\]|\]|\}\})'
    kinds = [
        r"flowchart TD",
        rf"  {box}(:::(guard|tool))?",
        r'  n\d+ -->(\|"[a-z, ]+"\|)? n\d+',
        r"  classDef (guard|tool) [\w:#,-]+",
    ]
    for line in as_mermaid(hostile).splitlines():
        assert any(re.fullmatch(kind, line) for kind in kinds), line


def test_no_name_steers_a_terminal(hostile: Drawing) -> None:
    """A line break in a name is a blank; a bidirectional override is an escape."""
    text = as_ascii(hostile)
    assert "end] evil --> x" in text
    assert "\\u202e" in text
    assert all(letter.isprintable() or letter == "\n" for letter in text)
