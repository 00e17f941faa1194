"""A fresh process that reads a whole array and tells how much memory that took at most."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from bench import engines
from bench.context import Context
from bench.limit.samples import LimitSamples
from bench.sizes import BY_NAME
from bench.workloads import all_workloads


def main() -> None:
    """`python -m bench.peak ENGINE ROOT SCALE CELL` prints the bytes beyond what the process had before."""
    name, root, scale, cell_name = sys.argv[1:]
    sizes = BY_NAME[scale]
    cell = next(cell for cell in all_workloads(sizes) if cell.name == cell_name)
    layout = cell.layout
    assert layout is not None
    if name == engines.LIMIT:
        context = Context(Path(root), name, sizes)
        context.verify = False
        limit = LimitSamples(context)
        before = _status("VmRSS")
        limit.full_read(cell, layout)
    else:
        engine = engines.load(name)
        context = Context(Path(root), name, sizes, own_format=engine.own_format)
        array = engine.open(context.base(layout), layout)
        # The first read brings in pools and code; they are not part of the array.
        engine.get(array, (0, 0, 0))
        before = _status("VmRSS")
        values = engine.get(array, Ellipsis)
        assert np.asarray(values).shape == layout.shape
    print(json.dumps({"bytes": _status("VmHWM") - before}))


def _status(field: str) -> int:
    """A line of /proc/self/status in bytes; unlike ru_maxrss it is not inherited from the parent."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"/proc/self/status has no {field}")


if __name__ == "__main__":
    main()
