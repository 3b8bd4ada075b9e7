"""What can go wrong with a model: its settings, or its provider; never with a key in the text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import SecretStr

from ..policies.problems import ConfigError


class LLMError(Exception):
    """Something is wrong with a model."""


class LLMAdapterError(LLMError, TypeError):
    """What was given as an adapter is none, or it answers with something else than an answer."""


class LLMConfigError(LLMError, ConfigError):
    """The model's settings are missing, contradictory or unusable."""


class LLMProviderError(LLMError, RuntimeError):
    """The provider refused or failed. `status` is the HTTP status, where there was an answer.

    The text, and that of the chained cause, has been cleared of the API key.
    """

    def __init__(self, message: str, *, provider: str = "", status: int | None = None) -> None:
        super().__init__(message)
        self.provider = provider
        self.status = status

    @property
    def status_code(self) -> int | None:
        """`status`, as vendors call it."""
        return self.status

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (str(self), self.provider, self.status)


def _rebuilt(message: str, provider: str, status: int | None) -> LLMProviderError:
    return LLMProviderError(message, provider=provider, status=status)


def provider_error(error: BaseException, *, provider: str, key: SecretStr) -> LLMProviderError:
    """`error` of a vendor's package as ours. It and its causes lose the key: tracebacks show them.

    Raise the result `from` the error.
    """
    secret = key.get_secret_value()
    for one in _chain(error):
        one.args = tuple(_masked(argument, secret) for argument in one.args)
        for name in ("message", "body"):
            if hasattr(one, name):
                setattr(one, name, _masked(getattr(one, name), secret))
    status = getattr(error, "status_code", None)
    text = _masked(str(error), secret)
    head = f"{provider} answered {status}" if status else f"{provider}: {type(error).__name__}"
    asked = "" if status else _asked(error)
    return LLMProviderError(
        f"{head}: {text}{asked}",
        provider=provider,
        status=status if isinstance(status, int) else None,
    )


def _asked(error: BaseException) -> str:
    """Which server gave no answer; nothing of its address in which a secret could stand."""
    try:
        url: Any = error.request.url  # type: ignore[attr-defined]
        return f" ({url.scheme}://{url.host}{f':{url.port}' if url.port else ''})"
    except (AttributeError, RuntimeError):  # httpx raises the second
        return ""


def cleared(text: str, key: SecretStr) -> str:
    """`text` without the key."""
    return str(_masked(text, key.get_secret_value()))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _masked(value: object, secret: str) -> object:
    # A key of a few letters ("EMPTY") is none; taking it out would only garble the text.
    if len(secret) < 8:
        return value
    if isinstance(value, str):
        return value.replace(secret, "[REDACTED:api_key]")
    if isinstance(value, dict):
        return {name: _masked(item, secret) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(_masked(item, secret) for item in value)
    return value
