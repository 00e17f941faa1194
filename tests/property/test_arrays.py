"""Arrays against NumPy: what goes in comes out, whatever the type, codecs, chunks, order, fill and format."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

import omnizarr as oz

FIXED = [
    "bool", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16",
    "S1", "S5", "U1", "U3", "V3", "V8", "M8[ns]", "M8[D]", "m8[s]", "m8[10us]",
]  # fmt: skip
SWAPPED = [">i2", ">u4", ">i8", ">f2", ">f4", ">f8", ">c8", ">c16", ">U2", ">M8[ms]"]
VARIABLE = ["string", "bytes"]

COMPRESSORS: list[Any] = [
    None,
    "gzip",
    {"name": "zstd", "configuration": {"level": 1, "checksum": True}},
    oz.codec.blosc("zstd", 3, "bitshuffle"),
    oz.codec.blosc("snappy", 1, "noshuffle"),
    oz.codec.blosc("lz4", 5, "shuffle"),
    {"id": "zlib", "level": 1},
    {"id": "lz4"},
    {"id": "bz2", "level": 1},
    {"id": "lzma", "preset": 0},
    [oz.codec.crc32c()],
    [oz.codec.shuffle(), "zstd"],
    [oz.codec.shuffle(), oz.codec.crc32c(), "gzip", oz.codec.crc32c()],
]


@st.composite
def shapes(draw: st.DrawFn, least: int = 0) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape and chunks of an array of a few hundred elements at most."""
    ndim = draw(st.integers(least, 4))
    largest = [300, 300, 20, 9, 5][ndim]
    shape = tuple(draw(st.integers(0, largest)) for _ in range(ndim))
    chunks = tuple(draw(st.integers(1, max(1, n) + 2)) for n in shape)
    return shape, chunks


def numeric(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "iuf"


@st.composite
def layouts(draw: st.DrawFn) -> dict[str, Any]:
    """Keywords of an array that can be created in either format."""
    fmt = draw(st.sampled_from(["zarr3", "zarr2"]))
    dtype = draw(st.sampled_from(FIXED + SWAPPED + VARIABLE))
    shape, chunks = draw(shapes())
    codecs = draw(st.sampled_from(COMPRESSORS))
    codecs = list(codecs) if isinstance(codecs, list) else [] if codecs is None else [codecs]
    if dtype in VARIABLE:
        codecs = [codec for codec in codecs if codec != oz.codec.shuffle()]
    elif numeric(np.dtype(dtype)) and np.dtype(dtype).kind != "f" and draw(st.booleans()):
        codecs.insert(0, oz.codec.delta())
    options: dict[str, Any] = {
        "shape": shape,
        "chunks": chunks,
        "dtype": dtype,
        "codecs": codecs,
        "format": fmt,
        "order": draw(st.sampled_from(["C", "F"])),
        "separator": draw(st.sampled_from([None, "/", "."])),
    }
    kind = draw(st.sampled_from(["regular", "shards", "uneven", "uneven shards"])) if fmt == "zarr3" else "regular"
    if kind == "shards":
        options["shards"] = tuple(c * draw(st.integers(1, 3)) for c in chunks)
    elif kind == "uneven" and shape:
        options["chunks"] = [draw(uneven(size, 1)) for size in shape]
    elif kind == "uneven shards" and shape:
        options["shards"] = [draw(uneven(size, chunk)) for size, chunk in zip(shape, chunks, strict=True)]
    return options


@st.composite
def uneven(draw: st.DrawFn, size: int, unit: int) -> list[int]:
    """Lengths of chunks of one dimension, multiples of a unit, that reach its end or beyond."""
    lengths = [unit * draw(st.integers(1, max(1, size // unit)))]
    while sum(lengths) < size:
        lengths.append(unit * draw(st.integers(1, max(1, size // unit))))
    return lengths


def element(dtype: str) -> st.SearchStrategy[Any]:
    """One value of a type; floats with every bit pattern."""
    if dtype == "string":
        return st.text(max_size=6)
    if dtype == "bytes":
        return st.binary(max_size=6)
    kind = np.dtype(dtype)
    if kind.kind in "fc":
        return st.binary(min_size=kind.itemsize, max_size=kind.itemsize).map(lambda raw: np.frombuffer(raw, kind)[0])
    if kind.kind == "V":
        return st.binary(min_size=kind.itemsize, max_size=kind.itemsize).map(np.void)
    return hn.from_dtype(kind)


def values(draw: st.DrawFn, dtype: str, shape: tuple[int, ...]) -> Any:
    """Few different values, so that chunks of one value occur."""
    pool = draw(st.lists(element(dtype), min_size=1, max_size=4))
    filled = np.empty(len(pool), object if dtype in VARIABLE else dtype)
    for i, one in enumerate(pool):
        filled[i] = one
    picks = np.random.default_rng(draw(st.integers(0, 2**32))).integers(0, len(pool), shape)
    made = np.empty(shape, filled.dtype)  # filled[picks] would be a scalar where there is no dimension
    made[...] = filled[picks]
    return made


def same(left: Any, right: Any) -> bool:
    """Whether two arrays hold the same, bit for bit, in whatever byte order."""
    left, right = np.asarray(left), np.asarray(right)
    if left.shape != right.shape:
        return False
    if left.dtype.kind in "OT" or right.dtype.kind in "OT":
        return bool((left.astype(object) == right.astype(object)).all())
    native = right.dtype.newbyteorder("=")
    return swapped(left, native).tobytes() == swapped(right, native).tobytes()


def swapped(array: Any, dtype: Any) -> Any:
    """The array in another byte order without a detour through numbers, which could change NaNs."""
    assert array.dtype.newbyteorder("=") == dtype
    return array if array.dtype == dtype else array.byteswap().view(dtype)


def is_odd_nan(value: Any) -> bool:
    """Whether a number is, or has in it, a NaN that v2 has no word for."""
    if not isinstance(value, np.inexact):
        return False
    whole = np.array([value])
    kind = whole.dtype.newbyteorder("=")
    parts = swapped(whole, kind).view(f"f{kind.itemsize // (2 if kind.kind == 'c' else 1)}")
    plain = np.full(1, np.nan, parts.dtype).tobytes()
    return any(bool(np.isnan(part)) and part.tobytes() != plain for part in parts)


@given(st.data())
def test_what_is_written_comes_back_bit_for_bit(data):
    options = data.draw(layouts())
    dtype = options["dtype"]
    options["fill_value"] = data.draw(element(dtype))
    expected = values(data.draw, dtype, options["shape"])
    store: dict[str, bytes] = {}
    if options["format"] == "zarr2" and is_odd_nan(options["fill_value"]):
        with pytest.raises(oz.errors.UnsupportedError, match="NaN"):
            oz.create_array(store, **options)
        return
    array = oz.create_array(store, **options)
    array[...] = expected
    assert same(oz.open_array(store)[...], expected)
    kind = object if dtype in VARIABLE else dtype
    assert same(np.asarray(array.fill_value, kind), np.asarray(options["fill_value"], kind))
    # Chunks of the fill value alone are not stored, so erasing one is the same as filling it.
    for key in [key for key in store if "zarr" not in key and not key.startswith(".z")]:
        del store[key]
    fill = np.empty(options["shape"], expected.dtype)
    fill[...] = options["fill_value"]
    assert same(oz.open_array(store)[...], fill)


def indices(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    return draw(hn.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True))


def per_axis(draw: st.DrawFn, size: int) -> Any:
    """An index of one dimension for orthogonal selection."""
    choices: list[st.SearchStrategy[Any]] = [
        st.slices(size),
        st.lists(st.booleans(), min_size=size, max_size=size).map(np.array),
    ]
    if size:
        choices += [
            st.integers(-size, size - 1),
            st.lists(st.integers(-size, size - 1), max_size=8).map(lambda items: np.array(items, dtype=int)),
        ]
    chosen = draw(st.one_of(choices))
    return chosen.astype(bool) if isinstance(chosen, np.ndarray) and chosen.size == 0 and size == 0 else chosen


def as_ix(selection: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Any, tuple[int, ...]]:
    """NumPy's form of an orthogonal selection, and the axes that integers drop."""
    lists, dropped = [], []
    for axis, (item, size) in enumerate(zip(selection, shape, strict=True)):
        if isinstance(item, slice):
            lists.append(np.arange(size)[item])
        elif isinstance(item, np.ndarray):
            lists.append(np.flatnonzero(item) if item.dtype == bool else item % max(1, size))
        else:
            lists.append(np.array([item % size]))
            dropped.append(axis)
    return np.ix_(*lists), tuple(dropped)


def some_points(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[Any, ...] | None:
    total = int(np.prod(shape))
    if not total or not shape:
        return None
    flat = draw(st.lists(st.integers(0, total - 1), max_size=10))
    return np.unravel_index(np.array(flat, dtype=int), shape)


class Pair:
    """An array in a store, and the NumPy array that it must always equal."""

    def __init__(self, array: Any, model: Any) -> None:
        self.array, self.model = array, model

    def basic(self, draw: st.DrawFn) -> None:
        chosen = indices(draw, self.model.shape)
        note(f"a[{chosen}]")
        assert same(self.array[chosen], self.model[chosen])
        replacement = self.replacement(draw, np.shape(self.model[chosen]))
        self.array[chosen] = replacement
        self.model[chosen] = replacement

    def orthogonal(self, draw: st.DrawFn) -> None:
        chosen = tuple(per_axis(draw, size) for size in self.model.shape)
        note(f"a.oindex[{chosen}]")
        grid, dropped = as_ix(chosen, self.model.shape)
        assert same(self.array.oindex[chosen], self.model[grid].squeeze(dropped))
        shape = self.model[grid].squeeze(dropped).shape
        replacement = self.replacement(draw, shape)
        self.array.oindex[chosen] = replacement
        self.model[grid] = np.expand_dims(np.broadcast_to(replacement, shape), dropped)

    def points(self, draw: st.DrawFn) -> None:
        chosen = some_points(draw, self.model.shape)
        if chosen is None:
            return
        note(f"a.vindex[{chosen}]")
        assert same(self.array.vindex[chosen], self.model[chosen])
        replacement = self.replacement(draw, self.model[chosen].shape)
        self.array.vindex[chosen] = replacement
        self.model[chosen] = replacement

    def mask(self, draw: st.DrawFn) -> None:
        if not self.model.ndim:
            return
        few = draw(st.integers(0, 4)) / 4
        chosen = np.random.default_rng(draw(st.integers(0, 2**32))).random(self.model.shape) < few
        assert same(self.array[chosen], self.model[chosen])
        replacement = self.replacement(draw, self.model[chosen].shape)
        self.array[chosen] = replacement
        self.model[chosen] = replacement

    def fancy(self, draw: st.DrawFn) -> None:
        if not self.model.ndim or not self.model.size:
            return
        arrays = draw(hn.integer_array_indices(self.model.shape, result_shape=hn.array_shapes(max_dims=2, max_side=4)))
        chosen = arrays[: draw(st.integers(1, len(arrays)))]
        note(f"a[{chosen}]")
        assert same(self.array[chosen], self.model[chosen])

    def blocks(self, draw: st.DrawFn) -> None:
        counts = [-(-n // c) for n, c in zip(self.model.shape, self.array.chunks, strict=True)]
        if not all(counts):
            return
        chosen = tuple(draw(st.integers(0, count - 1)) for count in counts)
        region = tuple(slice(i * c, (i + 1) * c) for i, c in zip(chosen, self.array.chunks, strict=True))
        assert same(self.array.blocks[chosen], self.model[region])

    def resize(self, draw: st.DrawFn) -> None:
        shape = tuple(draw(st.integers(0, n + 4)) for n in self.model.shape)
        note(f"a.resize({shape})")
        self.array.resize(shape)
        grown = np.empty(shape, self.model.dtype)
        grown[...] = self.array.fill_value
        shared = tuple(slice(0, min(n, m)) for n, m in zip(shape, self.model.shape, strict=True))
        grown[shared] = self.model[shared]
        self.model = grown

    def append(self, draw: st.DrawFn) -> None:
        if not self.model.ndim:
            return
        axis = draw(st.integers(-self.model.ndim, self.model.ndim - 1))
        shape = list(self.model.shape)
        shape[axis] = draw(st.integers(0, 5))
        more = self.replacement(draw, tuple(shape), whole=True)
        note(f"a.append({more.shape}, {axis})")
        self.model = np.concatenate([self.model, more], axis)
        assert self.array.append(more, axis) == self.model.shape

    def replacement(self, draw: st.DrawFn, shape: tuple[int, ...], *, whole: bool = False) -> Any:
        """Values of the shape, or of one that broadcasts to it."""
        if not whole:
            shape = tuple(n if draw(st.booleans()) else 1 for n in shape[draw(st.integers(0, len(shape))) :])
        return np.random.default_rng(draw(st.integers(0, 2**32))).integers(0, 3, shape).astype(self.model.dtype)


STEPS = [Pair.basic, Pair.orthogonal, Pair.points, Pair.mask, Pair.fancy, Pair.blocks, Pair.resize, Pair.append]


@given(st.data())
def test_any_sequence_of_reads_and_writes_gives_what_numpy_gives(data):
    shape, chunks = data.draw(shapes())
    shards = tuple(c * data.draw(st.integers(1, 3)) for c in chunks) if data.draw(st.booleans()) else None
    fill = data.draw(st.sampled_from([0, 1, 2]))
    kind = data.draw(st.sampled_from(["i4", "u1", "f8"]))
    codecs = data.draw(
        st.sampled_from([None, "zstd", oz.codec.blosc(), [oz.codec.delta(), "gzip"], [oz.codec.crc32c()]])
    )
    array = oz.create_array(
        oz.MemoryStore() if data.draw(st.booleans()) else {},
        shape=shape, chunks=chunks, shards=shards, dtype=kind, fill_value=fill, codecs=codecs,
        order=data.draw(st.sampled_from(["C", "F"])),
        cache_bytes=data.draw(st.sampled_from([0, 1 << 16])),
        write_empty=data.draw(st.booleans()),
    )  # fmt: skip
    pair = Pair(array, np.full(shape, fill, kind))
    for step in data.draw(st.lists(st.sampled_from(STEPS), min_size=1, max_size=8)):
        note(step.__name__)
        step(pair, data.draw)
        assert array.shape == pair.model.shape
        assert same(array[...], pair.model)


@given(st.data())
def test_shards_in_shards_hold_what_was_written(data):
    """Chunks of the innermost shards, then how many of them, and of those, make the next shard."""
    ndim = data.draw(st.integers(1, 3))
    sizes = [tuple(data.draw(st.integers(1, 4)) for _ in range(ndim))]
    for _ in range(data.draw(st.integers(1, 3))):
        sizes.append(tuple(n * data.draw(st.integers(1, 3)) for n in sizes[-1]))
    codecs: list[Any] = data.draw(st.sampled_from([[], ["zstd"], [oz.codec.crc32c()], [oz.codec.blosc(typesize=4)]]))
    chain = [{"name": "bytes", "configuration": {"endian": data.draw(st.sampled_from(["little", "big"]))}}]
    chain += [{"name": codec} if isinstance(codec, str) else codec.to_json() for codec in codecs]
    for size in sizes[:-1]:
        location = data.draw(st.sampled_from(["start", "end"]))
        inner = {"chunk_shape": list(size), "codecs": chain, "index_location": location}
        chain = [{"name": "sharding_indexed", "configuration": inner}]
    shape = tuple(data.draw(st.integers(0, n * 2)) for n in sizes[-1])
    array = oz.create_array({}, shape=shape, dtype="i4", chunks=sizes[-1], codecs=chain, fill_value=1)
    pair = Pair(array, np.full(shape, 1, "i4"))
    for step in data.draw(st.lists(st.sampled_from(STEPS), min_size=1, max_size=5)):
        step(pair, data.draw)
        assert same(oz.open_array(array.store)[...], pair.model)


@given(st.data())
def test_reading_into_any_view_changes_that_view_alone(data):
    shape, chunks = data.draw(shapes(least=1))
    expected = np.arange(int(np.prod(shape)), dtype="i4").reshape(shape)
    array = oz.create_array({}, data=expected, chunks=chunks)
    chosen = indices(data.draw, shape)
    wanted = expected[chosen]
    around = np.full([n * 2 + 1 for n in wanted.shape], -1, "i4")
    step = data.draw(st.sampled_from([1, 2, -1]))
    view = around[(..., *(slice(1, 1 + n * abs(step), abs(step)) for n in wanted.shape))]
    view = view[(..., *(slice(None, None, step // abs(step)),) * wanted.ndim)]
    assert array.read(chosen, out=view) is view
    assert same(view, wanted)
    view[...] = -1
    assert (around == -1).all()


def test_no_warning_is_given_for_plain_use():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        array = oz.create_array({}, shape=(4,), dtype="f4")
        array[...] = np.arange(4)
        assert array[...].sum() == 6
