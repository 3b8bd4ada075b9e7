"""The example bundle that comes with the package: copy it, and make it yours.

shutil.copytree(EXAMPLE_AGENT_DIR, "my_profile")
"""

from __future__ import annotations

from pathlib import Path

from .profiles import schema

EXAMPLE_AGENT_DIR = Path(schema.__file__).parent / "example"
"""A profile with every block: tools of three kinds, memory, documents, a prompt."""

EXAMPLE_PROFILE_PATH = EXAMPLE_AGENT_DIR / "profile.yaml"
