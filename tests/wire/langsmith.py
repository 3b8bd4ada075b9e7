"""A local server that takes what a LangSmith client posts, and keeps it."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_INFO = {
    "version": "0.1",
    "batch_ingest_config": {
        "use_multipart_endpoint": False,
        "size_limit": 100,
        "size_limit_bytes": 20_000_000,
        "scale_up_nthreads_limit": 1,
        "scale_up_qsize_trigger": 1_000,
        "scale_down_nempty_trigger": 4,
    },
}
"""What the client asks for first: how it is to send runs."""


class LangSmith:
    """The server; `posted` is the bodies that it was sent, `runs` the runs in them, by id."""

    def __init__(self) -> None:
        self.posted: list[str] = []
        kept = self.posted

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._answer(_INFO)

            def do_POST(self) -> None:
                kept.append(self.rfile.read(int(self.headers["content-length"])).decode())
                self._answer({})

            def _answer(self, data: Any) -> None:
                body = json.dumps(data).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def runs(self) -> dict[str, dict[str, Any]]:
        """Each run as it was in the end."""
        found: dict[str, dict[str, Any]] = {}
        for body in map(json.loads, self.posted):
            for run in [*body.get("post", ()), *body.get("patch", ())]:
                found.setdefault(run["id"], {}).update(run)
        return found

    def __enter__(self) -> LangSmith:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
