"""A server of ranges that keeps count of what it is asked for."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Log:
    """The requests: method, name, and how many bytes they brought; and how many there were at once."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, int]] = []
        self.most = self._now = 0
        self._lock = threading.Lock()

    def clear(self) -> None:
        self.requests, self.most = [], 0

    @contextmanager
    def counted(self) -> Iterator[None]:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        try:
            yield
        finally:
            with self._lock:
                self._now -= 1


@contextmanager
def serving(folder: Path, pause: float = 0.0) -> Iterator[tuple[str, Log]]:
    """Serve a folder from here on; yield its URL and the log."""
    log = Log()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Be quiet."""

        def do_HEAD(self) -> None:
            self._answer(body=False)

        def do_GET(self) -> None:
            with log.counted():
                time.sleep(pause)
                self._answer(body=True)

        def _answer(self, *, body: bool) -> None:
            path = folder / self.path.lstrip("/")
            if not path.is_file():
                self.send_error(404)
                return
            data = path.read_bytes()
            state, etag = 200, f'"{hash(data)}"'
            asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
            part, first = data, 0
            if asked:
                first, last = int(asked[1]), int(asked[2] or len(data) - 1)
                part = data[first : last + 1]
                state = 206 if part else 416
            log.requests.append((self.command, path.name, len(part)))
            self.send_response(state)
            self.send_header("Content-Length", str(len(part)))
            self.send_header("ETag", etag)
            self.send_header("Accept-Ranges", "bytes")
            if asked:
                where = f"{first}-{first + len(part) - 1}" if part else "*"
                self.send_header("Content-Range", f"bytes {where}/{len(data)}")
            self.end_headers()
            if body:
                self.wfile.write(part)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/", log
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
