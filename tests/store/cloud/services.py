"""A server on loopback that stands for the services which give credentials."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, str]


class Services:
    """Answers requests by a table of paths; `seen` has the method, path, headers and body of each."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []
        self.answers: dict[str, Callable[[dict[str, str], bytes], Answer]] = {}
        services = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                services._answer(self)

            do_POST = do_PUT = do_GET  # noqa: N815 - the names are the standard library's

            def log_message(self, *_args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.seen.append((handler.command, handler.path, headers, body))
        found = self.answers.get(handler.path.partition("?")[0])
        status, text = found(headers, body) if found else (404, "no such thing: hush")
        data = text.encode()
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(data)))
        if 300 <= status < 400:
            handler.send_header("Location", f"{self.url}/elsewhere")
        handler.end_headers()
        handler.wfile.write(data)

    def give(self, path: str, value: Any, status: int = 200) -> None:
        """Answer requests of a path with JSON, or with a text."""
        text = value if isinstance(value, str) else json.dumps(value)
        self.answers[path] = lambda _headers, _body: (status, text)

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def later(seconds: float = 3600) -> str:
    """Return a moment after now, as services write it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))
