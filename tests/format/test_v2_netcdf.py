"""Arrays of netcdf-c in the plain view: what their documents mean, where that is not what they say."""

from __future__ import annotations

import json
import zlib
from typing import Any

import numpy as np
import pytest
from numcodecs import Shuffle

import omnizarr as oz
from omnizarr.errors import MetadataError
from omnizarr.format import v2_netcdf
from omnizarr.format.v2_netcdf import as_meant

MARKS = {
    "4.9.0": ({"_NCZARR_ARRAY": {"dimrefs": ["/x"], "storage": "chunked"}}, {}),
    "4.9.2": ({"_nczarr_array": {"dimrefs": ["/x"], "storage": "chunked"}}, {}),
    "4.10.1": ({}, {"_nczarr_array": {"dimension_references": ["/x"], "storage": "chunked"}}),
    "others": ({}, {}),
}


def opened(mark: str, dtype: str, chunk: bytes | None, **more: Any) -> oz.Array:
    document = {"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": dtype, "fill_value": 0, "order": "C"}
    main, attributes = MARKS[mark]
    store = {
        ".zarray": json.dumps({**document, "compressor": None, "filters": None, **more, **main}).encode(),
        ".zattrs": json.dumps(attributes).encode(),
    }
    return oz.open_array({**store, **({} if chunk is None else {"0": chunk})})


@pytest.mark.parametrize(("mark", "order"), [("4.9.0", "<"), ("4.9.2", "<"), ("4.10.1", ">"), ("others", ">")])
def test_byte_order(mark, order):
    array = opened(mark, ">i4", np.arange(4, dtype=f"{order}i4").tobytes())
    assert array[...].tolist() == [0, 1, 2, 3]


def test_text_of_one_byte():
    assert opened("4.9.0", "<U1", b"abcd", fill_value="")[...].tolist() == [b"a", b"b", b"c", b"d"]
    assert opened("others", "<U1", np.array(list("abcd"), "<U1").tobytes(), fill_value="")[...].tolist() == list("abcd")


@pytest.mark.parametrize("mark", ["4.9.2", "4.10.1"])
@pytest.mark.parametrize(("dtype", "size"), [("<i4", 4), ("<f8", 8), ("|S8", 8), ("<i2", 2)])
def test_shuffle_without_a_size(mark, dtype, size):
    data = np.arange(4).astype(dtype)
    chunk = zlib.compress(bytes(Shuffle(size).encode(data.view("u1"))))
    filters = [{"id": "shuffle", "elementsize": 0}]
    array = opened(mark, dtype, chunk, filters=filters, compressor={"id": "zlib", "level": 1}, fill_value=None)
    np.testing.assert_array_equal(array[...], data)


def test_shuffle_without_a_size_of_others_moves_nothing():
    data = np.arange(4, dtype="<i4")
    array = opened("others", "<i4", data.tobytes(), filters=[{"id": "shuffle", "elementsize": 0}])
    np.testing.assert_array_equal(array[...], data)


@pytest.mark.parametrize(
    ("mark", "dtype", "fill", "expected"),
    [
        ("4.10.1", "<f8", 9.96921e36, 9.969209968386869e36),
        ("others", "<f8", 9.96921e36, 9.96921e36),
        ("4.10.1", "|S4", "miss", b"miss"),
        ("others", "|S4", "bWlz", b"mis"),
        ("4.10.1", "|S4", "bWlzcw==", b"miss"),
        ("4.9.0", "<i2", "-9", -9),
        ("4.9.0", "<i2", "0x10", 16),
        ("4.9.0", "<f4", "1.5", 1.5),
        ("4.9.0", "<f4", "NaN", np.float32("nan")),
        ("4.9.0", "<i2", [5], 5),
        ("4.10.1", "|S4", ["miss"], b"miss"),
        ("4.10.1", "|S4", None, None),
        ("4.10.1", "<f4", 9.96921e36, np.float32(9.96921e36)),
    ],
)
def test_fill_values(mark, dtype, fill, expected):
    found = opened(mark, dtype, None, fill_value=fill).fill_value
    assert found == expected or (found != found and expected != expected)  # noqa: PLR0124 - NaN


def test_marks_survive_a_change(tmp_path):
    document = {"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": ">i4", "fill_value": 0, "order": "C"}
    (tmp_path / ".zarray").write_text(
        json.dumps({**document, "compressor": None, "filters": None, **MARKS["4.9.2"][0]})
    )
    (tmp_path / "0").write_bytes(np.arange(4, dtype="<i4").tobytes())
    array = oz.open_array(tmp_path, mode="r+")
    array.resize(6)
    array[4:] = 7
    assert oz.open_array(tmp_path)[...].tolist() == [0, 1, 2, 3, 7, 7]
    assert "_nczarr_array" in (tmp_path / ".zarray").read_text()


def test_documents_that_are_no_json():
    store = {
        ".zgroup": b'{"zarr_format": 2}',
        ".zattrs": rb"""{"a": "say \'hi\'", "_NCProperties": "version=2,netcdf=4.8.1,nczarr=2.0.0"} tail""",
    }
    with pytest.warns(oz.OmnizarrWarning, match="as netcdf-c has written it"):
        assert oz.open_group(store).attrs["a"] == 'say "hi"'
    for name, quote in (("_NCZARR_ATTR", '"'), ("_nczarr_attr", "'")):  # since 4.9 a quote is what it is
        store[".zattrs"] = rb"""{"a": "say \'hi\'", "%s": {}} tail""" % name.encode()
        with pytest.warns(oz.OmnizarrWarning, match="as netcdf-c has written it"):
            assert oz.open_group(store).attrs["a"] == f"say {quote}hi{quote}"
    store[".zattrs"] = rb"""{"a": "say \'hi\'"}"""
    with pytest.raises(MetadataError):
        oz.open_group(store)


def meant(dtype: object, attributes: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """Return the document of an array of netcdf-c 4.9.2 in the words of Zarr."""
    return as_meant({"dtype": dtype, **more, **MARKS["4.9.2"][0]}, attributes or {}, "old")


def test_types_that_netcdf_does_not_have_are_left_as_they_are():
    structure = [["a", "<i4"]]
    assert meant(structure, fill_value="x") == {"dtype": structure, "fill_value": "x", **MARKS["4.9.2"][0]}
    shuffle = {"id": "shuffle", "elementsize": 0}
    assert meant("<M8[s]", filters=[shuffle], compressor=None)["filters"] == [shuffle]


def test_what_is_missing_stays_missing():
    assert set(meant("<i4", shape=[4])) == {"dtype", "shape", "_nczarr_array"}
    document = {"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<i4", "order": "C"}
    document |= {"compressor": None, "filters": None, **MARKS["4.9.2"][0]}
    with pytest.warns(oz.OmnizarrWarning, match="'fill_value' is missing"):
        oz.open_array({".zarray": json.dumps(document).encode()})


def test_a_fill_value_in_base64_is_known_by_the_attribute():
    assert meant("|S8", {"_FillValue": "mis"}, fill_value="bWlz")["fill_value"] == "bWlz"
    assert meant("|S8", {"_FillValue": "other"}, fill_value="bWlz")["fill_value"] == "Yldseg=="
    assert meant("|S8", {"_FillValue": "bWlz"}, fill_value="bWlz")["fill_value"] == "Yldseg=="
    assert meant("|S8", {"_FillValue": "x"}, fill_value="no!")["fill_value"] == "bm8h"


def test_lines_of_szip_are_as_long_as_the_array():
    szip = {"id": "szip", "mask": 141}
    assert meant("<i4", shape=[3, 7], compressor=szip)["compressor"] == {**szip, "pixels-per-scanline": 7}
    own = {**szip, "pixels-per-scanline": 5}
    assert meant("<i4", shape=[3, 7], compressor=own)["compressor"] == own


def test_plain_zarr_of_netcdf_c_is_known_by_the_order_of_its_fields():
    fields = {"zarr_format": 2, "shape": [4], "dtype": "<i4", "chunks": [4], "fill_value": 0, "order": "C"}
    codec, other = {"id": "shuffle", "elementsize": 0}, {"id": "shuffle", "elementsize": 2}
    found = as_meant({**fields, "filters": [codec, other, 1]}, {}, "")
    assert found["filters"] == [{"id": "shuffle", "elementsize": 4}, other, 1]
    turned = dict(reversed(fields.items()))
    assert as_meant({**turned, "filters": [codec]}, {}, "")["filters"] == [codec]


@pytest.mark.parametrize(
    ("value", "dtype", "fill"),
    [
        ([5], "<i4", 5),
        (["7"], "<i4", 7),
        ("0x10", "<i4", 16),
        ("1.5", "<f4", 1.5),
        ([], "<i4", []),
        ([1, 2], "<i4", [1, 2]),
    ],
)
def test_fill_values_in_lists_of_one(value, dtype, fill):
    document = {"shape": [4], "dtype": dtype, "fill_value": value}
    assert as_meant(document, {}, "new")["fill_value"] == fill


def test_sizes_are_filled_in_where_they_are_missing():
    order = list(v2_netcdf._ORDER)
    document = dict.fromkeys(order) | {
        "dtype": "<i4",
        "filters": [{"id": "shuffle"}, {"id": "shuffle", "elementsize": 2}],
    }
    assert as_meant(document, {}, "")["filters"] == [
        {"id": "shuffle", "elementsize": 4},
        {"id": "shuffle", "elementsize": 2},
    ]
    for other in ({"dtype": "|S4"}, {"filters": None}, {"dtype": None}):
        assert as_meant(document | other, {}, "") == document | other
