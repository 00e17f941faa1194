"""Ctrl-C while a server says nothing: the process ends soon, and says so as Python does."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

import omnizarr as oz
from tests.cloud.servers import faults

CHILD = """
import json, sys, time
import omnizarr as oz
options = json.loads(sys.argv[1])
array = oz.open_array("s3://bucket/x", mode="r+", storage_options=options)
print("ready", flush=True)
try:
    array[...] if sys.argv[2] == "read" else array.__setitem__(..., 1)
except KeyboardInterrupt:
    print(time.time(), flush=True)
"""


@pytest.mark.parametrize(
    ("what", "kind", "fault"),
    [
        ("read", "get", faults.stall(20)),
        ("read", "get", faults.silent(20)),
        ("write", "put", faults.silent(20)),
    ],
    ids=["stall", "silent", "put"],
)
def test_an_interrupt_is_heard(faulty, what, kind, fault):
    options = faulty.options
    array = oz.create_array("s3://bucket/x", shape=(100,), chunks=(10,), dtype="i4", storage_options=options)
    array[...] = 1
    faulty.plan.add(fault, kind=kind, key="/c/")
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, json.dumps(options), what], stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline() == "ready\n"
        while not faulty.faults():
            time.sleep(0.01)
        sent = time.time()
        child.send_signal(signal.SIGINT)
        out, _ = child.communicate(timeout=15)
    finally:
        child.kill()
        child.communicate()
    assert child.returncode == 0, out
    assert float(out) - sent < 0.5
    faulty.plan.clear()
