"""Names that say what a value is, and values that look drawn at random."""

from __future__ import annotations

import random
import string

import pytest

from edgeward.guards.entropy import looks_random, names_a_secret


@pytest.mark.parametrize(
    "name",
    ["api_key", "apiKey", "APIKEY", "X-Api-Key", "OPENAI_KEY", "clientSecret", "db.password",
     "GITHUB_TOKEN", "TOKEN", "accessToken", "AZURE_CLIENT_SECRET", "private-key", "credentials"],
)  # fmt: skip
def test_names_of_secrets(name: str) -> None:
    """Every common spelling of a name for a secret is one."""
    assert names_a_secret(name)


@pytest.mark.parametrize(
    "name",
    ["key", "token", "cache_key", "nextPageToken", "PRIMARY_KEY", "public_key", "sortKey", "monkey",
     "max_tokens", "csrf_token", "translationKey", "", "1234"],
)  # fmt: skip
def test_other_names(name: str) -> None:
    """Keys of tables, caches and pages are no secrets."""
    assert not names_a_secret(name)


@pytest.mark.parametrize(
    "value",
    ["correct-horse-battery-staple-2024", "/etc/ssl/private/server1.pem", "12345678901234567890",
     "abcdefghijklmnopqrstuvwxyz", "aaaaaaaaaaaaaaaa1111", "get_access_token_from_v2_session",
     "123e4567-e89b-12d3-a456-426614174000", "your-api-key-123abc456def", "short1A", "",
     "userTokenV2", "getKeyV2FromDb", "a1b2c3d4e5f6", "Password2024!",
     "projects@v1.2.3-rc.4-build5"],
)  # fmt: skip
def test_values_that_do_not_look_random(value: str) -> None:
    """Words, paths, numbers, UUIDs and stand-ins are none."""
    assert not looks_random(value)


@pytest.mark.parametrize(
    "value", ["xK9mQ2vLp8Rz", "tR8$kLm2Qw9z", "xK9#mQ2vLp8R$wZ1!", "aB3-dE5_gH7jK9"]
)
def test_passwords_look_random(value: str) -> None:
    """What a password manager makes is found from twelve signs on, other signs in it or not."""
    assert looks_random(value)


def test_random_values_look_random() -> None:
    """Nearly every value that was drawn at random is taken for one, in the usual alphabets."""
    source = random.Random(1)
    letters = string.ascii_letters + string.digits
    for alphabet, size in ((letters, 24), ("0123456789abcdef", 32), (letters + "+/", 40)):
        drawn = ["".join(source.choices(alphabet, k=size)) for _ in range(500)]
        assert sum(map(looks_random, drawn)) > 460
