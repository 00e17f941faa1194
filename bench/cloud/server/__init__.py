"""Builds and runs the S3 server of the race."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "omnizarr" / "bench-s3"


def build() -> Path:
    """Build the server, if that has not been done; return where it is."""
    cargo = shutil.which("cargo") or str(Path.home() / ".cargo" / "bin" / "cargo")
    manifest = Path(__file__).parent / "Cargo.toml"
    command = [cargo, "build", "--release", "--quiet", "--manifest-path", str(manifest), "--target-dir", str(_CACHE)]
    subprocess.run(command, check=True)
    return _CACHE / "release" / "bench-s3"


class Server:
    """A server that runs, as its controls see it."""

    def __init__(self, url: str) -> None:
        self.url = url

    def _post(self, what: str) -> None:
        with urllib.request.urlopen(urllib.request.Request(f"{self.url}/{what}", b"", method="POST")) as answer:
            answer.read()

    def delay(self, milliseconds: int) -> None:
        """Wait before each answer."""
        self._post(f"_delay?{milliseconds}")

    def forget(self) -> None:
        """Begin to count anew."""
        self._post("_forget")

    def drop(self, prefix: str) -> None:
        """Delete what lies below a bucket and a prefix."""
        self._post(f"_drop?{prefix}")

    def counted(self) -> dict[str, int]:
        """Return how many requests there were, and how many bytes were sent and received."""
        with urllib.request.urlopen(f"{self.url}/_count") as answer:
            found: dict[str, int] = json.load(answer)
            return found

    def put(self, key: str, data: bytes) -> None:
        """Put an object; the key begins with the bucket."""
        with urllib.request.urlopen(urllib.request.Request(f"{self.url}/{key}", data, method="PUT")) as answer:
            answer.read()


@contextlib.contextmanager
def serving() -> Iterator[Server]:
    """Run a server until the end of the block."""
    command = [str(build()), "--while-stdin"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            yield Server(child.stdout.readline().strip())
        finally:
            child.terminate()
