"""moto's server: S3 as an imitation in Python, with the odd answers that others do not give."""

from __future__ import annotations

import contextlib
import os
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from tests.cloud.servers.process import Service, free_port, running


@contextlib.contextmanager
def moto(folder: Path) -> Iterator[Service]:
    """Run the server in a process of its own, with a bucket named "bucket"."""
    port, log = free_port(), folder / "moto.log"
    command = [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with running(command, port, log, env={**os.environ, "MOTO_S3_CUSTOM_ENDPOINTS": f"http://127.0.0.1:{port}"}):
        service = Service(f"http://127.0.0.1:{port}", "testing", "testing", log)
        request = urllib.request.Request(f"{service.url}/bucket", method="PUT")
        with urllib.request.urlopen(request) as answer:
            answer.read()
        yield service
