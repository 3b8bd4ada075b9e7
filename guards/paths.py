"""Whether a path lies below a folder, by the text alone, however a tool may read it.

A positive condition rests on this, so what could be read in two ways lies nowhere: a path that a
shell, a reader of URLs or another system would take elsewhere (`~`, `$HOME`, `file:`, a drive), one
with control characters, an option, and a text that holds a second path beside the first. What links
on a disk do is for the tool to check.
"""

from __future__ import annotations

import posixpath
import re

_CONTROL = re.compile(r"[\0-\x1f\x7f\x85\u2028\u2029]")
_COMMAND = re.compile(r"`|\$[({]")
"""What a shell puts something else in place of, wherever it stands."""
_ELSEWHERE = re.compile(
    r"[|-]"  # a program, an option
    r"|\$\w|%\w+%"  # a variable
    r"|[A-Za-z][\w+.@-]+:(?![:\d])"  # a scheme, another machine
)
"""How a path begins that is none until something is put in its place."""
_ODD_PARENT = re.compile(
    r"(?:^|[/\\])(?:"
    r"\s*\.\.(?:\s[\s.]*|;[^/\\]*)"  # Windows drops blanks behind, servers what follows a `;`
    r"|(?!\.\.(?:[/\\]|$))(?:[.?]|\[[^\]/]*\])(?:[.?*]|\[[^\]/]*\])"  # `.?`, `[.][.]`: may be `..`
    r")(?:[/\\]|$)"
)
_BETWEEN = re.compile(
    r"[\s,;|&<>=@'\"(){}]+|(?<!\A[A-Za-z])(?<![\s,;|=(][A-Za-z])(?<=[^:]):(?=[^:\d])"
)
"""What may part one path from another."""
_LEADS_OUT = re.compile(r"[/\\~]|[A-Za-z]:[/\\]|\.\.(?:[/\\]|$)")
_DRIVE = re.compile("[A-Za-z]:")
_GLOB = re.compile(r"[*?]")


def lies_under(path: str, folder: str) -> bool:
    """Whether the path, once `.` and `..` are resolved, is the folder or lies below it."""
    if _CONTROL.search(path) or _COMMAND.search(path):
        return False
    whole = path.strip().strip("'\"")
    if _ELSEWHERE.match(whole) or _ODD_PARENT.search(whole):
        return False
    outside = _resolved(folder)
    return _is_inside(whole, outside) and all(
        _is_inside(piece, outside) for piece in _BETWEEN.split(whole)[1:] if _LEADS_OUT.match(piece)
    )


def folder_fault(folder: str) -> str:
    """Why no path could be shown to lie below the folder; empty where one can."""
    text = folder.strip()
    if text[:1] in ("", "~") or _CONTROL.search(text) or _ELSEWHERE.match(text):
        return f"{folder!r} is no folder by its text; write it as the tool gets it: /srv/x, docs, ."
    if _GLOB.search(text):
        return f"{folder!r}: a folder and no glob; all that lies below it counts"
    return ""


def _is_inside(path: str, outside: str) -> bool:
    if path.startswith("~"):
        return False
    inside = _resolved(path)
    if outside == ".":
        return not (inside.startswith(("/", "../")) or inside == ".." or _DRIVE.match(inside))
    return inside == outside or inside.startswith(outside.rstrip("/") + "/")


def _resolved(path: str) -> str:
    resolved = posixpath.normpath(path.strip().replace("\\", "/"))
    return "/" + resolved.lstrip("/") if resolved.startswith("//") else resolved
