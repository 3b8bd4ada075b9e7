"""The wire server as a fixture."""

from .server import wire

__all__ = ["wire"]
