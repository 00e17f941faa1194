"""A process that runs cases one after another, and prints one line of JSON for each: `child READER FIRST GROUP...`.

Whatever ends this process is seen by the one that started it, which goes on after the case that did it.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

from torture.inputs.case import MEGABYTE, Case
from torture.inputs.groups import cases_of
from torture.inputs.readers import NotRunError, Read, reader

MOST_MEMORY: Final = 8 << 30
PATIENCE: Final = 60.0
"""Seconds after which a case has hung; what is promised is one, of which a busy machine takes its share."""
PATIENCE_WITH_SERVERS: Final = 5.0
"""The same for peers that wait for a server."""
SPARE: Final = 2 * MEGABYTE


def main(name: str, first: int, groups: list[str]) -> None:
    """Run the cases of some groups from a number on."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    warnings.simplefilter("ignore")
    read = reader(name)
    # After the import: some libraries reserve more than they use.
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for number, case in enumerate(cases_of(groups)):
        if number < first:
            continue
        print(json.dumps({"case": case.id, **_run(read, case, name)}), file=out)


def _run(read: Read, case: Case, name: str) -> dict[str, Any]:
    found = _once(read, case, name)
    if found["growth"] > allowed(case) or found["seconds"] > 1:
        found = _once(read, case, name)  # the first use of a module or library takes memory and time for good
    return found


def allowed(case: Case) -> int:
    return case.decoded + SPARE


def _once(read: Read, case: Case, name: str) -> dict[str, Any]:
    with _folder() as folder:
        case.make(folder)
        before = _outside(folder) if case.writes else None
        _forget_peak()
        start, cpu = _status("VmRSS"), time.process_time()
        signal.setitimer(signal.ITIMER_REAL, _patience(case, name))
        try:
            found = _judged(read, case, folder, name)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        found["seconds"] = round(time.process_time() - cpu, 3)
        found["growth"] = max(0, _status("VmHWM") - start)
        if before is not None and _outside(folder) != before:
            found["verdict"], found["said"] = "wrong", "something outside the store was changed"
        return found


def _patience(case: Case, name: str) -> float:
    return PATIENCE_WITH_SERVERS if case.act == "http" and name != "omnizarr" else PATIENCE


def _judged(read: Read, case: Case, folder: Path, name: str) -> dict[str, Any]:
    try:
        got = read(case, folder)
    except NotRunError:
        return {"verdict": "not run", "said": ""}
    except Exception as error:
        return {"verdict": _of_error(error, case, name), "said": _said(error)}
    except BaseException as error:  # a panic of Rust arrives as one that programs do not catch
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return {"verdict": "crash", "said": _said(error)}
    return _of_value(got, case)


def _said(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(error)).strip()[:300]


def _of_error(error: Exception, case: Case, name: str) -> str:
    if name == "omnizarr":
        from omnizarr.errors import OmnizarrError  # noqa: PLC0415 - other readers run where it is not installed

        if not isinstance(error, OmnizarrError):
            return "foreign"
    return "refused" if case.expect == "value" else "ok"


def _of_value(got: Any, case: Case) -> dict[str, Any]:
    try:
        shown = repr(got)[:200]
    except Exception as error:
        return {"verdict": "wrong", "said": f"values that cannot be shown: {_said(error)}"}
    if case.expect == "error":
        return {"verdict": "wrong", "said": f"no error, but {shown}"}
    if case.expect == "any" or case.value is None:
        return {"verdict": "ok", "said": ""}
    same = np.shape(got) == case.value.shape and _same(np.asarray(got), case.value)
    return {"verdict": "ok" if same else "wrong", "said": "" if same else f"got {shown}"}


def _same(got: np.ndarray[Any, Any], value: np.ndarray[Any, Any]) -> bool:
    if got.dtype.kind in "biufcmMV" and value.dtype.kind in "biufcmMV":
        got = got.astype(got.dtype.newbyteorder("="))
        value = value.astype(value.dtype.newbyteorder("="))
        return got.dtype == value.dtype and got.tobytes() == value.tobytes()
    return bool(got.astype(object).tolist() == value.astype(object).tolist())


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(prefix="hostile-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    os.chdir(place)  # what a case leaves in the folder that it runs in is seen beside its store
    try:
        yield place
    finally:
        os.chdir("/")
        shutil.rmtree(place, ignore_errors=True)


def _outside(folder: Path) -> list[tuple[str, int, int, int]]:
    """What lies beside the store, by name, inode, size and time."""
    found = []
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if relative.parts[0] != "store":
            state = path.lstat()
            found.append((str(relative), state.st_ino, state.st_size, state.st_mtime_ns))
    return found


def _forget_peak() -> None:
    with contextlib.suppress(OSError), Path("/proc/self/clear_refs").open("w") as file:
        file.write("5")


def _status(name: str) -> int:
    try:
        with Path("/proc/self/status").open() as file:
            for line in file:
                if line.startswith(name + ":"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
