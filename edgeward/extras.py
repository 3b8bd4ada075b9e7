"""What is said where something is used that needs an extra."""

from __future__ import annotations


class MissingExtra(ImportError):
    """Something is used that needs an extra which is not installed."""
