"""Where a local model's file is: a path, or `hf:OWNER/NAME/FILE.gguf` in a cache of this machine.

Nothing is fetched unless the profile says `download: true`. A file that the hub's own tool has put
into its cache is found there; what is fetched here goes to a cache of ours.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import urllib.request
from http.client import HTTPException
from pathlib import Path

from ..policies.problems import Problem, speak
from .failures import LLMConfigError
from .local_block import LocalBlock
from .local_engine import digest_of

_REFERENCE = re.compile(
    r"hf:(?P<owner>[\w.-]+)/(?P<name>[\w.-]+?)(?:@(?P<revision>[\w.-]+))?/(?P<file>[\w./-]+\.gguf)"
)
_MAGIC = b"GGUF"
HUB = "https://huggingface.co"
FETCH_TIMEOUT_S = 60.0


def model_file(model: str, block: LocalBlock) -> Path:
    """The file that `model` means, seen to be one.

    Raises:
        LLMConfigError: it is not there, or no model; what to do is said.
    """
    if model.startswith("hf:"):
        file = _from_hub(model, block)
    else:
        file = Path(model).expanduser()
        if not file.is_file():
            fix = "give the path of a .gguf file, or hf:OWNER/NAME/FILE.gguf"
            raise _wrong(f"there is no file {str(file)!r}", fix)
    with file.open("rb") as opened:
        if opened.read(len(_MAGIC)) != _MAGIC:
            raise _wrong(f"{speak(file.name)} is no GGUF file", "give a model in GGUF form")
    return file


def _from_hub(model: str, block: LocalBlock) -> Path:
    match = _REFERENCE.fullmatch(model)
    if not match or ".." in model:
        raise _wrong("is not of the form hf:OWNER/NAME/FILE.gguf", "correct llm.model")
    owner, name, file = match["owner"], match["name"], match["file"]
    revision = match["revision"] or "main"
    there = _in_hub_cache(f"models--{owner}--{name}", revision, file)
    ours = _cache() / owner / name / revision / file
    found = next((path for path in (there, ours) if path is not None and path.is_file()), None)
    if found is not None:
        return found
    if not block.download:
        fix = (
            f"run `hf download {owner}/{name} {file}` once where there is a network, or set "
            "llm.local.download: true"
        )
        raise _wrong(f"{model} is not on this machine, and nothing is fetched unasked", fix)
    endpoint = (os.environ.get("HF_ENDPOINT") or HUB).rstrip("/")
    _fetch(f"{endpoint}/{owner}/{name}/resolve/{revision}/{file}", ours, block.sha256)
    return ours


def _in_hub_cache(folder: str, revision: str, file: str) -> Path | None:
    """Where the hub's own tool keeps it: a branch's name is a file that holds the revision."""
    home = Path(os.environ.get("HF_HOME") or "~/.cache/huggingface").expanduser()
    base = Path(os.environ.get("HF_HUB_CACHE") or home / "hub").expanduser() / folder
    with contextlib.suppress(OSError, ValueError):  # else it was given, or there is nothing
        revision = (base / "refs" / revision).read_text(encoding="ascii").strip()
    return base / "snapshots" / revision / file


def _cache() -> Path:
    if home := os.environ.get("EDGEWARD_HOME"):
        return Path(home).expanduser() / "models"
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "edgeward" / "models"


def _fetch(url: str, to: Path, sha256: str | None) -> None:
    """Fetch a file; it is in its place only when it is whole."""
    if not url.startswith(("https://", "http://")):
        raise _wrong("HF_ENDPOINT is no http(s) address", "correct it, or leave it out")
    to.parent.mkdir(parents=True, exist_ok=True)
    part = to.with_name(f"{to.name}.{os.getpid()}.part")
    try:
        with (
            urllib.request.urlopen(url, timeout=FETCH_TIMEOUT_S) as answer,  # noqa: S310
            part.open("wb") as out,
        ):
            shutil.copyfileobj(answer, out, 1 << 20)
            whole = answer.headers.get("content-length")
        if whole is not None and part.stat().st_size != int(whole):
            raise OSError("the connection ended early")
        if sha256 and digest_of(part) != sha256:
            raise _wrong("what was fetched has another sha256 than the profile says", "check both")
        os.replace(part, to)
    except (OSError, HTTPException) as error:
        status = getattr(error, "code", None)
        said = f"the hub answered {status}" if status else "the hub cannot be reached"
        fix = "check the name and the network, or put the file there yourself and give its path"
        raise _wrong(f"the model could not be fetched: {said}", fix) from error
    finally:
        part.unlink(missing_ok=True)


def _wrong(what: str, fix: str) -> LLMConfigError:
    return LLMConfigError(Problem("profile", "llm.model", what, fix=fix))
