"""Images beside a task: which may be sent, and in which form.

    images: {folders: [screens], max_bytes: 5000000, max_count: 10}

A local file goes out only from a folder that the profile names, symbolic links followed first; what
it is says its content, not its name. A web address is passed on as it is: the provider fetches it,
nothing here does. A `data:` URL is passed on too; a wrong type in it is put right.
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from langchain_core.messages import HumanMessage
from pydantic import Field

from .blocks import Block, Text

SHOWN_ONCE = "images_shown"
"""In a message's `additional_kwargs`: its images go to the model once, not with every call."""

_HEAD_BYTES = 16
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]+):", re.IGNORECASE)
_DATA = re.compile(r"data:(?P<type>[^;,]*)(?P<more>(?:;[^;,]*)*),", re.IGNORECASE)


class ImagesBlock(Block):
    """The profile's `images:` mapping."""

    folders: list[Text] = Field(default=[])
    """Folders whose files may be sent, relative to the profile's own. None: no file is."""
    max_bytes: int = Field(default=5_000_000, ge=1)
    """Of one image."""
    max_count: int = Field(default=10, ge=1)
    """Of one task."""
    shown: Literal["once", "always"] = "once"
    """`once`: with the first call of a run (and of a plan's step). `always`: with every call."""


class ImageRefused(ValueError):
    """An image is not sent. The text names it and says why."""


def image_type(head: bytes) -> str | None:
    """The media type that the first bytes of a file say; None where it is no image to send."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if head.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    return None


def with_images(
    task: str, images: Sequence[str | Path], *, block: ImagesBlock, base_dir: Path
) -> HumanMessage:
    """The task as one message: its text, then the images in their order. It reads files.

    Raises:
        ImageRefused: for the first image that may not be sent.
    """
    if isinstance(images, str | Path):
        raise ImageRefused("images is a list of paths and addresses; put the one into a list")
    if len(images) > block.max_count:
        raise ImageRefused(f"{len(images)} images, and images.max_count is {block.max_count}")
    folders = [(base_dir / Path(folder).expanduser()).resolve() for folder in block.folders]
    urls = [_url(image, block, folders) for image in images]
    content: list[Any] = [{"type": "text", "text": task}] if task.strip() else []
    content += [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    marks = {SHOWN_ONCE: "once"} if urls and block.shown == "once" else {}
    return HumanMessage(content if urls else task, additional_kwargs=marks)


def _url(image: str | Path, block: ImagesBlock, folders: Sequence[Path]) -> str:
    if not isinstance(image, str | Path):
        raise ImageRefused(f"an image is a path or an address, not {type(image).__name__}")
    scheme = _SCHEME.match(image) if isinstance(image, str) else None
    match scheme and scheme[1].lower():
        case "http" | "https":
            return _address(str(image))
        case "data":
            return checked_data_url(str(image), most=block.max_bytes)
        case None:
            return _inlined(Path(image), block, folders)
    raise ImageRefused(f"{_short(image)}: give a path, an http(s) address or a data: URL")


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
        host, secret = parts.hostname, parts.username or parts.password
    except ValueError:
        host, secret = None, None
    if not host or any(letter.isspace() for letter in url):
        raise ImageRefused("an address of an image is no address")
    if secret:
        raise ImageRefused(f"an address at {host} holds a user name or password")
    return url


def checked_data_url(url: str, *, most: int | None = None) -> str:
    """A `data:` URL of an image, its type put right where it is wrong; most often as it is.

    Raises:
        ImageRefused: it holds no image, or more than `most` bytes.
    """
    match = _DATA.match(url)
    if not match or not match["more"].lower().endswith(";base64"):
        raise ImageRefused("a data: URL is not of the form data:image/…;base64,…")
    start = match.end()
    if most is not None and (len(url) - start) * 3 // 4 - 2 > most:
        raise ImageRefused(f"an image in a data: URL is larger than {most} bytes")
    try:
        # Of a long one the beginning says what it is; it is checked whole where it comes in.
        text = url[start:] if most is not None else url[start : start + 4 * _HEAD_BYTES]
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ImageRefused("a data: URL holds no base64") from None
    found = _seen(data, "a data: URL")
    if match["type"] == found:
        return url
    return f"data:{found};base64,{url[start:]}"


def _inlined(path: Path, block: ImagesBlock, folders: Sequence[Path]) -> str:
    """A file as a `data:` URL."""
    name = _short(path.name)
    if not folders:
        raise ImageRefused(f"{name}: no folder of images is allowed; set images.folders")
    try:
        real = path.expanduser().resolve(strict=True)
        if not any(real.is_relative_to(folder) for folder in folders):
            raise ImageRefused(f"{name} lies in none of images.folders of the profile")
        data = _read(real, block.max_bytes)
    except (OSError, RuntimeError, ValueError) as error:
        if isinstance(error, ImageRefused):
            raise
        why = error.strerror if isinstance(error, OSError) and error.strerror else "no such file"
        raise ImageRefused(f"{name} cannot be read: {why}") from None
    if data is None:
        raise ImageRefused(f"{name} is larger than images.max_bytes ({block.max_bytes})")
    return f"data:{_seen(data, name)};base64,{base64.b64encode(data).decode()}"


def _read(real: Path, most: int) -> bytes | None:
    """The file's bytes; None where they are too many. What is no plain file is not waited for."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    handle = os.open(real, flags)
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise ImageRefused(f"{_short(real.name)} is no file")
        # The way there may have been bent since it was looked at.
        if not os.path.samestat(about, os.stat(real.resolve(strict=True))):
            raise ImageRefused(f"{_short(real.name)} changed while it was read")
        with os.fdopen(os.dup(handle), "rb") as file:
            data = file.read(most + 1)
    finally:
        os.close(handle)
    return data if len(data) <= most else None


def _seen(data: bytes, name: str) -> str:
    if not data:
        raise ImageRefused(f"{name} is empty")
    found = image_type(data[:_HEAD_BYTES])
    if found is None:
        raise ImageRefused(
            f"{name} is no image that can be sent: PNG, JPEG, GIF and WebP are, and nothing that"
            " moves or sounds"
        )
    return found


def _short(value: object) -> str:
    return repr(str(value)[:80])
