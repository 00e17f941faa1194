"""Damaged and hostile TIFF, FITS and GRIB files: an error of ours, soon and without much memory, or right values."""

from __future__ import annotations

import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import omnizarr as oz
from omnizarr.errors import CorruptError, LimitError, OmnizarrError
from omnizarr.refs.scanners.dispatch import scan_file
from omnizarr.refs.scanners.source import SourceFile
from omnizarr.refs.scanners.tiff import scan
from omnizarr.refset.store import store_of

tifffile = pytest.importorskip("tifffile")


def tags(*entries, following=0, order="<"):
    """Make a file of one directory."""
    body = b"".join(struct.pack(order + "HHII", *entry) for entry in entries)
    head = (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "I", 8)
    return head + struct.pack(order + "H", len(entries)) + body + struct.pack(order + "I", following)


IMAGE = (
    (256, 3, 1, 4),
    (257, 3, 1, 4),
    (258, 3, 1, 8),
    (259, 3, 1, 1),
    (273, 4, 1, 200),
    (277, 3, 1, 1),
    (278, 3, 1, 4),
    (279, 4, 1, 16),
)


def put(path, data):
    path.write_bytes(data)
    return SourceFile(path)


def without(tag, *more):
    return [one for one in IMAGE if one[0] != tag] + list(more)


def test_the_plain_case(tmp_path):
    source = put(tmp_path / "a.tif", tags(*IMAGE).ljust(200, b"\0") + bytes(range(16)))
    array = oz.open(store_of(scan(source), uri="x", allow=["*"]))["0"]
    assert array[...].tolist() == np.arange(16).reshape(4, 4).tolist()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"II",
        b"II*\0\xff\xff\xff\xff",
        b"II+\0\x08\0\0\0" + b"\xff" * 8,
        tags(*IMAGE, following=8),
        tags(*without(256, (256, 4, 1, 0))),
        tags(*without(273)),
        tags(*without(273, (273, 4, 0xFFFFFFFF, 8))),
        tags(*without(273, (273, 4, 7, 8))),
        tags(*without(279, (279, 4, 1, 0x7FFFFFFF))),
        tags(*without(279, (279, 4, 1, 3))),
        tags(*without(258, (258, 99, 1, 8))),
        tags(*without(257, (257, 4, 1, 0xFFFFFFFF))),
        tags(*IMAGE, (330, 4, 1, 8)),
        tags(*IMAGE, (322, 3, 1, 0), (323, 3, 1, 0)),
    ],
)
def test_nonsense_is_refused(data, tmp_path):
    source = put(tmp_path / "a.tif", data.ljust(400, b"\0") if len(data) > 20 else data)
    tracemalloc.start()
    with pytest.raises((CorruptError, LimitError)):
        scan(source)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 << 20


def test_a_huge_image_of_one_tile(tmp_path):
    size = 0x7FFFFFFF
    entries = [
        (256, 4, 1, size),
        (257, 4, 1, size),
        (258, 3, 1, 8),
        (259, 3, 1, 8),
        (322, 4, 1, size),
        (323, 4, 1, size),
    ]
    with pytest.raises(OmnizarrError):
        scan(put(tmp_path / "a.tif", tags(*entries, (324, 4, 1, 8), (325, 4, 1, 8)).ljust(400, b"\0")))


def sample(kind, folder):
    """Make a small file of a format."""
    path = folder / f"whole.{kind}"
    if path.exists():
        return path.read_bytes()
    if kind == "tif":
        values = np.arange(3 * 40 * 30, dtype="u2").reshape(3, 40, 30)
        tifffile.imwrite(path, values, tile=(16, 16), compression="lzw", predictor=True, photometric="minisblack")
    elif kind == "fits":
        fits = pytest.importorskip("astropy.io.fits")
        values = np.arange(1200, dtype="i2").reshape(40, 30)
        hdu = fits.CompImageHDU(values, compression_type="RICE_1", tile_shape=(16, 16))
        fits.HDUList([fits.PrimaryHDU(np.zeros((3, 4))), hdu]).writeto(path)
    else:
        ec = pytest.importorskip("eccodes")
        path.write_bytes(ec.codes_get_message(ec.codes_grib_new_from_samples("regular_ll_pl_grib2")))
    return path.read_bytes()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("damage")


@given(data=st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@pytest.mark.parametrize("kind", ["tif", "fits", "grib"])
@pytest.mark.filterwarnings("ignore")
def test_changed_bytes(kind, folder, data):
    whole = bytearray(sample(kind, folder))
    # Headers are where damage does something else than to change values.
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(
            st.integers(8, min(len(whole), 6000) - 1) if data.draw(st.booleans()) else st.integers(0, len(whole) - 1)
        )
        whole[at] = data.draw(st.sampled_from([0, 1, 0x20, 0x7F, 0xFF]) | st.integers(0, 255))
    cut = data.draw(st.none() | st.integers(1, len(whole)))
    path = folder / f"damaged.{kind}"
    path.write_bytes(bytes(whole[:cut]))
    try:
        group = oz.open(store_of(scan_file(SourceFile(path)), uri="x", allow=["*"]))
        for name in group:
            if group[name].size < 1 << 22:
                group[name][...]
    except OmnizarrError:
        pass
