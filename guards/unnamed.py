"""The arguments of a call beside those that a policy names: what no condition speaks of, and names
that only a forgiving reader takes for one that it does.

Some servers read `Path`, `PATH` or `file-path` as `path`; what would hold for it must hold then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any, NamedTuple

from .conditions import EVERY, PLAIN_NAME, Requirement
from .flow import Facts
from .names import bare_argument
from .normalise import Examined
from .tokens import subjects

Tree = dict[str, "Tree | None"]
"""The argument paths that have a condition; None stands for everything below."""

_NO_TREE: Tree = {}


def tree_of(paths: Iterable[tuple[str, ...]]) -> Tree:
    """The paths as a tree."""
    tree: Tree = {}
    for path in paths:
        below = tree
        for step in path[:-1]:
            inner = below.setdefault(step, {})
            if inner is None:
                break
            below = inner
        else:
            below[path[-1]] = None
    return tree


class Unnamed(NamedTuple):
    """The arguments of a call of which a tree says nothing, by their names alone."""

    names: tuple[tuple[str, Tree], ...]
    """Each with what the tree says of its parts."""
    odd: tuple[tuple[str, str], ...]
    """Those names that could say more than a name does: texts, each with its path."""


def unnamed_names(names: Iterable[str], tree: Tree) -> Unnamed:
    """Those of the names (of arguments) of which the tree says nothing, or only of their parts."""
    others = tree.get(EVERY, _NO_TREE)
    below = ((name, tree.get(name, others)) for name in names)
    found = tuple((name, inner) for name, inner in below if inner is not None)
    return Unnamed(found, tuple((n, n) for n, _ in found if PLAIN_NAME.fullmatch(n) is None))


def unnamed_texts(
    call: Examined, tree: Tree, unnamed: Unnamed | None = None
) -> list[tuple[str, str]]:
    """Every text of the call that no requirement names, with its path; decoded views, too.

    `unnamed` is what `unnamed_names` says of its arguments, where that is at hand.
    """
    if not call.views:
        names, odd = unnamed or unnamed_names(call.arguments, tree)
        found = [*odd]
        for name, below in names:
            value = call.arguments[name]
            if type(value) is str:  # as most are
                found.append((name, value))
            else:
                _add_texts(value, below, name, found)
        return found
    covered = list(_coverage(call.arguments, tree))
    for start, parent, value in call.opened:  # JSON text is as its value is
        del covered[start:]
        covered += _coverage(value, None if covered[parent] else _NO_TREE)
    return [(call.path(index), text) for index, text in call.texts() if not covered[index]]


def _add_texts(value: Any, tree: Tree, path: str, found: list[tuple[str, str]]) -> None:
    if type(value) is str:
        found.append((path, value))
    elif type(value) is dict:
        others = tree.get(EVERY, _NO_TREE)
        for key, item in value.items():
            below = tree.get(key, others)
            if below is not None:
                shown = f"{path}.{key}"
                if not (key.isalpha() and key.isascii()) and PLAIN_NAME.fullmatch(key) is None:
                    found.append((shown, key))
                _add_texts(item, below, shown, found)
    elif type(value) is list:
        for number, item in enumerate(value):
            _add_texts(item, tree, f"{path}[{number}]", found)


def unnamed_numbers(arguments: Mapping[str, Any], tree: Tree) -> list[tuple[str, str]]:
    """Every number that no requirement names, as text, with its path: a code can be one."""
    found: list[tuple[str, str]] = []
    _add_numbers(arguments, tree, "", found)
    return found


def _add_numbers(value: Any, tree: Tree, path: str, found: list[tuple[str, str]]) -> None:
    if type(value) is dict:
        others = tree.get(EVERY, _NO_TREE)
        for key, item in value.items():
            if type(item) is not str and (below := tree.get(key, others)) is not None:
                _add_numbers(item, below, f"{path}.{key}" if path else key, found)
    elif type(value) is list:
        for number, item in enumerate(value):
            _add_numbers(item, tree, f"{path}[{number}]", found)
    elif type(value) in (int, float):
        found.append((path, str(value)))


def _coverage(value: Any, tree: Tree | None) -> Iterator[bool]:
    """Of each leaf, in the order in which `Examined` numbers them: whether a requirement names it.

    A name is one step of a path, whatever signs are in it.
    """
    if isinstance(value, dict):
        others = _NO_TREE if tree is None else tree.get(EVERY, _NO_TREE)
        for key, item in value.items():
            below = None if tree is None else tree.get(key, others)
            yield below is None
            yield from _coverage(item, below)
    elif isinstance(value, list):
        for item in value:
            yield from _coverage(item, tree)
    elif value is not None and not isinstance(value, bool):
        yield tree is None


def bare_names(tree: Tree) -> frozenset[str]:
    """Every name in the tree, as the most forgiving reader takes it."""
    found = frozenset(map(bare_argument, tree))
    return found.union(*(bare_names(below) for below in tree.values() if below))


def other_spellings(names: Set[str], tree: Tree, bound: Set[str]) -> dict[str, list[str]]:
    """Those of the names (of arguments) that are other spellings of some in the tree, each with
    these: `file_name` can be meant for `filename` where there is no other such name.

    Of what has parts in the tree, or is `bound` to other arguments, no other spelling will do.
    """
    there: dict[str, list[str]] = {}
    for name in tree:
        there.setdefault(bare_argument(name), []).append(name)
    here = Counter(map(bare_argument, names))
    found: dict[str, list[str]] = {}
    for name in names - tree.keys():
        meant = there.get(bare_argument(name), [])
        alone = here[bare_argument(name)] == 1 and PLAIN_NAME.fullmatch(name)
        if meant and alone and all(tree[n] is None and n not in bound for n in meant):
            found[name] = meant
    return found


def respelled(
    value: Any, tree: Tree, bare: frozenset[str], path: str = ""
) -> Iterator[tuple[str, str, Any]]:
    """Where (path) a name stands that is another spelling of one in the tree, that one, and the
    value.

    `bare` are the tree's `bare_names`.
    """
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from respelled(item, tree, bare, f"{path}[{number}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            shown = f"{path}.{key}" if path else key
            if key in tree:
                below = tree[key]
            else:
                below = tree.get(EVERY)
                if (found := bare_argument(key)) in bare:
                    yield from ((shown, n, item) for n in tree if bare_argument(n) == found)
            if below and type(item) in (dict, list):
                yield from respelled(item, below, bare, shown)


def root_of(path: str, arguments: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The argument below which a path lies; None where two could be meant (`to` and `to.x`)."""
    found = [
        name for name in arguments if path == name or path.startswith((f"{name}.", f"{name}["))
    ]
    return (found[0],) if len(found) == 1 else None


def holds_by_name(
    required: Requirement, path: str, value: Any, arguments: Mapping[str, Any], facts: Facts
) -> bool:
    """Whether a value holds where the names say what it is: the `age` in an object, the numbers of
    a list as a person writes them in a row."""
    if required.flows(value, facts):
        return True
    if isinstance(value, dict) and len(value) <= _MOST_NAMED:
        names = dict.fromkeys(value, True)  # of which nothing is asked but to be names
        return required.flows(names, facts) and all(
            holds_by_name(required, "", item, {}, replace(facts, about=(*facts.about, subjects(n))))
            for n, item in value.items()
            if item is not None
        )
    name = path.rpartition("[")[0]
    own = bool(name) and root_of(path, arguments) == (name,)  # and no other that is called `a.b`
    return own and any(required.flows(row, facts) for row in _in_a_row(arguments[name]))


def _in_a_row(value: object) -> Sequence[str]:
    """The numbers of a list as people write it (`5, 6, 7`, `5, 6 and 7`); nothing where it is no
    list of several numbers, or of very many."""
    if not isinstance(value, list) or not 1 < len(value) <= _MOST_IN_A_ROW:
        return ()
    if any(type(item) not in (int, float) for item in value):
        return ()
    *most, last = (f"{item:.15g}" for item in value)
    return " ".join((*most, last)), " ".join((*most, "and", last))


_MOST_IN_A_ROW, _MOST_NAMED = 100, 30
