"""Documents, under the module name that DefenseAgent has for them."""

from __future__ import annotations

from .profiles.rag.extraction import StructuredDocExtractor
from .profiles.rag.rag import LlamaIndexRAG

__all__ = ["LlamaIndexRAG", "StructuredDocExtractor"]
