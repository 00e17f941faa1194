"""zarr-python in a process of its own, which reads what it is told to: `python -m torture.peer`.

Importing it would make every fork of the harness slower.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from functools import cache


def _read(node: object) -> None:
    members = getattr(node, "members", None)
    if members is None:
        node[...]  # type: ignore[index]  # an array
        return
    for _, one in members(max_depth=None):
        if not hasattr(one, "members"):
            one[...]


def answer(place: str) -> str:
    """Read everything at a place; say what went wrong."""
    import zarr  # noqa: PLC0415 - what this process is for

    try:
        if place.endswith(".zip"):
            with zarr.storage.ZipStore(place, mode="r") as store:
                _read(zarr.open(store, mode="r"))
        else:
            _read(zarr.open(place, mode="r"))
    except Exception as error:  # noqa: BLE001 - a peer may raise anything
        return f"{type(error).__name__}: {error}".replace("\n", " ")
    return ""


@cache
def _process() -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "torture.peer"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def ask(place: str) -> str:
    """Let the other process read a place; return what went wrong."""
    process = _process()
    if process.stdin is None or process.stdout is None:
        raise RuntimeError("no pipes")
    print(place, file=process.stdin, flush=True)
    return process.stdout.readline().rstrip("\n")


def end() -> None:
    """End the other process."""
    if _process.cache_info().currsize:
        _process().communicate()
        _process.cache_clear()


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # it says of the mark that it is no node
    for line in sys.stdin:
        print(answer(line.rstrip("\n")), flush=True)
