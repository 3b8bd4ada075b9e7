"""What credentials look like: the shipped patterns, always on.

One row a format: label and pattern. A group named `secret` is what gets masked; without one it is
the whole match. Formats are those that providers document or that public scanners list; each has a
prefix or a context of its own, because a rule that hits ordinary text would be switched off. What
has no format is found by its name and by how random it looks (`guards/entropy.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .cookies import COOKIE_HEADER, SESSION_COOKIE, holds_session, is_session
from .entropy import NAMED_VALUE, is_named_secret, looks_random
from .passwords import CHOSEN_PASSWORD, is_chosen


@dataclass(frozen=True, slots=True)
class SecretPattern:
    """`name` is the mask's label, `regex` an RE2 pattern, `where` the `file:line` it is from.

    `real` has the last word on a match, where a pattern alone cannot tell. With `in_text` it is a
    secret within a text only: a field of that name takes such a value (`login(password=…)`).
    """

    name: str
    regex: str
    where: str = ""
    real: Callable[[Any], bool] | None = None
    in_text: bool = False

    def finds(self, compiled: Any, text: str) -> Iterator[tuple[int, int]]:
        """Where its secrets stand in `text` (as `searchable` gives it): start, end (exclusive)."""
        group = compiled.groupindex.get("secret", 0)
        for match in compiled.finditer(text):
            if self.real is not None and not self.real(match):
                continue
            start, end = match.span(group)
            if start < 0:  # the match went past the group: then all of it is the secret
                start, end = match.span()
            if start < end:
                yield start, end


ESCAPED = r"\\[bfnrtv]|(?:%|\\x|\\u[0-9A-Fa-f]{2})[0-9A-Fa-f]{2}|[0-9;\[]m"
"""What stands for another sign and ends in a letter or digit: the end of a line in JSON, a blank in
an address, the end of a colour on a terminal."""
_NO_WORD = rf"(?:^|[^A-Za-z0-9]|{ESCAPED})"
_WORD = rf"(?:\b|_|{ESCAPED})"
_CASELESS = f"(?i){_WORD}"
_B64 = "[A-Za-z0-9+/]"
_OPAQUE = r"[A-Za-z0-9._~+/-]"


def _key(format: str) -> str:
    """A format that begins a word, also behind what only stands for a sign."""
    return f"{_WORD}(?P<secret>{format})"


_FORMATS: tuple[tuple[str, str], ...] = (
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
    ("google_api_key", _NO_WORD + r"(?P<secret>AIza[0-9A-Za-z_-]{35})"),
    ("google_oauth_token", _key(r"ya29\.[0-9A-Za-z_-]{20,}")),
    ("google_client_secret", r"GOCSPX-[A-Za-z0-9_-]{24,}"),
    ("google_refresh_token", _key(r"1//0[A-Za-z0-9_-]{30,}")),
    ("google_express_key", _NO_WORD + r"(?P<secret>AQ\.Ab[A-Za-z0-9_-]{40,})"),
    ("aws_access_key", r"(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}"),
    (
        "aws_bedrock_key",
        _key(rf"ABSK{_B64}{{100,}}={{0,2}}|bedrock-api-key-{_B64}{{40,}}={{0,2}}"),
    ),
    (
        "aws_secret_key",
        r"(?i)(?:aws|secret)[a-z_. -]{0,30}key[\"'\s]{0,4}[:=]{1,2}>?\s{0,4}[\"']?"
        rf"(?P<secret>{_B64}{{40}})(?:[^A-Za-z0-9+/=]|$)",
    ),
    (
        "azure_storage_key",
        rf"(?i)(?:Account|SharedAccess|Access)Key=(?P<secret>{_B64}{{40,100}}={{0,2}})"
        rf"|(?-i:{_B64}{{76}}\+ASt{_B64}{{6}}==)",
    ),
    ("azure_openai_key", r"[A-Za-z0-9]{52}JQQJ9[9D][A-Za-z0-9]{26}"),
    ("azure_devops_token", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),
    ("azure_sas_signature", r"[?&]sig=(?P<secret>[A-Za-z0-9%+/]{40,}(?:%3D|=){1,2})"),
    ("azure_client_secret", r"[A-Za-z0-9_~.]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}"),
    ("github_token", r"gh[opsru]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}"),
    (
        "gitlab_token",
        r"gl(?:pat|ptt|dt|rtr?|cbt|soat|ft|ffct|imt|agent|oas|wt)-[A-Za-z0-9_.-]{20,}"
        r"|GR1348941[A-Za-z0-9_-]{20}",
    ),
    (
        "slack_token",
        r"(?:xoxe\.)?xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{20,}"
        r"|xwfp-[A-Za-z0-9-]{20,}",
    ),
    (
        "slack_webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/_]{20,})",
    ),
    ("stripe_key", r"[rs]k_(?:live|test|prod)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{24,}"),
    ("huggingface_token", _NO_WORD + r"(?P<secret>(?:hf_|api_org_)[A-Za-z0-9]{30,})"),
    ("groq_key", r"gsk_[A-Za-z0-9]{20,}"),
    ("xai_key", _key(r"xai-[A-Za-z0-9]{40,}")),
    ("perplexity_key", _key(r"pplx-[A-Za-z0-9]{32,}")),
    ("nvidia_key", _key(r"nvapi-[A-Za-z0-9_-]{40,}")),
    ("tavily_key", _key(r"tvly-[A-Za-z0-9-]{20,}")),
    ("langsmith_key", _key(r"lsv2_[a-z]{2}_[0-9a-f]{32}_[0-9a-f]{10}")),
    ("npm_token", _key(r"npm_[A-Za-z0-9]{36}")),
    ("pypi_token", _key(r"pypi-AgE[A-Za-z0-9_-]{40,}")),
    ("sendgrid_key", _key(r"SG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50}")),
    ("twilio_key", _NO_WORD + r"(?P<secret>SK[0-9a-f]{32})(?:[^0-9A-Za-z]|$)"),
    (
        "discord_token",
        _NO_WORD + r"(?P<secret>[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40})",
    ),
    (
        "discord_webhook",
        r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{15,22}/(?P<secret>[A-Za-z0-9_-]{60,})",
    ),
    ("mailgun_key", _NO_WORD + r"(?P<secret>key-[0-9a-f]{32})(?:[^0-9a-f]|$)"),
    ("mailchimp_key", _NO_WORD + r"(?P<secret>[0-9a-f]{32}-us[0-9]{1,2})"),
    ("digitalocean_token", _key(r"do[opr]_v1_[0-9a-f]{64}")),
    ("shopify_token", _key(r"shp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}")),
    ("databricks_token", _key(r"dapi[0-9a-f]{32}(?:-\d)?")),
    ("docker_token", _key(r"dckr_[op]at_[A-Za-z0-9_-]{20,}")),
    ("vault_token", _key(r"hv[bsr]\.[A-Za-z0-9_-]{24,}")),
    ("terraform_token", _key(r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}")),
    ("grafana_token", _key(r"glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}|glc_[A-Za-z0-9+/]{32,}={0,2}")),
    ("sentry_token", _key(r"sntrys_[A-Za-z0-9+/=_]{40,}|sntryu_[0-9a-f]{64}")),
    ("atlassian_token", _key(r"ATATT3[A-Za-z0-9_=-]{60,}")),
    ("linear_key", _key(r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}")),
    ("notion_token", _key(r"ntn_[0-9]{11}[A-Za-z0-9]{35}|secret_[A-Za-z0-9]{43}\b")),
    ("postman_key", _key(r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}")),
    ("doppler_token", _key(r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{40,}")),
    ("replicate_token", _key(r"r8_[A-Za-z0-9]{37}")),
    ("supabase_key", _key(r"sbp_[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,}")),
    ("pinecone_key", _key(r"pcsk_[A-Za-z0-9_]{40,}")),
    ("langfuse_key", _key(r"sk-lf-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")),
    ("elevenlabs_key", _NO_WORD + r"(?P<secret>sk_[0-9a-f]{48})"),
    ("heroku_key", _key(r"HRKU-[A-Za-z0-9_-]{60,}")),
    ("newrelic_key", _key(r"NRAK-[A-Z0-9]{27}")),
    ("planetscale_token", _key(r"pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_.=-]{32,}")),
    ("fly_token", _key(r"fm[12][ar]?_[A-Za-z0-9+/]{60,}={0,3}|fo1_[A-Za-z0-9_-]{43}")),
    ("onepassword_token", _key(r"ops_eyJ[A-Za-z0-9+/]{100,}={0,3}")),
    ("age_key", _key(r"AGE-SECRET-KEY-1[0-9A-Z]{58}")),
    ("rubygems_key", _key(r"rubygems_[0-9a-f]{48}")),
    ("figma_token", _key(r"figd_[A-Za-z0-9_-]{38,}")),
    ("square_token", _key(r"sq0(?:atp|csp)-[A-Za-z0-9_-]{22,43}")),
    ("tailscale_key", _key(r"tskey-[a-z]{3,8}-[A-Za-z0-9]{10,}-[A-Za-z0-9]{20,}")),
    ("brevo_key", _key(r"x(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}")),
    ("cerebras_key", _key(r"csk-[a-z0-9]{40,}")),
    ("fireworks_key", _key(r"fw_[A-Za-z0-9]{22,}")),
    ("together_key", _key(r"tgp_v1_[A-Za-z0-9_-]{40,}")),
    ("posthog_key", _key(r"phx_[A-Za-z0-9]{40,}")),
    ("sourcegraph_token", _key(r"sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}")),
    ("dynatrace_token", _key(r"dt0[cs]\d{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}")),
    ("contentful_token", _key(r"CFPAT-[A-Za-z0-9_-]{43}")),
    ("airtable_token", _key(r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}")),
    ("hubspot_token", _key(r"pat-(?:na|eu|ap)\d-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")),
    ("mapbox_token", _key(r"sk\.eyJ[A-Za-z0-9_-]{40,}\.[A-Za-z0-9_-]{20,}")),
    ("netlify_token", _key(r"nfp_[A-Za-z0-9]{36,}")),
    ("telegram_token", _key(r"\d{8,10}:AA[A-Za-z0-9_-]{33}")),
    ("otp_seed", r"otpauth://\S{1,200}[?&]secret=(?P<secret>[A-Za-z2-7]{16,}=*)"),
    (
        "netrc_password",
        r"\bmachine\s{1,4}\S{1,100}\s{1,4}login\s{1,4}\S{1,100}\s{1,4}password\s{1,4}(?P<secret>\S+)",
    ),
    (
        "kubernetes_key",
        rf"client-key-data[\"']?\s{{0,4}}:\s{{0,4}}[\"']?(?P<secret>{_B64}{{40,}}={{0,2}})",
    ),
    (
        "password_hash",
        _NO_WORD + r"(?P<secret>\$(?:[156y]|2[abxy])\$[A-Za-z0-9./$=,]{28,}"
        r"|\$argon2(?:id?|d)\$v=[0-9]{1,3}\$[A-Za-z0-9+/=,$]{28,})",
    ),
    ("jwt", r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
)
_IN_CONTEXT: tuple[tuple[str, str], ...] = (
    (
        "authorization_header",
        _CASELESS + r"authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?"
        r"(?:bearer|basic|token|api-?key|key|negotiate)\s{1,4}"
        rf"(?P<secret>{_OPAQUE}{{8,}}=*)",
    ),
    (
        "bearer_token",
        # Long enough, and unlike a word: with a digit in it, or longer than words are.
        _CASELESS + rf"bearer\s{{1,4}}(?P<secret>[A-Za-z._~+/-]{{0,40}}[0-9]{_OPAQUE}{{15,}}=*"
        rf"|{_OPAQUE}{{15,}}[0-9]{_OPAQUE}*=*|[A-Za-z0-9_]{{24,}})",
    ),
    (
        "database_password",
        _CASELESS + r"(?:postgres(?:ql)?|mysql|mariadb|mongodb|redis|rediss|amqps?|mssql|oracle"
        r"|sqlserver|snowflake|cassandra|couchdb|couchbase|db2|neo4j|bolt|nats|influxdb|trino|presto"
        r"|vertica|elasticsearch|clickhouse|cockroachdb|ldaps?)(?:\+[a-z0-9]+)?://[^\s:/@]{0,128}:"
        r"(?P<secret>[^\s@$<{*\[][^\s@]{0,255})@",
    ),
    (
        "url_password",
        _CASELESS + r"(?:https?|ftps?|wss?|ssh|smtps?|imaps?)://[^\s:/@]{1,128}:"
        r"(?P<secret>[^\s@/$<{*\[][^\s@/]{2,255})@",
    ),
    (
        "connection_string_password",
        _CASELESS
        + r"(?:server|data source|host|addr|uid|user|user id|username|database|initial catalog)"
        r"\s?=[^\n\"';]{1,200};(?:[^\n\"']{0,200};)?\s?(?:password|pwd)\s?="
        r"\s?(?P<secret>[^;\s\"'<{$%*\[][^;\s\"']{2,127})",
    ),
)

_LONGEST_PREFIX = 13
"""`sk-ant-api03-`"""


def _is_drawn(match: Any) -> bool:
    """No key of a manual, in which the same sign stands again and again (`sk-xxxxxxxxxxxxxxxx`)."""
    secret = match["secret"] if "secret" in match.re.groupindex else match[0]
    return secret is None or len(secret) < 19 or secret[_LONGEST_PREFIX:].strip(secret[-1:]) != ""


def _is_there(match: Any) -> bool:
    """No sign for what a program puts in: `mysql://%s:%s@%s/db`."""
    return match["secret"] not in ("%s", "%d", "%v")


SHIPPED: tuple[SecretPattern, ...] = (
    *(SecretPattern(name, regex, real=_is_drawn) for name, regex in _FORMATS),
    *(SecretPattern(name, regex, real=_is_there) for name, regex in _IN_CONTEXT),
    SecretPattern(
        "authorization_value",
        _CASELESS
        + rf"authorization[\"']?\s{{0,4}}[:=]\s{{0,4}}[\"']?(?P<secret>{_OPAQUE}{{16,}}=*)",
        real=lambda match: looks_random(match["secret"]),
    ),
    SecretPattern("cookie_header", COOKIE_HEADER, real=holds_session),
    SecretPattern("session_cookie", SESSION_COOKIE, real=is_session),
    SecretPattern("generic_secret", NAMED_VALUE, real=is_named_secret),
    SecretPattern("password", CHOSEN_PASSWORD, real=is_chosen, in_text=True),
)
"""In the order in which a mask takes its label where two of them hit the same text."""
