"""Arrays on grids of every kind against NumPy: selections, writes and changes of shape in any order."""

from __future__ import annotations

from math import gcd
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import given, note, settings
from hypothesis import strategies as st

import omnizarr as oz
from omnizarr.model.grid import RectilinearGrid

FILL = -1
CODECS: list[Any] = [
    None,
    "auto",
    ["gzip", oz.codec.crc32c()],
    [oz.codec.delta(), "zstd"],
]


def edges(draw: st.DrawFn, size: int, unit: int = 1) -> Any:
    """The chunks of one dimension as a user gives them: multiples of a unit that reach its end or beyond."""
    if draw(st.booleans()):
        return unit * draw(st.integers(1, size // unit + 2))
    lengths = draw(st.lists(st.integers(1, max(1, size // 2)).map(lambda n: n * unit), min_size=1, max_size=6))
    while sum(lengths) < size:
        lengths.append(unit * draw(st.integers(1, max(1, size // unit))))
    return lengths


@st.composite
def layouts(draw: st.DrawFn) -> dict[str, Any]:
    ndim = draw(st.integers(1, 3))
    shape = tuple(draw(st.integers(0, [40, 16, 8][ndim - 1])) for _ in range(ndim))
    codecs = draw(st.sampled_from(CODECS))
    if ndim > 1 and draw(st.booleans()):
        codecs = [oz.codec.transpose(draw(st.permutations(range(ndim)))), *(codecs if isinstance(codecs, list) else [])]
    options: dict[str, Any] = {"shape": shape, "dtype": "i4", "fill_value": FILL, "codecs": codecs}
    kind = draw(st.sampled_from(["uneven", "uneven", "sharded", "bounded", "bounded shards"]))
    note(kind)
    if kind == "uneven":
        options["chunks"] = [edges(draw, size) for size in shape]
    elif kind == "sharded":
        options["chunks"] = [draw(st.integers(1, 4)) for _ in shape]
        options["shards"] = [edges(draw, size, unit) for size, unit in zip(shape, options["chunks"], strict=True)]
    else:
        lengths = tuple(draw(st.integers(1, size + 2)) for size in shape)
        options["chunks"] = RectilinearGrid(lengths, clipped=True)
        if kind == "bounded shards":
            options["shards"] = options["chunks"]
            common = [gcd(length, size % length) for length, size in zip(lengths, shape, strict=True)]
            options["chunks"] = [draw(st.sampled_from([n for n in range(1, c + 1) if c % n == 0])) for c in common]
    if draw(st.booleans()):
        options["cache_bytes"] = 1 << 16
    return options


def axis(draw: st.DrawFn, size: int) -> Any:
    """A selection along one dimension."""
    step = draw(st.sampled_from([1, 1, 2, 5, -1, -3]))
    bounds = st.none() | st.integers(-size - 2, size + 2)
    return slice(draw(bounds), draw(bounds), step)


def change(draw: st.DrawFn, array: oz.Array, model: npt.NDArray[Any], number: int) -> npt.NDArray[Any]:
    """Change the array and the model in the same way."""
    shape = model.shape
    kind = draw(st.sampled_from(["box", "box", "oindex", "points", "mask", "block", "fill", "resize", "append"]))
    note(kind)
    if kind in ("box", "fill"):
        box = tuple(axis(draw, size) for size in shape)
        values = FILL if kind == "fill" else np.arange(model[box].size).reshape(model[box].shape) + number
        array[box] = model[box] = values
    elif kind == "oindex" and 0 not in shape:
        lists = [draw(st.lists(st.integers(0, size - 1), max_size=5)) for size in shape]
        array.oindex[tuple(lists)] = number
        model[np.ix_(*lists)] = number
    elif kind == "points" and 0 not in shape:
        count = draw(st.integers(0, 9))
        points = tuple(
            np.array(draw(st.lists(st.integers(0, size - 1), min_size=count, max_size=count)), int) for size in shape
        )
        array.vindex[points] = np.arange(count) + number
        model[points] = np.arange(count) + number
    elif kind == "mask":
        mask = np.random.default_rng(number).random(shape) < 0.3
        array[mask] = model[mask] = number
    elif kind == "block" and 0 not in shape:
        block = tuple(draw(st.integers(0, n - 1)) for n in array.metadata.cells.counts(shape))
        array.blocks[block] = number
        model[places(array, block)] = number
    elif kind in ("resize", "append"):
        return reshape(draw, array, model, number, kind)
    return model


def places(array: oz.Array, block: tuple[int, ...]) -> tuple[slice, ...]:
    """Where a block lies, found out from the lengths of all chunks before it."""
    found = []
    for lengths, at in zip(array.chunks, block, strict=True):
        listed = [lengths] * (at + 1) if isinstance(lengths, int) else list(lengths)
        found.append(slice(sum(listed[:at]), sum(listed[: at + 1])))
    return tuple(found)


def reshape(draw: st.DrawFn, array: oz.Array, model: npt.NDArray[Any], number: int, kind: str) -> npt.NDArray[Any]:
    if kind == "append":
        along = draw(st.integers(0, model.ndim - 1))
        shape = tuple(draw(st.integers(0, 7)) if i == along else n for i, n in enumerate(model.shape))
        values = np.full(shape, number, model.dtype)
        try:
            array.append(values, axis=along)
        except oz.errors.UnsupportedError:
            assert array.metadata.grid.clipped
            return model
        return np.concatenate([model, values], along)
    shape = tuple(draw(st.integers(0, n + 5)) for n in model.shape)
    try:
        array.resize(shape)
    except oz.errors.UnsupportedError:
        assert array.metadata.grid.clipped
        return model
    new = np.full(shape, FILL, model.dtype)
    kept = tuple(slice(0, min(before, after)) for before, after in zip(model.shape, shape, strict=True))
    new[kept] = model[kept]
    return new


@settings(deadline=None)
@given(st.data())
def test_any_sequence_of_changes_on_any_grid(data):
    options = data.draw(layouts())
    store: dict[str, bytes] = {}
    array = oz.create_array(store, **options)
    model = np.full(options["shape"], FILL, "i4")
    for number in range(data.draw(st.integers(1, 5))):
        model = change(data.draw, array, model, 100 * (number + 1))
        assert array.shape == model.shape
        assert np.array_equal(array[...], model)
        box = tuple(axis(data.draw, size) for size in model.shape)
        assert np.array_equal(array[box], model[box])
    again = oz.open_array(store)
    assert again.metadata == array.metadata
    assert np.array_equal(again[...], model)
    check_store(store, again, model)


def check_store(store: dict[str, bytes], array: oz.Array, model: npt.NDArray[Any]) -> None:
    """Exactly the chunks that hold more than the fill value are stored, and none outside the grid."""
    stored = {key for key in store if key != "zarr.json"}
    keys = array.metadata.keys
    grid = array.metadata.grid
    expected = set()
    for index in np.ndindex(*grid.counts(model.shape)):
        part = model[tuple(box(one, at) for one, at in zip(grid.lengths(model.shape), index, strict=True))]
        if (part != FILL).any():
            expected.add(keys.key(index))
    assert stored == expected
    assert array.nchunks_stored == len(expected)


def box(lengths: int | tuple[int, ...], at: int) -> slice:
    listed = [lengths] * (at + 1) if isinstance(lengths, int) else list(lengths)
    return slice(sum(listed[:at]), sum(listed[: at + 1]))
