"""Arrays of every type: created, written, read, and read again by another handle."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import SelectionError, ShapeError, UnsupportedError
from omnizarr.model.dtype import DType

FORMATS = pytest.mark.parametrize("fmt", ["zarr3", "zarr2"])
POINT = np.dtype([("x", "<i4"), ("y", "<f8"), ("n", [("q", "u1"), ("s", "S2")])])


def points(shape: tuple[int, ...] = (5, 4)) -> Any:
    made = np.zeros(shape, POINT)
    made["x"] = np.arange(made.size).reshape(shape)
    made["y"] = made["x"] / 2
    made["n"]["s"] = b"ab"
    return made


@FORMATS
def test_fields_are_read_like_numpy_reads_them(fmt):
    values = points()
    a = oz.create_array({}, data=values, chunks=(2, 3), format=fmt)
    for rest, name in (
        ((), "x"),
        ((1,), "x"),
        ((slice(1, 3), ...), "n"),
        ((...,), "x"),
        ((slice(None, None, -2),), "y"),
    ):
        expected = values[name][rest]
        for selection in ((*rest, name), (name, *rest)):
            assert np.array_equal(a[selection], expected)
            assert np.asarray(a[selection]).dtype == expected.dtype
    assert np.array_equal(a["x"], values["x"])
    several = a[["y", "x"]]
    assert several.dtype == np.dtype([("y", "<f8"), ("x", "<i4")])
    assert np.array_equal(several["y"], values["y"])
    assert a["x", "y"].dtype.names == ("x", "y")
    assert a[2, 1, ["x"]] == np.array((9,), [("x", "<i4")])[()]
    assert np.array_equal(a.oindex[[3, 0], "x"], values["x"][[3, 0]])
    assert np.array_equal(a.vindex[[3, 0], [1, 2], "y"], values["y"][[3, 0], [1, 2]])
    assert np.array_equal(a.blocks[1, 0, "x"], values["x"][2:4, :3])
    assert a["x"].flags.owndata


@FORMATS
def test_fields_are_written_alone(fmt):
    values = points()
    a = oz.create_array({}, data=values, chunks=(2, 3), format=fmt)
    a["x"] = values["x"] = 7
    a[0, :, "y"] = values[0]["y"] = [1, 2, 3, 4]
    a.oindex[[1, 2], [0], "y"] = -1
    values["y"][np.ix_([1, 2], [0])] = -1
    a[4, ["x", "y"]] = np.array((5, 6.5), [("x", "i4"), ("y", "f8")])
    values["x"][4], values["y"][4] = 5, 6.5
    assert np.array_equal(a[...], values)


def test_names_that_are_no_fields():
    a = oz.create_array({}, data=points())
    for selection in ("z", (0, "z"), ["x", "z"], ["x", "x"]):
        with pytest.raises(SelectionError):
            a[selection]
        with pytest.raises(SelectionError):
            a[selection] = 1
    with pytest.raises(ShapeError):
        a["x"] = "text"
    with pytest.raises(SelectionError, match="not an index"):
        oz.create_array({}, shape=3, dtype="i4")["x"]
    with pytest.raises(SelectionError, match="not an index"):
        a[0.5]


@FORMATS
def test_values_without_dimensions(fmt):
    a = oz.create_array({}, shape=(), dtype=POINT, fill_value={"x": 3, "y": 0.5, "n": (1, b"z")}, format=fmt)
    assert a[()].tolist() == (3, 0.5, (1, b"z"))
    a["y"] = 4
    assert a["y"] == 4
    assert a.fill_value.tolist() == (3, 0.5, (1, b"z"))


@FORMATS
def test_padding_is_not_stored_by_new_arrays(fmt):
    aligned = np.dtype([("a", "u1"), ("b", "<i4")], align=True)
    values = np.zeros(3, aligned)
    values["a"], values["b"] = [1, 2, 3], [4, 5, 6]
    a = oz.create_array({}, data=values, format=fmt)
    assert a.dtype == np.dtype([("a", "u1"), ("b", "<i4")])
    assert a[...].tolist() == values.tolist()


OLD = {"zarr_format": 2, "order": "C", "filters": None, "compressor": None}


def stored(dtype: Any, shape: list[int], chunks: list[int], fill: Any, chunk: dict[str, bytes]) -> dict[str, bytes]:
    document = {**OLD, "dtype": dtype, "shape": shape, "chunks": chunks, "fill_value": fill}
    return {".zarray": json.dumps(document).encode(), **chunk}


def test_padding_that_is_there_is_kept_and_filled_with_zeros():
    dtype = [["a", "|u1"], ["", "|V3"], ["b", "<i4"], ["c", "|u1"], ["", "|V3"]]
    aligned = np.dtype([("a", "u1"), ("b", "<i4"), ("c", "u1")], align=True)
    values = np.frombuffer(bytes(range(1, 25)), aligned)
    store = stored(dtype, [2], [2], None, {"0": values.tobytes()})
    a = oz.open_array(store, "r+")
    assert a.dtype == aligned
    assert a[...].tolist() == values.tolist()
    a[...] = values
    clean = store["0"]
    assert np.frombuffer(bytes(clean), aligned).tolist() == values.tolist()
    assert [byte for at, byte in enumerate(bytes(clean)) if at % 12 in (1, 2, 3, 9, 10, 11)] == [0] * 12
    a.attrs["k"] = 1
    assert json.loads(bytes(store[".zarray"]))["dtype"] == dtype


BLOSC = {"blocksize": 0, "clevel": 5, "cname": "lz4", "id": "blosc", "shuffle": 1}


def test_structures_of_zarr_python_2():
    store = stored(
        [["a", "<f4", [2, 2]], ["n", [["x", "|u1"], ["y", "|S2"]]]], [3], [2], "AAAAAAAAAAAAAAAAAAAAAAAAAA==",
        {"0": bytes.fromhex(
            "02013313260000002600000036000000000000000000803f0000004000004040007100000080400000a0400000c0400000e040007100"
        ), "1": bytes.fromhex(
            "020133132600000026000000360000000000004100001041000020410000304100710000000000000000000000000000000000000000"
        )},
    )  # fmt: skip
    store[".zarray"] = store[".zarray"].replace(b'"compressor": null', b'"compressor": ' + json.dumps(BLOSC).encode())
    a = oz.open(store)
    assert a["a"].tolist() == np.arange(12).reshape(3, 2, 2).tolist()
    assert a["n"].tolist() == [(0, b"q")] * 3
    fill = base64.b64encode(np.array((7, 8.5), [("a", "<i4"), ("b", ">f8")]).tobytes()).decode()
    store = stored([["a", "<i4"], ["b", ">f8"]], [2], [1], fill, {"0": b"\1\0\0\0@\4\0\0\0\0\0\0"})
    assert oz.open(store)[...].tolist() == [(1, 2.5), (7, 8.5)]


def test_elements_that_are_arrays_make_the_array_larger():
    for dtype in (np.dtype(("i4", (2, 3))), ("i4", (2, 3))):
        a = oz.create_array({}, shape=(5,), dtype=dtype, chunks=(2,))
        assert (a.shape, a.chunks, a.dtype) == ((5, 2, 3), (2, 2, 3), np.dtype("i4"))
    a = oz.create_array({}, shape=5, dtype=np.dtype(("i4", (2,))))
    assert a.shape == (5, 2)
    assert oz.create_array({}, data=np.zeros((4, 2)), dtype=np.dtype(("i4", (2,)))).shape == (4, 2)


def test_lists_of_tuples_are_elements():
    a = oz.create_array({}, data=[(1, 2.5), (3, 4.5)], dtype=[("i", "i4"), ("f", "f8")])
    assert a.shape == (2,)
    a[0] = (5, 6.5)
    assert a[...].tolist() == [(5, 6.5), (3, 4.5)]
    with pytest.raises(ShapeError):
        a[0] = (1, 2, 3)


def test_the_byte_order_of_a_structure_is_its_own():
    big = POINT.newbyteorder(">")
    store: dict[str, bytes] = {}
    a = oz.create_array(store, data=points().astype(big))
    assert a.dtype == big
    assert json.loads(bytes(store["zarr.json"]))["codecs"][0] == {"name": "bytes", "configuration": {"endian": "big"}}
    assert np.array_equal(oz.open(store)[...], points())
    mixed = np.dtype([("a", "<i4"), ("b", ">i4")])
    assert oz.create_array({}, shape=1, dtype=mixed).dtype == mixed.newbyteorder("=")
    assert oz.create_array({}, shape=1, dtype=mixed, format="zarr2").dtype == mixed


def test_a_structure_takes_the_byte_order_of_its_codec():
    store: dict[str, bytes] = {}
    codecs = [{"name": "bytes", "configuration": {"endian": "big"}}]
    assert oz.create_array(store, data=points(), codecs=codecs).dtype == POINT.newbyteorder(">")
    assert np.array_equal(oz.open(store)[...], points())


def test_the_older_form_of_structures_on_request():
    store: dict[str, bytes] = {}
    a = oz.create_array(store, data=points(), dtype=DType(POINT, "structured"))
    document = json.loads(bytes(store["zarr.json"]))
    assert document["data_type"]["name"] == "structured"
    assert isinstance(document["fill_value"], str)
    assert np.array_equal(oz.open(store)[...], a[...])


def test_complex_numbers_of_small_floats():
    pytest.importorskip("ml_dtypes")
    a = oz.create_array({}, shape=(4,), dtype="complex_bfloat16", fill_value=1 + 2j)
    a[0] = 3 - 4j
    a[1:3] = np.array([1j, 2])
    assert [complex(float(one["real"]), float(one["imag"])) for one in a[...]] == [3 - 4j, 1j, 2, 1 + 2j]
    assert "complex_bfloat16" in repr(a)
    assert "complex_bfloat16" in a._repr_html_()
    a[...] = a[::-1]
    assert a["real"].tolist() == [1, 2, 0, 3]


def test_small_integers_hold_what_they_can():
    pytest.importorskip("ml_dtypes")
    a = oz.create_array({}, data=[1, -8, 7], dtype="int4")
    assert a[...].astype(int).tolist() == [1, -8, 7]
    for wrong in (8, [-9], [2**70]):
        with pytest.raises(ShapeError):
            a[0:1] = wrong


@FORMATS
@pytest.mark.parametrize("endian", ["little", "big"])
def test_either_byte_order_on_disk(fmt, endian):
    pytest.importorskip("ml_dtypes")
    codecs = [{"name": "bytes", "configuration": {"endian": endian}}]
    store: dict[str, bytes] = {}
    try:
        a = oz.create_array(store, shape=(2,), dtype="bfloat16", codecs=codecs, format=fmt)
    except UnsupportedError:
        assert (fmt, endian) == ("zarr2", "big")
        return
    a[...] = [1, -2]
    assert oz.open(store)[...].astype(float).tolist() == [1, -2]
    chunk = bytes(store["c/0" if fmt == "zarr3" else "0"])
    assert chunk == (b"\x80\x3f\0\xc0" if endian == "little" else b"\x3f\x80\xc0\0")
