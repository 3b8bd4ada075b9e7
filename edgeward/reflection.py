"""Reflection, under the module name that DefenseAgent has for it."""

from __future__ import annotations

from .profiles.reflection import Reflector

__all__ = ["Reflector"]
