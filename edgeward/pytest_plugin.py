"""A pytest plugin: the cases beside policy files are tests.

    [tool.pytest.ini_options]
    edgeward_policies = ["policies/*.yaml"]

Each call in `policies/clerk/allow/`, `ask/`, `redact/` or `block/` is a test of `clerk.yaml`, named
by its file; rules in shadow are tested as if they were enforced. They are run with all tests, also
where `testpaths` names other folders. Without the setting, nothing is collected and nothing of
Edgeward's is loaded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from glob import glob
from pathlib import Path

import pytest

SETTING = "edgeward_policies"
NAMED = pytest.StashKey[frozenset[Path]]()
"""The policy files that the setting names."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The setting that names policy files."""
    text = "policy files (globs) whose cases, in folders beside them, are tests"
    parser.addini(SETTING, text, type="args", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Look the files up that the setting names.

    Raises:
        UsageError: one of its globs names none, so that no case of theirs would be tested.
    """
    found = set[Path]()
    for wanted in config.getini(SETTING):
        files = glob(str(config.rootpath / wanted), recursive=True)
        if not files:
            raise pytest.UsageError(
                f"{SETTING}: {wanted} names no file; write policy files, from {config.rootpath} on"
            )
        found.update(Path(os.path.abspath(file)) for file in files)
    config.stash[NAMED] = frozenset(found)
    source = getattr(config, "args_source", None)  # pytest 7.2 and later tell
    if source is not None and source.name == "TESTPATHS":
        given = [Path(os.path.abspath(config.invocation_params.dir / arg)) for arg in config.args]
        config.args += [
            str(file) for file in sorted(found) if not any(map(file.is_relative_to, given))
        ]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A policy file that the setting names."""
    named = parent.config.stash.get(NAMED, frozenset())
    return PolicyFile.from_parent(parent, path=file_path) if file_path in named else None


class PolicyFile(pytest.File):
    """A policy; its cases are the tests."""

    def collect(self) -> Iterator[pytest.Item]:
        """One test for each case file.

        Raises:
            CollectError: the policy or a case cannot be read, or there are no cases.
        """
        from .policies.cases import case_folder, cases_beside, files_in
        from .policies.problems import ConfigError
        from .policies.schema import load_policy

        try:
            load_policy(self.path)
            cases_beside(self.path)
        except ConfigError as error:
            raise self.CollectError(str(error)) from None
        folder = case_folder(self.path)
        for word, path in files_in(folder):
            within = path.relative_to(folder / word).with_suffix("")
            yield CaseItem.from_parent(self, name=f"{word}::{within.as_posix()}", path=path)


class CaseItem(pytest.Item):
    """One call, and the verdict that its folder's name expects."""

    @property
    def expected(self) -> str:
        """The verdict's word."""
        return self.name.partition("::")[0]

    def runtest(self) -> None:
        """Decide the call.

        Raises:
            OtherVerdict: the policy says something else of it.
        """
        from .policies.cases import load_case
        from .policies.schema import load_policy

        assert self.parent is not None
        expected = self.expected
        verdict = load_case(self.path).verdict(load_policy(self.parent.path)).would_be
        if verdict.word != expected:
            raise OtherVerdict(f"expected {expected}, got {verdict.explain()}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:  # type: ignore[override]
        """What the policy said instead."""
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The case's file, and its sentence."""
        return self.path, None, f"{self.expected}: {self.path.stem.replace('_', ' ')}"


class OtherVerdict(AssertionError):
    """A policy decides otherwise than its case says."""
