"""Compile the limit kernel where a compiler and the libraries are at hand."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

_HERE = Path(__file__).parent
_LIBRARIES = ("blosc", "zstd", "deflate", "lz4", "pthread")
_SECONDS = (
    "limit_boxes",
    "limit_inner",
    "limit_memcpy",
    "limit_fault",
    "limit_open",
    "limit_list",
    "limit_scan",
    "limit_create",
)


class Unavailable(Exception):  # noqa: N818 - the race goes on without the column
    """The kernel cannot be built here; the text says what is missing."""


def load() -> ctypes.CDLL:
    """The compiled kernel, compiled anew if its source changed."""
    target = _HERE.parents[1] / "build" / "bench" / "liblimit.so"
    sources = sorted(_HERE.glob("*.[ch]"))
    if not target.exists() or target.stat().st_mtime < max(source.stat().st_mtime for source in sources):
        _compile([source for source in sources if source.suffix == ".c"], target)
    library = ctypes.CDLL(str(target))
    for name in _SECONDS:
        getattr(library, name).restype = ctypes.c_double
    return library


def _compile(sources: list[Path], target: Path) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise Unavailable("no C compiler: apt-get install build-essential")
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(f".{os.getpid()}")
    flags = ["-O3", "-march=native", "-shared", "-fPIC", *map(str, sources), "-o", str(part)]
    done = subprocess.run(
        [compiler, *flags, *(f"-l{name}" for name in _LIBRARIES)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise Unavailable(
            "the limit kernel does not compile here; it needs libblosc-dev libzstd-dev libdeflate-dev liblz4-dev\n"
            + done.stderr[-500:]
        )
    part.replace(target)
