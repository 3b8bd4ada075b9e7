"""Images in flight: beside a picture a model may say what it made of the prompt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...redact import Redactor
from .._reply import Reply

PATH = "/images/generations"
TEXT = "revised_prompt"


class ImageReply(Reply):
    """A reply with images; the prompt that the model wrote is masked, and nothing is judged."""

    def __init__(self, body: Mapping[str, Any], redactor: Redactor) -> None:
        super().__init__(body)
        self._redactor = redactor

    def whole(self, data: dict[str, Any]) -> dict[str, Any]:
        """The images, their texts masked."""
        images = data.get("data")
        for image in images if isinstance(images, list) else ():
            if isinstance(image, dict) and isinstance(image.get(TEXT), str):
                image[TEXT] = self._redactor.all(image[TEXT])[0]
        return data
