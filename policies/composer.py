"""YAML events -> a tree of plain values that knows its lines and stays within its bounds.

PyYAML's own composer keeps the last of two equal keys, follows aliases without counting and
recurses as deep as the text says. This one reads the same (safe) event stream, which builds no
objects, and refuses what a configuration file has no use for. What a plain word means is narrower
than in YAML 1.1, so that nothing changes its type unseen:

- booleans are `true` and `false` only; `yes`, `no`, `on`, `off` are words (see `Flag` in
  `validation.py` for fields that take either);
- numbers are decimal or `0x`; `010`, `0b1`, `12:30`, `.inf`, `.nan` and dates are words;
- nothing, `~` and `null` are `None`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml  # type: ignore[import-untyped]

from .problems import ConfigParseError, FieldPath, Problem, speak, spell

MAX_NODES = 50_000
"""Values in one file, aliases and merge keys written out in full."""

MAX_DEPTH = 40
"""Levels of nesting, aliases written out in full."""

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""Whose scanner and parser is used: libyaml's where PyYAML was built with it."""

_TAG = "tag:yaml.org,2002:"
_INT = re.compile(r"[-+]?(?:0|[1-9](?:_?[0-9])*|0x[0-9a-fA-F]+)")
_FLOAT = re.compile(r"[-+]?(?:(?:0|[1-9](?:_?[0-9])*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_LONGEST_NUMBER = 40
_HALF = re.compile("[\ud800-\udfff]")
_BOOL = {w: w.lower() == "true" for w in ("true", "True", "TRUE", "false", "False", "FALSE")}
_NULL = frozenset(("", "~", "null", "Null", "NULL"))

Scalar = str | int | float | bool | None


@dataclass(slots=True)
class Node:
    """A value and where it stands. `line` counts from 1; `size` and `height` include aliases."""

    line: int
    value: Scalar = None
    items: list[Node] | None = None
    keys: dict[str, tuple[int, Node]] | None = None
    size: int = 1
    height: int = 1

    def plain(self) -> Any:
        """The value as fresh dicts, lists and scalars."""
        if self.keys is not None:
            return {key: node.plain() for key, (_, node) in self.keys.items()}
        if self.items is not None:
            return [node.plain() for node in self.items]
        return self.value


@dataclass(slots=True)
class _Composer:
    name: str
    events: Iterator[Any]
    path: list[str | int] = field(default_factory=list)
    anchors: dict[str, tuple[int, Node | None]] = field(default_factory=dict)
    repeated: list[Problem] = field(default_factory=list)
    seen: int = 0

    def problem(self, line: int, wrong: str, *, allowed: str = "", fix: str = "") -> Problem:
        return Problem(f"{self.name}:{line}", spell(self.path), wrong, allowed, fix)

    def refuse(self, line: int, wrong: str, *, allowed: str = "", fix: str = "") -> NoReturn:
        raise ConfigParseError(*self.repeated, self.problem(line, wrong, allowed=allowed, fix=fix))

    def document(self) -> Node | None:
        """The one document of the stream; None where there is none."""
        next(self.events)  # stream start
        if isinstance(next(self.events), yaml.StreamEndEvent):
            return None
        root = self.node(next(self.events))
        next(self.events)  # document end
        extra = next(self.events)
        if not isinstance(extra, yaml.StreamEndEvent):
            self.path.clear()
            self.refuse(
                _line(extra),
                "a second document begins here",
                allowed="one document a file",
                fix="remove the `---` line and what follows",
            )
        if self.repeated:
            raise ConfigParseError(*self.repeated)
        return root

    def node(self, event: Any) -> Node:
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event)
        line = _line(event)
        if event.anchor is not None:
            if event.anchor in self.anchors:
                first = self.anchors[event.anchor][0]
                self.refuse(line, f"anchor &{speak(event.anchor)} is already set in line {first}")
            self.anchors[event.anchor] = (line, None)
        self.seen += 1
        if self.seen > MAX_NODES:
            self.refuse(line, "too many values", allowed=f"{MAX_NODES} in one file")
        if len(self.path) >= MAX_DEPTH:
            self.refuse(line, "nested too deep", allowed=f"{MAX_DEPTH} levels")
        if isinstance(event, yaml.ScalarEvent):
            node = Node(line, self.scalar(event))
        elif isinstance(event, yaml.SequenceStartEvent):
            node = self.sequence(event)
        else:
            node = self.mapping(event)
        if event.anchor is not None:
            self.anchors[event.anchor] = (line, node)
        return node

    def alias(self, event: Any) -> Node:
        line, word = _line(event), speak(event.anchor)
        if event.anchor not in self.anchors:
            self.refuse(line, f"alias *{word} has no anchor &{word} before it")
        since, node = self.anchors[event.anchor]
        if node is None:
            self.refuse(line, f"alias *{word} stands inside &{word} (line {since}): no end")
        self.bound(line, node.size, len(self.path) + node.height)
        return node

    def bound(self, line: int, size: int, depth: int) -> None:
        """Refuse what would grow beyond all bounds when aliases are written out."""
        if size > MAX_NODES:
            self.refuse(
                line, "too many values once aliases are written out", allowed=f"{MAX_NODES}"
            )
        if depth > MAX_DEPTH:
            self.refuse(
                line, "nested too deep once aliases are written out", allowed=f"{MAX_DEPTH} levels"
            )

    def sequence(self, event: Any) -> Node:
        self.check_tag(event, "seq")
        node = Node(_line(event), items=[])
        assert node.items is not None
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            self.path.append(len(node.items))
            child = self.node(event)
            self.path.pop()
            node.items.append(child)
            self.grow(node, child)
        return node

    def grow(self, node: Node, child: Node) -> None:
        node.size += child.size
        if child.height >= node.height:
            node.height = child.height + 1
        if node.size > MAX_NODES or len(self.path) + node.height > MAX_DEPTH:
            self.bound(child.line, node.size, len(self.path) + node.height)

    def mapping(self, event: Any) -> Node:
        self.check_tag(event, "map")
        own: dict[str, tuple[int, Node]] = {}
        merged: dict[str, tuple[int, Node]] = {}
        node = Node(_line(event), keys={})
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            line, merge = _line(event), _is_merge(event)
            key = "<<" if merge else self.key(event)
            self.path.append(key)
            child = self.node(next(self.events))
            if key in own:
                fix = "write `<<: [*first, *second]`" if merge else "keep one of the two"
                wrong = f"key {speak(key)} stands twice: in lines {own[key][0]} and {line}"
                self.repeated.append(
                    self.problem(line, wrong, allowed="each key once in a mapping", fix=fix)
                )
            own.setdefault(key, (line, child))
            if merge:
                self.merge(child, line, merged)
            self.path.pop()
            self.grow(node, child)
        # A quoted "<<" is a merge key to no one; the plain one is spent.
        own.pop("<<", None)
        node.keys = {**own, **{k: v for k, v in merged.items() if k not in own}}
        return node

    def merge(self, node: Node, line: int, into: dict[str, tuple[int, Node]]) -> None:
        """Add what `<<` names; the first of several sources wins, as YAML's merge type says."""
        for source in node.items if node.items is not None else [node]:
            if source.keys is None:
                self.refuse(line, "`<<` takes a mapping or a list of mappings")
            else:
                for key, entry in source.keys.items():
                    into.setdefault(key, entry)

    def key(self, event: Any) -> str:
        if isinstance(event, yaml.ScalarEvent | yaml.AliasEvent):
            value = self.node(event).value
            if value == "<<":
                self.refuse(_line(event), 'the key "<<" is not read', fix="write << unquoted")
            if isinstance(value, str):
                return value
        # Before its parts are looked at: keys in keys would nest without end.
        return self.refuse(_line(event), "a key is not text", fix="put the key in quotes")

    def check_tag(self, event: Any, name: str) -> None:
        if event.tag not in (None, "!", _TAG + name):
            self.refuse_tag(event)

    def refuse_tag(self, event: Any) -> None:
        tag = event.tag.replace(_TAG, "!!")
        self.refuse(
            _line(event),
            f"tag {speak(tag)} is not read",
            allowed="plain YAML: text, numbers, true, false, lists, mappings",
            fix="remove the tag",
        )

    def scalar(self, event: Any) -> Scalar:
        text: str = event.value
        if not text.isascii() and _HALF.search(text):
            self.refuse(_line(event), "the text holds half a character (a lone surrogate)")
        if event.tag in ("!", _TAG + "str") or (event.tag is None and not event.implicit[0]):
            return text
        value = _resolve(text)
        if event.tag is None:
            return value
        want: dict[str, tuple[type, ...]] = {
            "int": (int,),
            "float": (int, float),
            "bool": (bool,),
            "null": (type(None),),
        }
        name = event.tag.removeprefix(_TAG)
        if name not in want:
            self.refuse_tag(event)
        if type(value) not in want[name]:
            self.refuse(_line(event), f"the value is not what its tag !!{name} says")
        return float(value) if name == "float" and isinstance(value, int) else value


def compose(text: str, *, name: str) -> Node | None:
    """The tree of the one YAML document in `text`; None where it holds none.

    Raises:
        ConfigParseError: for a syntax error, and for all that this module's bounds refuse; where
            keys are repeated, for all repeated keys at once.
    """
    return _Composer(name, yaml.parse(text, Loader=LOADER)).document()


def at(root: Node | None, path: FieldPath) -> int:
    """The line of the key or list item at `path`, or of its nearest parent; 0 where unknown."""
    if root is None:
        return 0
    line, node = root.line, root
    for part in path:
        if isinstance(part, str) and node.keys is not None and part in node.keys:
            line, node = node.keys[part]
        elif isinstance(part, int) and node.items is not None and 0 <= part < len(node.items):
            node = node.items[part]
            line = node.line
        else:
            break
    return line


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _is_merge(event: Any) -> bool:
    return (
        isinstance(event, yaml.ScalarEvent)
        and event.value == "<<"
        and event.tag is None
        and bool(event.implicit[0])
    )


def _resolve(text: str) -> Scalar:
    """What a plain word means."""
    if text in _NULL:
        return None
    if text in _BOOL:
        return _BOOL[text]
    if len(text) > _LONGEST_NUMBER or text[0] not in "+-.0123456789":
        return text
    if _INT.fullmatch(text):
        return int(text.replace("_", ""), 16 if "x" in text else 10)
    if _FLOAT.fullmatch(text) and math.isfinite(number := float(text.replace("_", ""))):
        return number
    return text
