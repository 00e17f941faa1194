"""What `--trace` shows: every request to a server or an object store, in the order of time."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final, NamedTuple

from omnizarr import native
from omnizarr.sizes import human_bytes

_HEAD: Final = ("at ms", "took ms", "request", "status", "sent", "received", "range", "url")
_RIGHT: Final = (True, True, False, True, True, True, False, False)


class Request(NamedTuple):
    """One request, and what came of it."""

    at: float
    """Seconds since the command began."""
    took: float
    """Seconds up to the headers of the answer."""
    method: str
    url: str
    range: str
    status: int
    """0 if there was no answer."""
    sent: int
    received: int
    attempt: int
    """1 for the first one."""


@contextmanager
def traced(on: bool) -> Generator[None, None, None]:
    """Print a table of all requests that are made meanwhile, to where messages go."""
    if not on:
        yield
        return
    native.trace_requests(True)
    try:
        yield
    finally:
        native.trace_requests(False)
        requests = sorted(Request(*one) for one in native.traced_requests())
        sys.stdout.flush()
        sys.stderr.write(table(requests))
        sys.stderr.flush()


def table(requests: list[Request]) -> str:
    """Return the requests as a table, and a line that sums them up.

    >>> print(table([Request(0.0, 0.02, "GET", "http://h/b/x", "0-9", 206, 0, 10, 1)]), end="")
    at ms  took ms  request  status  sent  received  range  url
        0     20.0  GET         206     0        10  0-9    http://h/b/x
    1 request, 10 B received, 0 B sent, 0 repeated, 0 without an answer
    """
    rows = [_HEAD, *(_row(one) for one in requests)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
    lines = ["  ".join(map(_set, row, widths, _RIGHT)).rstrip() for row in rows]
    received, sent = sum(one.received for one in requests), sum(one.sent for one in requests)
    parts = [
        f"{len(requests)} request" + ("" if len(requests) == 1 else "s"),
        f"{human_bytes(received)} received",
        f"{human_bytes(sent)} sent",
        f"{sum(one.attempt > 1 for one in requests)} repeated",
        f"{sum(not one.status for one in requests)} without an answer",
    ]
    return "\n".join([*lines, ", ".join(parts), ""])


def _set(cell: str, width: int, right: bool) -> str:
    return cell.rjust(width) if right else cell.ljust(width)


def _row(one: Request) -> tuple[str, ...]:
    again = f" ({one.attempt})" if one.attempt > 1 else ""
    return (
        f"{one.at * 1e3:.0f}", f"{one.took * 1e3:.1f}", one.method + again, str(one.status or "-"),
        str(one.sent), str(one.received), one.range, one.url,
    )  # fmt: skip
