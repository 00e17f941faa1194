"""Whatever moment a writer is killed at, the archive is one of its closed states."""

import os
import random
import signal
import time

import pytest

from omnizarr.store.zip import ZipStore

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")

KEYS = ["zarr.json", ".zattrs", "c/0", "c/1", "c/2", "a/zarr.json"]


def state(number):
    """The values of one closed state, all of which tell its number."""
    return {key: b"%d " % number * (1 + 3000 * (key[0] == "c")) for key in KEYS[number % 2 :]}


def write(place, first, out):
    for number in range(first, first + 100_000):
        with ZipStore(place) as store:
            store.erase_prefix("")
            for key, value in state(number).items():
                store.put(key, b"to be overwritten")
                store.put(key, value)
        os.write(out, number.to_bytes(4, "big"))


@pytest.mark.parametrize("round_", range(3))
def test_the_last_closed_state_survives(round_, tmp_path):
    place, rng, closed = tmp_path / "a.zip", random.Random(round_), 0
    with ZipStore(place) as store:
        for key, value in state(0).items():
            store.put(key, value)
    for _ in range(25):
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                write(place, closed + 1, theirs)
            finally:
                os._exit(1)
        os.close(theirs)
        time.sleep(rng.random() * 0.03)
        os.kill(child, signal.SIGKILL)
        assert os.waitpid(child, 0)[1] == signal.SIGKILL
        with os.fdopen(ours, "rb") as pipe:
            told = pipe.read()
        closed = int.from_bytes(told[-4:], "big") if told else closed
        store = ZipStore(place, read_only=True)
        found = {key: store.get(key) for key in store.list_prefix("")}
        store.close()
        # It may have been killed between closing and telling.
        closed = int(found["zarr.json" if "zarr.json" in found else ".zattrs"].split()[0])
        assert closed in (int.from_bytes(told[-4:], "big"), int.from_bytes(told[-4:], "big") + 1) or not told
        assert found == state(closed)
    with ZipStore(place) as store:
        store.put("c/0", b"on")
    # What the killed writers left behind is gone.
    assert os.listdir(tmp_path) == ["a.zip"]  # noqa: PTH208 - names are wanted
