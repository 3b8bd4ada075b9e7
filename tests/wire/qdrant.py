"""Qdrant's REST interface, as far as a memory uses it, over the client's own in-memory engine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from qdrant_client import QdrantClient, models


class QdrantWire:
    """The running server; `keys` are the API keys that it was given."""

    def __init__(self) -> None:
        self.engine = QdrantClient(":memory:")
        self.keys: set[str] = set()
        self.lock = threading.Lock()

    def answer(self, verb: str, path: str, body: Any) -> Any:
        """What a request comes to."""
        parts = path.partition("?")[0].strip("/").split("/")
        if parts == ["collections"]:
            return self.engine.get_collections()
        name, rest = parts[1], parts[2:]
        match (verb, rest):
            case ("GET", ["exists"]):
                return {"exists": self.engine.collection_exists(name)}
            case ("GET", []):
                return self.engine.get_collection(name)
            case ("PUT", []):
                made = models.CreateCollection.model_validate(body)
                return self.engine.create_collection(
                    name,
                    vectors_config=made.vectors,
                    sparse_vectors_config=made.sparse_vectors,
                )
            case ("PUT", ["index"]):
                return models.UpdateResult(operation_id=0, status=models.UpdateStatus.COMPLETED)
            case ("PUT", ["points"]):
                points = models.PointsList.model_validate(body).points
                return self.engine.upsert(name, points)
            case ("POST", ["points"]):
                return self.engine.retrieve(name, body["ids"], with_payload=True)
            case ("POST", ["points", "delete"]):
                return self.engine.delete(name, models.PointIdsList.model_validate(body))
            case ("POST", ["points", "scroll"]):
                asked = models.ScrollRequest.model_validate(body)
                points, after = self.engine.scroll(name, asked.filter, limit=asked.limit or 10)
                return {"points": points, "next_page_offset": after}
            case ("POST", ["points", "query"]):
                wanted = models.QueryRequest.model_validate(body)
                return self.engine.query_points(
                    name, wanted.query, query_filter=wanted.filter, limit=wanted.limit or 10
                )
        raise AssertionError(f"{verb} {path} is not part of it")


@contextmanager
def qdrant() -> Iterator[tuple[QdrantWire, str]]:
    """The server and its address."""
    wire = QdrantWire()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            """Keep quiet."""

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            wire.keys.add(self.headers.get("api-key") or "")
            with wire.lock:
                result = wire.answer(self.command, self.path, json.loads(body or b"null"))
            whole = {"result": _plain(result), "status": "ok", "time": 0.0}
            data = json.dumps(whole).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_PUT = do_POST

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield wire, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        wire.engine.close()


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    dump = getattr(value, "model_dump", None)
    return value if dump is None else dump(mode="json", exclude_none=True)
