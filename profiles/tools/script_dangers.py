"""What no skill's script has a good reason to hold: a look for accidents and crude payloads.

This is no sandbox and no proof. A script that means harm can be written in any number of ways that
no pattern knows, and `allow_skill_execution` is what lets it run; read what you allow.
"""

from __future__ import annotations

from ...guards.patterns import compile_pattern

_SYSTEM = "bin|boot|etc|home|lib|opt|root|sbin|usr|var"
_ROOT = rf"""["']?(?:/|~/?|\$\{{?HOME\}}?/?|/(?:{_SYSTEM})/?)\*?["'\s;&|)]"""
_DISK = r"/dev/(?:sd|hd|vd|nvme|disk|mmcblk)"

PATTERNS: tuple[tuple[str, str], ...] = (
    (
        "deletes the system or a home folder",
        rf"\brm\s+(?:-[-a-zA-Z]+\s+)*-(?:[a-zA-Z]*[rRf][a-zA-Z]*|-recursive|-force)\s+"
        rf"(?:-[-a-zA-Z]+\s+)*{_ROOT}",
    ),
    (
        "deletes the system or a home folder",
        r"""["']rm["']\s*,\s*["']-[a-zA-Z]*[rRf][a-zA-Z]*["']\s*,\s*["'](?:/|~|\$HOME)/?\*?["']""",
    ),
    (
        "deletes the system or a home folder",
        r"""\b(?:rmtree|rmSync|rmdirSync|rm|rmdir)\(\s*["'`](?:/|~)["'`]""",
    ),
    ("starts itself without end", r":\s*\(\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;\s*:"),
    ("formats a disk", r"\bmkfs(?:\.[a-z0-9]+)?\s+[-/]"),
    ("writes over a disk", rf"\bdd\s+[^|;\n]*\bof={_DISK}|>\s*{_DISK}"),
    (
        "opens the whole system to everyone",
        r"""\bch(?:mod|own)\s+-[a-zA-Z]*R[a-zA-Z]*\s+\S+\s+["']?/["'\s;&|]""",
    ),
    (
        "runs what it downloads",
        r"\b(?:curl|wget)\b[^\n|;]*\|\s*(?:sudo\s+)?(?:(?:ba|z|da)?sh|python3?|node|perl)\b",
    ),
    ("opens a connection for a shell", r"/dev/tcp/\S|\bnc\s+[^\n|;]*-e\s*/bin/"),
)
_COMMENTS = ("#", "//")


def danger_in(text: str) -> tuple[int, str] | None:
    """The first line (from 1) of a script that holds such a thing, and what it does; or None."""
    found: list[tuple[int, str]] = []
    for what, pattern in PATTERNS:
        for match in compile_pattern(pattern).finditer(text + "\n"):
            start = text.rfind("\n", 0, match.start()) + 1
            if not text[start : match.start()].lstrip().startswith(_COMMENTS):
                found.append((text.count("\n", 0, match.start()) + 1, what))
                break
    return min(found, default=None)
