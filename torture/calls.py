"""Running a piece of work in a forked child whose calls of the system are followed: see calls.c."""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from enum import IntEnum
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Mode(IntEnum):
    """What is done to the child."""

    COUNT = 0
    KILL = 1
    FAIL = 2
    SHORT = 3
    RECORD = 4


class Ended(NamedTuple):
    """How the child ended."""

    calls: int
    """How many calls changed something, or would have."""
    code: int
    """What it exited with, or the negative number of the signal."""
    what: str
    """The call that was hit: a letter, and the path."""
    said: str
    """What the work returned, as text."""


def can_follow() -> bool:
    """Whether this system is one whose calls can be followed."""
    return sys.platform == "linux" and platform.machine() == "x86_64" and shutil.which("cc") is not None


@cache
def _library() -> ctypes.CDLL:
    folder = tempfile.mkdtemp(prefix="torture-")
    source, target = Path(__file__).with_name("calls.c"), Path(folder, f"calls{sysconfig.get_config_var('EXT_SUFFIX')}")
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", target, source], check=True)
    library = ctypes.CDLL(str(target), use_errno=True)
    shutil.rmtree(folder)
    library.follow.restype = ctypes.c_long
    return library


def follow(
    work: Callable[[], str],
    folder: Path,
    mode: Mode = Mode.COUNT,
    at: int = 0,
    *,
    error: int = 0,
    log: Path | None = None,
) -> Ended:
    """Run some work in a child, and do something at its N-th call that changes what lies below a folder.

    Args:
        work: Returns what it has to say.
        folder: The folder.
        mode: What is done.
        at: At which call, counted from 1.
        error: The number of the error with which the call fails.
        log: Where calls are recorded.
    """
    library = _library()
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        _run(library, work, theirs)
    os.close(theirs)
    status, what = ctypes.c_int(), ctypes.create_string_buffer(4096)
    calls = library.follow(
        child,
        os.fsencode(folder),
        int(mode),
        ctypes.c_long(at),
        error,
        os.fsencode(log or ""),
        ctypes.byref(status),
        what,
    )
    if calls < 0:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise RuntimeError("the child cannot be followed: is ptrace allowed here?")
    with os.fdopen(ours, "rb") as pipe:
        said = pipe.read().decode()
    return Ended(calls, os.waitstatus_to_exitcode(status.value), what.value.decode(errors="replace"), said)


def _run(library: ctypes.CDLL, work: Callable[[], str], out: int) -> None:
    code = 1
    try:
        os.setpgid(0, 0)
        library.stand_by()
        os.write(out, work().encode())
        code = 0
    except BaseException as error:  # noqa: BLE001 - whatever it is, the parent is told
        os.write(out, f"{type(error).__name__}: {error}".encode())
    finally:
        os._exit(code)
