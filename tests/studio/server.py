"""The real `langgraph dev` in a process of its own, on the project's own `langgraph.json`.

It runs in an empty folder with an almost empty environment: no key, and a fence that refuses every
connection to another machine and writes it down. `langgraph.json` names modules, so that it works
from any folder.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.wire.ports import a_port

CONFIG = Path(__file__).parents[2] / "langgraph.json"
needs_server = pytest.mark.skipif(
    find_spec("langgraph_api") is None, reason="the development server needs Python 3.11"
)
START_S = 120.0
"""Seconds until it must answer; some 5 on an idle machine."""
REQUEST_S = 120.0

OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""Talks to this machine, whatever proxy the environment names."""

FENCE = '''
"""Loaded by every Python process of the server: nothing goes to another machine."""
import sys


def fence(event, arguments):
    if event == "socket.connect":
        host = arguments[1][0] if isinstance(arguments[1], tuple) else "local"
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = arguments[0]
    else:
        return
    name = host.decode() if isinstance(host, bytes) else str(host)
    if name not in ("127.0.0.1", "::1", "localhost", "local", "None"):
        with open({record!r}, "a") as file:
            print(event, name, file=file)
        raise OSError(f"no network here: {{name}}")


sys.addaudithook(fence)
'''


@dataclass(frozen=True)
class Server:
    """A running server: its address, the folder it works in, what it wrote and tried."""

    address: str
    folder: Path

    @property
    def log(self) -> str:
        """All that the server wrote so far."""
        return (self.folder / "server.log").read_text(encoding="utf-8", errors="replace")

    @property
    def faults(self) -> set[str]:
        """The types of all exceptions that the log shows."""
        return set(re.findall(r"^(?:\w+\.)*(\w+): ", "\n".join(_last_lines(self.log)), re.M))

    @property
    def connections(self) -> str:
        """The machines that it tried to reach, one a line."""
        record = self.folder / "connections.log"
        return record.read_text() if record.exists() else ""

    def get(self, path: str) -> Any:
        """The JSON that a GET gives."""
        return self._answer(urllib.request.Request(self.address + path))[1]

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The JSON that a POST gives; the request must succeed."""
        status, data = self.try_post(path, body)
        assert status == 200, (path, status, data)
        return data

    def try_post(self, path: str, body: Mapping[str, Any] | None = None) -> tuple[int, Any]:
        """Status and body of a POST that may be refused."""
        return self._answer(self._request(path, body))

    def stream(self, path: str, body: Mapping[str, Any]) -> list[tuple[str, Any]]:
        """The events of a POST that streams: name and data of each."""
        with OPENER.open(self._request(path, body), timeout=REQUEST_S) as response:
            blocks = response.read().decode().replace("\r\n", "\n").split("\n\n")
        found = []
        for block in blocks:
            lines = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line[:8])
            if "event" in lines:
                found.append((lines["event"], json.loads(lines.get("data", "null"))))
        return found

    def thread(self) -> str:
        """A new thread's id."""
        return str(self.post("/threads")["thread_id"])

    def run(self, graph: str, thread: str, **body: Any) -> Any:
        """Run to the end or to a question: the values then."""
        return self.post(f"/threads/{thread}/runs/wait", {"assistant_id": graph, **body})

    def say(self, graph: str, thread: str, text: str) -> Any:
        """Run on one message of the user."""
        messages = [{"role": "user", "content": text}]
        return self.run(graph, thread, input={"messages": messages})

    def state(self, thread: str) -> Any:
        """The state of a thread."""
        return self.get(f"/threads/{thread}/state")

    def _request(self, path: str, body: Mapping[str, Any] | None) -> urllib.request.Request:
        return urllib.request.Request(
            self.address + path,
            data=json.dumps(body or {}).encode(),
            headers={"Content-Type": "application/json"},
            method="POST",
        )

    def _answer(self, request: urllib.request.Request) -> tuple[int, Any]:
        try:
            with OPENER.open(request, timeout=REQUEST_S) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                text = error.read().decode()
            try:
                return error.code, json.loads(text)
            except ValueError:
                return error.code, text


@contextmanager
def running(folder: Path, **variables: str) -> Iterator[Server]:
    """The server at work in `folder` with these environment variables; ended on the way out."""
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--config", str(CONFIG)]
    environment = _environment(folder) | variables
    with a_port() as port, (folder / "server.log").open("wb") as log:
        server = Server(f"http://127.0.0.1:{port}", folder)
        command += ["--no-browser", "--no-reload", "--port", str(port)]
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            _wait_for(server, process)
            yield server
        finally:
            _end(process)


def _last_lines(log: str) -> Iterator[str]:
    """Of each traceback the line that names the exception: the first that is not indented."""
    for traceback in log.split("Traceback (most recent call last):\n")[1:]:
        lines = (line.strip(" |") for line in traceback.splitlines() if line[:3].strip())
        yield next(lines, "unknown: ")


def fenced(folder: Path) -> dict[str, str]:
    """Variables for a Python process that cannot leave the machine; `folder` keeps the record."""
    fence = folder / "fence"
    fence.mkdir(exist_ok=True)
    text = FENCE.format(record=str(folder / "connections.log"))
    (fence / "sitecustomize.py").write_text(text, encoding="utf-8")
    return {"PYTHONPATH": str(fence)}


def _environment(folder: Path) -> dict[str, str]:
    return {
        **fenced(folder),
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PYTHONUTF8": "1",
        "LOG_COLOR": "false",
        # What the server's makers would be told of its use.
        "LANGGRAPH_CLI_NO_ANALYTICS": "1",
        "LANGGRAPH_NO_VERSION_CHECK": "true",
    }


def _wait_for(server: Server, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            if server.get("/ok")["ok"]:
                return
        except (urllib.error.URLError, ConnectionError):
            pass  # it does not listen yet
        time.sleep(0.2)
    raise AssertionError(f"the server did not start:\n{server.log}")


def _end(process: subprocess.Popen[bytes]) -> None:
    for sent in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sent)
        except ProcessLookupError:
            break
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            continue
    process.wait()
