"""The race in re-chunking: planes into columns, each engine in a process of its own, interleaved.

`python -m bench.rechunk` moves float32 values (2 GiB unless told otherwise) from chunks (1, y, x) into chunks
(t, 16, 16), with blosc and with zstd, and prints seconds, peak memory and ratios. Peers that are not installed are left
out with a note: Dask and rechunker in the Python that `--peer-python` names, and `zarrs_reencode` on the path.
The clock of the Python engines starts after their imports, that of `zarrs_reencode` with its process.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Literal, NamedTuple

_TOP = Path(__file__).parents[1]
_ENGINES = ("omnizarr", "zarrs_reencode", "dask", "rechunker")
_CODECS: dict[str, dict[str, object]] = {
    "blosc": {
        "name": "blosc",
        "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0},
    },
    "zstd": {"name": "zstd", "configuration": {"level": 3, "checksum": False}},
}


class Task(NamedTuple):
    """What is to be done."""

    source: str
    target: str
    codec: str
    chunks: tuple[int, ...]
    memory: int


class Result(NamedTuple):
    """What it took."""

    seconds: float
    peak: float
    """MiB."""

    work: float
    """Seconds of all processors."""


def run_omnizarr(task: Task) -> float:
    """Move the values with Omnizarr."""
    import omnizarr as oz
    from omnizarr.array.io import Access
    from omnizarr.tools.nodes import context_of
    from omnizarr.tools.transfer.transfer import plan_transfer, run_transfer

    start = perf_counter()
    source = oz.open_array(task.source)
    codecs = [{"name": "bytes", "configuration": {"endian": "little"}}, _CODECS[task.codec]]
    target = oz.create_array(
        task.target, shape=source.shape, dtype=source.dtype, chunks=task.chunks, codecs=codecs, fill_value=0
    )
    plan = plan_transfer(source.metadata, target.metadata, memory=task.memory)
    for stage in plan.stages:
        print(
            f"  stage: {stage.cut.total} regions of {stage.cut.largest}, peak {stage.peak >> 20} MiB", file=sys.stderr
        )
    scratch = Path(f"{task.target}.scratch")
    one, other = (Access(context_of(a).store, a.path, a.metadata) for a in (source, target))
    run_transfer(plan, one, other, scratch=oz.FileStore(scratch))
    shutil.rmtree(scratch, ignore_errors=True)
    return perf_counter() - start


def run_dask(task: Task) -> float:
    """Move the values with Dask and zarr-python."""
    import zarr
    from dask import array as da

    start = perf_counter()
    moved = da.from_zarr(task.source).rechunk(task.chunks)
    options = {"shape": moved.shape, "dtype": moved.dtype, "chunks": task.chunks, "fill_value": 0}
    target = zarr.create_array(task.target, compressors=[_CODECS[task.codec]], zarr_format=3, **options)
    da.store(moved, target, lock=False)
    return perf_counter() - start


def run_rechunker(task: Task) -> float:
    """Move the values with rechunker, on Dask."""
    import zarr
    from rechunker import rechunk

    start = perf_counter()
    # It only works with zarr-python 2, and so with Zarr v2.
    source = zarr.open_array(task.source + "-v2", mode="r")
    middle = task.target + ".middle"
    options = {"compressor": source.compressor}
    plan = rechunk(source, task.chunks, str(task.memory), task.target, target_options=options, temp_store=middle)
    plan.execute()
    shutil.rmtree(middle, ignore_errors=True)
    return perf_counter() - start


def _command(engine: str, task: Task, python: str) -> list[str]:
    if engine == "zarrs_reencode":
        shape = ",".join(map(str, task.chunks))
        codec = f"[{_json(_CODECS[task.codec])}]"
        # Without a cache it would decode every plane for every column.
        cache = ["--cache-size", str(1 << 32)]
        return [engine, "--chunk-shape", shape, "--bytes-to-bytes-codecs", codec, *cache, task.source, task.target]
    return [python, "-W", "ignore", "-m", "bench.rechunk", "--run", engine, _json(task._asdict())]


def _json(value: object) -> str:
    import json

    return json.dumps(value)


def measure(engine: str, task: Task, python: str) -> Result | str:
    """Run an engine in a process of its own, or say why that failed."""
    for left in (task.target, task.target + ".middle"):
        shutil.rmtree(left, ignore_errors=True)
    os.sync()
    start = perf_counter()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as complaints:
        process = subprocess.Popen(_command(engine, task, python), stdout=out, stderr=complaints, cwd=_TOP)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        complaints.seek(0)
        if process.returncode:
            return complaints.read().strip()[-300:]
        if engine != "zarrs_reencode":
            seconds = float(out.read())
    return Result(seconds, usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime)


def make(path: Path, codec: str, shape: tuple[int, ...], form: Literal["zarr2", "zarr3"] = "zarr3") -> None:
    """Write the source: a smooth field with a little noise, plane by plane."""
    import numpy as np

    import omnizarr as oz

    if path.exists():
        return
    codecs = [{"name": "bytes", "configuration": {"endian": "little"}}, _CODECS[codec]]
    array = oz.create_array(
        path, shape=shape, dtype="<f4", chunks=(1, *shape[1:]), codecs=codecs, fill_value=0, format=form
    )
    rng = np.random.default_rng(0)
    x = np.linspace(0, 10, shape[1], dtype="f4")[:, None]
    y = np.linspace(0, 5, shape[2], dtype="f4")[None, :]
    for t in range(shape[0]):
        noise = rng.normal(0, 0.01, shape[1:]).astype("f4").round(2)
        array[t] = np.round(np.sin(x + np.float32(t * 0.01)) * np.cos(y) * 10 + 280, 2) + noise


def check(task: Task) -> bool:
    """Whether some columns of the target are those of the source."""
    import numpy as np

    import omnizarr as oz

    source, target = oz.open_array(task.source), oz.open_array(task.target)
    places = [(slice(None), slice(at, at + 5), slice(-at - 5, -at)) for at in (1, source.shape[1] // 3)]
    return source.shape == target.shape and all(np.array_equal(source[p], target[p]) for p in places)


def _available(engine: str, python: str) -> bool:
    if engine == "omnizarr":
        return True
    if engine == "zarrs_reencode":
        return shutil.which(engine) is not None
    return not subprocess.run([python, "-c", f"import {engine}, zarr"], capture_output=True, check=False).returncode


def race(args: argparse.Namespace, root: Path) -> None:
    """Run every engine in turn, some rounds, and print the best of each."""
    shape = (args.t, args.yx, args.yx)
    engines = [engine for engine in args.engines.split(",") if _available(engine, args.peer_python)]
    for engine in set(args.engines.split(",")) - set(engines):
        print(f"{engine} is not installed and left out")
    for codec in args.codecs.split(","):
        source = root / f"source-{codec}"
        make(source, codec, shape)
        if "rechunker" in engines:
            make(root / f"source-{codec}-v2", codec, shape, "zarr2")
        best: dict[str, Result] = {}
        for _ in range(args.rounds):
            for engine in engines:
                task = Task(str(source), str(root / f"{engine}-{codec}"), codec, (args.t, 16, 16), args.memory << 20)
                python = sys.executable if engine == "omnizarr" else args.peer_python
                found = measure(engine, task, python)
                if isinstance(found, str):
                    print(f"{codec:6} {engine:15} failed: {found}")
                    continue
                right = "" if check(task) else "  WRONG VALUES"
                took = f"{found.seconds:7.2f} s  {found.work:7.2f} s of work  {found.peak:6.0f} MiB"
                print(f"{codec:6} {engine:15} {took}{right}", flush=True)
                if engine not in best or found.seconds < best[engine].seconds:
                    best[engine] = found
                shutil.rmtree(task.target, ignore_errors=True)
        ours = best.pop("omnizarr", None)
        for engine, found in best.items():
            if ours is not None:
                print(f"{codec:6} omnizarr is {found.seconds / ours.seconds:.2f} times as fast as {engine}")


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m bench.rechunk", description=__doc__)
    parser.add_argument("--run", nargs=2, metavar=("ENGINE", "TASK"), help=argparse.SUPPRESS)
    parser.add_argument("--engines", default=",".join(_ENGINES), help="comma-separated (default: %(default)s)")
    parser.add_argument("--codecs", default="blosc,zstd", help="comma-separated (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="samples of each engine")
    parser.add_argument("--memory", type=int, default=220, help="MiB that Omnizarr and rechunker may use")
    parser.add_argument("--t", type=int, default=512, help="planes")
    parser.add_argument("--yx", type=int, default=1024, help="edge of a plane")
    parser.add_argument("--root", type=Path, help="where files go (default: a temporary directory)")
    parser.add_argument("--peer-python", default=sys.executable, help="the Python that Dask and rechunker are in")
    args = parser.parse_args()
    if args.run:
        import json

        task = Task(**json.loads(args.run[1]))
        print(globals()[f"run_{args.run[0]}"](task._replace(chunks=tuple(task.chunks))))
        return
    with tempfile.TemporaryDirectory() as folder:
        race(args, args.root or Path(folder))


if __name__ == "__main__":
    main()
