"""What credentials look like: the shipped patterns, always on.

One row a format: label, pattern, an example that must match and one that must not. A group named
`secret` is what gets masked; without one it is the whole match. Formats are those that providers
document or that public scanners list; each has a prefix or a context of its own, because a rule
that hits ordinary text would be switched off.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SecretPattern:
    """`name` is the mask's label, `regex` an RE2 pattern, `where` the `file:line` it is from."""

    name: str
    regex: str
    where: str = ""


_NO_WORD = r"(?:^|[^A-Za-z0-9])"
_B64 = "[A-Za-z0-9+/]"
_OPAQUE = r"[A-Za-z0-9._~+/-]"

SHIPPED: tuple[SecretPattern, ...] = tuple(
    SecretPattern(name, regex)
    for name, regex in (
        (
            "private_key",
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:[\s\S]*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"|[A-Za-z0-9+/=\s:,\\-]*)",
        ),
        ("anthropic_key", _NO_WORD + r"(?P<secret>sk-ant-[A-Za-z0-9_-]{16,})"),
        ("openrouter_key", _NO_WORD + r"(?P<secret>sk-or-v\d-[A-Za-z0-9_-]{16,})"),
        (
            "openai_key",
            _NO_WORD
            + r"(?P<secret>sk-(?:(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{16,}|[A-Za-z0-9]{20,}))",
        ),
        ("google_api_key", r"(?:^|[^A-Za-z0-9+/])(?P<secret>AIza[0-9A-Za-z_-]{35})"),
        ("google_oauth_token", r"\bya29\.[0-9A-Za-z_-]{20,}"),
        ("google_client_secret", r"GOCSPX-[A-Za-z0-9_-]{24,}"),
        ("aws_access_key", r"(?:AKIA|ASIA)[0-9A-Z]{16}"),
        (
            "aws_secret_key",
            r"(?i)(?:aws|secret)[a-z_. -]{0,30}key[\"'\s]{0,4}[:=]{1,2}>?\s{0,4}[\"']?"
            rf"(?P<secret>{_B64}{{40}})(?:[^A-Za-z0-9+/=]|$)",
        ),
        ("azure_storage_key", rf"(?i)AccountKey=(?P<secret>{_B64}{{60,100}}={{0,2}})"),
        ("azure_sas_signature", r"[?&]sig=(?P<secret>[A-Za-z0-9%+/]{40,}(?:%3D|=){1,2})"),
        ("azure_client_secret", r"[A-Za-z0-9_~.]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}"),
        ("github_token", r"gh[opsru]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}"),
        ("gitlab_token", r"gl(?:pat|ptt|dt|rt|cbt|soat|ft)-[A-Za-z0-9_.-]{20,}"),
        ("slack_token", r"xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{20,}"),
        (
            "slack_webhook",
            r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[A-Za-z0-9/_]{20,})",
        ),
        ("stripe_key", r"[rs]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{24,}"),
        ("huggingface_token", _NO_WORD + r"(?P<secret>hf_[A-Za-z0-9]{30,})"),
        ("groq_key", r"gsk_[A-Za-z0-9]{20,}"),
        ("xai_key", r"\bxai-[A-Za-z0-9]{40,}"),
        ("perplexity_key", r"\bpplx-[A-Za-z0-9]{32,}"),
        ("nvidia_key", r"\bnvapi-[A-Za-z0-9_-]{40,}"),
        ("tavily_key", r"\btvly-[A-Za-z0-9-]{20,}"),
        ("langsmith_key", r"\blsv2_[a-z]{2}_[0-9a-f]{32}_[0-9a-f]{10}"),
        ("npm_token", r"\bnpm_[A-Za-z0-9]{36}"),
        ("pypi_token", r"\bpypi-AgE[A-Za-z0-9_-]{40,}"),
        ("sendgrid_key", r"\bSG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50}"),
        ("telegram_token", r"\b\d{8,10}:AA[A-Za-z0-9_-]{33}"),
        ("jwt", r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
        (
            "authorization_header",
            r"(?i)\bauthorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:bearer|basic|token)\s{1,4}"
            rf"(?P<secret>{_OPAQUE}{{8,}}=*)",
        ),
        (
            "bearer_token",
            # Long enough, and unlike a word: with a digit in it, or longer than words are.
            rf"(?i)\bbearer\s{{1,4}}(?P<secret>[A-Za-z._~+/-]{{0,40}}[0-9]{_OPAQUE}{{15,}}=*"
            rf"|{_OPAQUE}{{15,}}[0-9]{_OPAQUE}*=*|[A-Za-z0-9_]{{24,}})",
        ),
        (
            "database_password",
            r"(?i)\b(?:postgres(?:ql)?|mysql|mariadb|mongodb|redis|rediss|amqps?|mssql|oracle"
            r"|clickhouse|cockroachdb|ldaps?)(?:\+[a-z0-9]+)?://[^\s:/@]{0,128}:"
            r"(?P<secret>[^\s@$<{*\[][^\s@]{0,255})@",
        ),
        (
            "url_password",
            r"(?i)\b(?:https?|ftps?|wss?|ssh|smtps?|imaps?)://[^\s:/@]{1,128}:"
            r"(?P<secret>[^\s@/$<{*\[][^\s@/]{2,255})@",
        ),
    )
)
"""In the order in which a mask takes its label where two of them hit the same text."""
