"""What of a list is named: few, the likest first."""

from __future__ import annotations

from edgeward.guards.nearest import nearest


def test_the_likest_come_first() -> None:
    """What shares a beginning or an end with the value stands before what does not."""
    listed = ["zebra.example", "docs.company.internal", "api.company.internal"]
    assert nearest("doc.company.internal", listed).startswith("docs.company.internal")
    assert nearest("send_mail", ["read_doc", "send_email"]) == "send_email, read_doc"


def test_a_long_list_is_cut() -> None:
    """Five are named, the rest is counted; an empty list names nothing."""
    assert nearest("x", map(str, range(12))).endswith("and 7 more")
    assert nearest("x", []) == ""
