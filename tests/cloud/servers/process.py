"""Programs of others, run as servers on ports of this machine."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Service:
    """A server that runs, and how it is reached."""

    url: str
    key: str
    secret: str
    log: Path
    folder: Path | None = None
    """Where its files lie, if it keeps them as files."""

    @property
    def options(self) -> dict[str, str]:
        """The `storage_options` that reach it."""
        return {"key": self.key, "secret": self.secret, "endpoint_url": self.url}


def free_port() -> int:
    """Find a port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextlib.contextmanager
def running(command: Sequence[str], port: int, log: Path, **options: object) -> Iterator[None]:
    """Run a server until the end of the block; its output goes to `log`, which a failure to start quotes."""
    with log.open("wb") as out:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            **options,  # type: ignore[call-overload]
        )
    try:
        _wait(child, port, log)
        yield
    finally:
        child.terminate()
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def _wait(child: subprocess.Popen[bytes], port: int, log: Path, patience: float = 30.0) -> None:
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if child.poll() is not None:
            break
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    said = log.read_text(errors="replace")[-2000:]
    raise RuntimeError(f"{child.args!r} did not start:\n{said}")
