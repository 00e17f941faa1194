"""HDF5 files through references are what h5py reads, or are refused by name: nothing is silently wrong."""

from __future__ import annotations

import warnings

import h5py
import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import OmnizarrError, OmnizarrWarning
from omnizarr.refs.scan.hdf5 import scan
from omnizarr.refs.scan.source import DEFAULTS, Options, SourceFile
from omnizarr.refset.store import store_of

from .hdf5_files import CASES

REFUSED = {
    "compound with text": "variable length",
    "text that is not UTF-8": "not UTF-8",
    "object references": "point to objects",
    "region references": "point to objects",
    "times": "time type",
}
"""Cases that references cannot describe, and what the error says."""


def opened(path, options=DEFAULTS):
    return oz.open(store_of(scan(SourceFile(path), options), uri="example", allow=["*"]))


def made(tmp_path, name, **options):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w", **options) as f:
        CASES[name](f)
    return path


def datasets(group, prefix="", depth=4):
    for name, item in group.items():
        if isinstance(item, h5py.Dataset):
            yield prefix + name, item
        elif isinstance(item, h5py.Group) and depth and name != "again":
            yield from datasets(item, f"{prefix}{name}/", depth - 1)


def assert_equal(array, stored):
    if stored.shape is None:
        assert array.size == 0
        return
    expected = values_of(stored)
    values = np.asarray(array[...], object if expected.dtype == object else None)
    assert values.shape == expected.shape
    if expected.dtype == object:
        for one, other in zip(values.flat, expected.flat, strict=True):
            np.testing.assert_array_equal(one, other)
        return
    np.testing.assert_array_equal(values, expected)
    if expected.dtype.names is None:
        assert values.dtype.str == expected.dtype.str


def values_of(stored):
    if stored.id.get_type().get_class() == h5py.h5t.INTEGER and stored.id.get_type().get_size() == 3:
        return np.array([1, -2, 70000], "<i4")  # which h5py cannot read
    if stored.dtype.kind == "O" and h5py.check_string_dtype(stored.dtype):
        return np.asarray(stored.asstr()[()], object)
    if stored.id.get_type().get_class() == h5py.h5t.BITFIELD:
        values = np.zeros(stored.shape, "<u2")
        stored.id.read(h5py.h5s.ALL, h5py.h5s.ALL, values, h5py.h5t.STD_B16LE)
        return values
    return np.asarray(stored[()])


@pytest.mark.parametrize("inline", [0, 500])
@pytest.mark.parametrize("name", [name for name in CASES if name not in REFUSED])
def test_values_are_those_of_h5py(tmp_path, name, inline):
    path = made(tmp_path, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OmnizarrWarning)
        group = opened(path, Options(inline=inline))
    with h5py.File(path) as f:
        for key, stored in datasets(f):
            assert_equal(group[key], stored)


@pytest.mark.parametrize("name", REFUSED)
def test_what_references_cannot_describe(tmp_path, name):
    path = made(tmp_path, name)
    with pytest.raises(OmnizarrError, match=REFUSED[name]) as caught:
        scan(SourceFile(path), DEFAULTS)
    assert "v" in str(caught.value)
    assert "skip=" in caught.value.hint
