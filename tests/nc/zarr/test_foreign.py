"""Elements that netCDF has no type for, or under another name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ReadOnlyError, UnsupportedError
from omnizarr.nc.source import everything, open_mesh
from omnizarr.nc.types import Compound, Vlen
from omnizarr.nc.zarr.reader import ZarrReader, open_reader
from tests.nc.zarr.stores import plain, values, zarray


def stored(data: Any, form: str = "zarr2", **options: Any) -> ZarrReader:
    store: dict[str, bytes] = {}
    oz.create_group(store, format=form).create_array("v", data=data, **options)
    return open_reader(store)


@pytest.mark.parametrize("form", ["zarr2", "zarr3"])
@pytest.mark.parametrize(
    ("data", "kind", "expected"),
    [
        (np.array([True, False]), "ubyte", np.array([1, 0], "u1")),
        (np.array([1.5, np.nan], "f2"), "float", np.array([1.5, np.nan], "f4")),
        (np.array([1, -1], ">i2"), "short", np.array([1, -1], "i2")),
        (np.array(["a", "é"], "U2"), "string", ["a", "é"]),
        (np.array([b"ab", b""], "S2"), "string", ["ab", ""]),
        (np.array([b"a", b"b"], "S1"), "char", np.array([b"a", b"b"])),
        (np.array([1, 5], "M8[s]"), "int64", np.array([1, 5])),
        (np.array([1, 5], "m8[ns]"), "int64", np.array([1, 5])),
        (np.array([b"abc", b"\0\1\2"], "V3"), "opaque_3", np.array([b"abc", b"\0\1\2"], "V3")),
    ],
)
def test_counterparts(form, data, kind, expected):
    source = stored(data, form)
    assert source.root.vars["v"].type.name == kind
    found = values(source)
    assert found.dtype == source.root.vars["v"].type.numpy
    np.testing.assert_array_equal(found, np.array(expected, found.dtype))


@pytest.mark.parametrize("form", ["zarr2", "zarr3"])
def test_strings_of_any_length(form):
    source = stored(np.array(["a", "länger", ""], object), form, dtype="string")
    assert source.root.vars["v"].type.name == "string"
    assert values(source).tolist() == ["a", "länger", ""]
    assert not source.root.vars["v"].storage.codecs or "vlen" not in source.root.vars["v"].storage.codecs


@pytest.mark.parametrize("size", [8, 16])
@pytest.mark.parametrize("order", "<>")
def test_complex_numbers(size, order):
    source = stored(np.array([1 + 2j, np.nan - 1j], f"{order}c{size}"))
    kind = source.root.vars["v"].type
    assert isinstance(kind, Compound)
    assert [field.name for field in kind.fields] == ["r", "i"]
    assert source.root.types[kind.name] == kind
    found = values(source)
    np.testing.assert_array_equal(found["r"], [1, np.nan])
    np.testing.assert_array_equal(found["i"], [2, -1])


@pytest.mark.parametrize(
    ("unit", "kind", "units"),
    [
        ("s", "M", b"seconds since 1970-01-01"),
        ("D", "M", b"days since 1970-01-01"),
        ("ns", "m", b"nanoseconds"),
        ("M", "M", None),
        ("2s", "M", None),
    ],
)
def test_time_says_what_it_counts(unit, kind, units):
    source = stored(np.array([1, 2], f"{kind}8[{unit}]"))
    attrs = source.root.vars["v"].attrs
    assert (attrs["units"].value if "units" in attrs else None) == units
    assert ("calendar" in attrs) == (kind == "M" and units is not None)


def test_units_that_are_there_stay():
    source = stored(np.array([1, 2], "M8[s]"), attrs={"units": "mine"})
    assert [attr.value for attr in source.root.vars["v"].attrs.values()] == [b"mine"]


def test_structures():
    dtype = np.dtype([("a", ">i2"), ("b", "?"), ("s", "S3"), ("in", [("x", "<f4", (2,)), ("z", "c8")]), ("t", "M8[s]")])
    data = np.array([(1, True, b"abc", ([1.5, 2.5], 1 + 2j), 7), (2, False, b"d", ([3, 4], 0), 8)], dtype)
    source = stored(data)
    kind = source.root.vars["v"].type
    assert isinstance(kind, Compound)
    assert [(field.name, field.type.name, field.shape) for field in kind.fields] == [
        ("a", "short", ()),
        ("b", "ubyte", ()),
        ("s", "char", (3,)),
        ("in", "v_t_in", ()),
        ("t", "int64", ()),
    ]
    found = values(source)
    assert found["a"].tolist() == [1, 2]
    assert found["b"].tolist() == [1, 0]
    assert found["s"].tolist() == [[b"a", b"b", b"c"], [b"d", b"", b""]]
    assert found["in"]["x"].tolist() == [[1.5, 2.5], [3, 4]]
    assert found["in"]["z"]["i"].tolist() == [2, 0]
    assert found["t"].tolist() == [7, 8]


def test_two_structures_share_a_type_only_if_they_are_alike():
    store: dict[str, bytes] = {}
    root = oz.create_group(store, format="zarr2")
    for name, dtype in (("a", "c8"), ("b", "c8"), ("c", "c16")):
        root.create_array(name, data=np.zeros(2, dtype))
    assert len(open_reader(store).root.types) == 2


def test_sequences():
    for source in (
        stored(np.array([b"ab", b""], object), "zarr2", dtype="bytes"),
        stored(np.array([b"ab", b""], object), "zarr3", dtype="bytes"),
    ):
        assert isinstance(source.root.vars["v"].type, Vlen)
        assert [one.tolist() for one in values(source)] == [[97, 98], []]


def test_what_has_no_counterpart_raises_when_it_is_read():
    store: dict[str, bytes] = {}
    root = oz.create_group(store, format="zarr2")
    root.create_array("v", data=np.zeros(2, np.dtype("g")))
    root.create_array("w", data=np.zeros(2, [("a", "U3")]))
    root.create_array("x", data=np.arange(2))
    source = open_reader(store)
    assert values(source, "x").tolist() == [0, 1]
    for name in "vw":
        assert source.root.vars[name].shape == (2,)
        with pytest.raises(UnsupportedError, match="no counterpart"):
            values(source, name)


@pytest.mark.parametrize("data", [np.arange(60).reshape(3, 4, 5), np.arange(60).astype("M8[s]").reshape(3, 4, 5)])
@pytest.mark.parametrize(
    "key",
    [
        (slice(0, 3, 1), slice(0, 4, 1), slice(0, 5, 1)),
        (slice(0, 3, 2), slice(1, 4, 1), slice(2, 2, 1)),
        (np.array([2, 0]), slice(0, 4, 3), np.array([1, 1, 4])),
    ],
)
def test_selections(data, key):
    source = stored(data, chunks=(2, 2, 2))
    found = source.read(source.root.vars["v"], key)
    np.testing.assert_array_equal(found, data.astype("i8")[open_mesh(key)])
    assert found.flags.writeable
    assert found.dtype.isnative


def test_numbers_are_what_the_kernel_gives():
    """Not copied once more."""
    source = stored(np.arange(6, dtype=">f8"))
    var = source.root.vars["v"]
    assert var.handle.decode is None
    assert source.read(var, everything(var)).base is None or not source.read(var, everything(var)).flags.owndata


def test_nothing_can_be_changed():
    source = stored(np.arange(3))
    var = source.root.vars["v"]
    with pytest.raises(ReadOnlyError, match="for reading only"):
        source.write(var, everything(var), np.zeros(3, "i8"))
    with pytest.raises(ReadOnlyError, match="for reading only"):
        source.changed(source.root)
    source.sync()
    source.close()
    source.close()
    assert source.read_only


@pytest.mark.parametrize(
    ("dtype", "fill", "expected"),
    [
        ("<i2", -999, [-999]),
        (">i2", -999, [-999]),
        ("<f4", 1e20, [np.float32(1e20)]),
        ("<f8", "NaN", None),
        ("<i2", 0, None),
        ("<i2", None, None),
        ("<i2", -32767, None),
        ("|S2", "YWI=", None),
    ],
)
def test_the_fill_value_of_xarray(dtype, fill, expected):
    document = zarray([2], dtype, fill_value=fill)
    source = open_reader(plain(v=(document, {"_ARRAY_DIMENSIONS": ["x"]}), w=(document, {})))
    found = source.root.vars["v"].attrs.get("_FillValue")
    assert (found and list(found.value)) == expected
    assert "_FillValue" not in source.root.vars["w"].attrs
