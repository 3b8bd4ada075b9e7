"""Secrets of no known format: a value that looks random behind a name that says what it is.

Both have to be there. Names such as `cache_key` and `next_page_token` say something else; words,
paths, UUIDs, digits and stand-ins (`your-api-key`) do not look random.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Any

_IN_OTHER_WORDS = (
    r"api[ -]?(?:schlüssel|キー|密钥|密鑰|키|ключ)"
    r"|(?:clave|chave|chiave|sleutel) (?:de |da |per )?api"
)
"""No word here begins beyond ASCII: what is streamed in such letters would wait at each."""
_NAMED = (
    r"(?i)(?:key|secret|token|passw(?:or)?d|pwd|passphrase|credentials?|creds"
    rf"|{_IN_OTHER_WORDS})"
    # `API_KEY_2`, `SECRET_KEY_PROD`, `mySecretString`
    r"(?:[_-]?(?:[0-9]{1,3}|prod(?:uction)?|staging|stage|dev|test|live|value|string|old|new))?"
)
_LEAD = (
    # `"api_key": `, `["key"] = `, `key: str = `, `get("KEY") or `, `${KEY:-`, `| key | `
    r"\\{0,8}[\"'`*]{0,3}[\])]?(?:\s{0,4}:?\s{0,4}(?:&(?:'static )?)?(?:string|str|char)\??)?"
    r"\s{0,4}(?::=|::?:?=|:-|=>|->|[?.+|]{1,2}=|={1,3}|\|\||\?\?|[:>,|]|\b(?:or|is|was)\b:?)"
    r"(?:\s{0,12}[|>][+-]?\s)?\s{0,12}"
    # `{"name": "API_KEY", "value": "…"}`, `<add key="ApiKey" value="…"/>`, `"key" { default = "…"`
    r"|[\"']?,?\s{0,4}\{?\s{1,16}[\"']?(?:value|default)[\"']?\s{0,3}[:=]\s{0,3}"
)
_SIGN = "[A-Za-z0-9_~+/.!#$%*@^-]"
NAMED_VALUE = (
    rf"{_NAMED}(?:{_LEAD}|\s{{1,3}})\\{{0,8}}(?:[bruf@]{{0,2}}[\"'`]|\*{{1,2}}`?)?"
    rf"(?P<secret>[A-Za-z0-9_~+/.-](?:{_SIGN}*[0-9]{_SIGN}*(?:=+{_SIGN}+)+|{_SIGN}{{11,}})={{0,2}})"
)
"""A name's last word, what leads from a name to its value in any language, and the value."""
QUOTED_VALUE = (
    rf"{_NAMED}(?:{_LEAD})\\{{0,8}}[bruf@]{{0,2}}[\"'`]"
    r"(?P<secret>[^\s\"'`\\$<{%(\[]"
    r"[^\s\"'`\\]{11,255})\\{0,8}[\"'`]"
)
"""The same in quotes, with whatever signs stand in them."""

_NAME = "-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
_LONGEST_NAME = 60
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_SAID_SO = re.compile(_IN_OTHER_WORDS, re.IGNORECASE)
_WORD_BEFORE = re.compile(r"[A-Za-z]{2,20} \Z")
_UUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SHORTEST, _SHORT = 12, 16
"""Signs of a value that is looked at, and below which it has to look more random than others."""
_IDENTIFIER = re.compile(r"[\w.|]+")
_HUMP = re.compile("[A-Z][a-z]*[aeiouy][a-z]+|[A-Z][a-z]+[aeiouy]")
_CLASS_CHANGE = re.compile(r"(?:(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=[0-9])[A-Za-z])")

_SECRET = frozenset(
    {"secret", "password", "passwd", "pwd", "passphrase", "credential", "credentials", "creds"}
)
_QUALIFIES = (
    "access account admin api app auth authorization bearer bot client consumer deploy encryption "
    "functions github gitlab hf id jwt license master npm oauth personal private refresh secret "
    "security service session signing slack ssh storage subscription user vault webhook"
)
_OTHER_KEYS = (
    "cache continuation csrf cursor dict event foreign group hash hot i18n idempotency lookup map "
    "message next object page partition press prev previous primary pub public row shard short "
    "sort start sync table translation xsrf"
)
_VENDOR = re.compile(
    "adafruit|adobe|airtable|algolia|alibaba|anthropic|apify|artifactory|asana|atlassian|auth0"
    "|authress|azure|beamer|bitbucket"
    "|bittrex|braintree|buildkite|circleci|clickhouse|clojars|cloudflare|codecov|cohere|coinbase"
    "|confluen(?:ce|t)|contentful|databricks|datadog|deepgram|deepseek|digitalocean|discord|docker|doppler"
    "|droneci|dropbox|dynatrace|easypost|elevenlabs|etsy|facebook|fastly|figma|finicity|finnhub|firebase|flickr"
    "|freshbooks|gemini|gitter|gocardless|grafana|groq|hashicorp|heroku|honeycomb|hubspot|infracost"
    "|intercom|jenkins|jfrog|kraken|kucoin|langfuse|langsmith|launchdarkly|linear|linkedin|looker|mailchimp|mailgun"
    "|mapbox|mattermost|maxmind|meraki|messagebird|mistral|mixpanel|netlify|newrelic|ngrok|nytimes"
    "|okta|openai|openrouter|opsgenie|pagerduty|paypal|pinecone|plaid|planetscale|posthog|postman"
    "|postmark|prefect|pulumi|pusher|pypi|rapidapi|rubygems|scalingo|sendbird|sendgrid|sentry|settlemint|shippo"
    "|shodan|shopify|snyk|sonar|sourcegraph|spotify|squarespace|stripe|sumologic|supabase|tailscale"
    "|tavily|telegram|terraform|todoist|travis|trello|twilio|twitch|twitter|typeform|vercel"
    "|virustotal|vultr|wandb|webex|yandex|youtube|zendesk"
)
"""Whose keys are often named after them alone: `MERAKI_TOKEN`, `datadogKey`."""
_SUFFIXES = "prod production staging stage dev test live value string old new"
_SUFFIX = frozenset(_SUFFIXES.split())
_QUALIFIED, _OTHER = frozenset(_QUALIFIES.split()), frozenset(_OTHER_KEYS.split())
_JOINED = ("apikey", "accesskey", "secretkey", "privatekey", "authtoken", "accesstoken", "apitoken")
_STAND_INS = (
    "your", "example", "placeholder", "changeme", "change_me", "change-me", "replace", "dummy",
    "sample", "xxxx", "redacted", "insert", "0000000", "1234567890123", "abcdefghijkl",
    "secret_key", "://",
)  # fmt: skip


def is_named_secret(match: Any) -> bool:
    """Whether a match of `NAMED_VALUE` is a secret: by its name, and by how its value looks."""
    text, start = match.string, match.start()
    if text[match.end() : match.end() + 1] == "(":
        return False  # a function: `secret = base64.b64decode(...)`
    before = text[max(start - _LONGEST_NAME, 0) : start]
    name = before[len(before.rstrip(_NAME)) :]
    word = text[start : match.start(1)]
    said = word[: len(word) - len(word.lstrip(_NAME[12:]))]
    is_option = name.startswith("--")
    is_set = (name + said).isupper() and before[: len(before) - len(name)].endswith(
        ("ENV ", "set ")
    )
    if not (word[len(said) :].strip() or is_option or is_set):
        return False  # a space alone leads to a value on a command line only
    if not name and (first := _WORD_BEFORE.search(before)):
        name = first[0]  # `API key: …`
    sure = (is_option and said == "token") or _SAID_SO.match(word) is not None
    if not (sure or names_a_secret(name + said)):
        return False
    value = match[1]
    return looks_random(value) or (_UUID.fullmatch(value) is not None and _is_vendors(name + said))


def _is_vendors(name: str) -> bool:
    """Whether even an id under this name is a key: `HEROKU_API_KEY`, `snykToken`."""
    words = [word.lower() for word in _WORD.findall(name)]
    return _VENDOR.search("".join(words)) is not None and bool({"api", "token"}.intersection(words))


def names_a_secret(name: str) -> bool:
    """Whether a value under this name is one to keep: `OPENAI_API_KEY`, `clientSecret`."""
    words = [word.lower() for word in _WORD.findall(name)]
    while words and (words[-1] in _SUFFIX or words[-1].isdigit()):
        words.pop()
    if not words or _OTHER.intersection(words):
        return False
    last = words[-1]
    if last in _SECRET or last in _JOINED:
        return True
    if last not in ("key", "token"):
        return False
    shouted = name.isupper() and (len(words) > 1 or last == "token")
    named = shouted or bool(_QUALIFIED.intersection(words[:-1])) or words[-2:-1] == ["apikey"]
    return named or _VENDOR.search("".join(words[:-1])) is not None


def looks_random(value: str) -> bool:
    """Whether a value is no word, path, number or stand-in, but drawn at random."""
    value = value.rstrip("=")[:256]
    letters = [c for c in value if c.isalpha()]
    digits = sum(map(str.isdigit, value))
    size = len(letters) + digits
    if len(value) < _SHORTEST or not letters or not digits or value[0] in "/.~-":
        return False
    lower = value.lower()
    if _UUID.fullmatch(value) or any(word in lower for word in _STAND_INS):
        return False
    mixed = any(map(str.isupper, letters)) and any(map(str.islower, letters))
    if mixed and is_name(value):
        return False
    changes = len(_CLASS_CHANGE.findall(value)) / size
    if len(value) < _SHORT:
        no_letters = len(value) - len(letters)
        return mixed and no_letters > 1 and changes >= 0.5 and _entropy(value) >= 3.0
    return changes >= (0.33 if mixed else 0.2) and _entropy(value) >= 3.0


def is_name(value: str) -> bool:
    """Whether a value looks like a name in a program: `Ed25519PrivateKey`, `displaymetadata`."""
    if _IDENTIFIER.fullmatch(value) is None:
        return False
    signs = sum(map(str.isalnum, value))
    return value.islower() or sum(map(len, _HUMP.findall(value))) * 2 >= signs


def _entropy(value: str) -> float:
    """Bits a character (Shannon)."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values())
