"""Packed files (docx, epub), opened within bounds."""

from __future__ import annotations

import io
import zipfile

from .content import MAX_PARTS, MAX_UNPACKED_BYTES, NotExtracted


def unpacked(data: bytes) -> zipfile.ZipFile:
    """The archive, if what is in it keeps to the bounds.

    No part gives more than it says: `zipfile` stops there, so that the sum can be trusted.

    Raises:
        NotExtracted: it is damaged, locked, or a bomb.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise NotExtracted("is damaged: no readable archive") from error
    parts = archive.infolist()
    if len(parts) > MAX_PARTS:
        raise NotExtracted(f"has {len(parts):,} parts; {MAX_PARTS:,} are allowed")
    if sum(part.file_size for part in parts) > MAX_UNPACKED_BYTES:
        raise NotExtracted(f"unpacks to more than {MAX_UNPACKED_BYTES:,} bytes")
    if any(part.flag_bits & 1 for part in parts):
        raise NotExtracted("is locked with a password")
    return archive
