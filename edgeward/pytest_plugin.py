"""A pytest plugin: the cases beside policy files are tests.

    [tool.pytest.ini_options]
    edgeward_policies = ["policies/*.yaml"]

Each call in `policies/clerk/allow/`, `ask/`, `redact/` or `block/` is a test of `clerk.yaml`, named
by its file; rules in shadow are tested as if they were enforced. Without the setting, nothing is
collected and nothing of Edgeward's is loaded.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

SETTING = "edgeward_policies"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The setting that names policy files."""
    text = "policy files (globs) whose cases, in folders beside them, are tests"
    parser.addini(SETTING, text, type="args", default=[])


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A policy file that the setting names."""
    globs = parent.config.getini(SETTING)
    if not globs or file_path.suffix not in (".yaml", ".yml"):
        return None
    if not any(file_path.match(str(parent.config.rootpath / glob)) for glob in globs):
        return None
    return PolicyFile.from_parent(parent, path=file_path)


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
        for word, path in files_in(case_folder(self.path)):
            yield CaseItem.from_parent(self, name=f"{word}::{path.stem}", path=path)


class CaseItem(pytest.Item):
    """One call, and the verdict that its folder's name expects."""

    def runtest(self) -> None:
        """Decide the call.

        Raises:
            OtherVerdict: the policy says something else of it.
        """
        from .policies.cases import load_case
        from .policies.schema import load_policy

        assert self.parent is not None
        expected = self.path.parent.name
        verdict = load_case(self.path).verdict(load_policy(self.parent.path)).would_be
        if verdict.word != expected:
            raise OtherVerdict(f"expected {expected}, got {verdict.explain()}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> str:  # type: ignore[override]
        """What the policy said instead."""
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The case's file, and its sentence."""
        return self.path, None, f"{self.path.parent.name}: {self.path.stem.replace('_', ' ')}"


class OtherVerdict(AssertionError):
    """A policy decides otherwise than its case says."""
