"""HDF5 files through references are what h5py reads, or are refused by name: nothing is silently wrong."""

from __future__ import annotations

import io
import warnings
from pathlib import Path

import h5py
import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import CorruptError, OmnizarrError, OmnizarrWarning, UnsupportedError
from omnizarr.refs.scanners.hdf5 import scan
from omnizarr.refs.scanners.source import DEFAULTS, Options, SourceFile
from omnizarr.refset.model import INLINE
from omnizarr.refset.store import store_of

from .hdf5_files import CASES
from .hdf5_peers import zarr_group

REFUSED = {
    "compound with sequences": "variable length",
    "text that is not UTF-8": "not UTF-8",
    "object references": "point to objects",
    "region references": "point to objects",
    "times": "time type",
}
"""Cases that references cannot describe, and what the error says."""


EMBEDDED = {
    *("text", "text of ASCII", "text never written", "text as scalar", "text filled with spaces", "ragged", "compact"),
    *(
        "never allocated",
        "compound with text",
        "twelve bits",
        "three bytes",
        "virtual unaligned",
        "virtual strided",
        "virtual with another fill",
    ),
    *("szip", "szip of big-endian", "shuffle and szip"),  # some of their chunks are not compressed
    *("blosc2", "sz3"),  # for which there are no codecs
}
"""Small arrays whose values are in the set, for no reference can describe them."""

PARTLY_EMBEDDED = {
    *("lzf", "lzf of noise", "lzf and shuffle", "blosc", "filters left out of some", "edges unfiltered"),
}
"""Arrays some of whose chunks left out filters."""

OWN_CODECS = {
    *("fletcher32 first, eight bytes", "szip of doubles", "lzf", "lzf of noise", "lzf and shuffle", "lz4"),
    *("lz4 in blocks", "bitshuffle", "bitshuffle alone", "bitshuffle zstd", "zfp", "twelve bits packed"),
    *(name for name in CASES if name.startswith("scale-offset")),
}
"""Cases that need codecs which numcodecs has not."""

OWN_TYPES = {"type long double", "compound with padding", "nested compound", "ragged"}
"""Cases whose types zarr-python 3 has not."""


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
    if expected.dtype.names == ("n", "t", "x"):
        assert array[...].tolist() == [(n, text.decode(), x) for n, text, x in expected.tolist()]
        return
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
    group = oz.open(store_of(quiet_scan(path, Options(inline=inline)), uri="example", allow=["*"]))
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


@pytest.mark.parametrize("name", [name for name in CASES if name not in REFUSED])
def test_data_is_not_read_where_references_do(tmp_path, name):
    references = quiet_scan(made(tmp_path, name), Options(inline=0))
    rows = references.arrays["v"]
    inline = (rows.urls == INLINE).sum()
    assert (inline == len(rows) == 1) == (name in EMBEDDED)
    assert (0 < inline < len(rows)) == (name in PARTLY_EMBEDDED)


@pytest.mark.peers
@pytest.mark.parametrize("name", [name for name in CASES if name not in {*REFUSED, *OWN_CODECS, *OWN_TYPES}])
def test_zarr_python_reads_the_same(tmp_path, name):
    path = made(tmp_path, name)
    group = zarr_group(quiet_scan(path, DEFAULTS))
    with h5py.File(path) as f:
        keys = [key for key, _ in datasets(f)]
    # Not while a file is open: zarr-python's thread may collect objects of h5py, which wait for h5py's lock.
    values = {key: group[key][...] for key in keys}
    with h5py.File(path) as f:
        for key, stored in datasets(f):
            assert_equal(np.asarray(values[key]), stored)


@pytest.mark.parametrize(
    "name", ["two unlimited", "holes", "compact", "text", "unlimited", "one chunk", "shuffle and gzip"]
)
@pytest.mark.parametrize("libver", ["earliest", "v110", "latest"])
def test_versions_of_the_format(tmp_path, name, libver):
    path = made(tmp_path, name, libver=libver)
    group = opened(path)
    with h5py.File(path) as f:
        assert_equal(group["v"], f["v"])


@pytest.mark.parametrize("name", ["gzip", "contiguous", "holes", "text"])
def test_a_block_of_the_user_in_front(tmp_path, name):
    path = made(tmp_path, name, userblock_size=1024)
    group = opened(path, Options(inline=0))
    with h5py.File(path) as f:
        assert_equal(group["v"], f["v"])


class Remote(SourceFile):
    """A file that can only be reached through a file object."""

    def open(self):
        return io.BytesIO(Path(self.url).read_bytes())


@pytest.mark.parametrize(
    "name", ["gzip", "contiguous", "holes", "text", "compact", "compound with padding", "filters left out of some"]
)
@pytest.mark.parametrize("inline", [0, 500])
def test_files_that_are_elsewhere(tmp_path, name, inline):
    path = made(tmp_path, name)
    references, expected = scan(Remote(path), Options(inline=inline)), scan(SourceFile(path), Options(inline=inline))
    assert references.documents == expected.documents
    for key, rows in expected.arrays.items():
        for column in ("urls", "offsets", "lengths"):
            np.testing.assert_array_equal(getattr(references.arrays[key], column), getattr(rows, column))


def test_views_and_links_are_not_followed_from_elsewhere(tmp_path):
    with pytest.raises(OmnizarrError, match="view of other files"):
        scan(Remote(made(tmp_path, "virtual")), DEFAULTS)
    with pytest.warns(OmnizarrWarning, match="away"):
        assert "away" not in scan(Remote(made(tmp_path, "links")), DEFAULTS).arrays


@pytest.mark.parametrize("kind", ["unaligned virtual", "odd", "filter", "masks"])
def test_what_is_too_large_to_be_taken_in(tmp_path, kind, monkeypatch):
    monkeypatch.setattr("omnizarr.refs.scanners.hdf5_values.MOST_EMBEDDED", 100)
    monkeypatch.setattr("omnizarr.refs.scanners.hdf5_masks._MOST", 100)
    name = {
        "unaligned virtual": "virtual unaligned",
        "odd": "twelve bits",
        "filter": "sz3",
        "masks": "filters left out of some",
    }[kind]
    with pytest.raises(UnsupportedError, match="too many to be taken into the set"):
        scan(SourceFile(made(tmp_path, name)), DEFAULTS)


def test_links_and_external_files_have_their_own_urls(tmp_path):
    references = scan(SourceFile(made(tmp_path, "links")), DEFAULTS)
    assert references.urls == [str(tmp_path / "a.h5"), str(tmp_path / "other.h5")]
    assert set(references.stamps) == set(references.urls)
    references = scan(SourceFile(made(tmp_path, "external")), Options(inline=1 << 20))
    assert references.urls[1:] == [str(tmp_path / "one.raw"), str(tmp_path / "two.raw")]
    assert not references.arrays["v"].inline
    (tmp_path / "two.raw").unlink()
    with pytest.raises(OmnizarrError, match=r"two\.raw"):
        scan(SourceFile(tmp_path / "a.h5"), DEFAULTS)


def test_small_chunks_are_taken_in(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as f:
        f.create_dataset("v", data=np.arange(1000), chunks=(10,))
        f.create_dataset("w", data=np.arange(1000), chunks=(500,))
    references = scan(SourceFile(path), DEFAULTS)
    assert (references.arrays["v"].urls == INLINE).all()
    assert (references.arrays["w"].urls == 0).all()
    np.testing.assert_array_equal(opened(path)["v"][...], np.arange(1000))


@pytest.mark.parametrize("data", [b"", b"\x89HDF\r\n\x1a\n", b"nothing" * 99])
def test_damaged_files(tmp_path, data):
    (tmp_path / "a.h5").write_bytes(data)
    with pytest.raises(CorruptError, match="cannot be read as HDF5"):
        scan(SourceFile(tmp_path / "a.h5"), DEFAULTS)


def quiet_scan(path, options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OmnizarrWarning)
        return scan(SourceFile(path), options)
