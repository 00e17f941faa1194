"""`rclone serve s3`: a folder of this machine as an S3 service that checks signatures. Its folders are buckets."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.cloud.servers.process import Service, free_port, running


def program() -> str | None:
    """Find rclone, which a wheel puts beside Python."""
    beside = shutil.which("rclone", path=str(Path(sys.executable).parent))
    return beside or shutil.which("rclone")


@contextlib.contextmanager
def rclone(folder: Path) -> Iterator[Service]:
    """Serve the folders in `folder/buckets`, of which one is named "bucket"."""
    buckets = folder / "buckets"
    (buckets / "bucket").mkdir(parents=True)
    port, key, secret = free_port(), "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
    command = [
        str(program()),
        "serve",
        "s3",
        *("--addr", f"127.0.0.1:{port}"),
        *("--auth-key", f"{key},{secret}"),
        *("--config", str(folder / "none.conf")),
        *("--cache-dir", str(folder / "cache")),
        *("--vfs-cache-mode", "off", "--log-level", "INFO"),
        str(buckets),
    ]
    log = folder / "rclone.log"
    with running(command, port, log, env={**os.environ, "RCLONE_CONFIG": str(folder / "none.conf")}):
        yield Service(f"http://127.0.0.1:{port}", key, secret, log, buckets)
