"""Servers that the tests of the cloud talk to, each started when the first test asks for it."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest

from tests.cloud.servers.azurite import azurite
from tests.cloud.servers.fault_server import FaultServer, fault_server
from tests.cloud.servers.google import Google
from tests.cloud.servers.moto import moto
from tests.cloud.servers.process import Service
from tests.cloud.servers.rclone import rclone


@pytest.fixture(scope="session")
def _faults() -> Iterator[FaultServer]:
    with fault_server() as server:
        yield server


@pytest.fixture
def faulty(_faults: FaultServer) -> FaultServer:
    """An S3 server of our own that fails by plan, as new, with an empty bucket named "bucket"."""
    gc.collect()  # not on the server's thread: see tests/net/serving.py
    _faults.fresh()
    _faults.bucket()
    return _faults


@pytest.fixture(scope="session")
def rclone_s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """`rclone serve s3`, with a bucket named "bucket"."""
    with rclone(tmp_path_factory.mktemp("rclone")) as service:
        yield service


@pytest.fixture(scope="session")
def moto_s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """moto's S3, with a bucket named "bucket"."""
    with moto(tmp_path_factory.mktemp("moto")) as service:
        yield service


@pytest.fixture(scope="session")
def azure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Azurite, with a container named "bucket"."""
    with azurite(tmp_path_factory.mktemp("azurite")) as service:
        yield service


@pytest.fixture(scope="session")
def _google() -> Iterator[FaultServer]:
    with fault_server() as server:
        yield server


@pytest.fixture
def gcs(_google: FaultServer) -> FaultServer:
    """A server of our own that speaks as Google's does, as new, with an empty bucket named "bucket"."""
    _google.fresh(Google())
    _google.bucket()
    return _google


@pytest.fixture(autouse=True)
def _nothing_of_ours(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the keys and settings of whoever runs the tests out of them."""
    for name in list(os.environ):
        if name.startswith(("AWS_", "GOOGLE_", "AZURE_")) or name.lower() in {"http_proxy", "https_proxy", "all_proxy"}:
            monkeypatch.delenv(name)
    home = tmp_path_factory.getbasetemp() / "nobody"
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
