"""What a policy says of a tool's output, turned into entries of the ledger.

Three questions, each answered once, when the output is observed: what in it may be believed
(`trust`), what in it may not leave (`private`), and what the call itself created. The answers are
plain data; deciding only looks them up.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from .caller import OWN_VALUES, Caller
from .echo import lines_of, repeats, searched_for, without_echo
from .encodings import every_view
from .groups import kinds_of
from .identifiers import addresses_of, looks_dated, points
from .names import bare_argument, glob_pattern
from .naming import Steps, is_number_of, names_of, own_numbers, values_in, wholes_of
from .patterns import searchable
from .people import called
from .titles import MOST, referred
from .tokens import tokens
from .verdict import ToolCall

Record = dict[str, Any]

MAX_RECORDS = 5_000
MAX_VALUE_CHARS = 400
"""Characters of a value that can count as a whole."""
MAX_DEPTH = 20


_CREATING = frozenset(
    """create make add insert upload draft generate clone copy fork register
    anlegen erstellen erzeugen hinzufuegen hinzufügen einfuegen einfügen hochladen
    crear agregar añadir anadir insertar subir criar adicionar inserir creer créer ajouter inserer
    insérer creare aggiungere inserire aanmaken toevoegen skapa lägg opret opprett utwórz utworz
    dodaj oluştur ekle создать добавить 创建 新建 添加 新增 作成 追加 生成 생성 추가""".split()  # noqa: SIM905 - reads better
)
_NEW = frozenset(
    """new neu neue neuer neues nuevo nueva novo nova nouveau nouvelle nuovo nuova nieuw
    nieuwe""".split()  # noqa: SIM905 - reads better
)
"""Words in a tool's name that say that it makes something, in the languages that we know."""
_READING = frozenset(
    """get list search read find show view fetch lookup query count check
    liste lesen suchen zeigen holen buscar leer listar ver obtener lister lire chercher obtenir
    cercare leggere elenca lijst zoeken lezen""".split()  # noqa: SIM905 - reads better
)
"""Words with which a tool gives what was there before: `get_new_mails`
makes nothing, `create_list` does."""
_PART = re.compile(r"[^\W\d_]+")
_HUMP = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ID = re.compile(r"(?:.*_)?(?:id|uuid|key|number)_?|.*[a-z](?:Id|ID|Uuid|UUID|Key|Number)|ID|Id")
_NAME = re.compile(r"(?:.*_)?(?:name|filename|path|title)")
_LONGEST_TEXT_ID = 64


@dataclass(frozen=True, slots=True)
class Believed:
    """One compiled entry of `trust`."""

    tools: tuple[re.Pattern[str], ...]
    fields: frozenset[Steps] | None = None
    where: tuple[tuple[Steps, frozenset[str]], ...] = ()
    """Fields of a record and the values (as tokens) that each may have; `$user` and `$tenant`
    stand for the caller's."""
    args: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    """Arguments and the globs (RE2: a value may be long) of which one each has to fit."""
    named: bool = False
    """Only records that the user's request names."""
    names: frozenset[Steps] | None = None
    """The fields by which it names them; None: those that are a record's own."""
    text: bool = False
    ask: bool = False
    """A person has to agree before what stands there is used."""

    @property
    def of_caller(self) -> bool:
        """Whether what it believes depends on who asks."""
        return any(allowed.intersection(OWN_VALUES) for _, allowed in self.where)

    def for_caller(self, caller: Caller) -> Believed:
        """This entry with the caller's own values filled in; nobody has none."""
        if not self.of_caller:
            return self
        own = {name: key_of(caller.own(name)) for name in OWN_VALUES}
        where = tuple(
            (field, frozenset(own.get(value, value) for value in allowed) - {""})
            for field, allowed in self.where
        )
        return replace(self, where=where)

    def records(self, call: ToolCall, data: object) -> Iterator[Record]:
        """What this entry lets believe of an output."""
        if not _names(self.tools, call.name) or not self._has_args(call.arguments):
            return
        if searched := searched_for(call.arguments):
            data = without_echo(data, searched)
        for record in self._records(call, data, searched):
            if self.ask:
                record["ask"] = True
            if self.fields is None:
                record["wide"] = True  # no field of it was said to hold ids
            yield record

    def _records(self, call: ToolCall, data: object, searched: Set[str]) -> Iterator[Record]:
        if isinstance(data, str):
            if self.fields is None and not self.where:
                more = {"when": [asked_for(call.arguments)]} if self.named else {}
                yield from ({**record, **more} for record in self._of_text(data, searched))
            return
        rows = ((row, self._record(row)) for row in self._candidates(data) if self._fits(row))
        found = [(row, record) for row, record in rows if record is not None]
        if self.named:
            self._name(found, call, data)
        yield from (record for _, record in found)

    def _name(self, found: Sequence[tuple[object, Record]], call: ToolCall, data: object) -> None:
        """Note in each record how the user's request names it."""
        only = self._only([row for row, _ in found])
        names = None if self.names is None else tuple(self.names)
        rows = [(row, names_of(row, call.name, names)) for row, _ in found]
        others = zip(self._short(found, data), referred(rows, mappings_in(data)), strict=True)
        ids, alone = _ids(call.arguments), len(call.arguments) == 1
        grouped = only is None and self.names is None and len(found) <= MOST
        for (row, record), (_, named), (short, (near, the)) in zip(
            found, rows, others, strict=True
        ):
            wholes = [*wholes_of(row, names or ())]
            if row is only:
                wholes.append(asked_for(call.arguments))
            record["when"] = [*([name] for name in (*named, *short)), *filter(None, wholes)]
            # What else a call says may have picked this one out of many.
            own = ids if row is only and alone else own_numbers(row, call.name) & ids
            record["of"] = sorted(own)
            kinds = kinds_of(row) if grouped and isinstance(row, dict) else []
            ways = {"near": near, "the": the, "kinds": kinds}
            record |= {name: value for name, value in ways.items() if value}

    def _short(self, found: Sequence[tuple[object, Record]], data: object) -> list[list[str]]:
        """How a person is called in each of these records."""
        if self.names is not None:
            return [[] for _ in found]
        return called([row for row, _ in found], mappings_in(data))

    def _only(self, rows: Sequence[object]) -> object:
        """The one record of which all others are parts; None where there are several.

        Where no field is named, what wraps a list would be one record with all that is in it.
        """
        if self.fields is None:
            return rows[0] if len(rows) == 1 else None
        below: set[int] = set()
        top: list[object] = []
        for row in rows:  # each stands before its parts
            if id(row) not in below:
                top.append(row)
                below.update(map(id, mappings_in(row)))
        return top[0] if len(top) == 1 else None

    def _has_args(self, arguments: Mapping[str, Any]) -> bool:
        if not all(_fits_glob(arguments.get(name), globs) for name, globs in self.args):
            return False
        # A server that folds names may have read another of them.
        names = {name for name, _ in self.args}
        return {*map(bare_argument, names)}.isdisjoint(map(bare_argument, arguments.keys() - names))

    def _candidates(self, data: object) -> Iterator[object]:
        """What counts as one record: every mapping, or, where nothing selects, every item."""
        if self.fields is not None or self.where or self.named:
            yield from mappings_in(data)
            return
        if isinstance(data, dict) and len(data) == 1:
            inner = next(iter(data.values()))
            data = inner if isinstance(inner, list) else data
        yield from data if isinstance(data, list) else [data]

    def _fits(self, row: object) -> bool:
        if not self.where:
            return True
        if not isinstance(row, dict):
            return False
        for steps, allowed in self.where:
            given = [_whose(value) for value in values_in(row, steps)]
            if not given or not allowed.issuperset(given):
                return False
        return True

    def _record(self, row: object) -> Record | None:
        if self.fields is None:
            values = list(leaves(row))
        elif isinstance(row, dict):
            given = (item for steps in self.fields for item in values_in(row, steps))
            values = [v for item in given for v in leaves(item)]
        else:
            values = []
        if not values:
            return None
        record: Record = {"values": [v for v in values if len(v) <= MAX_VALUE_CHARS]}
        if self.text:
            record["texts"] = [v for v in values if " " in v or "\n" in v]
        return record

    def _of_text(self, text: str, searched: Set[str]) -> Iterator[Record]:
        """A text: one value a line, `Hotels in Paris: Le Marais` being one as well."""
        if self.text:
            yield {"values": [], "texts": [text]}
        for line, after in lines_of(text):
            if len(line) > MAX_VALUE_CHARS:
                continue
            found = [value for value in (line, after) if value and not repeats(value, searched)]
            if found:
                yield {"values": found}


def believed(rows: Iterable[Believed], call: ToolCall, data: object) -> list[Record]:
    """All records of an output that some entry of `trust` believes."""
    found: list[Record] = []
    for row in rows:
        for record in row.records(call, data):
            found.append(record)
            if len(found) >= MAX_RECORDS:
                return found
    return found


def _ids(arguments: Mapping[str, Any]) -> set[str]:
    """The ids by which a call looks something up."""
    given = ((name, value) for name, value in arguments.items() if is_number_of(name))
    return {str(value) for _, value in given if isinstance(value, str | int)}


def _whose(value: object) -> str:
    """A value as a policy names it; of `Ann <ann@corp.example>` the address."""
    bare = addresses_of(value) if isinstance(value, str) and "<" in value else []
    return key_of(bare[0] if len(bare) == 1 else value)


def asked_for(arguments: Mapping[str, Any]) -> list[str]:
    """The words of a look-up, all of which the user must have written for it to be the user's."""
    given = list(leaves(dict(arguments), keys=False))
    texts = [v for v in given if not looks_dated(v)]
    return texts or [v for v in given if _NUMBER.fullmatch(v)]


_NUMBER = re.compile(r"(?!(?:19|20)\d\d\Z)\d{4,30}")
"""What may be the number of the one thing that is looked up: no year, and no `limit: 10`."""


def created_by(call: ToolCall, data: object) -> dict[str, list[str]]:
    """What a creating call made: `created`, the ids that it returned; `made`, names that it gave.

    The names are the model's own choice. A value that points somewhere (an address, a link) is
    neither: creating a file called like an address must not make the address known.
    """
    if not creates(call.name):
        return {}
    names = [v for k, v in call.arguments.items() if isinstance(v, str) and _NAME.fullmatch(k)]
    ids: list[str] = []
    if isinstance(data, str):
        text = data.strip()
        ids += [text] if 0 < len(text) <= _LONGEST_TEXT_ID and " " not in text else []
    for row in data if isinstance(data, list) else [data]:
        if isinstance(row, dict):
            ids += [
                str(v)
                for k, v in row.items()
                if isinstance(v, str | int) and not isinstance(v, bool) and _ID.fullmatch(str(k))
            ]
    return {"created": _harmless(ids), "made": _harmless(names)}


@lru_cache(maxsize=1_024)
def creates(name: str) -> bool:
    """Whether a tool's name says that it makes something: `new_ticket`, `TicketsCreate`.

    A name in words that are not listed makes nothing, nor does one that first says that it reads.
    """
    words = [part.casefold() for part in _PART.findall(_HUMP.sub(" ", name[:MAX_VALUE_CHARS]))]
    for word in words:
        if word in _READING:
            return False
        if word in _CREATING:
            return True
    return not _NEW.isdisjoint(words)


def _harmless(values: list[str]) -> list[str]:
    return [v for v in values if v.strip() and len(v) <= MAX_VALUE_CHARS and not _leads(v)]


def _leads(value: str) -> bool:
    return any(points(token) for token in tokens(value))


def as_data(text: str) -> object:
    """A tool's text as JSON data where it is that; otherwise the text."""
    core = text.strip()
    if core[:1] + core[-1:] in ("{}", "[]"):
        try:
            return json.loads(core)
        except (ValueError, RecursionError):
            return text
    return text


def mappings_in(value: object, depth: int = MAX_DEPTH) -> Iterator[dict[str, Any]]:
    """Every mapping in `value`, itself included."""
    if isinstance(value, dict):
        yield value
    inner: Sequence[object] = []
    if isinstance(value, dict):
        inner = list(value.values())
    elif isinstance(value, list):
        inner = value
    if depth:
        for item in inner:
            yield from mappings_in(item, depth - 1)


def leaves(value: object, *, keys: bool = True, depth: int = MAX_DEPTH) -> Iterator[str]:
    """Every text and number in `value`; with `keys`, also the names in a mapping."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int | float):
        yield str(value)
    elif isinstance(value, dict) and depth:
        for name, item in value.items():
            if keys and not isinstance(item, dict | list):
                yield str(name)
            yield from leaves(item, keys=keys, depth=depth - 1)
    elif isinstance(value, list) and depth:
        for item in value:
            yield from leaves(item, keys=keys, depth=depth - 1)


def key_of(value: object) -> str:
    """A single value in the form in which values compare; empty for anything else."""
    if isinstance(value, bool):
        return str(value).lower()
    return " ".join(tokens(str(value))) if isinstance(value, str | int | float) else ""


def tool_globs(names: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    """Tool names or globs, compiled."""
    return tuple(glob_pattern(name) for name in names)


def _names(globs: Iterable[re.Pattern[str]], name: str) -> bool:
    return any(glob.fullmatch(name) for glob in globs)


def speaks_of(globs: Iterable[re.Pattern[str]], name: str) -> bool:
    """Whether one of the globs names the tool."""
    return _names(globs, name)


def _fits_glob(value: object, globs: Iterable[Any]) -> bool:
    """Whether an argument is as a glob says; a path counts as it stands once resolved."""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return False
    return all(_fits(text, globs) for text in every_view(str(value)))


def _fits(text: str, globs: Iterable[Any]) -> bool:
    if "/" in text or "\\" in text:
        scheme, sign, rest = text.partition("://")
        path = posixpath.normpath((rest if sign else text).replace("\\", "/"))
        text = f"{scheme}://{path}" if sign else path
    text = searchable(text)
    return any(glob.fullmatch(text) for glob in globs)
