"""Every shipped pattern finds its format, masks all of it, and leaves ordinary text alone."""

from __future__ import annotations

import json
from urllib.parse import quote

import pytest

from edgeward.guards.redact import Redactor
from edgeward.guards.secrets import SHIPPED

from .provider_examples import EXAMPLES
from .secret_examples import ORDINARY


@pytest.mark.parametrize("name", EXAMPLES)
def test_format_is_masked_whole(name: str) -> None:
    """The whole key becomes one mask, alone, in prose and in quotes."""
    redactor = Redactor()
    for text in EXAMPLES[name].whole:
        for before, after in (("", ""), ("use ", " now"), ('"', '"'), ("key=", ";"), ("(", ")")):
            masked, labels = redactor.secrets(f"{before}{text}{after}")
            assert (masked, labels) == (f"{before}[REDACTED:{name}]{after}", (name,))


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_format_behind_what_stands_for_a_sign(name: str) -> None:
    """A result in JSON has `\\n` for the end of a line, an address `%20`, a terminal's line its
    colours: a letter at their end is no part of the word that follows."""
    redactor = Redactor()
    for text in EXAMPLES[name].whole:
        for before in (*_SIGNS, json.dumps("key:\n")[1:-1], quote("key: "), "\x1b[31m", "\x1b[m"):
            for after in ("", "\\n", "\x1b[0m"):
                masked, labels = redactor.secrets(f"my{before}{text}{after}")
                assert masked.startswith(f"my{before}[REDACTED:{name}]")
                assert labels == (name,)


_SIGNS = ("_", "\\n", "\\r\\n", "\\t", "\\u000a", "\\x0a", "%0A", "%3d", "\\\\n")


@pytest.mark.parametrize("name", EXAMPLES)
def test_secret_in_its_context(name: str) -> None:
    """Of what only its context betrays, the secret part is masked."""
    for text, secret in EXAMPLES[name].inside:
        masked, labels = Redactor().secrets(text)
        assert secret not in masked, masked
        assert name in labels, labels


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_resembles_it(name: str) -> None:
    """What only resembles a key is left alone by the pattern."""
    for text in EXAMPLES[name].benign:
        assert name not in Redactor().secrets(text)[1], text


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text(text: str) -> None:
    """Ordinary text stays as it is, byte for byte."""
    assert Redactor().secrets(text) == (text, ())


def test_private_key_that_is_cut_off() -> None:
    """Of a private key without an end, everything that could belong to it is masked."""
    text = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n'quoted'"
    assert Redactor().secrets(text)[0] == "[REDACTED:private_key]'quoted'"


@pytest.mark.parametrize("end", ["", "\n"])
def test_a_text_that_ends_behind_the_first_line_of_a_private_key(end: str) -> None:
    """What follows may come in the next piece."""
    text = f"key: -----BEGIN RSA PRIVATE KEY-----{end}"
    assert Redactor().secrets(text)[0] == "key: [REDACTED:private_key]"


def test_every_pattern_has_examples() -> None:
    """A shipped pattern without true and false examples of its own fails here."""
    assert [p.name for p in SHIPPED] == list(dict.fromkeys(p.name for p in SHIPPED))
    assert {p.name for p in SHIPPED} == set(EXAMPLES)
    assert all((e.whole or e.inside) and e.benign for e in EXAMPLES.values())
