"""Tool names: what blocks matches every spelling, what is disguised is known for it."""

from __future__ import annotations

import pytest

from edgeward.guards.names import ForbiddenNames, folded_name, glob_pattern, name_fault, shown_name

DENIED = ForbiddenNames(["SEND_EMAIL", "run_*", "mail__drop"])


@pytest.mark.parametrize(
    "name",
    ["Send_Email", " send_email", "ｓend_email", "send_еmail", "mail__send_email", "send_email\n",
     "functions.send_email", "send\u200b_email", "mcp__mail__send_email", "mail/send_email",
     "mail:send_email", "send_email\u00a0", "run_x", "RUN_Y", "srv__run_z", "ѕend_email",
     "mail__drop", "x.mail__drop", "sendEmail", "SendEmail", "send__email", "_send_email",
     '"send_email"', "send_email()", "send _email", "mail#send_email", "sénd_email", "sᴇnd_email",
     "runX", "functions.send_email:0", "send_email#1", "send_email[0]", "sendEmail:12"],
)  # fmt: skip
def test_denied(name: str) -> None:
    """Case, spaces, Unicode forms, look-alikes and server prefixes do not help."""
    assert DENIED.find(name) is not None


@pytest.mark.parametrize(
    "name",
    [
        "send_email_draft",
        "resend_emails_report",
        "email_send",
        "prerun_x",
        "send",
        "drop",
        "",
        "send_email_2",
        "list:0",
    ],
)
def test_not_denied(name: str) -> None:
    """A name that merely shares a part is another tool."""
    assert DENIED.find(name) is None


def test_glob_means_star_and_question_mark_only() -> None:
    """Everything else in a glob is itself."""
    assert glob_pattern("a.*[x]?").fullmatch("a.bc[x]y")
    assert not glob_pattern("a.*").fullmatch("abc")
    assert glob_pattern("*" * 50 + "x").fullmatch("y" * 10_000) is None


def test_fault_and_shown() -> None:
    """A fault says what is wrong with the name, in plain ASCII."""
    assert name_fault("ok") == ""
    assert "empty" in name_fault(" ")
    assert "longer than" in name_fault("x" * 513)
    assert "invisible" in name_fault("a\u200bb")
    assert "look-alike" in name_fault("send_еmail")
    assert "look-alike" in name_fault("ꜱend_email")
    assert "invisible" in name_fault("send_email\u2800")
    assert "escapes" in name_fault("send%5Femail")
    assert "escapes" in name_fault("send\\u005femail")
    assert "escapes" in name_fault("send&lowbar;email")
    assert name_fault("send_email_レポート") == name_fault("größe_messen") == ""
    assert name_fault("send_еmail").isascii()
    assert len(shown_name("x" * 500)) < 100
    assert folded_name(" Ｘ\u00ad ") == "x"
