"""Images in flight: beside a picture a model may say what it made of the prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...redact import Redactor
from ..defender import Decision

PATH = "/images/generations"
TEXT = "revised_prompt"


class ImageReply:
    """A reply with images; the prompt that the model wrote is masked, and nothing is judged."""

    firewall: Decision | None = None

    def __init__(self, body: Mapping[str, Any], redactor: Redactor) -> None:
        self.body = body
        self._redactor = redactor

    def whole(self, data: dict[str, Any]) -> dict[str, Any]:
        """The images, their texts masked."""
        images = data.get("data")
        for image in images if isinstance(images, list) else ():
            if isinstance(image, dict) and isinstance(image.get(TEXT), str):
                image[TEXT] = self._redactor.all(image[TEXT])[0]
        return data

    def event(self, data: dict[str, Any]) -> list[dict[str, Any]] | None:
        """A piece of an image, as it came."""
        return None

    def word(self, data: dict[str, Any]) -> None:
        """No text is streamed."""

    def end(self, *, finished: bool) -> list[dict[str, Any]]:
        """Nothing is left."""
        return []
