"""`edgeward graph`: a strategy as a picture, in several formats, without a network."""

from __future__ import annotations

import json
import re
import struct
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from edgeward.graphs.schema import shipped_strategies

from .conftest import Invoke

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("strategy", shipped_strategies())
def test_a_shipped_strategy_is_text_of_80_columns(strategy: str, invoke: Invoke) -> None:
    """In plain ASCII, each node in a box, each outcome at its arrow."""
    text = invoke("graph", strategy, "--format", "ascii").stdout
    data = json.loads(invoke("graph", strategy, "--format", "json").stdout)
    assert text.isascii()
    assert max(map(len, text.splitlines())) <= 80
    for node in data["nodes"]:
        assert re.search(rf"[|#[] {node['name']} +[]|#]", text), node
    for edge in data["edges"]:
        assert re.search(rf"\b{edge['outcome']}\b", text), edge


def test_the_only_way_into_the_tools_is_allow(invoke: Invoke) -> None:
    """The picture shows what the checks prove."""
    into = [line for line in invoke("graph", "react").stdout.splitlines() if line.endswith(" tool")]
    assert into == ['  guard -->|"allow"| tool']


def test_guards_and_tools_are_marked_in_each_format(invoke: Invoke) -> None:
    """By shape or class, and not by their names alone."""
    mermaid = invoke("graph", "react").stdout
    assert 'guard{{"guard"}}:::guard' in mermaid
    assert 'tool[["tool<br/>timeout_s 60"]]:::tool' in mermaid
    text = invoke("graph", "react", "-f", "ascii").stdout
    assert re.search(r"#{20}.*\n.*# guard +#", text)
    assert re.search(r"={20}.*\n.*\[ tool +\]", text)
    svg = ElementTree.fromstring(invoke("graph", "react", "-f", "svg").stdout)
    shapes = {shape.get("class"): shape.tag.removeprefix(SVG) for shape in svg.iter()}
    assert shapes["box guard"] == "path"
    assert shapes["box tool"] in ("rect", "path")
    assert {g.get("data-kind") for g in svg.iter(f"{SVG}g")} >= {"guard", "tool", "act"}


def test_json_has_kinds_outcomes_and_bounds(invoke: Invoke) -> None:
    """Of the strategy as it was checked; a bound that the run sets is null."""
    data = json.loads(invoke("graph", "plan_and_execute", "-f", "json").stdout)
    nodes = {node["name"]: node for node in data["nodes"]}
    assert nodes["plan"]["bounds"] == {"max_steps": None, "max_replans": 2}
    assert nodes["tool"] == {
        "name": "tool",
        "kind": "tool",
        "fields": {"timeout_s": 60.0, "max_chars": 100_000},
        "bounds": {"timeout_s": 60.0},
    }
    assert {"from": "act", "outcome": "call", "to": "guard", "counted": True} in data["edges"]
    assert data["start"] == "before_plan"


@pytest.fixture
def fonts(invoke: Invoke) -> None:
    """Skips a test of PNGs where the system has no font to draw them with."""
    if "needs a font" in invoke("graph", "simple", "-f", "png").stderr:
        pytest.skip("this system has no font")


@pytest.mark.usefixtures("fonts")
@pytest.mark.parametrize("suffix", ["mmd", "txt", "svg", "png", "json"])
def test_a_file_has_the_format_of_its_suffix(tmp_path: Path, invoke: Invoke, suffix: str) -> None:
    """And is not written over unless that is asked for."""
    file = tmp_path / f"react.{suffix}"
    assert invoke("graph", "react", "--output", file).exit_code == 0
    data = file.read_bytes()
    begins = {"mmd": b"flowchart", "txt": b"react\n", "svg": b"<svg ", "json": b"{"}
    assert data.startswith(begins.get(suffix, b"\x89PNG\r\n"))
    file.write_text("mine", encoding="utf-8")
    result = invoke("graph", "react", "--output", file)
    assert (result.exit_code, file.read_text()) == (2, "mine")
    assert "--force" in result.stderr
    assert invoke("graph", "react", "--output", file, "--force").exit_code == 0
    assert file.read_bytes() == data


@pytest.mark.usefixtures("fonts")
def test_a_png_shows_the_whole_svg(tmp_path: Path, invoke: Invoke) -> None:
    """At twice its size, and with something in it."""
    svg, png = tmp_path / "a.svg", tmp_path / "a.png"
    for file in (svg, png):
        assert invoke("graph", "react", "-o", file).exit_code == 0
    box = ElementTree.fromstring(svg.read_text()).get("viewBox") or ""
    size = struct.unpack(">II", png.read_bytes()[16:24])
    wanted = [2 * float(side) for side in box.split()[2:]]
    assert all(abs(a - b) <= 2 for a, b in zip(size, wanted, strict=True))
    assert png.stat().st_size > 10_000


def test_a_png_without_its_extra(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line that names the extra."""
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    result = invoke("graph", "react", "-f", "png")
    assert result.exit_code == 2
    assert "edgeward[pictures]" in result.stderr


def test_a_suffix_of_no_format(tmp_path: Path, invoke: Invoke) -> None:
    """One line that says which there are."""
    result = invoke("graph", "react", "-o", tmp_path / "react.pdf")
    assert result.exit_code == 2
    assert "mermaid, ascii, svg, png, json" in result.stderr


def test_a_strategy_that_breaks_an_invariant_is_not_drawn(tmp_path: Path, invoke: Invoke) -> None:
    """One line a problem, with its place, and exit code 2."""
    file = tmp_path / "strategy.yaml"
    file.write_text(
        "strategy: bad\nstart: act\nnodes: {act: act, tool: tool}\n"
        "edges: {act.call: tool, act.answer: end, act.limit: end, tool.done: act}\n"
    )
    result = invoke("graph", file)
    assert result.exit_code == 2
    assert "strategy.yaml:4" in result.stderr
    assert "Traceback" not in result.output
