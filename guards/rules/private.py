"""Tools whose output may leave through no other tool's free text (version 2).

Threat: what the agent read for its user (a passport number, a code, a message) is put into a mail,
a post, the subject of a payment. Codes, half of a secret one (a card, an account number, a key),
short values with a number in them and eleven words in a row are recognised, in other groups and
letter case too; what the user wrote is not private. So it is with what a long-term memory kept of
them. The conditions `clean` (the default for text) and `words` look for them.

    private: [get_user_information, "read_inbox*"]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

from ..flow import holds_nothing_private, private_over
from ..ledger import History
from ..names import shown_name
from ..normalise import Examined
from ..outputs import speaks_of, tool_globs
from ..pieces import pieces
from ..redact import Redactor
from ..referring import without_references
from ..shadow import Shadow
from ..telling import private_pieces
from ..unnamed import unnamed_texts
from ..verdict import Finding, ToolCall
from . import Check, Context, Name, OneOrMore, Where
from .tools import KEY as TOOLS
from .tools import MAX_NAMES, ToolTable, tool_table

if TYPE_CHECKING:
    from ..decide import Policy

KEY = "private"

MEMORY = "memory_recall"
"""The tool that looks into an agent's long-term memory."""
_RECORD = re.compile(
    r"- \[[^\]]*\] \(untrusted, from (?P<from>[^)]*?)(?P<more> and [0-9]+ more)?\) "
)
"""How the line of a record begins that says what it came from; a record has one line."""

Field = Annotated[list[Name], OneOrMore]
DEFAULT: list[str] = []


@dataclass(frozen=True, slots=True)
class Private:
    """Says of outputs what in them is private, and keeps it from tools that are plainly allowed.

    Where an entry of `tools` has conditions, those decide; a code that leaves in pieces is blocked.
    """

    tools: tuple[re.Pattern[str], ...]
    table: ToolTable | None = None
    place: str = ""
    redactor: Redactor = field(default_factory=Redactor)
    rule: str = KEY
    _known: dict[str, tuple[bool, bool]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def parts(self) -> list[str]:
        """None: only the key has a name."""
        return []

    def enforced(self, shadow: Shadow) -> Private | None:
        """The same beside the entries of `tools` that are enforced."""
        if shadow.holds(KEY):
            return None
        return replace(self, table=self.table.enforced(shadow)) if self.table else self

    def __call__(self, call: Examined, history: History) -> Iterable[Finding]:
        own, conditions = self._known.get(call.name) or self._of(call.name)
        if own or (conditions and not history.sent):
            return ()
        ledger = history.ledger
        if not (ledger.holds_private or ledger.gap):
            return ()
        found = list(self._in_pieces(call, history)) if history.sent else []
        if conditions or (not found and holds_nothing_private(call, ledger)):
            return found
        call = without_references(call, ledger)
        return [*(self._unseen(call, history) or self._found(call, history)), *found]

    def _of(self, name: str) -> tuple[bool, bool]:
        """Whether a tool is one of these, and whether `tools` has conditions for it."""
        rows = self.table.rows(name) if self.table is not None else ()
        known = speaks_of(self.tools, name), any(row.ways for row in rows)
        if len(self._known) < MAX_NAMES:
            self._known[name] = known
        return known

    def _unseen(self, call: Examined, history: History) -> list[Finding]:
        """After a gap in the past, what the user did not write may be private."""
        gap = history.ledger.gap
        for path, text in unnamed_texts(call, {}) if gap else ():
            if text.strip() and not history.ledger.stated(text):
                tool = shown_name(call.name)
                reason = f"argument '{path}' of tool {tool} may hold private data ({gap})"
                return [Finding(KEY, "block", reason, self.place, path)]
        return []

    def _found(self, call: Examined, history: History) -> Iterator[Finding]:
        for index, text in call.texts():
            piece = history.ledger.private(text)
            if piece:
                path, tool = call.path(index), shown_name(call.name)
                reason = f"argument '{path}' of tool {tool} holds private data"
                shown = self.redactor.secrets(piece)[0]
                yield Finding(KEY, "block", reason, self.place, path, shown, history.origin(piece))
                return
        if piece := private_over(call, history.ledger):
            reason = f"arguments of tool {shown_name(call.name)} hold private data together"
            shown = self.redactor.secrets(piece)[0]
            yield Finding(KEY, "block", reason, self.place, "", shown, history.origin(piece))

    def _in_pieces(self, call: Examined, history: History) -> Iterator[Finding]:
        """A private code that is whole once the pieces of several calls are put together."""
        own = pieces(call.arguments)
        before = [piece for piece in history.sent if piece not in own]
        both, codes = [*before, *own], history.ledger.split_codes
        found = codes(both) | codes(both[::-1])
        # What stands in one call, in groups or whole, is the matter of that call's conditions.
        if own and found - codes(own) - codes(before):
            reason = "private data in pieces, over the calls of this thread"
            allowed = "the call without its piece of it"
            yield Finding(KEY, "block", reason, self.place, allowed=allowed)

    def pieces(self, call: ToolCall, data: object) -> list[str]:
        """What in an output may not leave."""
        if speaks_of(self.tools, call.name):
            return private_pieces(data)
        if call.name != MEMORY or not isinstance(data, str):
            return []
        return private_pieces([line for line in data.splitlines() if self._recalls(line)])

    def _recalls(self, line: str) -> bool:
        """Whether what a memory kept rests on what one of these tools gave back in its time."""
        record = _RECORD.match(line)
        if record is None:
            return False
        return bool(record["more"]) or any(
            speaks_of(self.tools, name.removeprefix("tool ")) for name in record["from"].split(", ")
        )


def private_tools(policy: Policy) -> frozenset[str]:
    """The globs of tools whose outputs a policy calls private; `*` where a rule does not say."""
    found: set[str] = set()
    for check in policy.checks:
        if hasattr(check, "pieces"):
            tools: Iterable[re.Pattern[str]] | None = getattr(check, "tools", None)
            found |= {"*"} if tools is None else {glob.pattern for glob in tools}
    return frozenset(found)


def build(value: list[str], where: Where, context: Context) -> Check | None:
    """The check; None where nothing is private.

    Raises:
        ValueError: in a version 1 file.
    """
    if not value:
        return None
    if context.version < 2:
        raise ValueError("`private` needs `version: 2`")
    tools = context.values.get(TOOLS)
    table = tool_table(tools, lambda *_: "", default="block", otherwise="block") if tools else None
    return Private(tool_globs(value), table, where(), context.redactor)
