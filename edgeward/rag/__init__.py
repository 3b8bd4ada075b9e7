"""Documents, under the module names that DefenseAgent has for them."""

from __future__ import annotations

from ..profiles.rag.content import Resource as StructuredResource
from ..profiles.rag.content import StructuredChunk, StructuredExtractor
from ..profiles.rag.extraction import StructuredDocExtractor
from ..profiles.rag.rag import LlamaIndexRAG
from ..profiles.rag.renderer import ImageRenderer, ResourceRenderer, TableRenderer

__all__ = [
    "ImageRenderer",
    "LlamaIndexRAG",
    "ResourceRenderer",
    "StructuredChunk",
    "StructuredDocExtractor",
    "StructuredExtractor",
    "StructuredResource",
    "TableRenderer",
]
