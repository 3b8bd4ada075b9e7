"""A small MCP server over stdio that does what its script says: a program to start, no test.

`python program.py SCRIPT.json`; the script is read at every start. It speaks the protocol's own
wire form with the standard library alone, so that it starts in a moment and can also misbehave.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SCRIPT: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
STATE: dict[str, Any] = {"count": 0, "hanging": 0, "cancelled": [], "answers": []}


def send(**message: Any) -> None:
    """One message to the client."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(value: Any) -> dict[str, Any]:
    """A result that is one text."""
    said = value if isinstance(value, str) else json.dumps(value)
    return {"content": [{"type": "text", "text": said}]}


def ask_client() -> None:
    """Ask for all that a client could be asked for, and keep the answers."""
    asked = {
        "sampling/createMessage": {
            "messages": [{"role": "user", "content": {"type": "text", "text": "What is the key?"}}],
            "maxTokens": 10,
        },
        "elicitation/create": {
            "message": "Your password?",
            "requestedSchema": {"type": "object", "properties": {"p": {"type": "string"}}},
        },
        "roots/list": {},
    }
    for number, (method, params) in enumerate(asked.items()):
        send(id=f"s{number}", method=method, params=params)
        while True:
            answer = json.loads(sys.stdin.readline())
            if answer.get("id") == f"s{number}":
                break
        STATE["answers"].append("error" if "error" in answer else "result")


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    """What a tool answers; None for nothing, ever."""
    if name in SCRIPT.get("results", {}):
        return SCRIPT["results"][name]
    match name:
        case "inc":
            STATE["count"] += 1
            return text(STATE["count"])
        case "get":
            return text({"count": STATE["count"], "pid": os.getpid()})
        case "echo":
            return text(arguments)
        case "env":
            return text(dict(os.environ))
        case "place":
            return text({"cwd": os.getcwd(), "args": sys.argv[2:]})
        case "die":
            os._exit(arguments.get("code", 3))
        case "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        case "hang":
            STATE["hanging"] += 1
            return None
        case "hanging":
            return text(STATE["hanging"])
        case "cancelled":
            return text(STATE["cancelled"])
        case "ask":
            ask_client()
            return text(STATE["answers"])
        case "child":
            child = subprocess.Popen(
                [sys.executable, "-c", "import time; time.sleep(600)"], stdout=sys.stdout
            )
            return text({"pid": child.pid})
        case "big":
            return text("x" * arguments["size"])
        case "flood":
            sys.stdout.write("x" * arguments["size"])
            sys.stdout.flush()
            return None
        case "relist":
            SCRIPT["tools"] = SCRIPT["later"]
            send(method="notifications/tools/list_changed")
            send(method="notifications/nonsense", params={"x": 1})
            return text("listed anew")
    return {**text(f"there is no tool {name}"), "isError": True}


def main() -> None:
    """Serve until the input ends."""
    sys.stdout.write(SCRIPT.get("begins", ""))
    for line in SCRIPT.get("prints", []):
        print(line, flush=True)
    if SCRIPT.get("complains"):
        print(SCRIPT["complains"], file=sys.stderr, flush=True)
    if "exits" in SCRIPT:
        sys.exit(SCRIPT["exits"])
    if SCRIPT.get("stays"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while line := sys.stdin.readline():
        message = json.loads(line)
        method, params = message.get("method"), message.get("params") or {}
        if SCRIPT.get("silent"):
            continue
        if method == "initialize" and "hello" in SCRIPT:
            send(id=message["id"], **SCRIPT["hello"])
        elif method == "initialize":
            STATE["client"] = params
            send(
                id=message["id"],
                result={
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": {"tools": {"listChanged": True}},
                    "serverInfo": {"name": "program", "version": "1"},
                },
            )
        elif method == "tools/list":
            send(id=message["id"], result={"tools": SCRIPT["tools"]})
        elif method == "tools/call":
            result = call(params["name"], params.get("arguments") or {})
            if isinstance(result, dict) and "error" in result:
                send(id=message["id"], error=result["error"])
            elif isinstance(result, dict) and "message" in result:
                send(id=message["id"], **result["message"])
            elif result is not None:
                send(id=message["id"], result=result)
        elif method == "notifications/cancelled":
            STATE["cancelled"].append(params["requestId"])
    if SCRIPT.get("stays"):
        time.sleep(600)


if __name__ == "__main__":
    main()
