"""What a field's name says about its value."""

from __future__ import annotations

import pytest

from edgeward.guards.fields import (
    Kind,
    _kind_named,
    kind_below,
    kind_for_tool,
    kind_named,
    kind_of,
)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("url", Kind.URL),
        ("base_url", Kind.URL),
        ("imageUrl", Kind.URL),
        ("API-Endpoint", Kind.URL),
        ("hostname", Kind.HOST),
        ("db_host", Kind.HOST),
        ("serverIP", Kind.HOST),
        ("domain", Kind.DOMAIN),
        ("href", Kind.LINK),
        ("To", Kind.MAIL),
        ("reply_to", Kind.MAIL),
        ("upstreams", Kind.PLACE),
        ("nameservers", Kind.HOST),
        ("recipients", Kind.MAIL),
        ("cmd", Kind.COMMAND),
        ("target", Kind.PLACE),
        ("remote_addr", Kind.PLACE),
        ("ho\u200bst", Kind.HOST),
        ("Сервер", Kind.HOST),
        ("收件人", Kind.MAIL),
        ("share_link", Kind.LINK | Kind.PLACE),
        ("link_color", Kind.LINK),
        ("host_port", Kind.PLACE),
        ("netloc", Kind.HOST),
        ("target_language", Kind.TEXT),
        ("base_image", Kind.TEXT),
        ("file_path", Kind.PATH),
        ("aws_secret_access_key", Kind.SECRET | Kind.NAME),
        ("header_name", Kind.NAME),
        ("new_value", Kind.VALUE),
        ("url_count", Kind.TEXT),
        ("server_id", Kind.TEXT),
        ("title", Kind.NAME),
        ("body", Kind.TEXT),
        ("", Kind.TEXT),
        ("url" * 40, Kind.TEXT),
    ],
)
def test_kind(name: str, kind: int) -> None:
    """Names are read by their words; a last word about something else takes it back."""
    assert kind_of(name) == kind


def test_generic_names_inherit() -> None:
    """`server: {name: ...}` is a host, `server: {port: ...}` is not."""
    assert kind_below("name", Kind.HOST) & Kind.POINTS == Kind.HOST
    assert kind_below("port", Kind.HOST) == Kind.TEXT
    assert kind_below("https", Kind.HOST) == Kind.PLACE
    assert kind_below("https", Kind.TEXT) == Kind.TEXT


def test_labels() -> None:
    """`urls: {live: ...}` may be a link, `urls: {count: ...}` and `to: {team: ...}` are none."""
    assert kind_below("live", Kind.URL) == Kind.LABELLED
    assert kind_below("count", Kind.URL) == kind_below("team", Kind.MAIL) == Kind.TEXT


def test_named_beside() -> None:
    """What may be a machine by its name is one beside it only with a sign of a host."""
    assert kind_named("Host:") == Kind.URL
    assert kind_named("X-Forwarded-Host") == Kind.URL
    assert kind_named("api_key") == Kind.SECRET
    assert kind_named("Ann") == kind_named("url" * 40) == Kind.TEXT


def test_a_long_text_beside_a_value_is_kept_in_no_cache() -> None:
    """It names no field, whoever wrote it where a name stands."""
    before = _kind_named.cache_info().misses
    assert kind_named("url " * 100) == Kind.TEXT
    assert _kind_named.cache_info().misses == before


def test_tools_that_are_shells() -> None:
    """All arguments of a shell are command-like."""
    assert kind_for_tool("run_shell") == Kind.COMMAND
    assert kind_for_tool("search_kb") == Kind.TEXT
