"""Programs that forks, threads and signals must not break; each runs in a process of its own and says what it saw."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np

import omnizarr as oz


def fork(root: Path, count: int) -> None:
    """Fork again and again while threads keep the pool, the caches and the stores busy."""
    faulthandler.cancel_dump_traceback_later()
    plain = oz.create_array(root / "plain", shape=(64, 64), dtype="f4", chunks=(16, 16))
    shards = oz.create_array(root / "shards", shape=(64, 64), dtype="f4", chunks=(8, 8), shards=(32, 32))
    native = oz.create_array(oz.MemoryStore(), shape=(64, 64), dtype="i4", chunks=(16, 16))
    mapping = oz.create_array({}, shape=(64, 64), dtype="i4", chunks=(16, 16))
    large = oz.create_array(root / "large", shape=(1024, 1024), dtype="f4", chunks=(128, 128))
    for number, array in enumerate((plain, shards, native, mapping, large)):
        array[...] = number + 1
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            _ = large[...], shards[3:50], native[...], mapping[::2]

    threads = [threading.Thread(target=churn, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    failed = 0
    for i in range(count):
        child = os.fork()
        if child == 0:
            os._exit(_child(i, plain, shards, native, mapping, large))
        failed += os.waitpid(child, 0)[1] != 0
    stop.set()
    print(f"forks {count} failed {failed}")


def _child(number: int, *arrays: oz.Array) -> int:
    signal.alarm(60)
    # One child in twenty also wakes a pool of its own and writes.
    few = arrays[:-1] if number % 20 else arrays
    good = all(bool((array[...] == value + 1).all()) for value, array in enumerate(few))
    if number % 20 == 0:
        arrays[1][5:9, 7:40] = 2
    return 0 if good else 1


def threads(root: Path, count: int) -> None:
    """Many threads write parts of the same chunks and shards; none may lose another's part."""
    width, rounds = 2, 12
    shape = (128, count * width)
    kinds = {
        "plain": oz.create_array(root / "plain", shape=shape, dtype="i4", chunks=(64, 32)),
        "shards": oz.create_array(root / "shards", shape=shape, dtype="i4", chunks=(16, 16), shards=(64, 64)),
        "memory": oz.create_array(oz.MemoryStore(), shape=shape, dtype="i4", chunks=(64, 32)),
    }
    failures: list[str] = []

    def work(number: int) -> None:
        columns = slice(number * width, number * width + width)
        for turn in range(rounds):
            value = number * 1000 + turn + 1
            for name, array in kinds.items():
                array[:, columns] = value
                if not (array[:, columns] == value).all():
                    failures.append(f"{name} {number} {turn}")

    team = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in team:
        thread.start()
    for thread in team:
        thread.join()
    expected = np.repeat(np.arange(count) * 1000 + rounds, width)
    lost = sum(int((array[...] != expected).sum()) for array in kinds.values())
    print(f"threads {count} lost {lost} failures {len(failures)}")


def interrupts(root: Path, count: int) -> None:
    """Interrupt reads and writes at odd moments; each must stop soon, and every chunk be old or new."""
    # A shell starts what it puts into the background with interrupts ignored, and Python keeps to that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    shape, chunks = (16, 512, 512), (4, 64, 64)
    array = oz.create_array(root / "array", shape=shape, dtype="f4", chunks=chunks, codecs=["zstd"])
    values = np.random.default_rng(0).random(shape, dtype="f4") + 1
    array[...] = values
    sent = 0.0

    def send() -> None:
        nonlocal sent
        sent = time.perf_counter()
        os.kill(os.getpid(), signal.SIGINT)

    slowest, stopped = 0.0, 0
    for i in range(count):
        alarm = threading.Timer(0.005 + 0.003 * (i % 17), send)
        try:
            alarm.start()
            while True:
                if i % 2:
                    array[...] = values * (1 + i % 5)
                else:
                    _ = array[...]
        except KeyboardInterrupt:
            slowest = max(slowest, time.perf_counter() - sent)
            stopped += 1
        alarm.join()
    torn = _torn(array[...], values, chunks)
    rests = sum(name.endswith(".partial") for _, _, names in os.walk(root) for name in names)
    print(f"interrupts {stopped} torn {torn} rests {rests} slow {int(slowest > 0.5)}")


def _torn(found: np.ndarray, values: np.ndarray, chunks: tuple[int, ...]) -> int:
    """Count the chunks that are not one of the states that were written."""
    torn = 0
    for corner in np.ndindex(*(n // c for n, c in zip(found.shape, chunks, strict=True))):
        part = tuple(slice(i * c, i * c + c) for i, c in zip(corner, chunks, strict=True))
        torn += not any(np.array_equal(found[part], values[part] * factor) for factor in range(1, 6))
    return torn


if __name__ == "__main__":
    faulthandler.dump_traceback_later(220, exit=True)
    globals()[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
