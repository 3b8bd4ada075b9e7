"""Every shipped pattern finds its format, masks all of it, and leaves ordinary text alone."""

from __future__ import annotations

import pytest

from edgeward.guards.redact import Redactor
from edgeward.guards.secrets import SHIPPED

X = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA"
"""Filler for made-up keys."""

TRUE: dict[str, list[str]] = {
    "private_key": [
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\nabc+/=\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\nlQOYBF\n-----END PGP PRIVATE KEY BLOCK-----",
    ],
    "anthropic_key": [f"sk-ant-api03-{X}-{X}_A-", f"sk-ant-oat01-{X}"],
    "openrouter_key": [f"sk-or-v1-{X.lower()}"],
    "openai_key": [
        f"sk-{X}", f"sk-proj-{X[:12]}-{X}_x-", f"sk-svcacct-{X}", f"sk-admin-{X}",
        "sk-abc123456789012345678", "sk-proj-abcdEFGH1234ijklMNOP5678",
    ],
    "google_api_key": ["AIza" + X + "-_9"],
    "google_oauth_token": [f"ya29.{X}"],
    "google_client_secret": [f"GOCSPX-{X[:28]}"],
    "aws_access_key": ["AKIAIOSFODNN7EXAMPLE", "ASIAIOSFODNN7EXAMPLE"],
    "azure_client_secret": [f"abc8Q~{X}"],
    "github_token": [f"ghp_{X}wxyz", f"gho_{X}wxyz", f"ghs_{X}wxyz", f"github_pat_{X}_{X}"],
    "gitlab_token": [f"glpat-{X[:20]}", f"gldt-{X}"],
    "slack_token": [f"xoxb-123456789012-{X}", f"xapp-1-A01-{X}"],
    "stripe_key": ["sk_" + f"live_{X}", "rk_" + f"test_{X}", "whsec_" + X],
    "huggingface_token": ["hf_" + X + "ab"],
    "groq_key": [f"gsk_{X}{X[:20]}"],
    "xai_key": [f"xai-{X}{X}"],
    "perplexity_key": [f"pplx-{X}{X}"],
    "nvidia_key": [f"nvapi-{X}{X}"],
    "tavily_key": [f"tvly-dev-{X}"],
    "langsmith_key": ["lsv2_pt_" + "0123456789abcdef" * 2 + "_0123456789"],
    "npm_token": [f"npm_{X}wxyz"],
    "pypi_token": [f"pypi-AgEIcHlwaS5vcmc{X}{X}"],
    "sendgrid_key": [f"SG.{X[:22]}.{X}{X[:11]}"],
    "telegram_token": ["123456789:AA" + X + "x"],
    "jwt": ["eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + X],
}  # fmt: skip
"""Texts that are the secret, whole."""

IN_CONTEXT: dict[str, list[tuple[str, str]]] = {
    "aws_secret_key": [
        (f"aws_secret_access_key={X}abcdefgh", f"{X}abcdefgh"),
        (f'"SecretAccessKey": "{X}/+cdefgh"', f"{X}/+cdefgh"),
    ],
    "azure_storage_key": [(f"AccountKey={X}{X}{X[:22]}==;", f"{X}{X}{X[:22]}==")],
    "azure_sas_signature": [(f"https://a.test/?sv=1&sig={X}{X[:11]}%3D", f"{X}{X[:11]}%3D")],
    "slack_webhook": [
        ("https://hooks.slack.com/services/T000/B000/" + X, "T000/B000/" + X),
    ],
    "authorization_header": [
        ("Authorization: Bearer abcdefghij", "abcdefghij"),
        ('{"authorization": "Basic dXNlcjpwYXNz"}', "dXNlcjpwYXNz"),
    ],
    "bearer_token": [(f"with bearer {X}", X), ("Bearer abcdefghijklmnopqrstuvwxyz", "abcdefghij")],
    "database_password": [
        ("postgres://app:hunter2@db.internal/x", "hunter2"),
        ("mongodb+srv://a:p%40ss@c.mongodb.net", "p%40ss"),
    ],
    "url_password": [("https://ann:hunter22@example.com/x", "hunter22")],
}
"""Text, and the part of it that must be gone."""

FALSE = [
    "task-force-and-risk-assessment-document-for-the-board", "sk-circle-fade-dot-animation-in-css",
    "sk-SK is the Slovak locale", "the AKIA-01 part", "AKIA", "ghp_short", "hf_transformers_model",
    "a desk-proj-management tool", "Bearer of good news", "bearer authentication is required",
    "Authorization: none", "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----", "postgres://localhost/db", "postgres://user@localhost/db",
    "postgres://user:$PASSWORD@db/x", "https://user:<password>@host/", "https://example.com:8080/a@b",
    "eyJust a word.eyJ", "123e4567-e89b-12d3-a456-426614174000", "xoxo", "SG.short.x",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "AIza is a prefix",
    "key = value", "secret key: ask Ann", "12:30:AA", "glpat- is GitLab's prefix",
    "monkey_token=abc", "npm_config_registry", "import groq as gsk_", "[REDACTED:openai_key]",
]  # fmt: skip


@pytest.mark.parametrize(("label", "text"), [(k, t) for k, ts in TRUE.items() for t in ts])
def test_format_is_masked_whole(label: str, text: str) -> None:
    """The whole key becomes one mask, alone, in prose and in quotes."""
    redactor = Redactor()
    for before, after in (("", ""), ("use ", " now"), ('"', '"'), ("key=", ";"), ("(", ")")):
        masked, labels = redactor.secrets(f"{before}{text}{after}")
        assert (masked, labels) == (f"{before}[REDACTED:{label}]{after}", (label,))


@pytest.mark.parametrize(
    ("label", "text", "secret"), [(k, *row) for k, rows in IN_CONTEXT.items() for row in rows]
)
def test_secret_in_its_context(label: str, text: str, secret: str) -> None:
    """Of what only its context betrays, the secret part is masked."""
    masked, labels = Redactor().secrets(text)
    assert secret not in masked
    assert label in labels or f"[REDACTED:{label}]" in masked


@pytest.mark.parametrize("text", FALSE)
def test_ordinary_text(text: str) -> None:
    """What only resembles a key stays as it is."""
    assert Redactor().secrets(text) == (text, ())


def test_private_key_that_is_cut_off() -> None:
    """Of a private key without an end, everything that could belong to it is masked."""
    text = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n'quoted'"
    assert Redactor().secrets(text)[0] == "[REDACTED:private_key]'quoted'"


def test_every_pattern_has_examples() -> None:
    """A shipped pattern without an example of its own fails here."""
    assert {p.name for p in SHIPPED} == {*TRUE, *IN_CONTEXT}
