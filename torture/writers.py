"""Let writers meet in the same shards, and count what is lost: `python -m torture.writers --place file`.

Nothing tells them of each other. Each adds to elements of its own, which lie in the same inner chunks as those of
others: 16 processes in one shard, 1,000 times each; then 64 processes, all at once, whose parts cross the borders of 8
shards, for 50 rounds. On S3 (the server of the tests, with conditional puts) and on the file system sums must be exact.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Literal, NamedTuple

import omnizarr as oz
from torture.scenario import Violation, expect, left_over

PLACES = ("file", "s3")
ROOT = Path(__file__).parents[1]
ROWS = 4
"""Rows of each unaligned writer."""
Ints = tuple[int, ...]


class Place(NamedTuple):
    """Where arrays are made, and how that is reached."""

    top: str
    options: dict[str, str] | None = None
    folder: Path | None = None

    def create(self, name: str, shape: Ints, chunks: Ints, shards: Ints) -> None:
        """Make an array of zeros."""
        url, options = f"{self.top}/{name}", self.options
        oz.create_array(
            url, shape=shape, chunks=chunks, shards=shards, dtype="i8", fill_value=0, storage_options=options
        )

    def array(self, name: str, mode: Literal["r", "r+"] = "r+") -> oz.Array:
        """Open it, by a store of its own."""
        return oz.open_array(f"{self.top}/{name}", mode=mode, storage_options=self.options)


@contextlib.contextmanager
def place_of(kind: str, folder: str | None = None) -> Generator[Place, None, None]:
    """Make a place of a kind, and remove it in the end."""
    if kind == "file":
        top = Path(tempfile.mkdtemp(prefix="writers-", dir=folder))
        yield Place(str(top), folder=top)
        shutil.rmtree(top)
        return
    command = [sys.executable, "-m", "tests.cloud.servers.fault_server"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        try:
            line = server.stdout.readline() if server.stdout else ""
            said = {name: value for name, _, value in (word.partition("=") for word in line.split())}
            yield Place(f"s3://{said.pop('bucket')}", said)
        finally:
            server.kill()


def at_once(count: int, work: Callable[[int], None]) -> None:
    """Fork children that begin at the same moment; wait for all.

    Raises:
        Violation: If one of them fails.
    """
    gate, opened = os.pipe()
    ours, theirs = os.pipe()
    children = []
    for number in range(count):
        child = os.fork()
        if child == 0:
            os.close(opened)
            os.read(gate, 1)
            _run(work, number, theirs)
        children.append(child)
    os.close(theirs)
    os.close(gate)
    os.close(opened)
    with os.fdopen(ours, "rb") as pipe:
        said = pipe.read().decode()
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    expect(not said and not any(codes), "a writer failed:", said or codes)


def _run(work: Callable[[int], None], number: int, out: int) -> None:
    code = 1
    try:
        work(number)
        code = 0
    except BaseException as error:  # noqa: BLE001 - whatever it is, the parent is told
        os.write(out, f"writer {number}: {type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(code)


def one_shard(place: Place, processes: int, times: int) -> int:
    """Let processes add to elements of their own in one shard; return how many additions there were."""
    place.create("one", shape=(processes * 3,), chunks=(8,), shards=(-(-processes * 3 // 8) * 8,))

    def add(number: int) -> None:
        array = place.array("one")
        for done in range(times):
            part = array[number * 3 : number * 3 + 3]
            expect((part == done).all(), "after", done, "additions there is", part.tolist())
            array[number * 3 : number * 3 + 3] = part + 1

    at_once(processes, add)
    found = place.array("one", "r")[...]
    expect((found == times).all(), "the sums are", found.tolist(), "and not", times)
    return processes * times


def unaligned(place: Place, writers: int, rounds: int) -> int:
    """Let processes add to rows of their own, several in each shard and some in two; return how many additions."""
    rows = writers * ROWS
    # 8 shards, the last of them cut by the end of the array; chunks and shards begin where no writer does.
    inner = max(-(-rows // 24), 1)
    inner += inner % ROWS == 0
    place.create("many", shape=(rows, 6), chunks=(inner, 3), shards=(3 * inner, 6))
    for done in range(rounds):

        def add(number: int, done: int = done) -> None:
            array = place.array("many")
            part = slice(number * ROWS, number * ROWS + ROWS)
            values = array[part]
            expect((values == done * (number + 1)).all(), "in round", done, "there is", values.tolist())
            array[part] = values + number + 1

        at_once(writers, add)
        found = place.array("many", "r")[...]
        for number in range(writers):
            part = found[number * ROWS : number * ROWS + ROWS]
            expect((part == (done + 1) * (number + 1)).all(), "lost in round", done, "of", number, part.tolist())
    return writers * rounds


def main(arguments: list[str] | None = None) -> int:
    """Run, and print what was done; 1 after the first violation."""
    parser = argparse.ArgumentParser(prog="python -m torture.writers", description=__doc__)
    parser.add_argument("--place", action="append", choices=PLACES, help="may be given more than once (default: all)")
    parser.add_argument("--processes", type=int, default=16, help="that add into one shard (default: 16)")
    parser.add_argument("--times", type=int, default=1000, help="that each of them adds (default: 1000)")
    parser.add_argument("--writers", type=int, default=64, help="that are not aligned (default: 64)")
    parser.add_argument("--rounds", type=int, default=50, help="of these (default: 50)")
    parser.add_argument("--folder", help="where to work; /dev/shm is quicker than a disk")
    options = parser.parse_args(arguments)
    works: dict[str, Callable[[Place], int]] = {
        f"{options.processes} in one shard": lambda place: one_shard(place, options.processes, options.times),
        f"{options.writers} unaligned": lambda place: unaligned(place, options.writers, options.rounds),
    }
    for kind in options.place or PLACES:
        try:
            with place_of(kind, options.folder) as place:
                for words, work in works.items():
                    began = time.monotonic()
                    count = work(place)
                    print(f"{kind:5} {words:20} {count:8} additions in {time.monotonic() - began:.0f} s", flush=True)
                left = left_over(place.folder) if place.folder else []
                expect(not left, "left over:", ", ".join(left))
        except Violation as violation:
            print(f"VIOLATION: {kind}: {violation}\nagain: python -m torture.writers --place {kind}")
            return 1
    print("nothing lost")
    return 0


if __name__ == "__main__":
    sys.exit(main())
