"""The fixtures of zarr-python 2.18.7: 24 arrays under seven compressors each, and questions of layout."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import omnizarr as oz

COMPRESSORS = ["bytes", "zlib", "bz2", "blosc", "blosc", "blosc", "blosc"]
LINEAR = [("<i1", 100), ("<i2", 100), ("<i4", 100), ("<i8", 1000)]
SHAPED: list[tuple[tuple[int, ...], str, tuple[int, ...]]] = [
    ((2000, 10), "C", (100, 3)),
    ((200, 100), "F", (100, 30)),
    ((200, 10, 10), "C", (100, 3, 3)),
    ((20, 100, 10), "F", (10, 30, 3)),
    ((20, 10, 10, 10), "C", (10, 3, 3, 3)),
    ((20, 10, 10, 10), "F", (10, 3, 3, 3)),
]


def recipe() -> Iterator[tuple[Any, tuple[int, ...]]]:
    """The 24 arrays and their chunks, in the order in which they take from the random numbers."""
    rng = np.random.RandomState(42)
    for dtype, chunk in LINEAR:
        yield np.arange(1111).astype(dtype), (chunk,)
    for dtype, high in (("<u1", 200), ("<u2", 2000), ("<u4", 2000), ("<u8", 2000)):
        yield rng.randint(0, high, size=2222, dtype=dtype[1:]).astype(dtype), (100,)
    for dtype in ("<f2", "<f4", "<f8"):
        yield np.linspace(0, 1, 3333, dtype=dtype), (100,)
    for dtype in ("<f2", "<f4", "<f8"):
        yield rng.normal(loc=0, scale=1, size=4444).astype(dtype), (100,)
    yield rng.choice([b"A", b"C", b"G", b"T"], size=5555, replace=True).astype("S"), (100,)
    yield rng.choice(["foo", "bar", "baz", "quux"], size=5555, replace=True).astype("<U"), (100,)
    yield rng.choice([0, 1 / 3, 1 / 7, 1 / 9, np.nan], size=5555, replace=True).astype("<f8"), (100,)
    yield rng.randint(0, 2, size=5555, dtype=bool), (100,)
    for shape, order, chunks in SHAPED:
        yield np.arange(20000, dtype="<i4").reshape(shape, order=order), chunks  # type: ignore[call-overload]


@pytest.fixture(scope="module")
def expected() -> list[tuple[Any, tuple[int, ...]]]:
    made = list(recipe())
    assert len(made) == 24
    return made


@pytest.mark.parametrize("compressor", range(len(COMPRESSORS)))
@pytest.mark.parametrize("number", range(24))
def test_every_array_under_every_compressor(zarr_python_2, expected, number, compressor):
    values, chunks = expected[number]
    array = oz.open(zarr_python_2)[f"{number}/{compressor}"]
    assert (array.shape, array.dtype, array.chunks) == (values.shape, values.dtype, chunks)
    got = array[...]
    if values.dtype.kind == "f" and number < 16:
        # How linspace and normal round has changed since: the last bit may differ.
        np.testing.assert_allclose(got, values, rtol=2 * np.finfo(values.dtype).eps, atol=1e-7)
    else:
        np.testing.assert_array_equal(got, values)
    assert array.codecs[-1].name == COMPRESSORS[compressor]


@pytest.mark.parametrize("name", ["flat", "flat_legacy", "nested", "nested_legacy", "meta"])
def test_layouts_of_keys(zarr_python_2, name):
    array = oz.open(zarr_python_2 / name)
    assert array.dtype == np.dtype("<i8")
    assert array[...].tolist() == [[1, 2], [3, 4]]
    assert oz.open(zarr_python_2)[name][...].tolist() == [[1, 2], [3, 4]]


def test_attributes_in_raw_utf8(zarr_python_2):
    assert dict(oz.open(zarr_python_2 / "utf8attrs").attrs) == {"foo": "た"}


def test_the_root_lists_every_child(zarr_python_2):
    group = oz.open(zarr_python_2)
    names = {"flat", "flat_legacy", "nested", "nested_legacy", "meta", "utf8attrs", *map(str, range(24))}
    assert set(group) == names
