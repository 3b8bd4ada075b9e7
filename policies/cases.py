"""Cases: calls with what went before them, written down, and what a policy says of each.

A file is one call; where cases test a policy, its name is the sentence that it tests, and its
folder the verdict that is expected (`allow/`, `ask/`, `redact/`, `block/`, beside the policy in a
folder of its name):

    tool: send_email
    arguments: {to: [ann@corp.example], body: "The report is done."}
    history:
      - user: Mail Ann that the report is done.
      - {tool: find_person, arguments: {name: Ann}, result: [{name: Ann, email: ann@corp.example}]}
    caller: {user: bob, roles: [clerk]}
    used: {caller: {cost_usd: 1.2}}

Only `tool` is needed. `arguments` may be text, as a model wrote it. `used` is what run, thread and
caller have used, for `limits`: what it leaves out is the calls of the history, and nothing else.
JSON files hold the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from ..guards.arguments import parse_arguments
from ..guards.caller import NOBODY, Caller
from ..guards.conversation import Conversations, ModelTurn, Proposed, ToolResult, Turn, UserText
from ..guards.decide import Policy, decide
from ..guards.ledger import History
from ..guards.limits import SCOPES
from ..guards.python_values import as_call
from ..guards.spent import UNCOUNTED
from ..guards.vault import Hides
from ..guards.verdict import STRICTNESS, ToolCall, Verdict, Word
from .problems import (
    ConfigFileMissing,
    ConfigParseError,
    ConfigValidationError,
    Problem,
    did_you_mean,
    either,
    speak,
)
from .schema import PolicySource, shipped_file
from .validation import Flag
from .yaml_file import MAX_BYTES, Document, from_data, parse_bytes, read_bytes, too_big, validate

SUFFIXES = (".json", ".yaml", ".yml")
WORDS: tuple[Word, ...] = tuple(STRICTNESS)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


Arguments = dict[str, Any] | str


class Said(_Part):
    """The user wrote something: a new run begins."""

    user: str


class Ran(_Part):
    """A tool ran, and gave back `result`: text, or data."""

    tool: Annotated[str, Field(min_length=1)]
    arguments: Arguments = {}
    result: Any = ""
    failed: Flag = False


def _kind(event: object) -> str:
    spoke = isinstance(event, Said) or (isinstance(event, Mapping) and "tool" not in event)
    return "said" if spoke else "ran"


Event = Annotated[Annotated[Said, Tag("said")] | Annotated[Ran, Tag("ran")], Discriminator(_kind)]


class Who(_Part):
    """On whose behalf the call is made."""

    user: str = ""
    tenant: str = ""
    roles: list[str] = []


Used = dict[
    Literal["run", "thread", "caller"],
    dict[
        Literal["tokens", "cost_usd", "calls", "seconds"],
        Annotated[float, Field(ge=0, allow_inf_nan=False)] | Literal["not counted"],
    ],
]
"""What was used up, by whom; `not counted` where nobody knows."""


class _CaseFile(_Part):
    tool: str
    arguments: Arguments = {}
    history: list[Event] = []
    caller: Who = Who()
    used: Used = {}


class _HistoryFile(_Part):
    history: list[Event]


@dataclass(frozen=True, slots=True)
class Case:
    """A call, what went before it, and where it was written down."""

    call: ToolCall
    turns: tuple[Turn, ...] = ()
    caller: Caller = NOBODY
    name: str = ""
    """The sentence that it tests: the file's name, in words."""
    expected: Word | None = None
    """The verdict that its folder's name says."""
    used: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """What run, thread and caller have used, where it is more than the calls of the history."""

    def verdict(self, policy: Policy) -> Verdict:
        """What the policy says of the call."""
        return decide(policy, self.call, self.history(policy))

    def history(self, policy: Policy) -> History:
        """What went before, as a client's door reads it from a conversation."""
        # Placeholders hide values from a model; a case is written with the values themselves.
        seen = tuple(check for check in policy.checks if not isinstance(check, Hides))
        past = Conversations(replace(policy, checks=seen)).past(self.turns, caller=self.caller)
        ran = sum(isinstance(turn, ModelTurn) for turn in self.turns)
        calls = {"run": sum(past.history.calls.values()), "thread": ran, "caller": ran}
        used = {
            scope: {"calls": float(calls[scope]), **self.used.get(scope, {})} for scope in SCOPES
        }
        tokens = used["thread"].get("tokens", 0)
        told = 0 if tokens == UNCOUNTED else int(tokens)
        return replace(past.history, used=used, tokens_used=told)


def load_case(path: Path | str, *, expected: Word | None = None) -> Case:
    """The case in a file.

    Raises:
        ConfigError: it cannot be read, or is no case; with every problem at once.
    """
    path = Path(path)
    document = _document(path)
    found = case_of(document)
    return replace(found, name=path.stem.replace("_", " "), expected=expected)


def case_of(document: Document) -> Case:
    """The case that a document holds.

    Raises:
        ConfigValidationError: with every problem at once.
    """
    file = validate(_CaseFile, document.data, document)
    call = as_call(file.tool, file.arguments, id="call")
    caller = Caller(file.caller.user, file.caller.tenant, tuple(file.caller.roles))
    used: dict[str, dict[str, float]] = {
        scope: {name: UNCOUNTED if isinstance(n, str) else n for name, n in amounts.items()}
        for scope, amounts in file.used.items()
    }
    return Case(call, tuple(turns_of(file.history)), caller, used=used)


def load_history(source: Path | str) -> tuple[Turn, ...]:
    """What went before: a list of events or a case, in a file or as JSON text.

    Raises:
        ConfigError: it cannot be read, or holds neither.
    """
    written = str(source).lstrip().startswith(("[", "{"))
    document = json_document(str(source), name="history") if written else _document(Path(source))
    data = document.data
    if isinstance(data, Mapping) and "tool" in data:
        return case_of(document).turns
    if isinstance(data, list):
        data = {"history": data}
        document = Document(data, document.name)
    return tuple(turns_of(validate(_HistoryFile, data, document).history))


def cases_beside(source: PolicySource) -> list[Case]:
    """The cases beside a policy: in the folders `allow`, `ask`, `redact`, `block` of its name.

    Raises:
        ConfigFileMissing: there is none. ConfigError: one cannot be read; all problems at once.
    """
    folder = case_folder(source)
    cases, problems = list[Case](), list[Problem]()
    for word, path in files_in(folder):
        try:
            cases.append(load_case(path, expected=word))
        except (ConfigParseError, ConfigValidationError, ConfigFileMissing) as error:
            problems += error.problems
    if cases:
        problems += _strays(folder)
    if problems:
        raise ConfigValidationError(*problems)
    if not cases:
        wrong = "there are no cases beside this policy"
        fix = f"write a call into {folder.name}/allow/ or {folder.name}/block/, one a file"
        raise ConfigFileMissing(Problem(speak(str(folder)), "", wrong, fix=fix))
    return cases


def case_folder(source: PolicySource) -> Path:
    """Where the cases of a policy lie: in the folder of its name, beside it.

    Raises:
        ValueError: the policy is no file.
    """
    if not isinstance(source, str | Path):
        raise ValueError("only a policy in a file has cases beside it")
    return (shipped_file(source) or Path(source)).with_suffix("")


def files_in(folder: Path) -> Iterator[tuple[Word, Path]]:
    """The case files below a folder, each with the verdict that its folder's name says."""
    for word in WORDS:
        yield from ((word, path) for path in _below(folder / word))


def _strays(folder: Path) -> Iterator[Problem]:
    """Files among the cases that no folder says the verdict of: nobody would miss their tests."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name not in WORDS and any(_below(path)):
            fix = did_you_mean(path.name, WORDS) or "move its cases"
            wrong = "is a folder of cases without a verdict's name"
            yield Problem(speak(str(path)), "", wrong, either(WORDS), fix)
        elif path.suffix in SUFFIXES and path.is_file():
            wrong = "is a case in no folder that says its verdict"
            yield Problem(speak(str(path)), "", wrong, either(WORDS), "move it into one")


def _below(folder: Path) -> list[Path]:
    found = folder.rglob("*")
    return sorted(path for path in found if path.suffix in SUFFIXES and path.is_file())


def turns_of(events: Iterable[Said | Ran]) -> Iterator[Turn]:
    """The events as turns of a conversation, each call a turn of its own."""
    for number, event in enumerate(events):
        if isinstance(event, Said):
            yield UserText(event.user)
            continue
        call_id = f"call_{number}"
        yield ModelTurn((Proposed(event.tool, event.arguments, call_id),))
        text = event.result if isinstance(event.result, str) else json.dumps(event.result)
        yield ToolResult(call_id, text, event.failed)


def _document(path: Path) -> Document:
    name = str(path)
    raw = read_bytes(path, name=name)
    # YAML reads JSON, but not its pairs of surrogates.
    return json_bytes(raw, name=name) if path.suffix == ".json" else parse_bytes(raw, name=name)


def json_bytes(raw: bytes, *, name: str) -> Document:
    """JSON as it stands in a file, or on a line of one.

    Raises:
        ConfigParseError: it is too big, not UTF-8, or not JSON.
    """
    if len(raw) > MAX_BYTES:
        raise ConfigParseError(too_big(name))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        problem = Problem(name, "", "is not UTF-8", fix="save the file as UTF-8")
        raise ConfigParseError(problem) from None
    return json_document(text, name=name)


def json_document(text: str, *, name: str) -> Document:
    """JSON text as a document, read as strictly as a call's arguments.

    Raises:
        ConfigParseError: it is not JSON.
    """
    listed = text.lstrip().startswith("[")
    data, fault = parse_arguments(f'{{"history": {text}}}' if listed else text)
    if fault is not None:
        wrong = fault.replace("arguments are", "is").replace("arguments hold", "holds")
        raise ConfigParseError(Problem(name, "", wrong))
    found = from_data(data or {}, name=name)
    return Document(found.data["history"], name) if listed else found  # type: ignore[index,call-overload]
