"""Types beyond plain numbers, between Omnizarr and other implementations, bit for bit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.model.dtype import DType

pytestmark = [
    pytest.mark.peers,
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

FLAT = np.dtype([("a", "<i4"), ("b", "S3"), ("c", "<U2"), ("d", "<M8[s]"), ("e", "<f8"), ("f", "V2"), ("g", "?")])
NESTED = np.dtype([("a", "<i4"), ("n", [("x", "u1"), ("y", "<f8")])])


def values_of(dtype: np.dtype[Any]) -> Any:
    made = np.zeros(5, dtype)
    for at, name in enumerate(dtype.names or ()):
        field = made[name]
        if field.dtype.names:
            field["y"] = [0.5, -0.0, np.nan, np.inf, 7]
        elif field.dtype.kind in "SU":
            field[...] = ["", "a", "bc", "xy", "é"[: field.dtype.kind == "U"] or "z"]
        elif field.dtype.kind == "V":
            field[...] = [np.void(bytes((at, i))) for i in range(5)]
        else:
            field[...] = np.arange(5) + at
    return made


def assert_same(left: Any, right: Any) -> None:
    assert left.dtype.itemsize == right.dtype.itemsize
    assert np.asarray(left).tobytes() == np.asarray(right).tobytes()


# zarr-python 3.1 cannot read nested structures in v2, not even its own.
@pytest.mark.parametrize(("fmt", "dtype"), [(2, FLAT), (3, FLAT), (3, NESTED), (2, FLAT.newbyteorder(">"))])
def test_structures_of_zarr_python(fmt, dtype, tmp_path):
    zarr = pytest.importorskip("zarr", minversion="3.1")
    values = values_of(dtype.newbyteorder("<")).astype(dtype)
    theirs = zarr.create_array(
        tmp_path / "theirs", shape=(5,), chunks=(2,), dtype=dtype, zarr_format=fmt, compressors=None,
        fill_value=values[3],
    )  # fmt: skip
    theirs[:3] = values[:3]
    ours = oz.open_array(tmp_path / "theirs", "r+")
    assert ours.dtype == dtype
    assert ours.fill_value == values[3]
    expected = values.copy()
    expected[4] = values[3]
    assert_same(ours[...], expected)
    ours[3:] = values[3:]
    ours.attrs["seen"] = True
    again = zarr.open_array(tmp_path / "theirs", mode="r")
    assert again.attrs["seen"]
    assert_same(again[...], values)


@pytest.mark.parametrize(("fmt", "dtype"), [(2, FLAT), (3, FLAT), (3, NESTED), (2, FLAT.newbyteorder(">"))])
def test_zarr_python_reads_our_structures(fmt, dtype, tmp_path):
    zarr = pytest.importorskip("zarr", minversion="3.1")
    values = values_of(dtype.newbyteorder("<")).astype(dtype)
    # Until 3.2 it knows the older form alone.
    kind = DType(dtype, "structured" if fmt == 3 else "struct")
    oz.create_array(
        tmp_path, data=values, dtype=kind, chunks=2, codecs=None, fill_value=values[2], format=f"zarr{fmt}",
    )  # fmt: skip
    theirs = zarr.open_array(tmp_path, mode="r")
    assert_same(theirs[...], values)
    assert theirs.fill_value.tobytes() == values[2].tobytes()


def test_what_zarr_python_says_of_big_endian_structures_in_v3_is_wrong(tmp_path):
    zarr = pytest.importorskip("zarr")
    if not zarr.__version__.startswith("3.1."):
        pytest.skip("later ones swap the fields")
    theirs = zarr.create_array(tmp_path, shape=(1,), dtype=np.dtype([("a", ">i4")]), zarr_format=3, compressors=None)
    theirs[...] = np.array([(1,)], [("a", ">i4")])
    assert oz.open(tmp_path)["a"][0] == 1 << 24  # nothing in the document tells, so nobody can know better


SMALL = {
    "bfloat16": 16, "int2": 2, "int4": 4, "float4_e2m1fn": 4, "float8_e3m4": 8, "float8_e4m3fn": 8,
    "float8_e4m3b11fnuz": 8, "float8_e4m3fnuz": 8, "float8_e5m2": 8, "float8_e5m2fnuz": 8, "float8_e8m0fnu": 8,
}  # fmt: skip


def codes(name: str) -> Any:
    """Every number of the type, or many."""
    bits = SMALL[name]
    raw = np.arange(1 << bits, dtype="<u2" if bits > 8 else "u1")[:: 37 if bits > 8 else 1]
    return raw.view(DType.of(name).numpy)


def test_tensorstore_and_numbers_of_ml_dtypes(tmp_path):
    pytest.importorskip("tensorstore")
    pytest.importorskip("ml_dtypes")
    manifest: dict[str, list[Any]] = {"read": [], "write": []}
    for name in SMALL:
        for fmt, driver in (("zarr3", "zarr3"), ("zarr2", "zarr")):
            values = codes(name)
            ours, theirs = tmp_path / f"ours-{fmt}-{name}", tmp_path / f"theirs-{fmt}-{name}"
            if (name, fmt) != ("float8_e8m0fnu", "zarr2"):
                oz.create_array(ours / "array", data=values, dtype=name, chunks=50, codecs="gzip", format=fmt)
                manifest["read"].append((driver, str(ours)))
            theirs.mkdir()
            np.save(theirs / "values.npy", values.view(f"V{values.itemsize}"))
            metadata: dict[str, Any] = {"shape": [len(values)], "data_type": name}
            if fmt == "zarr2":
                metadata = {"shape": [len(values)], "dtype": name, "chunks": [40], "compressor": None}
            manifest["write"].append((driver, str(theirs), metadata))
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    child = Path(__file__).with_name("_tensorstore_child.py")
    done = subprocess.run(
        [sys.executable, child, tmp_path / "manifest.json"], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    for name in SMALL:
        for fmt in ("zarr3", "zarr2"):
            read = tmp_path / f"ours-{fmt}-{name}" / "read.npy"
            if read.exists():
                same_numbers(np.load(read).view(DType.of(name).numpy), codes(name))
            same_numbers(oz.open_array(tmp_path / f"theirs-{fmt}-{name}" / "array")[...], codes(name))


def same_numbers(left: Any, right: Any) -> None:
    """The same numbers; above the bits that count there may be others."""
    mask = (1 << DType.of(left.dtype).bits) - 1
    kind = f"u{left.itemsize}"
    assert np.array_equal(left.view(kind) & mask, right.view(kind) & mask)


FILLS = [
    ("bfloat16", "NaN"), ("bfloat16", 1.5), ("bfloat16", -0.0), ("float8_e4m3fn", "NaN"), ("float8_e5m2", "Infinity"),
    ("int4", -8), ("int2", 1), ("float4_e2m1fn", 6.0),
    ("float8_e8m0fnu", 0.25), ("float8_e8m0fnu", "NaN"), ("float8_e4m3b11fnuz", "NaN"),
    ("bfloat16", "0x7fc1"),
]  # fmt: skip


def test_tensorstore_reads_our_fill_values(tmp_path):
    pytest.importorskip("tensorstore")
    pytest.importorskip("ml_dtypes")
    manifest: dict[str, list[Any]] = {"read": [], "write": []}
    expected = {}
    for i, (name, fill) in enumerate(FILLS):
        folder = tmp_path / str(i)
        document = {
            "zarr_format": 3, "node_type": "array", "shape": [3], "data_type": name, "fill_value": fill,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3]}},
            "chunk_key_encoding": {"name": "default"},
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        }  # fmt: skip
        (folder / "array").mkdir(parents=True)
        (folder / "array/zarr.json").write_text(json.dumps(document))
        array = oz.open_array(folder / "array", "r+")
        array.attrs["written"] = "by us"
        expected[folder] = array[...]
        manifest["read"].append(("zarr3", str(folder)))
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    child = Path(__file__).with_name("_tensorstore_child.py")
    done = subprocess.run(
        [sys.executable, child, tmp_path / "manifest.json"], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    for folder, values in expected.items():
        same_numbers(np.load(folder / "read.npy").view(values.dtype), values)
