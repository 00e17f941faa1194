"""The real package and ours, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import netCDF4
import numpy as np
import pytest

import omnizarr as oz


@dataclass
class Pair:
    """A dataset of netCDF4 and one of ours, to which the same is done."""

    theirs: Any
    ours: Any

    def do(self, action):
        """Do the same to both; if theirs raises, ours has to raise the same builtin."""
        try:
            expected = action(self.theirs)
        except Exception as error:  # noqa: BLE001 - whatever they raise
            kinds = [kind for kind in type(error).__mro__ if kind.__module__ == "builtins"]
            with pytest.raises(kinds[0]):
                action(self.ours)
            return None
        found = action(self.ours)
        same(expected, found)
        return found


def same(expected, found):
    """Assert that two values are equal: type of array, NumPy type, shape, mask and values."""
    if isinstance(expected, (np.ndarray, np.generic)):
        assert np.ma.isMaskedArray(expected) == np.ma.isMaskedArray(found), (expected, found)
        assert np.asarray(found).dtype == np.asarray(expected).dtype
        assert np.shape(found) == np.shape(expected)
        if expected.dtype.names is None:
            assert np.ma.getmaskarray(found).tolist() == np.ma.getmaskarray(expected).tolist()
        if np.ma.isMaskedArray(expected) and expected is not np.ma.masked and np.ma.getmaskarray(expected).any():
            assert found.fill_value == expected.fill_value or expected.fill_value != expected.fill_value
        if expected.dtype.names is not None:
            for name in expected.dtype.names:
                same(expected[name], found[name])
        elif expected.dtype == object:
            for one, other in zip(expected.flat, found.flat, strict=True):
                same(one, other)
        else:
            np.testing.assert_array_equal(np.ma.getdata(found), np.ma.getdata(expected))
    elif isinstance(expected, (str, bytes, int, float, list, tuple, dict)) or expected is None:
        assert found == expected
        assert type(found) is type(expected)


@pytest.fixture
def pair(tmp_path) -> Iterator[Pair]:
    with netCDF4.Dataset(tmp_path / "theirs.nc", "w") as theirs, oz.Dataset({}, "w") as ours:
        yield Pair(theirs, ours)


@pytest.fixture(scope="module")
def shared_pair(tmp_path_factory) -> Iterator[Pair]:
    path = tmp_path_factory.mktemp("pair") / "theirs.nc"
    with netCDF4.Dataset(path, "w") as theirs, oz.Dataset({}, "w") as ours:
        yield Pair(theirs, ours)
