"""Codecs written in Python: those of numcodecs, and those found by entry point."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.codec import registry
from omnizarr.errors import CodecError, CorruptError, MetadataError, OmnizarrError, UnsafeError, UnsupportedError
from omnizarr.model.codec import Codec

VALUES = np.arange(60, dtype="f8").reshape(6, 10)


@pytest.fixture(params=["zarr3", "zarr2"])
def fmt(request):
    return request.param


def roundtrip(fmt, codecs, values=VALUES, **options):
    array = oz.create_array({}, data=values, chunks=(4, 3), codecs=codecs, format=fmt, **options)
    reopened = oz.open_array(array.store)
    assert array.nchunks_stored
    return reopened[...]


NUMCODECS = [
    ({"id": "adler32"}, "f8"),
    ({"id": "crc32"}, "f8"),
    ({"id": "crc32c", "location": "start"}, "f8"),
    ({"id": "fletcher32"}, "f8"),
    ({"id": "jenkins_lookup3"}, "f8"),
    ({"id": "base64"}, "f8"),
    ({"id": "fixedscaleoffset", "offset": 0, "scale": 2, "dtype": "<f8", "astype": "<u2"}, "f8"),
    ({"id": "quantize", "digits": 3, "dtype": "<f8"}, "f8"),
    ({"id": "bitround", "keepbits": 20}, "f8"),
    ({"id": "astype", "encode_dtype": "<i2", "decode_dtype": "<f8"}, "f8"),
    ({"id": "packbits"}, "bool"),
    ({"id": "categorize", "labels": ["a", "b"], "dtype": "<U1", "astype": "u1"}, "<U1"),
]


@pytest.mark.parametrize(
    ("config", "dtype"), NUMCODECS, ids=lambda value: value["id"] if isinstance(value, dict) else ""
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_codecs_of_numcodecs(fmt, config, dtype, order):
    pytest.importorskip("numcodecs")
    if dtype == "bool":
        values = VALUES % 3 == 0
    elif dtype == "<U1":
        values = np.where(VALUES % 2 == 0, "a", "b")
    else:
        values = VALUES
    np.testing.assert_array_equal(roundtrip(fmt, [config, "zstd"], values, order=order), values)
    if fmt == "zarr3":
        np.testing.assert_array_equal(roundtrip(fmt, [config], values, shards=(8, 6)), values)


WRONG = [
    ({"id": "fixedscaleoffset", "offset": 0, "scale": 1, "dtype": "<f8", "astype": "|i1"}, "f8", "i4"),
    ({"id": "fixedscaleoffset", "offset": 0, "scale": 1, "dtype": "<u4", "astype": "|i1"}, "u4", "i4"),
    ({"id": "quantize", "digits": 2, "dtype": "<f8"}, "f8", "i4"),
    ({"id": "quantize", "digits": 2, "dtype": "<f4"}, "f4", "f8"),
    ({"id": "astype", "encode_dtype": "<i2", "decode_dtype": "<f4"}, "f4", "i4"),
    ({"id": "packbits"}, "b1", "i4"),
    ({"id": "packbits"}, "b1", "u1"),
    ({"id": "categorize", "labels": ["a", "b"], "dtype": "<U1", "astype": "u1"}, "U1", "i4"),
    ({"id": "categorize", "labels": ["a", "b"], "dtype": "<U1", "astype": "u1"}, "U1", "U2"),
]


@pytest.mark.parametrize(("config", "made_for", "dtype"), WRONG)
def test_a_codec_made_for_another_type_is_refused(fmt, config, made_for, dtype):
    numcodecs = pytest.importorskip("numcodecs")
    for given in (config, numcodecs.get_codec(dict(config))):
        with pytest.raises(MetadataError, match=config["id"]) as caught:
            oz.create_array({}, shape=(8,), dtype=dtype, codecs=given, format=fmt)
        assert made_for in str(caught.value)
        assert np.dtype(dtype).str in str(caught.value)


def test_a_codec_made_for_another_type_is_refused_in_stored_arrays():
    pytest.importorskip("numcodecs")
    config = {"id": "quantize", "digits": 2, "dtype": "<f8"}
    array = oz.create_array({}, shape=(8,), dtype="f8", codecs=config, format="zarr2")
    document = array.store.get(".zarray").replace(b'"dtype": "<f8",\n  "', b'"dtype": "<i8",\n  "')
    assert b"<i8" in document
    assert b"<f8" in document
    stored = oz.open_array({".zarray": document}, "r+")  # codecs are looked at when values are first asked for
    with pytest.raises(MetadataError, match="quantize"):
        stored[...]
    with pytest.raises(MetadataError, match="quantize"):
        stored[...] = 1


def test_time_may_go_through_a_codec_of_integers(fmt):
    pytest.importorskip("numcodecs")
    values = (1000 * np.arange(60)).reshape(6, 10).astype("M8[s]")
    config = {"id": "fixedscaleoffset", "offset": 0, "scale": 1, "dtype": "<i8", "astype": "<i4"}
    np.testing.assert_array_equal(roundtrip(fmt, [config], values), values)


def test_numcodecs_reads_what_the_adapter_wrote():
    numcodecs = pytest.importorskip("numcodecs")
    config = {"id": "fixedscaleoffset", "offset": 0, "scale": 2, "dtype": "<f8", "astype": "<u2"}
    array = oz.create_array({}, data=VALUES, chunks=(6, 10), codecs=[config], format="zarr2")
    stored = array.store.get("0.0")
    np.testing.assert_array_equal(np.frombuffer(stored, "<u2"), (VALUES * 2).astype("u2").ravel())
    decoded = numcodecs.get_codec(dict(config)).decode(stored)
    np.testing.assert_array_equal(decoded, VALUES.ravel())


def test_a_damaged_chunk_names_the_codec(fmt):
    pytest.importorskip("numcodecs")
    array = oz.create_array({}, data=VALUES, chunks=(6, 10), codecs=[{"id": "fletcher32"}], format=fmt)
    key = "c/0/0" if fmt == "zarr3" else "0.0"
    raw = bytearray(array.store.get(key))
    raw[5] ^= 1
    array.store.put(key, bytes(raw))
    with pytest.raises(OmnizarrError, match="fletcher32") as caught:
        array[...]
    assert "c/0/0" in str(caught.value) or "0.0" in str(caught.value)


def test_numcodecs_is_optional(monkeypatch):
    monkeypatch.setitem(sys.modules, "numcodecs.registry", None)
    with pytest.raises(UnsupportedError, match=r"pip install omnizarr\[numcodecs\]"):
        oz.create_array({}, shape=(3,), codecs={"id": "of_another_package"})


def test_pickle_is_never_run(fmt):
    for given in ({"id": "pickle"}, "numcodecs.pickle"):
        with pytest.raises(UnsafeError):
            oz.create_array({}, shape=(3,), codecs=given, format=fmt)


class Negate:
    """An array codec."""

    kind = "array"

    def __init__(self, config, dtype, shape):
        assert config == {"by": 1}
        assert (dtype, len(shape)) == (np.float64, 2)

    @classmethod
    def from_config(cls, config, *, dtype, shape):
        return cls(config, dtype, shape)

    def encode(self, array):
        return -array

    def decode(self, array):
        return -array


class Reverse:
    """A codec of bytes, made by being called."""

    kind = "bytes"

    def __init__(self, config, *, dtype, shape):
        del config, dtype, shape

    def encode(self, data):
        return bytes(data)[::-1]

    def decode(self, data):
        return bytes(data)[::-1]


class Short(Reverse):
    def decode(self, data):
        return bytes(data)[:-1]


class Broken(Reverse):
    def decode(self, data):
        raise LookupError("no luck")


@pytest.fixture
def plugins(monkeypatch):
    """Entry points, as if packages had registered them."""
    found = {
        "example.negate": [EntryPoint("example.negate", "example:Negate", registry.GROUP)],
        "example.reverse": [EntryPoint("example.reverse", "example:Reverse", registry.GROUP)],
        "example.short": [EntryPoint("example.short", "example:Short", registry.GROUP)],
        "example.broken": [EntryPoint("example.broken", "example:Broken", registry.GROUP)],
        "example.twice": [EntryPoint("example.twice", where, registry.GROUP) for where in ("a:A", "b:B")],
    }
    module = type(sys)("example")
    module.Negate, module.Reverse, module.Short, module.Broken = Negate, Reverse, Short, Broken
    monkeypatch.setitem(sys.modules, "example", module)
    monkeypatch.setattr(registry, "_select", lambda name: found.get(name, []))
    registry._entry_point.cache_clear()
    yield
    registry._entry_point.cache_clear()


def test_codecs_by_entry_point(plugins):
    codecs = [Codec("example.negate", {"by": 1}), "example.reverse", "zstd"]
    array = oz.create_array({}, data=VALUES, chunks=(6, 10), codecs=codecs)
    assert [codec.name for codec in array.codecs] == ["example.negate", "bytes", "example.reverse", "zstd"]
    np.testing.assert_array_equal(oz.open_array(array.store)[...], VALUES)
    plain = oz.create_array({}, data=VALUES, chunks=(6, 10), codecs=[Codec("example.negate", {"by": 1})])
    assert plain.store.get("c/0/0") == (-VALUES).tobytes()


def test_many_threads_share_a_python_codec(plugins):
    values = np.random.default_rng(0).random((200, 50))
    array = oz.create_array(oz.MemoryStore(), data=values, chunks=(5, 5), codecs=["example.reverse"])
    np.testing.assert_array_equal(array[...], values)


def test_a_name_that_two_packages_claim_is_refused(plugins):
    with pytest.raises(UnsupportedError, match="two packages"):
        oz.create_array({}, shape=(3,), codecs="example.twice")


def test_a_codec_that_fails_is_named(plugins):
    array = oz.create_array({}, data=VALUES, codecs="example.short")
    with pytest.raises(CorruptError, match=r"example\.short"):
        array[...]
    array = oz.create_array({}, data=VALUES, codecs="example.broken")
    with pytest.raises((CodecError, CorruptError), match=r"example\.broken") as caught:
        array[...]
    assert "no luck" in str(caught.value)


def test_fixed_width_text_stored_by_length():
    import json

    array = oz.create_array({}, data=np.array(["", "ab", "xyz"]), codecs="zlib", format="zarr2")
    document = json.loads(array.store.get(".zarray"))
    document["filters"] = [{"id": "vlen-utf8"}]
    store = {".zarray": json.dumps(document).encode()}
    text = oz.open_array(store, "r+")
    text[...] = ["", "ab", "xyz"]
    assert oz.open_array(store)[...].tolist() == ["", "ab", "xyz"]
    assert oz.open_array(store).dtype == np.dtype("U3")
    numcodecs = pytest.importorskip("numcodecs")
    items = numcodecs.VLenUTF8().decode(numcodecs.Zlib().decode(store["0"]))
    assert items.tolist() == ["", "ab", "xyz"]
