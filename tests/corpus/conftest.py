"""Archives of the corpus, unpacked once, and what it means that an array equals what was expected."""

from __future__ import annotations

import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

HERE = Path(__file__).parent

OUTSIDE = Path(os.environ.get("OMNIZARR_CORPUS", HERE / "outside"))
"""Where archives of other projects' test data are, see PROVENANCE.md; tests of those that are missing are left out."""

_NEEDS = {
    "test_implementations.py": "zarr_implementations",
    "test_zarr_python_2.py": "zarr-python-2.18.7",
    "test_numcodecs.py": "numcodecs",
    "test_zarrs.py": "zarrs",
}
collect_ignore = [test for test, name in _NEEDS.items() if not (OUTSIDE / f"{name}.tar.xz").is_file()]


@pytest.fixture(scope="session")
def golden(tmp_path_factory) -> Path:
    """The arrays of zarr-python 0.4.0, 1.0.0, 2.18.7 and 3.0.10."""
    place = tmp_path_factory.mktemp("golden")
    with zipfile.ZipFile(HERE / "golden-old-writers.zip") as archive:
        archive.extractall(place)
    return place


def unpacked(name: str, tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp(name)
    with tarfile.open(OUTSIDE / f"{name}.tar.xz") as archive:
        archive.extractall(place, filter="data")
    return place


@pytest.fixture(scope="session")
def implementations(tmp_path_factory) -> Path:
    """The examples of zarr_implementations, and the picture they hold."""
    return unpacked("zarr_implementations", tmp_path_factory)


@pytest.fixture(scope="session")
def zarr_python_2(tmp_path_factory) -> Path:
    """The fixtures of zarr-python 2.18.7."""
    return unpacked("zarr-python-2.18.7", tmp_path_factory)


def native(array: Any) -> Any:
    """The same values in native byte order, without a detour through numbers, which could change NaNs."""
    kind = array.dtype.newbyteorder("=")
    if array.dtype == kind:
        return array
    return array.astype(kind) if array.dtype.names else array.byteswap().view(kind)


@pytest.fixture(scope="session")
def assert_equal_array() -> Callable[[Any, Any], None]:
    """A check that two arrays have one shape, one type whatever its byte order, and the same bits."""

    def check(left: Any, right: Any) -> None:
        left, right = np.asarray(left), np.asarray(right)
        assert left.shape == right.shape
        if right.dtype.kind == "O":
            assert left.astype(object).tolist() == right.tolist()
            return
        left, right = native(left), native(right)
        assert left.dtype == right.dtype
        if right.dtype.names:  # padding and sub-arrays: by field
            for name in right.dtype.names:
                check(left[name], right[name])
        else:
            assert left.tobytes() == right.tobytes()

    return check
