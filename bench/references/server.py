"""A server on this machine that answers each request a little later, and counts them."""

from __future__ import annotations

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self


class Server:
    """Serves the files of a folder, by ranges.

    Args:
        folder: The folder.
        delay: Seconds before each answer.
    """

    def __init__(self, folder: Path, delay: float = 0.02) -> None:
        self.requests = self.bytes = 0
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # as servers do; or ends of answers wait for 40 ms

            def do_GET(self) -> None:
                server._answer(self, folder, delay, body=True)

            def do_HEAD(self) -> None:
                server._answer(self, folder, delay, body=False)

            def log_message(self, *_: Any) -> None:
                pass

        class Threads(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 512

        self._server = Threads(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()

    def forget(self) -> None:
        """Begin to count anew."""
        self.requests = self.bytes = 0

    def _answer(self, request: BaseHTTPRequestHandler, folder: Path, delay: float, *, body: bool) -> None:
        time.sleep(delay)
        self.requests += 1
        file = folder / request.path.lstrip("/")
        size = file.stat().st_size
        first, last = 0, size - 1
        asked = request.headers.get("Range")
        if asked:
            start, _, end = asked.removeprefix("bytes=").partition("-")
            first, last = (size - int(end), last) if not start else (int(start), min(int(end or last), last))
        request.send_response(206 if asked else 200)
        request.send_header("Content-Length", str(last - first + 1))
        request.send_header("Accept-Ranges", "bytes")
        request.send_header("ETag", f'"{size}"')
        if asked:
            request.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        request.end_headers()
        if body:
            with file.open("rb") as opened:
                opened.seek(first)
                self.bytes += request.wfile.write(opened.read(last - first + 1)) or 0
