"""Resources (tables, images) as text for the model."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Protocol

from .content import Resource


class Renderer(Protocol):
    """Puts one kind of resource into text."""

    def supports(self, resource: Resource) -> bool:
        """Whether it can."""
        ...

    def render(self, resource: Resource) -> str:
        """The text."""
        ...


class TableRenderer:
    """A table as it is: Markdown, every row."""

    def supports(self, resource: Resource) -> bool:
        """Tables."""
        return resource.kind == "table"

    def render(self, resource: Resource) -> str:
        """Caption and table."""
        caption = f"{resource.caption}\n\n" if resource.caption else ""
        return caption + resource.content.decode("utf-8", "replace")


class ImageRenderer:
    """An image in words: what the document says of it, its type and its size."""

    def supports(self, resource: Resource) -> bool:
        """Images."""
        return resource.kind == "image"

    def render(self, resource: Resource) -> str:
        """One line."""
        size = f", {len(resource.content):,} bytes" if resource.content else ""
        return f"{resource.caption or 'an image'} ({resource.media_type}{size})"


class DataUriRenderer:
    """An image as a data URI, for a program that passes it on; a model sees only letters."""

    def supports(self, resource: Resource) -> bool:
        """Images that are in the document itself."""
        return resource.kind == "image" and bool(resource.content)

    def render(self, resource: Resource) -> str:
        """The URI."""
        return f"data:{resource.media_type};base64,{base64.b64encode(resource.content).decode()}"


class ResourceRenderer:
    """The renderers of one agent, in the order in which they are asked."""

    def __init__(self, renderers: Sequence[Renderer] = ()) -> None:
        """`renderers` are asked before the built-in ones."""
        self._all: list[Renderer] = [*renderers, TableRenderer(), ImageRenderer()]

    def register(self, renderer: Renderer, *, prepend: bool = False) -> None:
        """Add one: before all others, or behind them."""
        self._all.insert(0 if prepend else len(self._all), renderer)

    def render(self, resource: Resource) -> str:
        """The resource as text; in a few words where nobody knows its kind."""
        for one in self._all:
            if one.supports(resource):
                return one.render(resource)
        return f"a resource of type {resource.media_type}, {len(resource.content):,} bytes"
