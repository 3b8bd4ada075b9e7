"""What shows tables and images, under the module name that DefenseAgent has for it."""

from __future__ import annotations

from ..profiles.rag.renderer import ImageRenderer, ResourceRenderer, TableRenderer

__all__ = ["ImageRenderer", "ResourceRenderer", "TableRenderer"]
