"""User types, strings and characters, as in netCDF4."""

from __future__ import annotations

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.nc.tree import same_values
from omnizarr.netcdf4 import chartostring, stringtoarr, stringtochar

WIND = np.dtype([("speed", "f4"), ("direction", "i2")])
STATION = np.dtype([("id", "i1"), ("wind", WIND), ("sounding", "f8", (3,)), ("name", "S6")])


def with_compound(ds):
    ds.createDimension("x", 2)
    ds.createCompoundType(WIND, "wind")
    kind = ds.createCompoundType(STATION, "station")
    v = ds.createVariable("v", kind, ("x",))
    data = np.zeros(2, STATION)
    data["wind"]["speed"] = [1.5, 2.5]
    data["name"] = [b"abc", b"defghi"]
    data["sounding"] = [[1, 2, 3], [4, 5, 6]]
    v[:] = data
    v.units = np.array((3.5, 4), WIND)


def test_compounds(pair):
    pair.do(with_compound)
    pair.do(lambda ds: ds["v"][:])
    pair.do(lambda ds: ds["v"][1])
    pair.do(lambda ds: ds["v"].units)
    pair.do(lambda ds: ds["v"].set_auto_chartostring(False))
    pair.do(lambda ds: ds["v"][:])
    for what in ("dtype", "dtype_view", "name"):
        assert getattr(pair.ours.cmptypes["station"], what) == getattr(pair.theirs.cmptypes["station"], what)
    assert pair.ours["v"].datatype.dtype == pair.theirs["v"].datatype.dtype


def test_attributes_may_be_of_nested_compounds():
    with oz.Dataset({}, "w") as ds:
        with_compound(ds)
        ds.all = ds["v"][:]
        assert ds.all.dtype == ds["v"][:].dtype
        assert same_values(ds.all, ds["v"][:])  # the bytes between the members are nobody's


def test_sequences(pair):
    def define(ds):
        ds.createDimension("x", None)
        kind = ds.createVLType("i4", "numbers")
        v = ds.createVariable("v", kind, ("x",))
        v[0] = np.arange(3, dtype="i4")
        many = np.empty(2, object)
        many[:] = [np.arange(2, dtype="i4"), np.arange(5, dtype="i4")]
        v[1:3] = many
        v[4] = np.array([9], "i4")
        return [kind.name, kind.dtype.str]

    pair.do(define)
    for index in (slice(None), 0, -1, 3, slice(None, None, -2)):
        pair.do(lambda ds, index=index: ds["v"][index])

    def wrong(ds):
        ds["v"][0] = np.arange(3, dtype="f8")

    pair.do(wrong)


def test_enums(pair):
    members = {"clear": 0, "cloud": 7, "missing": 255}

    def define(ds):
        ds.createDimension("x", 4)
        kind = ds.createEnumType(np.uint8, "sky", members)
        v = ds.createVariable("v", kind, ("x",), fill_value=255)
        v[:3] = [0, 7, 255]
        return [kind.enum_dict, kind.name, v.datatype.enum_dict]

    pair.do(define)
    pair.do(lambda ds: ds["v"][:])

    def wrong(ds):
        ds["v"][0] = 3

    pair.do(wrong)


def test_opaques_are_more_than_netcdf4_has():
    with oz.Dataset({}, "w") as ds:
        kind = ds.createOpaqueType(4, "key")
        ds.createDimension("x", 2)
        v = ds.createVariable("v", kind, ("x",))
        v[0] = np.void(b"\1\2\3\4")
        assert v[0].tobytes() == b"\1\2\3\4"
        assert v.dtype == "V4"
        assert ds.opaquetypes["key"] is kind


def test_strings(pair):
    def define(ds):
        ds.createDimension("x", 3)
        v = ds.createVariable("v", str, ("x",))
        v[0] = "é"
        v[1:3] = np.array(["ab", "c"])
        one = ds.createVariable("one", str, ())
        one[...] = "alone"

    pair.do(define)
    for index in (slice(None), 0, [0, 2], slice(None, None, -1)):
        pair.do(lambda ds, index=index: ds["v"][index])
    pair.do(lambda ds: ds["one"][...])
    pair.do(lambda ds: ds["one"].getValue())

    def numbers(ds):
        ds["v"][:] = np.arange(3)

    pair.do(numbers)
    pair.ours["v"][:] = ["x", "y", "z"]  # netCDF4 wants arrays here
    assert pair.ours["v"][:].tolist() == ["x", "y", "z"]


def test_characters_with_an_encoding_are_strings(pair):
    def define(ds):
        ds.createDimension("x", 2)
        ds.createDimension("n", 5)
        v = ds.createVariable("v", "S1", ("x", "n"))
        v[0] = stringtochar(np.array("abc", "S5"))
        v[1] = list("defgh")
        v._Encoding = "utf-8"

    pair.do(define)
    for index in (slice(None), 0, (0, slice(0, 2)), (slice(None), 0), (slice(None), slice(None, None, -1))):
        pair.do(lambda ds, index=index: ds["v"][index])

    def write(ds):
        ds["v"][:] = np.array(["é", "long enough"])

    pair.do(write)
    pair.do(lambda ds: ds["v"][0])
    pair.do(lambda ds: ds["v"].set_auto_chartostring(False))
    pair.do(lambda ds: ds["v"][:])


@pytest.mark.parametrize("encoding", [None, "ascii", "utf-8", "none"])
def test_strings_to_characters_and_back(encoding):
    import netCDF4

    given = np.array([["ab", "c"], ["", "defg"]], "S4")
    characters = stringtochar(given, "ascii" if encoding == "utf-8" else encoding)
    assert characters.shape == (2, 2, 4)
    np.testing.assert_array_equal(characters, netCDF4.stringtochar(given, "ascii").reshape(2, 2, 4))
    back = chartostring(characters, encoding)
    expected = netCDF4.chartostring(characters, encoding)
    np.testing.assert_array_equal(back, expected)
    assert back.dtype == expected.dtype
    np.testing.assert_array_equal(stringtoarr("ab", 4), netCDF4.stringtoarr("ab", 4))


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_complex_numbers(pair, dtype):
    values = np.array([1 + 2j, -0.5j, 3], dtype)
    place: dict[str, bytes] = {}
    for model in ("NETCDF4", "NETCDF3_CLASSIC"):
        with oz.Dataset(place, "w", auto_complex=True, format=model) as ds:
            ds.createDimension("x", 3)
            v = ds.createVariable("v", dtype, ("x",))
            v[:] = values
            assert v.shape == (3,)
            assert v.dtype == dtype
            np.testing.assert_array_equal(v[:], values)
            np.testing.assert_array_equal(v[1:], values[1:])
            assert v[0] == values[0]
        with oz.Dataset(place, auto_complex=True) as ds:
            np.testing.assert_array_equal(ds["v"][::-1], values[::-1])


ATTRIBUTES = {
    "text": "abc", "empty": "", "accents": "héllo", "number": 3, "real": 1.5, "small": np.int8(3),
    "several": [1, 2, 3], "reals": np.array([1.5, 2], "f4"), "texts": ["a", "bc", ""], "one text": ["abc"],
    "bytes": b"raw", "big": 2**62, "unsigned": np.uint64(2**63), "nothing": [], "tuple": (1.0, 2),
    "numpy text": np.str_("x"), "looks like": "123", "json": '{"a": 1}', "one": np.array([5]),
}  # fmt: skip


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes_come_back_as_in_netcdf4(pair, name):
    value = ATTRIBUTES[name]

    def write(ds):
        ds.createVariable("v", "f4", ())
        for node in (ds, ds["v"]):
            node.setncattr("a", value)
            if isinstance(value, str):
                node.setncattr_string("b", value)

    pair.do(write)
    for node in (lambda ds: ds, lambda ds: ds["v"]):
        pair.do(lambda ds, node=node: node(ds).a)
        pair.do(lambda ds, node=node: node(ds).getncattr("a"))
        pair.do(lambda ds, node=node: list(node(ds).__dict__))
