"""What is done to whole sets: other URLs, smaller chunks, small chunks embedded, groups, and checks of the sources."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import omnizarr as oz
from omnizarr.errors import MetadataError, NotFoundError, ShapeError, UnsupportedError
from omnizarr.refs.combining.nesting import nest
from omnizarr.refs.exporting import export
from omnizarr.refs.inlining import inline
from omnizarr.refs.rewriting import absolute, relative, rewrite
from omnizarr.refs.subchunking import subchunk
from omnizarr.refs.validating import validate
from omnizarr.refset.model import INLINE, MISSING, WHOLE, Chunks, References, Stamp
from omnizarr.refset.store import store_of


def opened(references, base=""):
    return oz.open(store_of(references, uri="example", base=base, allow=["*"]))


def documents(path, shape, chunks, **others):
    """The documents of a group and an array."""
    array = {"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": "<i2", "order": "C", "fill_value": -1}
    text = json.dumps({**array, "compressor": None, "filters": None, **others})
    return {".zgroup": b'{"zarr_format": 2}', f"{path}/.zarray": text.encode()}


@pytest.fixture
def source(tmp_path):
    """Three files of one array: values, and the set of them."""
    values = np.arange(6 * 4, dtype="<i2").reshape(6, 4)
    files = [tmp_path / "in" / f"{name}.bin" for name in "abc"]
    files[0].parent.mkdir()
    urls = []
    stamps = {}
    for n, file in enumerate(files):
        file.write_bytes(b"-" * n + values[2 * n : 2 * n + 2].tobytes())
        urls.append(str(file))
        state = file.stat()
        stamps[str(file)] = Stamp(state.st_size, state.st_mtime_ns)
    rows = Chunks.ranges((3, 1), [0, 1, 2], [0, 1, 2], 16)
    return values, References(documents("v", [6, 4], [2, 4]), {"v": rows}, urls, stamps)


def test_prefixes(source, tmp_path):
    values, references = source
    (tmp_path / "in").rename(tmp_path / "moved")
    moved = rewrite(references, {f"{tmp_path}/in/": f"{tmp_path}/moved/"})
    np.testing.assert_array_equal(opened(moved)["v"][...], values)
    assert moved.stamps[moved.urls[0]] == Stamp(16)  # a copy has another time
    kept = rewrite(references, {f"{tmp_path}/in/": f"{tmp_path}/moved/"}, stamps="all")
    assert kept.stamps[kept.urls[0]] == references.stamps[references.urls[0]]
    with pytest.raises(NotFoundError, match="begins with '/elsewhere'"):
        rewrite(references, {"/elsewhere": "/there"})


def test_urls_that_become_one(source, tmp_path):
    values, references = source
    joined = tmp_path / "all.bin"
    joined.write_bytes(values.tobytes())
    references.arrays["v"] = Chunks.ranges((3, 1), [0, 1, 2], [0, 16, 32], 16)
    moved = rewrite(references, lambda _: str(joined))
    assert moved.urls == [str(joined)]
    np.testing.assert_array_equal(opened(moved)["v"][...], values)


def test_relative_and_back(source, tmp_path):
    values, references = source
    short = relative(references, str(tmp_path / "sets"))
    assert short.urls[0] == "../in/a.bin"
    back = absolute(short, str(tmp_path / "sets"))
    assert back.urls == references.urls
    assert back.stamps == references.stamps
    np.testing.assert_array_equal(opened(back)["v"][...], values)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), shape=st.lists(st.integers(1, 7), min_size=1, max_size=3))
def test_smaller_chunks(data, shape):
    chunks = [data.draw(st.sampled_from([1, 2, 4, 6])) for _ in shape]
    factors, whole = [], True
    for length in chunks:
        factor = data.draw(st.sampled_from([n for n in (1, 2, 3, 4, 6) if length % n == 0])) if whole else 1
        factors.append(factor)
        whole = whole and factor == length
    counts = tuple(-(-n // c) for n, c in zip(shape, chunks, strict=True))
    values = np.arange(np.prod(shape), dtype="<i2").reshape(shape)
    padded = np.zeros([n * c for n, c in zip(counts, chunks, strict=True)], "<i2")
    padded[tuple(slice(n) for n in shape)] = values
    found = {}
    for number, index in enumerate(np.ndindex(*counts)):
        found[number] = padded[tuple(slice(i * c, (i + 1) * c) for i, c in zip(index, chunks, strict=True))].tobytes()
    gone = data.draw(st.sets(st.integers(0, len(found) - 1), max_size=2))
    for number in gone:
        del found[number]
    references = References(documents("v", shape, chunks), {"v": Chunks.of_bytes(counts, found)})
    before = opened(references)["v"][...]
    made = subchunk(references, "v", factors)
    array = opened(made)["v"]
    assert array.chunks == tuple(length // factor for length, factor in zip(chunks, factors, strict=True))
    np.testing.assert_array_equal(array[...], before)


def test_chunks_that_cannot_be_cut(source):
    _, references = source
    with pytest.raises(ShapeError, match="3 equal parts") as caught:
        subchunk(references, "v", 3)
    assert "Factors that fit: 2." in str(caught.value)
    with pytest.raises(ShapeError, match="would not lie in one piece"):
        subchunk(references, "v", (1, 2))
    with pytest.raises(NotFoundError):
        subchunk(references, "w", 2)
    packed = documents("v", [6, 4], [2, 4], compressor={"id": "zlib", "level": 1})
    with pytest.raises(UnsupportedError, match="not compressed"):
        subchunk(replace(references, documents=packed), "v", 2)
    references.arrays["v"] = Chunks.ranges((3, 1), [0, 1, 2], [0, 0, 0], [16, 15, 16])
    with pytest.raises(UnsupportedError, match="15 bytes"):
        subchunk(references, "v", 2)


def test_whole_files_are_cut_by_what_chunks_hold(source, tmp_path):
    values, references = source
    references.arrays["v"] = Chunks.ranges((3, 1), [0, 0, 0], [0, 0, 0], np.uint64(WHOLE))
    made = subchunk(references, "v", 2)
    np.testing.assert_array_equal(opened(made)["v"][...], np.tile(values[:2], (3, 1)))


def test_small_chunks_are_embedded(source, tmp_path):
    values, references = source
    chunks = references.arrays["v"]
    references.arrays["v"] = Chunks(
        (4, 1),
        np.append(chunks.urls, MISSING).astype("u4"),
        np.append(chunks.offsets, 0).astype("u8"),
        np.append([16, 16, 17], 0).astype("u8"),
    )
    references.documents.update(documents("v", [8, 4], [2, 4]))
    made = inline(references, 17)
    assert made.arrays["v"].urls.tolist() == [INLINE, INLINE, 2, MISSING]
    assert made.arrays["v"].inline == values[:4].tobytes()
    assert references.arrays["v"].inline == b""
    again = inline(made, 17)
    assert again.arrays["v"].inline == made.arrays["v"].inline
    with pytest.raises(NotFoundError):
        inline(references, only=["w"])


def test_groups_of_one_set(source):
    values, references = source
    made = nest({"a": references, "b/c": references}, attributes={"title": "both"})
    group = opened(made)
    assert group.attrs["title"] == "both"
    np.testing.assert_array_equal(group["a/v"][...], values)
    np.testing.assert_array_equal(group["b/c/v"][...], values)
    assert len(made.urls) == 3
    for names in (["a", "a/b"], ["", "a"]):
        with pytest.raises(MetadataError):
            nest(dict.fromkeys(names, references))


def test_groups_of_two_formats(source):
    values, references = source
    newer = References({"zarr.json": b'{"zarr_format": 3, "node_type": "group", "attributes": {"n": 1}}'})
    group = opened(nest({"old": references, "new": newer}))
    assert {group[name].metadata.format for name in ("old", "new", "old/v")} == {"zarr3"}
    np.testing.assert_array_equal(group["old/v"][...], values)


def test_a_sound_set(source):
    _, references = source
    assert validate(references) == []


def test_what_is_wrong_with_a_set(source, tmp_path):
    _, references = source
    urls = references.urls
    os.remove(urls[0])  # noqa: PTH107 - text
    with open(urls[1], "ab") as file:  # noqa: PTH123 - text
        file.write(b"more")
    references.arrays["v"] = Chunks.ranges((3, 1), [0, 2, 2], [0, 2, 10], 16)
    rules = {(one.rule, one.url or one.path): one for one in validate(references)}
    assert rules["unreachable", urls[0]].severity == "error"
    assert "size was 17, is 21" in rules["changed", urls[1]].message
    assert rules["range", urls[2]].message == "references up to byte 26 of a source of 18 bytes"
    assert rules["overlap", urls[2]].severity == "warning"
    assert "undecodable" in {rule for rule, _ in rules}
    quiet = {one.rule for one in validate(references, sources=False)}
    assert quiet == {"overlap"}


def test_missing_chunks_are_counted(source):
    _, references = source
    references.arrays["v"] = Chunks.ranges((3, 1), [2], [2], 16, numbers=[2])
    found = validate(references)
    assert [(one.rule, one.times) for one in found] == [("missing", 2)]
    references.stamps.clear()
    assert ("unstamped", 3) in [(one.rule, one.times) for one in validate(references)]


def test_references_outside_the_grid(source):
    _, references = source
    references.arrays["v"] = Chunks.ranges((3, 1), [2], [2], 16, numbers=[3])
    assert [one.rule for one in validate(references)] == ["grid"]
    references.arrays["v"] = Chunks.ranges((3, 1), [0, 1, 7], [0, 0, 0], 16)
    assert [one.rule for one in validate(references)] == ["grid"]


def test_places_that_are_not_allowed(source, tmp_path):
    _, references = source
    assert {one.rule for one in validate(references, allow=["/elsewhere/"])} == {"refused"}


def test_export(source, tmp_path):
    values, references = source
    export(references, tmp_path / "out.zarr")
    np.testing.assert_array_equal(oz.open(tmp_path / "out.zarr")["v"][...], values)
    export(references, tmp_path / "new.zarr", format="zarr3", chunks=(3, 4), codecs="zstd")
    array = oz.open(tmp_path / "new.zarr")["v"]
    assert array.chunks == (3, 4)
    np.testing.assert_array_equal(array[...], values)


def test_export_of_padded_chunks(tmp_path):
    grid = {"name": "omnizarr.padded", "configuration": {"chunk_shapes": [[2, 1, 2]], "stored_shapes": [[[2, 3]]]}}
    text = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [5],
        "data_type": "int16",
        "chunk_grid": grid,
        "chunk_key_encoding": {"name": "default"},
        "fill_value": 0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
    }
    stored = oz.MemoryStore()
    array = oz.create_array(stored, data=np.array([1, 2, 3, 99, 4, 5], "<i2"), chunks=2, codecs=["bytes", "crc32c"])
    del array
    rows = Chunks.of_bytes((3,), {n: stored.get(f"c/{n}") for n in range(3)})
    references = References({"zarr.json": json.dumps(text).encode()}, {"": rows})
    assert opened(references)[...].tolist() == [1, 2, 3, 4, 5]
    export(references, tmp_path / "out.zarr")
    made = oz.open(tmp_path / "out.zarr")
    assert made.metadata.grid.stored is None
    assert made[...].tolist() == [1, 2, 3, 4, 5]


def test_export_of_floats_for_xarray(tmp_path):
    """In Zarr v3 xarray wants the fill value of floats in base64, and opens nothing else."""
    xr = pytest.importorskip("xarray")
    wanted = xr.Dataset({"v": ("x", np.array([1.0, np.nan, 3.0], "f4"), {"units": "K"}), "i": ("x", [1, 2, 3])})
    wanted.to_netcdf(tmp_path / "a.nc", engine="netcdf4", encoding={"v": {"_FillValue": -9.0}})
    export(tmp_path / "a.nc", tmp_path / "a.zarr", format="zarr3")
    with xr.open_zarr(tmp_path / "a.zarr", consolidated=False) as found:
        xr.testing.assert_identical(found.load(), wanted)


def test_sources_of_a_kind_that_is_not_looked_at():
    urls = [f"tape://shelf/{i}.bin" for i in range(5)]
    rows = Chunks.ranges((5,), np.arange(5), [0] * 5, 2)
    found = validate(References(documents("v", [5], [1]), {"v": rows}, urls), sample=0)
    unchecked = [one for one in found if one.rule == "unchecked"]
    assert [(one.times, "5 sources of the kind 'tape'" in one.message) for one in unchecked] == [(5, True)]
