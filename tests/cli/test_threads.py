"""Names of threads, and the command that goes on with one."""

from __future__ import annotations

import re

from edgeward.cli.threads import Wanted, fresh_thread


def test_a_fresh_name_can_be_read_out_and_typed() -> None:
    """Two words and six hexadecimal digits; no two alike."""
    names = {fresh_thread() for _ in range(50)}
    assert len(names) == 50
    assert all(re.fullmatch(r"[a-z]+-[a-z]+-[0-9a-f]{6}", name) for name in names)


def test_the_command_says_only_what_is_not_the_default() -> None:
    """It can be pasted into a shell as it is."""
    assert Wanted(profile="assistant").again("run", "t") == "edgeward run assistant --thread t"
    wanted = Wanted(
        profile="my agent/profile.yaml",
        strategy="plan_and_solve",
        policy="p.yaml",
        model="openai:m",
        checkpointer="x.sqlite",
        max_steps=3,
    )
    assert wanted.again("chat", "t") == (
        "edgeward chat 'my agent/profile.yaml' --thread t --strategy plan_and_solve "
        "--checkpointer x.sqlite --policy p.yaml --model openai:m --max-steps 3"
    )


def test_a_password_is_not_repeated() -> None:
    """A database address is shown without it."""
    wanted = Wanted(profile="p", checkpointer="postgresql://me:hunter2@db.example/threads")
    assert "hunter2" not in wanted.again("run", "t")
    assert "postgresql://me:" in wanted.again("run", "t")


def test_a_thread_in_memory_cannot_be_gone_on_with() -> None:
    """It ends with the process."""
    assert not Wanted(profile="p", checkpointer="memory").can_wait
    assert Wanted(profile="p").can_wait
