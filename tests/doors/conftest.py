"""The wire server as a fixture."""

from tests.wire.server import wire

__all__ = ["wire"]
