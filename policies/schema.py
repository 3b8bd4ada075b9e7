"""`load_policy`: from a policy file to the policy that `decide` reads. All problems at once.

The file's schema is put together from the rule kinds that are there: each brings its key, its
shape and its default, so that a new kind is one file. A policy is parsed and compiled once, here;
deciding reads no file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, create_model

from ..arguments import refusal, require
from ..guards.decide import Policy
from ..guards.detectors import Detect
from ..guards.following import Source
from ..guards.patterns import PatternSet
from ..guards.receipts.log import ReceiptLog
from ..guards.redact import Redactor, SecretPattern
from ..guards.rules import Check, Context, Where, rule_modules
from ..guards.rules.pii import personal_data
from ..guards.shadow import OPEN
from ..guards.verdict import canonical_json
from .modes import Modes, as_head_key, faults, shadow_of
from .problems import (
    ConfigError,
    ConfigFileMissing,
    ConfigParseError,
    ConfigValidationError,
    Problem,
    did_you_mean,
    either,
    speak,
)
from .shapes import without_blanks
from .validation import Flag
from .yaml_file import Document, from_data, parse_bytes, read_bytes, read_yaml, validate

DEFAULT_POLICY = "default"
"""The shipped policy that counts where none is given."""

BLOCK_MESSAGE = "[Edgeward] Action blocked by policy."
"""What stands for an answer of which nothing else is left."""

_VERSION_2 = ("me", "default", "otherwise")
"""Keys of the head that a version 1 file cannot have; a rule kind sees to its own."""

_SHIPPED = Path(__file__).parent


class PolicyHead(BaseModel):
    """The keys that belong to no single rule; `policy_model` adds those of the rule kinds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Annotated[int, Field(ge=1, le=2)] = 1
    """1 or 2: which keys there are, and what an absent `egress_allowlist` means."""
    description: str = ""
    me: list[Annotated[str, Field(min_length=1)]] = []
    """Values that are the user's own."""
    default: Literal["block", "ask", "allow"] = "block"
    """What happens to a tool that nothing names."""
    otherwise: Literal["block", "ask"] = "block"
    """What happens where a named tool's condition fails."""
    mode: Modes = "enforce"
    """`shadow`: the policy decides nothing, and says in receipts what it would have. A mapping puts
    single rules in shadow, named as verdicts name them."""
    fail_closed: Flag = True
    """Whether a check that raises blocks the call. False is recorded with every such call."""
    receipts: Literal["fingerprint", "arguments", "history"] = "fingerprint"
    """What a receipt says of a call: the SHA-256 of its arguments, or also themselves, masked, or
    also what the thread has seen since the last one, so that it can be decided again."""
    block_message: Annotated[str, AfterValidator(lambda text: text.strip() or BLOCK_MESSAGE)] = (
        BLOCK_MESSAGE
    )


@cache
def policy_model() -> type[PolicyHead]:
    """The schema of a policy file: the head's keys and one of each rule kind.

    Raises:
        ConfigError: if an installed package's rule kind cannot be loaded, or takes a taken key.
    """
    try:
        modules = rule_modules()
    except (ValueError, ImportError, AttributeError) as error:
        # Of an installed package: without its rule the policy would allow what it should block.
        raise ConfigError(
            Problem("edgeward.rules", "", f"a rule kind is broken: {error}")
        ) from error
    fields: dict[str, Any] = {
        key: (module.Field, module.DEFAULT) for key, module in modules.items()
    }
    if taken := sorted(fields.keys() & PolicyHead.model_fields.keys()):
        wrong = f"an installed rule kind takes the key {either(taken)}, which every policy has"
        raise ConfigError(Problem("edgeward.rules", "", wrong, fix="uninstall its package"))
    return create_model("PolicyFile", __base__=PolicyHead, **fields)


def shipped_policies() -> tuple[str, ...]:
    """The names under which policies are shipped."""
    return tuple(sorted(path.stem for path in _SHIPPED.glob("*.yaml")))


def shipped_file(source: str | Path) -> Path | None:
    """The file of the shipped policy that `source` names; None where it names none."""
    shipped = isinstance(source, str) and source in shipped_policies()
    return _SHIPPED / f"{source}.yaml" if shipped else None


PolicySource = str | Path | Mapping[str, object] | Source | None
"""A shipped name, a path, a mapping, a `Policy`, a `PolicyFile`; None is the shipped `default`."""

_SOURCES = "a shipped name, a path, a mapping, a Policy, a PolicyFile, or None for the default"


def policy_source(given: PolicySource) -> Source:
    """What says which policy counts: a `PolicyFile` as it is, anything else loaded once.

    Raises:
        ConfigError: as `load_policy`. TypeError: it is nothing that names a policy.
    """
    if given is None or isinstance(given, str | Path | Mapping):
        return load_policy(given)
    if not isinstance(getattr(given, "current", None), Policy):
        raise refusal("policy", given, _SOURCES)
    return given


def load_policy(
    source: PolicySource = None,
    *,
    detectors: Mapping[str, Detect] | None = None,
    receipts: ReceiptLog | None = None,
) -> Policy:
    """The policy that `source` names or says, ready to decide.

    `source` is the name of a shipped policy (`"default"`), the path of a file, the file's content
    as a mapping, or a policy, which is returned as it is. None is the shipped `default`. A text
    that is a shipped name is taken as one; write `./default` for a file of that name. The policy
    stays as it was loaded: a `PolicyFile` follows its file, and what counts there now is loaded.
    `detectors` are asked about every tool output, besides those that the file names: callables
    that give a text a score from 0 to 1. Every verdict under the policy, by whichever door, is kept
    in `receipts`.

    Raises:
        ConfigFileMissing: if there is no such file or name.
        ConfigParseError: if the file is not YAML, or repeats a key.
        ConfigValidationError: with every problem of the content at once.
        ValueError: `detectors` for a policy that is loaded already.
        TypeError: `source` is nothing that names a policy, or `receipts` is no log.
    """
    require("receipts", receipts, ReceiptLog | None, "a ReceiptLog or None")
    if not (source is None or isinstance(source, str | Path | Mapping)):
        if detectors:
            raise ValueError("a loaded policy has its detectors; give them where it is loaded")
        policy = policy_source(source).current
        return policy if receipts is None else replace(policy, receipts=receipts)
    if isinstance(source, Mapping):
        document = from_data(source, name="<policy>")
        policy = policy_of(document, detectors or {}, name="<policy>", source="")
    else:
        path, name = _policy_file(DEFAULT_POLICY if source is None else source)
        raw = read_bytes(path, name=name)
        if detectors:
            document = parse_bytes(raw, name=name)
            policy = policy_of(document, detectors, name=path.stem, source=name)
        else:
            policy = _compiled(raw, path.stem, name, policy_model())
    return policy if receipts is None else replace(policy, receipts=receipts)


@lru_cache(maxsize=16)
def _compiled(raw: bytes, stem: str, name: str, kinds: type[PolicyHead]) -> Policy:
    """The policy of a file under these rule kinds, which is the same each time.

    So whoever loads it for each request waits only once.
    """
    return policy_of(parse_bytes(raw, name=name), {}, name=stem, source=name)


def policy_document(source: str | Path) -> Document:
    """The file that a shipped name or a path names, as data that knows its lines.

    Raises:
        ConfigFileMissing: if there is no such file or name.
        ConfigParseError: if the file is not YAML, or repeats a key.
    """
    path, name = _policy_file(source)
    return read_yaml(path, name=name)


def _policy_file(source: str | Path) -> tuple[Path, str]:
    """The file that a shipped name or a path names, and how messages call it.

    Raises:
        ConfigFileMissing: if there is no such file or name.
    """
    if (shipped := shipped_file(source)) is not None:
        return shipped, f"policies/{source}.yaml"
    path = Path(source)
    if not path.exists():
        raise ConfigFileMissing(_missing(str(source)))
    return path, str(source)


def _missing(source: str) -> Problem:
    """A name or path behind which there is nothing."""
    names = shipped_policies()
    stem = Path(source).stem if "\n" not in source else ""
    fix = did_you_mean(stem, names)
    return Problem(speak(source), "", "there is no such policy", f"a path, or {either(names)}", fix)


def policy_of(
    document: Document, detectors: Mapping[str, Detect], *, name: str, source: str
) -> Policy:
    """Check and compile one document.

    Raises:
        ConfigError: with every problem at once.
    """
    if document.data is None:
        # An emptied file would otherwise mean what version 1 says of no rules: any tool may run.
        raise ConfigParseError(
            Problem(document.where(), "", "the file is empty", "a mapping with at least `version`")
        )
    model = policy_model()
    try:
        head = validate(model, document.data, document)
    except ConfigValidationError as error:
        raise ConfigValidationError(*map(as_head_key, error.problems)) from None
    data: dict[str, object] = without_blanks(document.data, [model])
    values = {key: getattr(head, key) for key in model.model_fields}
    try:
        redactor = _redactor(values, document)
    except ValueError as error:
        raise ConfigValidationError(Problem(document.where(("pii",)), "pii", str(error))) from error
    # `default` speaks of tools, so it is heard where it stands alone, too.
    # A blank `tools:` names no tool: it must not mean what no `tools` means, that any may run.
    written = document.data if isinstance(document.data, dict) else {}
    alone = head.version >= 2 and ("default" in data or "tools" in written)
    given = {*data, "tools"} if alone else {*data}
    shadow = shadow_of(head.mode)
    context = Context(
        head.version,
        values,
        frozenset(given),
        redactor,
        PatternSet(),
        detectors,
        shadow or OPEN,
    )
    return Policy(
        name=name,
        digest=_digest(data),
        checks=_checks(context, document),
        patterns=context.patterns,
        redactor=redactor,
        version=head.version,
        description=head.description,
        fail_closed=head.fail_closed,
        block_message=head.block_message,
        source=source,
        keeps_arguments=head.receipts != "fingerprint",
        keeps_history=head.receipts == "history",
        shadow=shadow,
    )


def _checks(context: Context, document: Document) -> tuple[Check, ...]:
    """Every rule's check; what only several keys together show to be wrong, all at once."""
    checks, problems = [], []
    if context.version < 2:
        problems += [_needs_version_2(key, document) for key in _VERSION_2 if key in context.given]
    for key, module in rule_modules().items():
        try:
            check = module.build(context.values[key], _where(document, key), context)
        except ValueError as error:
            problems.append(Problem(document.where((key,)), key, str(error)))
        else:
            checks += [check] if check is not None else []
    if not problems:
        problems += faults(context.values["mode"], checks, document)
    if problems:
        raise ConfigValidationError(*problems)
    context.patterns.freeze()
    return tuple(checks)


def _needs_version_2(key: str, document: Document) -> Problem:
    wrong = "is a key of version 2, and the file says or means version 1"
    return Problem(document.where((key,)), key, wrong, fix="write `version: 2`")


def _redactor(values: Mapping[str, Any], document: Document) -> Redactor:
    """What masks secrets under this policy: the shipped patterns and the file's own."""
    own = [
        SecretPattern(entry.name, entry.regex, document.where(("secret_patterns", at)))
        for at, entry in enumerate(values.get("secret_patterns") or ())
    ]
    return Redactor(own, personal=personal_data(values.get("pii")))


def _digest(data: object) -> str:
    """SHA-256 (hex) of what the file says; comments, order and layout do not count."""
    return hashlib.sha256(canonical_json(data).encode()).hexdigest()


def _where(document: Document, key: str) -> Where:
    """How a rule names the place of its own values."""
    return lambda *path: document.where((key, *path))
