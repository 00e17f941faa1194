"""Rectilinear grids against zarr-python 3.4, which needs a newer Python than the tests may run on.

Its interpreter is that of the environment which `make test` sets up where there is a Python 3.12.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import omnizarr as oz

CHILD = Path(__file__).parent / "_zarr34_child.py"
PEER = Path(__file__).parents[2] / ".venv-peers" / "bin" / "python"
NO_PEER = 77

LAYOUTS: dict[str, dict[str, Any]] = {
    "plain": {"chunks": [[10, 20, 30], [5, 5]]},
    "overhang": {"chunks": [[10, 20, 35], 4]},
    "runs": {"chunks": [[[5, 4], 40], [3, 3, 4]]},
    "shards": {"shards": [[20, 40], [8, 4]], "chunks": (10, 2)},
    "transposed": {"chunks": [[10, 50], [5, 5]], "codecs": [oz.codec.transpose([1, 0]), oz.codec.gzip(1)]},
}


@pytest.mark.skipif(not PEER.is_file(), reason="no interpreter with zarr-python 3.4")
def test_each_reads_what_the_other_wrote(tmp_path):
    values = np.arange(600, dtype="i4").reshape(60, 10)
    np.save(tmp_path / "values.npy", values)
    for name, options in LAYOUTS.items():
        array = oz.create_array(tmp_path / "ours" / name, shape=(60, 10), dtype="i4", fill_value=-1, **options)
        array[...] = values
    array.resize((20, 10))
    array.append(values[20:])
    done = subprocess.run([PEER, CHILD, tmp_path], capture_output=True, text=True, check=False)
    if done.returncode == NO_PEER:
        pytest.skip("the interpreter has no zarr-python 3.4")
    assert done.returncode == 0, done.stderr
    for place in sorted((tmp_path / "theirs").iterdir()):
        array = oz.open_array(place, "r+")
        assert np.array_equal(array[...], values), place.name
        assert isinstance((array.shards or array.chunks)[0], tuple)
        array[7:33, 2:9] = -3
        assert (oz.open_array(place)[7:33, 2:9] == -3).all()
