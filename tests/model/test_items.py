"""Objects as bytes, one by one."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from omnizarr.errors import ShapeError, UnsupportedError
from omnizarr.model import items
from omnizarr.model.dtype import (
    BYTES,
    JSON_OBJECTS,
    MSGPACK_OBJECTS,
    STRING,
    DType,
    arrays_of,
    optional_of,
)
from omnizarr.model.fill import Fill, item_of

U1 = DType.of("u1")
OPTIONAL = optional_of(U1)
NESTED = optional_of(OPTIONAL)

PLAIN = [None, True, 0, -1, 2**70, 1.5, "", "é", "\ud800", [], [1, [2, None]], {}, {"a": {"b": []}}]


@pytest.mark.parametrize("value", PLAIN, ids=ascii)
def test_json(value: Any) -> None:
    data = items.packer(JSON_OBJECTS)(value)
    assert data.isascii()
    assert items.unpacker(JSON_OBJECTS)(data) == value


@pytest.mark.parametrize("value", [None, True, -1, 2**63, 1.5, "é", b"\xff", [1, [b"x"]], {"a": 1, 2: 3}], ids=repr)
def test_msgpack(value: Any) -> None:
    pytest.importorskip("msgpack")
    assert items.unpacker(MSGPACK_OBJECTS)(items.packer(MSGPACK_OBJECTS)(value)) == value


@pytest.mark.parametrize("dtype", [JSON_OBJECTS, MSGPACK_OBJECTS], ids=lambda dtype: dtype.item)
def test_numbers_of_numpy(dtype: DType) -> None:
    pytest.importorskip("msgpack")
    made = items.packer(dtype)([np.int64(3), np.float32(0.5), np.bool_(True)])
    assert items.unpacker(dtype)(made) == [3, 0.5, True]


@pytest.mark.parametrize("value", [object(), {1, 2}, np.arange(2), 1j], ids=["object", "set", "array", "complex"])
def test_what_json_cannot_say(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        items.packer(JSON_OBJECTS)(value)


def test_arrays() -> None:
    dtype = arrays_of(DType.of(">i2"))
    made = items.unpacker(dtype)(items.packer(dtype)([1, -2]))
    assert made.dtype == np.dtype(">i2")
    assert made.tolist() == [1, -2]
    made[0] = 7  # it is the user's own
    assert items.unpacker(dtype)(b"").tolist() == []
    for wrong in (3, [[1], [2]], "x", [2**40]):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            items.packer(dtype)(wrong)


@pytest.mark.parametrize(
    ("dtype", "value", "data"),
    [
        (OPTIONAL, None, b""),
        (OPTIONAL, 5, b"\1\5"),
        (NESTED, None, b""),
        (NESTED, (None,), b"\1"),
        (NESTED, 5, b"\1\1\5"),
        (optional_of(NESTED), ((None,),), b"\1\1"),
        (optional_of(NESTED), (None,), b"\1"),
        (optional_of(STRING), "", b"\1"),
        (optional_of(STRING), "é", b"\1\xc3\xa9"),
        (optional_of(BYTES), b"\xff", b"\1\xff"),
        (optional_of(DType.of(">u2")), 1, b"\1\0\1"),
    ],
)
def test_optional(dtype: DType, value: Any, data: bytes) -> None:
    assert items.packer(dtype)(value) == data
    assert items.unpacker(dtype)(data) == value


@pytest.mark.parametrize("value", [256, -1, "x", [1], np.arange(3)], ids=str)
def test_what_does_not_fit_an_optional_number(value: Any) -> None:
    with pytest.raises((TypeError, ValueError, OverflowError)):
        items.packer(OPTIONAL)(value)


def test_fill_values() -> None:
    assert Fill.zero(JSON_OBJECTS) == Fill(b"null")
    assert Fill.of([1], JSON_OBJECTS).value(JSON_OBJECTS) == [1]
    assert Fill.of(None, JSON_OBJECTS) == Fill(None)
    assert Fill.of(None, OPTIONAL) == Fill(b"")
    assert Fill.of(3, OPTIONAL).value(OPTIONAL) == 3
    assert Fill.zero(arrays_of(U1)).value(arrays_of(U1)).tolist() == []
    assert item_of(Fill(None), JSON_OBJECTS) == b"null"
    with pytest.raises(ShapeError):
        Fill.of(object(), JSON_OBJECTS)


def test_fill_values_in_messagepack_are_json_in_documents() -> None:
    pytest.importorskip("msgpack")
    fill = Fill.of({"a": 1}, MSGPACK_OBJECTS)
    assert fill.bits == b'{"a":1}'
    assert items.unpacker(MSGPACK_OBJECTS)(item_of(fill, MSGPACK_OBJECTS)) == {"a": 1}
    assert item_of(Fill(None), MSGPACK_OBJECTS) == b"\xc0"


def test_messagepack_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "msgpack", None)
    with pytest.raises(UnsupportedError) as caught:
        items.msgpack_module()
    assert caught.value.hint == "pip install omnizarr[msgpack]"


def test_a_type_must_say_what_is_inside() -> None:
    with pytest.raises(UnsupportedError, match="'object' does not say what its elements hold"):
        items.packer(DType(np.dtype(object), "object", "object", "array"))


@pytest.mark.parametrize(
    ("inner", "value", "words"),
    [(STRING, b"x", "a str is needed, not a bytes"), (BYTES, "x", "a bytes is needed, not a str")],
)
def test_what_does_not_fit_optional_text(inner: DType, value: Any, words: str) -> None:
    with pytest.raises(TypeError, match=words):
        items.packer(optional_of(inner))(value)
    with pytest.raises(ShapeError, match=words):
        Fill.of(value, optional_of(inner))


def test_objects_keep_their_places() -> None:
    values = np.empty((2, 2), object)
    values[...] = [["a", "b"], ["c", "d"]]
    packed = items.pack_all(values, JSON_OBJECTS)
    assert packed.tolist() == [[b'"a"', b'"b"'], [b'"c"', b'"d"']]
    assert items.unpack_all(packed, JSON_OBJECTS).tolist() == values.tolist()


def test_json_is_short_and_lenient() -> None:
    assert items.packer(JSON_OBJECTS)({"a": [1, 2]}) == b'{"a":[1,2]}'
    assert items.unpacker(JSON_OBJECTS)(b'"a\nb"') == "a\nb"


def test_a_tuple_is_no_number() -> None:
    with pytest.raises(TypeError, match="one element is needed"):
        items.packer(OPTIONAL)((1,))
    assert items.packer(NESTED)((1,)) == b"\1\1\1"
