"""F40 to F44 and F46: servers that answer wrongly, as bytes on a socket, so that every answer can be had."""

from __future__ import annotations

import contextlib
import gzip
import socket
import struct
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from torture.inputs.case import FOUR, RAW, Case, Cases, Expect, store, text, v3

CRLF = b"\r\n"
PAGE = b"<!DOCTYPE html><html><body>Please sign in</body></html>"


def response(status: int, body: bytes = b"", *headers: str, length: int | str | None = None) -> bytes:
    """Return an answer; `length` is what it says of its body, "none" to say nothing."""
    lines = [f"HTTP/1.1 {status} Odd", *headers]
    if length != "none":
        lines.append(f"Content-Length: {len(body) if length is None else length}")
    return CRLF.join(line.encode("latin-1") for line in lines) + CRLF * 2 + body


class Server:
    """Serves a folder; what is asked for below "c/" is answered by the bytes that a case says, so many times."""

    def __init__(self, root: Path, answer: bytes | str, times: int) -> None:
        self.root, self.answer, self.times = root, answer, times
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}/store"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self._talk, args=(connection,), daemon=True).start()

    def _talk(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            asked = b""
            while CRLF * 2 not in asked:
                more = connection.recv(65536)
                if not more:
                    return
                asked += more
            method, path = asked.split(b" ", 2)[:2]
            if b"/c/" in path and self.times > 0:
                self.times -= 1
                self._fail(connection)
            else:
                connection.sendall(self._usual(method, path.decode(), asked))

    def _fail(self, connection: socket.socket) -> None:
        if self.answer == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif isinstance(self.answer, bytes):
            connection.sendall(self.answer)

    def _usual(self, method: bytes, path: str, asked: bytes) -> bytes:
        place = self.root / path.partition("?")[0].lstrip("/")
        if not place.is_file():
            return response(404, b"", "Connection: close")
        data = place.read_bytes()
        headers = ["Connection: close", 'ETag: "x"', "Accept-Ranges: bytes"]
        if b"range: bytes=" in asked.lower():
            first, _, last = asked.lower().split(b"range: bytes=")[1].split(CRLF)[0].decode().partition("-")
            end = min(int(last) if last else len(data) - 1, len(data) - 1)
            begin = int(first) if first else max(0, len(data) - int(last))
            headers.append(f"Content-Range: bytes {begin}-{end}/{len(data)}")
            return response(206, b"" if method == b"HEAD" else data[begin : end + 1], *headers, length=end + 1 - begin)
        return response(200, b"" if method == b"HEAD" else data, *headers, length=len(data))


@contextlib.contextmanager
def serving(case: Case, folder: Path) -> Iterator[str]:
    """Serve the folder of a case as it wants, and give the URL of its store."""
    server = Server(folder, case.options["answer"], case.options["times"])
    try:
        yield server.url
    finally:
        server.listener.close()


FILES = {"zarr.json": text(v3()), "c/0": RAW}
CLOSE = "Connection: close"


def _case(group: str, name: str, answer: bytes | str, expect: Expect, value: Any = FOUR, *, times: int = 10**9) -> Case:
    options = {"answer": answer, "times": times}
    return Case(group, name, store(FILES), expect, value, act="http", options=options)


def missing() -> Cases:
    """F40: what is not there is missing."""
    nothing = np.zeros(4, "<i4")
    yield _case("F40", "whole", "", "value", times=0)
    for body in (b"", b"no such file", PAGE, b"\0" * 1000, b"x" * 100_000):
        yield _case("F40", f"404-of-{len(body)}-bytes", response(404, body, CLOSE), "value", nothing)
        yield _case("F40", f"404-once-of-{len(body)}-bytes", response(404, body, CLOSE), "either", nothing, times=1)
    yield _case("F40", "404-with-a-huge-length", response(404, b"x", CLOSE, length=1 << 60), "either", nothing)
    yield _case("F40", "410", response(410, b"", CLOSE), "either", nothing)


def refused() -> Cases:
    """F41: what is refused is not missing."""
    for status in (
        400,
        401,
        402,
        403,
        405,
        406,
        407,
        409,
        411,
        412,
        413,
        414,
        415,
        417,
        418,
        421,
        422,
        423,
        424,
        426,
        428,
        431,
        451,
        499,
    ):
        yield _case("F41", f"status-{status}", response(status, b"", CLOSE), "error")
        yield _case(
            "F41", f"status-{status}-with-a-page", response(status, PAGE, CLOSE, "Content-Type: text/html"), "error"
        )


def passing() -> Cases:
    """F42: what may pass, once and for ever."""
    for status in (408, 425, 429, 500, 501, 502, 503, 504, 505, 507, 511, 520, 522, 524, 529, 599):
        for times in (1, 10**9):
            expect: Expect = "either" if times == 1 else "error"
            yield _case(
                "F42",
                f"status-{status}-{'once' if times == 1 else 'for-ever'}",
                response(status, b"", CLOSE),
                expect,
                times=times,
            )
    for after in ("0", "-1", "x", "99999999999999999999", "Sun, 06 Nov 1994 08:49:37 GMT", "1e9", ""):
        yield _case("F42", f"retry-after-{after!r}", response(503, b"", CLOSE, f"Retry-After: {after}"), "error")
    for name in ("reset", "hang-up"):
        yield _case("F42", f"{name}-once", name, "either", times=1)
        yield _case("F42", f"{name}-for-ever", name, "error")
    for status in (300, 301, 302, 303, 307, 308):
        for to in (
            "/store/c/0",
            "http://127.0.0.1:1/x",
            "http://169.254.169.254/",
            "file:///etc/passwd",
            "",
            "ftp://x/",
            "//",
            "\\\\x",
            "data:,x",
        ):
            yield _case("F42", f"redirect-{status}-{to!r}", response(status, b"", CLOSE, f"Location: {to}"), "error")
        yield _case("F42", f"redirect-{status}-nowhere", response(status, b"", CLOSE), "error")
    for status in (100, 101, 102, 103, 199, 201, 202, 203, 204, 205, 207, 226, 299, 304, 306, 600, 999, 0, 1000):
        yield _case(
            "F42", f"status-{status}", response(status, RAW if status not in (204, 304) else b"", CLOSE), "either"
        )


def bodies() -> Cases:
    """F43: bodies that are cut, too long, or never end."""
    for size in range(len(RAW)):
        for times in (1, 10**9):
            cut = response(200, RAW[:size], CLOSE, length=16)
            yield _case(
                "F43",
                f"cut-at-{size}-{'once' if times == 1 else 'for-ever'}",
                cut,
                "either" if times == 1 else "error",
                times=times,
            )
        yield _case("F43", f"short-{size}", response(200, RAW[:size], CLOSE), "error")
    for more in (1, 16, 1000):
        yield _case("F43", f"longer-than-said-by-{more}", response(200, RAW + bytes(more), CLOSE, length=16), "either")
        yield _case("F43", f"longer-by-{more}", response(200, RAW + bytes(more), CLOSE), "error")
    for length in (
        0,
        15,
        17,
        1 << 31,
        1 << 40,
        1 << 62,
        (1 << 63) - 1,
        1 << 63,
        (1 << 64) - 1,
        1 << 64,
        "-1",
        "16x",
        "0x10",
        "+16",
        "1e1",
        "",
        " ",
        "16, 16",
        "16, 17",
        "٣",
    ):
        with contextlib.suppress(UnicodeEncodeError):
            # All that follows until the connection ends is the right chunk, or the length is repeated.
            yield _case("F43", f"length-{length!r}", response(200, RAW, CLOSE, length=length), "either")
    yield _case("F43", "no-length", response(200, RAW, CLOSE, length="none"), "either")
    twice = response(200, RAW, CLOSE, "Content-Length: 3")
    yield _case("F43", "two-lengths", twice, "either")
    chunked = "Transfer-Encoding: chunked"
    for name, body in (
        ("whole", b"10\r\n" + RAW + b"\r\n0\r\n\r\n"),
        ("no-end", b"10\r\n" + RAW + b"\r\n"),
        ("cut", b"10\r\n" + RAW[:8]),
        ("of-2-63", b"8000000000000000\r\n" + RAW),
        ("of-2-64", b"ffffffffffffffff\r\n" + RAW),
        ("of-2-70", b"f" * 18 + b"\r\n" + RAW),
        ("negative", b"-10\r\n" + RAW),
        ("no-number", b"x\r\n" + RAW),
        ("a-million-digits", b"0" * 1_000_000 + b"\r\n"),
        ("a-million-chunks-of-nothing", b"0;x\r\n" * 10),
        ("extension", b"10;" + b"x" * 100_000 + b"\r\n" + RAW + b"\r\n0\r\n\r\n"),
    ):
        yield _case("F43", f"chunked-{name}", response(200, body, CLOSE, chunked, length="none"), "either")
    yield _case(
        "F43",
        "chunked-and-a-length",
        response(200, b"10\r\n" + RAW + b"\r\n0\r\n\r\n", CLOSE, chunked, length=3),
        "either",
    )


def odd() -> Cases:
    """F44: answers that are none, or are to another question."""
    for kind in ("text/html", "text/html; charset=utf-8", "application/xhtml+xml", "application/octet-stream"):
        yield _case("F44", f"page-{kind}", response(200, PAGE, CLOSE, f"Content-Type: {kind}"), "error")
        sixteen = PAGE[:16]
        if kind != "application/octet-stream":
            yield _case(
                "F44", f"page-of-16-bytes-{kind}", response(200, sixteen, CLOSE, f"Content-Type: {kind}"), "error"
            )
    for said in ("bytes 0-15/16", "bytes 1-16/17", "bytes 0-14/16", "bytes 0-15/*", "bytes */16", "bytes 15-0/16", "bytes 0-99999999999999999999/16",
                 "bytes -1-15/16", "x", "", "bytes 16-31/32", "items 0-15/16"):  # fmt: skip
        yield _case("F44", f"part-{said!r}", response(206, RAW, CLOSE, f"Content-Range: {said}"), "either")
    yield _case("F44", "part-that-says-nothing", response(206, RAW, CLOSE), "either")
    for encoding, body in (
        ("gzip", gzip.compress(RAW)),
        ("gzip", RAW),
        ("br", RAW),
        ("deflate", RAW),
        ("x", RAW),
        ("identity", RAW),
        ("gzip, gzip", RAW),
    ):
        made = response(200, body, CLOSE, f"Content-Encoding: {encoding}")
        yield _case("F44", f"encoded-{encoding}-{len(body)}", made, "either")
    bomb = gzip.compress(bytes(16 << 20), 9)
    yield _case("F44", "encoded-bomb", response(200, bomb, CLOSE, "Content-Encoding: gzip"), "error")
    for name, answer in (
        ("nothing", b""),
        ("newline", b"\r\n"),
        ("half-a-status", b"HTTP/1.1 2"),
        ("status-alone", b"HTTP/1.1 200 OK\r\n"),
        ("no-http", RAW),
        ("zeros", bytes(100)),
        ("old", b"HTTP/0.9 200 OK\r\n\r\n" + RAW),
        ("future", b"HTTP/9.9 200 OK\r\nContent-Length: 16\r\n\r\n" + RAW),
        ("icy", b"ICY 200 OK\r\n\r\n" + RAW),
        ("status-text", b"HTTP/1.1 two OK\r\n\r\n"),
        ("smtp", b"220 mail ready\r\n"),
        ("tls", b"\x16\x03\x01\x00\x05hello"),
        ("http2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        ("header-without-a-colon", b"HTTP/1.1 200 OK\r\nnope\r\nContent-Length: 16\r\n\r\n" + RAW),
        ("header-with-nul", b"HTTP/1.1 200 OK\r\nx: \0\r\nContent-Length: 16\r\n\r\n" + RAW),
        ("header-folded", b"HTTP/1.1 200 OK\r\nx: a\r\n b\r\nContent-Length: 16\r\n\r\n" + RAW),
        ("header-of-a-megabyte", b"HTTP/1.1 200 OK\r\nx: " + b"y" * 1_000_000 + b"\r\n\r\n"),
        ("100000-headers", b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 100_000 + b"\r\n"),
        ("continue-for-ever", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
    ):
        yield _case("F44", f"answer-{name}", answer, "either")


LISTING = "<html><body>{}</body></html>"


def listings() -> Cases:
    """F46: pages that list a folder, and lead everywhere; a group's own document says nothing of its children."""
    for name, links in (
        ("out", ["http://[x/", "../", "/", "//host/x", "http://127.0.0.1:1/", "a/../../x", "%2e%2e/"]),
        ("itself", ["./", "", ".", "#x", "?C=N;O=D"]),
        ("empty-parts", ["a//", "//", "///"]),
        ("odd", ["a%00/", "a%0a/", "%ff/", "%", "%zz/", "a\\b/", "javascript:1", "x" * 10_000 + "/"]),
        ("many", [f"n{i}/" for i in range(2000)]),
        ("twice", ["a/"] * 1000),
    ):
        page = LISTING.format("".join(f'<a href="{link}">x</a>' for link in links)).encode()
        files = {"zarr.json": text({"zarr_format": 3, "node_type": "group"}), "c/index": page}
        answer = response(200, page, CLOSE, "Content-Type: text/html")
        yield Case(
            "F46",
            f"links-{name}",
            store(files),
            "any",
            act="http-list",
            options={"answer": answer, "times": 10**9},
            decoded=64 << 20,
        )
    for name, page in (
        ("never-closed", b"<html><body>" + b"<a href=" * 100_000),
        ("quotes-never-closed", b'<html><body><a href="' + b"x" * 1_000_000),
        ("deep", b"<html>" + b"<div>" * 100_000),
        ("comment-never-closed", b"<html><!--" + b"-" * 1_000_000),
        ("bad-utf-8", b"<html><a href='\xff\xfe/'>x</a></html>"),
        ("no-page", b"\0" * 1000),
        ("entities", b"<html><a href='" + b"&amp;" * 100_000 + b"'>x</a></html>"),
    ):
        answer = response(200, page, CLOSE, "Content-Type: text/html")
        yield Case(
            "F46",
            f"page-{name}",
            store({"x": b""}),
            "any",
            act="http-list",
            options={"answer": answer, "times": 10**9},
            decoded=16 << 20,
        )
