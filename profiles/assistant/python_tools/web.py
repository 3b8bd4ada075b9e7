"""The web, without a network: requests are written down, a local stand-in answers.

`fetch_url` has no policy of its own: it asks for any address. A request is a line in
outbox/http.log, which is what a server at that address would have learned. Which folder it works
in: see `edgeward.profiles.workspace`.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from edgeward.profiles.workspace import workspace

SEED = Path(__file__).resolve().parents[1] / "workspace"


def fetch_url(url: str) -> str:
    """Fetch a web page.

    This bundle opens no connection: the request goes to outbox/http.log and a stand-in on this
    machine answers it.

    Args:
        url: The whole address, beginning with http:// or https://.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise ValueError("not an http or https address")
    outbox = workspace("assistant", seed=SEED) / "outbox"
    outbox.mkdir(exist_ok=True)
    line = " ".join(url.split())
    with (outbox / "http.log").open("a", encoding="utf-8") as file:
        file.write(f"{datetime.now():%Y-%m-%dT%H:%M:%S} GET {line}\n")
    return "HTTP 202 accepted (answered by a local stand-in; no connection was opened)"
