"""Arrays of objects in v2 documents."""

from __future__ import annotations

from typing import Any

import pytest

from omnizarr.errors import MetadataError, UnsafeError, UnsupportedError
from omnizarr.format import v2
from omnizarr.model.array import ArrayMeta
from omnizarr.model.codec import Codec
from omnizarr.model.dtype import JSON_OBJECTS, MSGPACK_OBJECTS, STRING, DType, arrays_of
from omnizarr.model.fill import Fill

LABELS = {"labels": ["a", "b"], "dtype": "|O", "astype": "|u1"}


def parse(**changes: Any) -> ArrayMeta:
    document = {
        "zarr_format": 2,
        "shape": [4, 6],
        "chunks": [2, 3],
        "dtype": "|O",
        "fill_value": 0,
        "order": "C",
        "filters": [{"id": "json2"}],
        "compressor": None,
        **changes,
    }
    return v2.parse_array(document, None, ".zarray")


def again(meta: ArrayMeta) -> ArrayMeta:
    return v2.parse_array(v2.render_array(meta)[0], None, ".zarray")


@pytest.mark.parametrize(
    ("filters", "dtype", "bits"),
    [
        ([{"id": "json2", "encoding": "utf-8"}], JSON_OBJECTS, b"0"),
        ([{"id": "json"}], JSON_OBJECTS, b"0"),
        ([{"id": "msgpack2", "raw": False}], MSGPACK_OBJECTS, b"0"),
        ([{"id": "msgpack", "encoding": "utf-8"}], MSGPACK_OBJECTS, b"0"),
        ([{"id": "vlen-array", "dtype": ">i4"}], arrays_of(DType.of(">i4")), b""),
        ([{"id": "categorize", **LABELS}], STRING, b""),
        ([{"id": "categorize", **LABELS}, {"id": "delta", "dtype": "|u1"}], STRING, b""),
        ([{"id": "json2"}, {"id": "gzip", "level": 1}], JSON_OBJECTS, b"0"),
    ],
    ids=lambda value: str(value)[:30],
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_types(filters: list[Any], dtype: DType, bits: bytes, order: str) -> None:
    meta = parse(filters=filters, order=order)
    assert meta.dtype == dtype
    assert meta.fill == Fill(bits)
    assert again(meta) == meta
    document = v2.render_array(meta)[0]
    assert document["dtype"] == "|O"
    assert [one["id"] for one in [*document["filters"], document["compressor"]] if one] == [
        one["id"] for one in filters
    ]


def test_trap_13_nested_lists_have_no_order() -> None:
    assert parse(order="F").codecs == (Codec("numcodecs.json2", {}),)
    assert parse(order="F", filters=[{"id": "vlen-utf8"}]).codecs[0] == Codec("transpose", {"order": [1, 0]})
    elsewhere = [{"id": "delta", "dtype": "<i4"}, {"id": "json2"}]
    assert parse(order="F", dtype="<i4", filters=elsewhere).codecs[0].name == "transpose"
    with pytest.raises(UnsupportedError, match="order F"):
        v2.render_array(parse()._replace(codecs=(Codec("transpose", {"order": [1, 0]}), Codec("numcodecs.json2"))))


@pytest.mark.parametrize("value", [None, 0, "x", [1, {"a": None}], {"b": 2}, 1.5, True])
def test_fill_values_of_json(value: Any) -> None:
    meta = parse(fill_value=value)
    assert meta.fill.value(meta.dtype) == value
    assert v2.render_array(meta)[0]["fill_value"] == value


def test_fill_values_of_arrays() -> None:
    filters = [{"id": "vlen-array", "dtype": "<i2"}]
    meta = parse(filters=filters, fill_value=[1, 2])
    assert meta.fill.bits == b"\1\0\2\0"
    assert again(meta) == meta
    for wrong in (1, "x", [70000], [[1]]):
        with pytest.raises(MetadataError) as caught:
            parse(filters=filters, fill_value=wrong)
        assert caught.value.pointer == "/fill_value"


@pytest.mark.parametrize("filters", ["vlen-utf8", "vlen-bytes"])
@pytest.mark.parametrize("value", [0, ""])
def test_trap_17_zero_is_the_empty_string(filters: str, value: Any) -> None:
    assert parse(filters=[{"id": filters}], fill_value=value).fill == Fill(b"")


def test_trap_58_pickles_are_refused() -> None:
    for filters in ([{"id": "pickle"}], [{"id": "json2"}, {"id": "pickle"}]):
        with pytest.raises(UnsafeError):
            parse(filters=filters)


@pytest.mark.parametrize(
    "changes",
    [
        {"filters": [{"id": "vlen-array"}]},
        {"filters": [{"id": "vlen-array", "dtype": "?"}]},
        {"filters": [{"id": "vlen-array", "dtype": "|O"}]},
        {"filters": [{"id": "json2"}, {"id": "json2"}]},
        {"filters": [{"id": "json2"}, {"id": "msgpack2"}]},
        {"filters": [{"id": "vlen-utf8"}, {"id": "delta", "dtype": "|u1"}]},
        {"dtype": "<i4", "filters": [{"id": "vlen-array", "dtype": "<i4"}]},
        {"dtype": "<i4", "filters": [{"id": "vlen-bytes"}]},
    ],
    ids=str,
)
def test_what_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(MetadataError):
        parse(**changes)


def test_codecs_of_objects_that_are_not_known() -> None:
    with pytest.raises(UnsupportedError, match="objects encoded by 'novel'") as caught:
        parse(filters=[{"id": "novel"}])
    assert (caught.value.pointer, caught.value.codec) == ("/filters/0", "novel")
    for filters in ([], [5], [{"id": 5}], None):
        with pytest.raises(UnsupportedError, match="addresses in memory") as caught:
            parse(filters=filters)
        assert caught.value.pointer == "/filters"
