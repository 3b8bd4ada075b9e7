"""What reads documents, under the module name that DefenseAgent has for it."""

from __future__ import annotations

from ..profiles.rag.content import Resource as StructuredResource
from ..profiles.rag.content import StructuredChunk, StructuredExtractor
from ..profiles.rag.extraction import StructuredDocExtractor

__all__ = [
    "StructuredChunk",
    "StructuredDocExtractor",
    "StructuredExtractor",
    "StructuredResource",
]
