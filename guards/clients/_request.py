"""What goes to the model, masked: a JSON-like request walked whole, the caller's objects untouched.

Every text is masked (secrets and personal data), at any depth: message content as text or blocks,
tool results, the arguments of past calls (which stay valid JSON of the same shape). Results of
tools, documents and search results that read like instructions are withheld, as the policy says.

Left as they are: ids, names, types and other words that the provider reads; signatures and
encrypted parts; images, sound and other data; reasoning. A secret that stands there is reported.
Below a call's arguments and in a result's data every field is the model's or a tool's own, and no
name exempts it.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from operator import is_
from threading import Lock
from typing import Any, Literal

from ..decide import Policy
from ..results import asked, screen
from ..turns import known_by

EXACT = frozenset(
    """type role status name id signature thought_signature thoughtSignature model format detail
    media_type mime_type mimeType phase encrypted_content encrypted_index encrypted_stdout file_data
    fileData file_uri fileUri cache_control""".split()  # noqa: SIM905 - one word a value reads better
)
"""Fields that the provider reads, or that only it may change."""

OPAQUE = frozenset(
    """thinking redacted_thinking reasoning image image_url input_image input_audio audio
    computer_screenshot image_generation_call compaction mcp_tool_listing""".split()  # noqa: SIM905
)
"""Types of blocks that stay as they are: reasoning, images, sound, lists of tools."""

BLOBS = frozenset({"inline_data", "inlineData", "image_url", "input_audio", "audio"})
"""Fields that hold data and no text."""

_NOT_SAID = ("_result", "_output", "document")
"""How the types of blocks end that hold what a tool gave back, a search found or a file says: as
the vendors have it, also of tools that are not known here."""

_RESPONSES = frozenset(
    """function_response functionResponse code_execution_result codeExecutionResult tool_response
    toolResponse outputs results""".split()  # noqa: SIM905 - one word a field reads better
)
_OPEN = frozenset({"input", "args", "arguments", "response", "output", "parameters", "action"})
"""Fields whose mapping is arguments or a tool's data: no name in it means anything."""
_THINKING = frozenset({"thinking", "reasoning", "reasoning_content", "reasoning_details"})
_KNOWN = {
    **dict.fromkeys(_RESPONSES, "result"),
    **dict.fromkeys(_THINKING, "thinking"),
    **dict.fromkeys((*EXACT, *BLOBS, "call_id"), "as it is"),
    **dict.fromkeys(_OPEN, "open"),
    "data": "data",
    **dict.fromkeys(("content", "text"), "text"),
}
"""What becomes of a field, by its name; `data` is a text where its `type` says so."""

_PLAIN = frozenset((type(None), bool, int, float, bytes, bytearray))
"""Types of values that hold no text."""

_Kind = Literal["text", "result", "json", "result json"]
"""What a text is: any, what a tool gave back, arguments as JSON, such in what a tool gave back."""
_Known = tuple[str | None, tuple[str, ...]]
"""What becomes of a text (None: it stays), and the labels of what was masked."""

_CACHE_SIZE = 8_192
"""Texts that are remembered; of more, those that came first are forgotten."""
_MAX_DEPTH = 200


@dataclass(slots=True)
class Inbound:
    """A request as it goes out. `labels`: what was masked; `left`: what could not be changed."""

    value: Any
    labels: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


@dataclass(slots=True)
class _Found:
    labels: dict[str, None] = field(default_factory=dict)
    left: dict[str, None] = field(default_factory=dict)


class RequestMask:
    """Masks requests under one policy. May be shared by threads.

    Remembers by digest what became of longer texts: a conversation is sent again with every turn.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._seen: OrderedDict[tuple[_Kind, str | bytes], _Known] = OrderedDict()
        self._lock = Lock()

    def __call__(self, value: Any) -> Inbound:
        """The request, or a part of it, masked. What needs no change is the same object.

        An iterator is read, and a list takes its place. A mapping with a change becomes a new
        dict, a pydantic model a changed copy of its class.

        Raises:
            ValueError: it is nested too deeply to be walked.
        """
        found = _Found()
        masked = self._walked(value, found, False, 0)
        return Inbound(masked, tuple(found.labels), tuple(found.left))

    def text(self, text: str, *, results: bool = False) -> tuple[str, tuple[str, ...]]:
        """One text, masked; as a tool's result also withheld where it reads like instructions."""
        masked, labels = self._known("result" if results else "text", text)
        return (text if masked is None else masked), labels

    def _known(self, kind: _Kind, text: str) -> _Known:
        """What becomes of the text, which is not looked at twice."""
        key = (kind, known_by(text))
        known = self._seen.get(key)
        if known is None:
            masked, labels = self._masked(text, kind)
            known = (None if masked == text else masked), labels
            with self._lock:
                self._seen[key] = known
                if len(self._seen) > _CACHE_SIZE:
                    self._seen.popitem(last=False)
        return known

    def _masked(self, text: str, kind: _Kind) -> tuple[str, tuple[str, ...]]:
        if kind in ("json", "result json"):
            return self._masked_json(text, results=kind == "result json")
        masked, labels = self._policy.redactor.all(text)
        if kind == "text":
            return masked, labels
        said = asked(self._policy, masked)
        return screen(self._policy, masked, said=said).text, labels

    def _masked_json(self, text: str, *, results: bool) -> tuple[str, tuple[str, ...]]:
        """Arguments as JSON text: masked leaf by leaf, so that it stays JSON of the same shape."""
        found = _Found()
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return self.text(text, results=results)
        masked = self._opened(value, found, results, 0)
        changed = text if masked is value else json.dumps(masked, ensure_ascii=False)
        return changed, tuple(found.labels)

    def _walked(self, value: Any, found: _Found, results: bool, depth: int) -> Any:
        kind = type(value)
        if kind is str:
            return self._leaf(value, found, "result" if results else "text")
        if kind in _PLAIN:
            return value
        if depth > _MAX_DEPTH:
            raise ValueError("the request is nested too deeply to be checked")
        if kind is dict:
            return self._mapping(value, found, results, depth)
        if kind is list:
            changed: list[Any] | None = None
            for place, item in enumerate(value):
                new = self._walked(item, found, results, depth + 1)
                if new is not item:
                    changed = list(value) if changed is None else changed
                    changed[place] = new
            return value if changed is None else changed
        return self._other(value, found, results, depth)

    def _other(self, value: Any, found: _Found, results: bool, depth: int) -> Any:
        """What is no JSON value as it stands: iterators, tuples, models, kinds of texts."""
        kind = type(value)
        if isinstance(value, Mapping):
            return self._mapping(value, found, results, depth)
        if isinstance(value, list | tuple | Iterator):
            old = list(value)
            new = [self._walked(v, found, results, depth + 1) for v in old]
            if all(map(is_, old, new)):
                return old if isinstance(value, Iterator) else value
            return tuple(new) if kind is tuple else new
        if isinstance(value, str):
            return self._leaf(value, found, "result" if results else "text")
        if hasattr(kind, "model_fields"):
            fields = dict(value)  # pydantic gives its fields and extra fields
            new_fields = self._mapping(fields, found, results, depth)
            changed = {k: v for k, v in new_fields.items() if v is not fields[k]}
            return value.model_copy(update=changed) if changed else value
        return value

    def _leaf(self, text: str, found: _Found, kind: _Kind) -> str:
        masked, labels = self._known(kind, text)
        if labels:
            found.labels.update(dict.fromkeys(labels))
        return text if masked is None else masked

    def _mapping(self, value: Mapping[Any, Any], found: _Found, results: bool, depth: int) -> Any:
        kind = value.get("type")
        if not isinstance(kind, str):
            kind = ""
        # No model thinks within what a tool gave: there it is a text under another name.
        if not results and (kind in OPAQUE or value.get("thought") is True):
            self._report(value, found)
            return value
        results = results or kind.endswith(_NOT_SAID) or value.get("role") in ("tool", "function")
        changed: dict[Any, Any] | None = None
        for key, item in value.items():
            known = _KNOWN.get(key)
            if known == "as it is" or (known is None and _is_id(key)):
                continue
            if known == "data" and kind != "text":
                continue
            if known == "text" and type(item) is str:  # most of what there is
                new = self._leaf(item, found, "result" if results else "text")
            elif known is None:
                new = self._walked(item, found, results, depth + 1)
            else:
                new = self._field(known, key, item, found, results, depth + 1)
            if new is not item:
                changed = dict(value) if changed is None else changed
                changed[key] = new
        return value if changed is None else changed

    def _field(
        self, known: str, key: Any, item: Any, found: _Found, results: bool, depth: int
    ) -> Any:
        """What becomes of a field that has a meaning, and may be changed."""
        if known == "open":
            if key == "arguments" and isinstance(item, str):
                return self._leaf(item, found, "result json" if results else "json")
            if isinstance(item, Mapping):
                return self._opened(item, found, results, depth)
        elif known == "thinking" and not results:
            self._report(item, found)
            return item
        return self._walked(item, found, results or known == "result" or key == "output", depth)

    def _opened(self, value: Any, found: _Found, results: bool, depth: int) -> Any:
        """Arguments or a tool's data: every key and text is masked."""
        if isinstance(value, str):
            return self._leaf(value, found, "result" if results else "text")
        if depth > _MAX_DEPTH:
            raise ValueError("the request is nested too deeply to be checked")
        if isinstance(value, Mapping):
            pairs = [
                (
                    self._leaf(k, found, "text") if isinstance(k, str) else k,
                    self._opened(v, found, results, depth + 1),
                )
                for k, v in value.items()
            ]
            same = all(
                a is b and v is w for (a, v), (b, w) in zip(pairs, value.items(), strict=True)
            )
            return value if same else dict(pairs)
        if isinstance(value, list | tuple):
            new = [self._opened(v, found, results, depth + 1) for v in value]
            return value if all(map(is_, value, new)) else new
        return value

    def _report(self, value: Any, found: _Found) -> None:
        """Note the secrets in what cannot be changed."""
        for text in _texts(value, 0):
            _, labels = self._policy.redactor.secrets(text)
            found.left.update(dict.fromkeys(labels))


def _is_id(key: Any) -> bool:
    return isinstance(key, str) and key.endswith(("_id", "_ids"))


def materialised(value: Any) -> Any:
    """The value with every iterator in it read into a list, so that it can be read twice."""
    if isinstance(value, str) or type(value) in _PLAIN:
        return value
    if isinstance(value, Mapping):
        changed: dict[Any, Any] | None = None
        for key, item in value.items():
            new = item if type(item) is str else materialised(item)
            if new is not item:
                changed = dict(value) if changed is None else changed
                changed[key] = new
        return value if changed is None else changed
    if isinstance(value, Iterator):
        return [materialised(item) for item in value]
    if isinstance(value, list | tuple):
        made = [materialised(item) for item in value]
        return value if all(map(is_, value, made)) else made
    return value


def _texts(value: Any, depth: int) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, str):
        if len(value) < 100_000:  # an image's data is longer, and holds no secret that is one
            yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item, depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item, depth + 1)
