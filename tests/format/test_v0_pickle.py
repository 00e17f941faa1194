"""Pickles of zarr 0.3.0 that were made by hand: every opcode that is refused, and why."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from omnizarr.errors import LimitError, MetadataError, UnsafeError
from omnizarr.format.v0_pickle import is_pickle, load_pickle

DTYPE = b"cnumpy\ndtype\n(V%s\nI0\nI1\ntR"
STATE = b"(I3\nV<\nNNNI-1\nI-1\nI0\ntb"
SCALAR = b"cnumpy.core.multiarray\nscalar\n"


def read(value: bytes) -> object:
    """Read a pickle of one field, the value of which is made by these opcodes."""
    return load_pickle(b"(dVx\n" + value + b"s.", "k")["x"]


def made(value: object, protocol: int = 2) -> object:
    return load_pickle(pickle.dumps({"x": value}, protocol), "k")["x"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (b"I1\nI2\ns", "in something that is no dictionary"),
        (b"t", "broken"),
        (b"I1\n(tR", "something that is no function is called"),
        (b"I1\n(tb", "a state is set in something that has none"),
        (b"cnumpy\ndtype\n(I1\ntR", "a dtype is made from its name"),
        (SCALAR + b"(I1\nVab\ntR", "a scalar is made from a dtype and bytes"),
        (SCALAR + b"(" + DTYPE % b"i4" + STATE + b"I5\ntR", "a scalar is made from a dtype and bytes"),
        (SCALAR + b"(" + DTYPE % b"i4" + STATE + b"Vab\ntR", "a scalar does not fit its type"),
        (SCALAR + b"(" + DTYPE % b"O8" + STATE + b"Vabcdefgh\ntR", "a scalar is an object"),
        (b"c_codecs\nencode\n(I1\ntR", "bytes are made from text in Latin-1"),
        (b"c_codecs\nencode\n(Va\nVutf-8\ntR", "bytes are made from text in Latin-1"),
        (b"g9\n", "broken"),
    ],
)
def test_opcodes_that_do_not_fit_each_other(value, words):
    with pytest.raises(MetadataError, match=words) as caught:
        read(value)
    assert caught.value.key == "k"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x85.", "the stack is empty"),
        (b"I1\nt.", "a mark is missing"),
        (b"(dVx\nI1\ns", "broken"),
        (b"I1\n.", "does not hold the fields"),
        (b"(dI1\nI2\ns.", "does not hold the fields"),
        (b"(dVx\n(dss.", "broken"),
    ],
)
def test_documents_that_hold_no_fields(data, words):
    with pytest.raises(MetadataError, match=words) as caught:
        load_pickle(data, "k")
    assert caught.value.key == "k"


@pytest.mark.parametrize("value", [b"cos\nsystem\n", b"cnumpy\nload\n", b"\x8c\x02os\x8c\x06system\x93", b"P1\n"])
def test_names_that_metadata_has_no_use_for(value):
    with pytest.raises(UnsafeError, match=r"names|no use for") as caught:
        read(value)
    assert caught.value.key == "k"


def test_names_of_types_may_be_bytes():
    assert read(b"cnumpy\ndtype\n(C\x02i4I0\nI1\ntR" + STATE) == "<i4"
    assert read(DTYPE % b"i4") == "i4"


@pytest.mark.parametrize(
    ("value", "json"),
    [
        (1 + 2j, [1.0, 2.0]),
        (np.complex64(1j), [0.0, 1.0]),
        (np.longdouble(0.5), 0.5),
        (np.datetime64(7, "s"), 7),
        (np.timedelta64(-7, "s"), -7),
        (np.bool_(True), True),
        (np.int8(-3), -3),
        (b"a\xff", "a\xff"),
        ((1, (2, None)), [1, [2, None]]),
        (np.dtype("<M8[25s]"), "<M8[25s]"),
        (np.dtype("<m8"), "<m8"),
        (np.dtype(">f8"), ">f8"),
        (np.dtype("S7"), "|S7"),
        (np.dtype("<U7"), "<U7"),
        (np.dtype("V7"), "|V7"),
        (np.dtype([("a", "u1"), ("b", "<u2")], align=True), [["a", "|u1"], ["", "|V1"], ["b", "<u2"]]),
    ],
    ids=repr,
)
@pytest.mark.parametrize("protocol", [0, 2])
def test_values_as_json_has_them(value, json, protocol):
    assert made(value, protocol) == json


def test_nan_is_one_in_every_precision():
    found = made(np.longdouble("nan"))
    assert isinstance(found, float)
    assert np.isnan(found)


@pytest.mark.skipif(np.dtype("g").itemsize <= 8, reason="long doubles are doubles here")
def test_a_long_double_that_no_document_can_hold():
    with pytest.raises(MetadataError, match="is a long double, which no document can hold") as caught:
        made(np.longdouble(1) / 3)
    assert caught.value.key == "k"


def test_depth_and_size_are_bounded():
    load_pickle(b"(dVx\n" + b"(" * 16 + b"I1\n" + b"l" * 16 + b"s.", "k")
    with pytest.raises(MetadataError, match="nested too deep"):
        load_pickle(b"(dVx\n" + b"(" * 17 + b"I1\n" + b"l" * 17 + b"s.", "k")
    inner = np.dtype("u1")
    for _ in range(17):
        inner = np.dtype([("a", inner)])
    with pytest.raises(MetadataError, match="types are nested too deep"):
        made(inner)
    room = b"(dVx\nV%s\ns."
    assert len(load_pickle(room % (b"x" * (2**16 - 9)), "k")["x"]) == 2**16 - 9
    with pytest.raises(LimitError, match="65537 bytes; at most 65536") as caught:
        load_pickle(room % (b"x" * (2**16 - 8)), "k")
    assert caught.value.key == "k"


def test_objects_that_json_does_not_have():
    with pytest.raises(MetadataError, match="holds a dict"):
        made({"a": 1})
    overlapping = np.dtype({"names": ["a", "b"], "formats": ["<u4", "u1"], "offsets": [0, 0]})
    with pytest.raises(MetadataError, match="the fields of a type overlap"):
        made(overlapping)


def test_pickles_are_known_by_their_first_byte():
    assert all(is_pickle(pickle.dumps({"a": 1}, protocol)) for protocol in range(6))
    assert not is_pickle(b'{"a": 1}')
    assert not is_pickle(b"")


@pytest.mark.parametrize("protocol", [0, 2])
@pytest.mark.parametrize(
    "name", ["<i4", ">f8", "|b1", "|u1", "<U3", ">U3", "|S5", "|V7", "<M8[s]", ">m8[25us]", "<M8", "<c16"]
)
def test_types_are_read_as_their_names(name, protocol):
    assert made(np.dtype(name), protocol) == name


def test_types_of_which_only_the_name_is_there():
    for name, found in ((b"U3", "<U3"), (b"S5", "<S5"), (b"V7", "<V7"), (b"f8", "<f8"), (b"M8", "<M8")):
        assert read(DTYPE % name + STATE) == found
