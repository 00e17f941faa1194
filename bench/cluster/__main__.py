"""`python -m bench.cluster [rechunk|scan|unaligned ...]`: work on a local cluster of Dask, against others that do it.

- `rechunk`: float32 values (4 GB unless told otherwise) from chunks (1, y, x) to (t, 8, 8), by 4 workers of 512 MB.
  Omnizarr loses a worker to `kill -9` half-way, the peers (rechunker, and Dask's own rechunk, both on zarr-python) do
  not. Peak memory is that of the largest worker.
- `scan`: 2,000 netCDF files scanned and combined by 1 and by 2 workers.
- `unaligned`: 64 unaligned tasks into 8 shards, 50 times, on threads, processes and a cluster.

Each engine has a process and a cluster of its own; starting the cluster is not counted.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.cluster import rechunk, scan, unaligned

_TOP = Path(__file__).parents[2]


def main() -> None:
    """Run what is asked for, and print a line for each engine."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", nargs="*", choices=[[], "rechunk", "scan", "unaligned"], metavar="WORK")
    parser.add_argument("--size", type=float, default=4096, help="MB of the array that is rechunked (4096)")
    parser.add_argument("--memory", type=float, default=512, help="MB of each worker (512)")
    parser.add_argument("--files", type=int, default=2000, help="how many files are scanned (2000)")
    parser.add_argument("--rounds", type=int, default=50, help="of unaligned writes (50)")
    parser.add_argument("--engines", default="omnizarr,rechunker,dask", help="of the rechunking")
    parser.add_argument("--rechunker", default=sys.executable, help="a Python with rechunker, which needs zarr 2")
    parser.add_argument("--where", default=None, help="a folder for the data; a temporary one if not given")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(_child(*arguments.child)))
        return
    folder = Path(arguments.where or tempfile.mkdtemp(prefix="bench-cluster-"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        for work in arguments.work or ["rechunk", "scan", "unaligned"]:
            _run(work, folder, arguments)
    finally:
        if arguments.where is None:
            shutil.rmtree(folder, ignore_errors=True)


def _run(work: str, folder: Path, arguments: argparse.Namespace) -> None:
    if work == "rechunk":
        rechunk.make(folder, int(arguments.size * 1e6))
        for engine in arguments.engines.split(","):
            python = arguments.rechunker if engine == "rechunker" else sys.executable
            task = {"work": work, "engine": engine, "memory": int(arguments.memory * 1e6)}
            if _report(engine, folder, task, python):
                print(f"{'':23} right: {rechunk.is_right(folder, engine)}", flush=True)
    elif work == "scan":
        scan.make(folder, arguments.files)
        for workers in (1, 2):
            _report(f"{workers} workers", folder, {"work": work, "workers": workers})
    else:
        for how in ("threads", "processes", "cluster"):
            _report(how, folder, {"work": work, "how": how, "rounds": arguments.rounds})


def _report(name: str, folder: Path, task: dict[str, object], python: str = sys.executable) -> bool:
    command = [python, "-m", "bench.cluster", "--child", str(folder), json.dumps(task)]
    done = subprocess.run(command, cwd=_TOP, check=False, capture_output=True, text=True)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "Error" in line or "KilledWorker" in line]
        last = lines[-1:] or ["no word of what was wrong"]
        print(f"{task['work']:10} {name:12} failed: {last[0][:160]}", flush=True)
        return False
    figures = json.loads(done.stdout.strip().splitlines()[-1])
    words = "  ".join(f"{key} {value}" for key, value in figures.items())
    print(f"{task['work']:10} {name:12} {words}", flush=True)
    return True


def _child(folder: str, text: str) -> dict[str, object]:
    task = json.loads(text)
    if task["work"] == "rechunk":
        return rechunk.run(Path(folder), task["engine"], task["memory"])
    if task["work"] == "scan":
        return scan.run(Path(folder), task["workers"])
    return unaligned.run(Path(folder), task["how"], task["rounds"])


if __name__ == "__main__":
    main()
