"""Run by an interpreter that has zarr-python 3.4 or later: reads arrays on rectilinear grids, and writes some.

The first argument is a directory: `ours` in it is read and compared with `values.npy`, `theirs` is written. Exits with
77 where the interpreter has no such zarr.
"""

import sys
from pathlib import Path

try:
    import numpy as np
    import zarr

    zarr.config.set({"array.rectilinear_chunks": True})
    known = tuple(map(int, zarr.__version__.split(".")[:2])) >= (3, 4)
except ImportError:
    known = False
if not known:
    sys.exit(77)

top = Path(sys.argv[1])
values = np.load(top / "values.npy")
for place in sorted((top / "ours").iterdir()):
    array = zarr.open_array(place, mode="r")
    assert np.array_equal(array[...], values), place.name
    assert np.array_equal(array[3:55:7, ::3], values[3:55:7, ::3]), place.name
for name, options in {
    "plain": {"chunks": [[10, 20, 30], [5, 5]]},
    "mixed": {"chunks": [[10, 20, 30], 4]},
    "shards": {"shards": [[20, 40], [8, 2]], "chunks": (10, 2)},
}.items():
    array = zarr.create_array(top / "theirs" / name, shape=(60, 10), dtype="i4", fill_value=-1, **options)
    array[...] = values
grown = zarr.create_array(top / "theirs" / "grown", shape=(30, 10), dtype="i4", chunks=[[10, 20], 5], fill_value=-1)
grown[...] = values[:30]
grown.append(values[30:])
