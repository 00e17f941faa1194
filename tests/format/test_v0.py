"""The first Zarr format: documents as seed zarr 0.4 wrote them, the pickles of 0.3, and what both left behind."""

import json
import pickle
import re
import struct
import warnings

import numpy as np
import pytest
from numcodecs import blosc

import omnizarr as oz
from omnizarr.errors import MetadataError, ReadOnlyError, UnsafeError, UnsupportedError
from omnizarr.format import v0
from omnizarr.model.keys import v2_keys

EXAMPLE = """{
    "chunks": [
        10000,
        100
    ],
    "clevel": 3,
    "cname": "lz4",
    "dtype": "<i4",
    "fill_value": 42,
    "shape": [
        1000000,
        1000
    ],
    "shuffle": 1
}"""
ATTRIBUTES = """{
    "bar": 4.2,
    "baz": "quux",
    "foo": 42
}"""


def make(place, **options):
    return oz.create_array(place, format="zarr0", **options)


def test_documents_are_byte_for_byte_those_of_the_format(tmp_path):
    place = tmp_path / "example.zarr"
    a = make(
        place, shape=(1000000, 1000), chunks=(10000, 100), dtype="i4", fill_value=42, cname="lz4", clevel=3, shuffle=1
    )
    assert (place / "__zmeta__").read_text() == EXAMPLE
    assert sorted(path.name for path in place.iterdir()) == ["__zdata__", "__zmeta__"]
    assert list((place / "__zdata__").iterdir()) == []
    a.attrs["foo"] = 42
    a.attrs["bar"] = 4.2
    a.attrs["baz"] = "quux"
    assert (place / "__zattr__").read_text() == ATTRIBUTES
    a[40000:50000, 2000:3000] = 0
    a[:10000, :500] = 0
    names = sorted(path.name for path in (place / "__zdata__").iterdir())
    assert names == ["0.0.blosc", "0.1.blosc", "0.2.blosc", "0.3.blosc", "0.4.blosc"]


def test_chunks_are_blosc_containers_of_whole_chunks(tmp_path):
    values = np.arange(35, dtype=">i2").reshape(5, 7)
    make(tmp_path, data=values, chunks=(2, 3), cname="blosclz", clevel=9, shuffle=2)
    raw = (tmp_path / "__zdata__" / "2.1.blosc").read_bytes()
    assert raw[0] == 2
    assert raw[3] == 2
    assert struct.unpack_from("<I", raw, 4) == (12,)
    chunk = np.frombuffer(blosc.decompress(raw), ">i2").reshape(2, 3)
    assert chunk[0].tolist() == values[4, 3:6].tolist()
    assert oz.open(tmp_path)[...].tolist() == values.tolist()
    assert oz.open(tmp_path).dtype == np.dtype(">i2")


def test_defaults_are_those_of_the_time(tmp_path):
    make(tmp_path, shape=(10,), dtype="f8", fill_value=None)
    text = (tmp_path / "__zmeta__").read_text()
    for line in ('"cname": "blosclz"', '"clevel": 5', '"shuffle": 1', '"fill_value": null'):
        assert line in text
    assert oz.open(tmp_path).fill_value is None


@pytest.mark.parametrize(
    ("fill", "dtype", "text"),
    [
        (np.nan, "f4", "NaN"),
        (-np.inf, "f8", "-Infinity"),
        (b"abcd", "S4", '"abcd"'),
        ("né", "U3", r'"n\u00e9"'),
        (True, "?", "true"),
        (-5, "i8", "-5"),
    ],
)
def test_fill_values_are_plain(fill, dtype, text, tmp_path):
    make(tmp_path, shape=(3,), dtype=dtype, fill_value=fill)
    assert f'"fill_value": {text}' in (tmp_path / "__zmeta__").read_text()
    assert np.array_equal(oz.open(tmp_path)[...], np.full(3, fill, dtype), equal_nan=dtype[0] == "f")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shape": ()}, "without dimensions"),
        ({"codecs": "zstd"}, "Blosc, and nothing else"),
        ({"cname": "zstd"}, "Blosc with blosclz"),
        ({"order": "F"}, "C order"),
        ({"dtype": "c16", "fill_value": 1j}, "cannot say the fill value"),
        ({"separator": "/"}, "no other separator"),
        ({"codecs": [oz.codec.delta("<f8"), oz.codec.blosc()]}, "nothing else"),
    ],
)
def test_what_it_cannot_express(options, message):
    with pytest.raises(UnsupportedError, match=message):
        make({}, **{"shape": (3, 3), "dtype": "f8", **options})


def test_there_are_no_groups():
    with pytest.raises(UnsupportedError, match="no groups"):
        oz.create_group({}, format="zarr0")


def test_it_can_be_changed(tmp_path):
    a = make(tmp_path, data=np.arange(10), chunks=(4,), attrs={"x": 1})
    a.resize((13,))
    a[10:] = 7
    a.append(np.array([1, 2]))
    del a.attrs["x"]
    again = oz.open(tmp_path, "r+")
    assert again[...].tolist() == [*range(10), 7, 7, 7, 1, 2]
    assert dict(again.attrs) == {}
    assert not (tmp_path / "__zattr__").exists()


def pickled(tmp_path, **fields):
    """Write `__zmeta__` as zarr 0.3.0 did under Python 3."""
    document = {
        "shape": (5,),
        "chunks": (2,),
        "dtype": np.dtype("<i4"),
        "fill_value": None,
        "cname": b"blosclz",
        "clevel": 5,
        "shuffle": 1,
        **fields,
    }
    tmp_path.joinpath("__zmeta__").write_bytes(pickle.dumps(document, protocol=0))
    tmp_path.joinpath("__zdata__").mkdir(exist_ok=True)


@pytest.mark.parametrize(
    ("dtype", "fill"),
    [
        ("<i4", 3),
        (">i2", np.int16(-4)),
        ("|b1", True),
        ("<f8", float("nan")),
        ("<f4", np.float32(1.5)),
        ("<M8[ns]", None),
        ("<M8[10s]", None),
        ("|S3", b"ab"),
        ("<U3", "ab"),
    ],
)
@pytest.mark.parametrize("protocol", [0, 2])
def test_pickles_are_read_without_unpickling(tmp_path, dtype, fill, protocol):
    pickled(tmp_path, dtype=np.dtype(dtype), fill_value=fill)
    document = pickle.loads((tmp_path / "__zmeta__").read_bytes())
    (tmp_path / "__zmeta__").write_bytes(pickle.dumps(document, protocol=protocol))
    a = oz.open(tmp_path)
    assert a.format == "zarr0"
    assert a.dtype == np.dtype(dtype)
    assert a.shape == (5,)
    assert a.chunks == (2,)
    expected = np.zeros(5, dtype) if fill is None else np.full(5, fill, dtype)
    assert np.array_equal(a[...], expected, equal_nan=dtype == "<f8")


class Evil:
    def __reduce__(self):
        return print, ("run",)


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
def test_pickles_run_nothing(tmp_path, protocol, capsys):
    tmp_path.joinpath("__zmeta__").write_bytes(pickle.dumps({"shape": Evil()}, protocol=protocol))
    with pytest.raises(UnsafeError):
        oz.open(tmp_path)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("keep", range(1, 236, 5))
def test_pickles_that_are_cut_off(tmp_path, keep):
    pickled(tmp_path)
    path = tmp_path / "__zmeta__"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises((MetadataError, UnsafeError)):
        oz.open(tmp_path)


def test_single_bytes_of_0_3_were_never_shuffled(tmp_path):
    values = np.arange(4096, dtype="u1") % 7
    pickled(tmp_path, shape=(4096,), chunks=(4096,), dtype=np.dtype("u1"), shuffle=2)
    # What blosc 1.7.0 wrote: compressed as they are, but with the flag of the bit shuffle.
    raw = bytearray(blosc.compress(values.tobytes(), b"lz4", 5, 0))
    raw[2] |= 4
    (tmp_path / "__zdata__" / "0.blosc").write_bytes(raw)
    assert np.array_equal(oz.open(tmp_path)[...], values)
    a = oz.open(tmp_path, "r+")
    a[:100] = 9
    assert np.array_equal(oz.open(tmp_path)[:], np.where(np.arange(4096) < 100, 9, values))
    a.resize((100,))
    assert oz.open(tmp_path)[...].tolist() == [9] * 100


def test_debris_is_not_seen(tmp_path):
    make(tmp_path, data=np.arange(6), chunks=(3,))
    for name in ("0.blosc.lock", "1.blosc.0123456789abcdef.partial", "7.blosc", "x.blosc"):
        (tmp_path / "__zdata__" / name).write_bytes(b"")
    (tmp_path / "__zattr__.lock").write_bytes(b"")
    assert oz.open(tmp_path)[...].tolist() == list(range(6))
    # A chunk that a shrink left behind is seen again once the array is long enough, as it was then.
    assert oz.open(tmp_path).nchunks == 2


def test_a_stub_is_named(tmp_path):
    (tmp_path / "__zmeta__").write_text('{\n    "chunks": [\n        2\n    ],\n    "fill_value": ')
    (tmp_path / "__zdata__").mkdir()
    with pytest.raises(MetadataError, match="left behind"):
        oz.open(tmp_path)


def test_addresses_of_objects_are_refused(tmp_path):
    (tmp_path / "__zmeta__").write_text(EXAMPLE.replace("<i4", "|O"))
    with pytest.raises(UnsupportedError, match="nobody can read"):
        oz.open(tmp_path)


@pytest.mark.parametrize("field", ["shape", "chunks", "dtype", "fill_value", "cname", "clevel", "shuffle"])
def test_every_field_is_needed(tmp_path, field):
    lines = EXAMPLE.replace(f'"{field}"', '"other"')
    (tmp_path / "__zmeta__").write_text(lines)
    with pytest.raises(MetadataError, match=field):
        oz.open(tmp_path)


def test_a_handle_for_reading_changes_nothing(tmp_path):
    make(tmp_path, data=np.arange(3))
    with pytest.raises(ReadOnlyError):
        oz.open(tmp_path)[0] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        oz.open(tmp_path)


@pytest.mark.parametrize("form", ["zarr0", "zarr1"])
@pytest.mark.parametrize("dtype", ["c8", "c16", "V4", [("a", "<i4"), ("b", ">f8")], [("a", [("b", "S3")])]])
def test_zero_is_what_every_type_is_filled_with(dtype, form):
    store = {}
    oz.create_array(store, shape=(3,), dtype=dtype, format=form)
    a = oz.open(store)
    assert np.array_equal(a[...], np.zeros(3, dtype))
    assert a.fill_value == np.zeros((), dtype)[()]


def test_arrays_of_bytes_of_zarr_0_3_can_be_changed():
    fields = {"shape": (64,), "chunks": (32,), "dtype": np.dtype("u1"), "fill_value": 3}
    store = {"__zmeta__": pickle.dumps({**fields, "cname": b"lz4", "clevel": 5, "shuffle": 2}, 0)}
    values = (np.arange(64) // 3).astype("u1")
    # As its Blosc wrote them: marked as shuffled by bits, which they are not.
    old = bytearray(blosc.compress(values[:32].tobytes(), b"lz4", 5, 0))
    old[2] |= 4
    store["__zdata__/0.blosc"] = bytes(old)
    a = oz.open_array(store, "r+")
    a[32:] = values[32:]
    before = store["__zmeta__"]
    a.attrs["units"] = "m"
    assert store["__zmeta__"] == before
    a.append(np.full(4, 9, "u1"))
    again = oz.open(store)
    assert np.array_equal(again[...], [*values, 9, 9, 9, 9])
    assert dict(again.attrs) == {"units": "m"}


STRUCTURES = [
    np.dtype([("a", "<i4"), ("b", ">f8")]),
    np.dtype([("a", "u1"), ("b", "<i4")], align=True),
    np.dtype([("a", "<i2", (2, 3)), ("b", "S2")]),
    np.dtype([("n", [("p", "<U3"), ("q", "<M8[ms]")]), ("z", "?")]),
    np.dtype({"names": ["a", "b"], "formats": ["<i2", "<i4"], "offsets": [2, 8], "itemsize": 16}),
]


@pytest.mark.parametrize("protocol", [0, 1, 2])
@pytest.mark.parametrize("dtype", STRUCTURES, ids=str)
def test_pickled_structures(dtype, protocol):
    values = np.zeros(4, dtype)
    for at, name in enumerate(dtype.names):
        if dtype[name].names is None:
            values[name] = np.ones((), dtype[name].base) * (at + 1) if dtype[name].base.kind != "S" else b"xy"
    fields = {"shape": (8,), "chunks": (4,), "dtype": dtype, "fill_value": values[1]}
    meta = pickle.dumps({**fields, "cname": b"lz4", "clevel": 5, "shuffle": 0}, protocol)
    a = oz.open({"__zmeta__": meta, "__zdata__/0.blosc": blosc.compress(values.tobytes(), b"lz4", 5, 0)})
    assert a.dtype == dtype
    for name in dtype.names:
        assert np.array_equal(a[name], np.concatenate([values, values])[name])


@pytest.mark.parametrize(
    "text",
    [
        b"(dp0\nVshape\np1\n(I4\ntp2\nsVdtype\np5\ncnumpy\ndtype\np6\n(V\np7\nI0\nI1\ntp8\nRp9\n(I3\nV<\nNNNI-1\nI-1\nI0\ntbs.",
        b"(dp0\nVdtype\np5\ncnumpy\ndtype\np6\n(Vi\xb9\np7\nI0\nI1\ntp8\nRp9\n(I3\nV<\nNNNI-1\nI-1\nI0\ntbs.",
        b"(dp0\nVdtype\np5\ncnumpy\ndtype\np6\n(VV8\nI0\nI1\ntR(I3\nV|\nN(Va\ntI8\nI1\nI0\ntbs.",
        b"(dp0\nVdtype\np5\ncnumpy\ndtype\np6\n(VV8\nI0\nI1\ntR(I3\ntbs.",
    ],
)
def test_pickled_types_that_are_none_are_told_of(text):
    with pytest.raises(MetadataError, match="pickled document"):
        oz.open({"__zmeta__": text})


@pytest.mark.parametrize("form", ["zarr0", "zarr1"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": str}, "elements of any length"),
        ({"dtype": "bytes"}, "elements of any length"),
        ({"dtype": "bfloat16"}, "the string 'bfloat16' is no type of Zarr v"),
        ({"dtype": "int4"}, "the string 'int4' is no type of Zarr v"),
        ({"shards": (4, 4), "chunks": (2, 2)}, "no shards"),
        ({"chunks": [[1, 3], 4]}, "chunks of one shape"),
    ],
)
def test_what_came_later_is_refused_by_name(options, message, form):
    store = {}
    with pytest.raises(UnsupportedError, match=message):
        oz.create_array(store, shape=(4, 4), format=form, **options)
    assert not store


def test_keys_and_shapes_that_it_does_not_have():
    meta = v0.parse("", {"__zmeta__": EXAMPLE.encode()})
    with pytest.raises(UnsupportedError, match=r"no chunk keys such as '1\.2'"):
        v0.render(meta._replace(keys=v2_keys(".")))
    text = EXAMPLE.replace("10000,\n        100", "").replace("1000000,\n        1000", "")
    with pytest.raises(MetadataError, match="what wrote it failed half-way") as caught:
        v0.parse("a/", {"__zmeta__": text.encode()})
    assert (caught.value.key, caught.value.pointer) == ("a/__zmeta__", "/shape")


def test_a_document_that_is_something_else_is_named_as_such():
    with pytest.raises(MetadataError, match="not JSON") as caught:
        v0.parse("", {"__zmeta__": b"<html><title>Not found</title></html>"})
    assert caught.value.hint == "It is an HTML page."


def test_bytes_that_are_no_text_cannot_be_filled_in():
    with pytest.raises(UnsupportedError, match="cannot say the fill value") as caught:
        make({}, shape=(3,), dtype="S2", fill_value=b"\xff")
    assert "fill_value=None" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "value", "stored"),
    [
        *[("clevel", 0, 0), ("clevel", 9, 9), ("clevel", -1, None), ("clevel", 10, None)],
        *[("shuffle", True, "shuffle"), ("shuffle", False, "noshuffle"), ("shuffle", 2, "bitshuffle")],
        *[("shuffle", 3, None), ("shuffle", -1, None)],
    ],
)
def test_settings_of_blosc_have_bounds(name, value, stored):
    text = re.sub(rf'"{name}": \d', f'"{name}": {json.dumps(value)}', EXAMPLE).encode()
    if stored is None:
        with pytest.raises(MetadataError):
            v0.parse("", {"__zmeta__": text})
    else:
        (codec,) = [one for one in v0.parse("", {"__zmeta__": text}).codecs if one.name == "blosc"]
        assert codec.configuration[name] == stored


def test_chunks_without_blosc_are_refused():
    meta = v0.parse("", {"__zmeta__": EXAMPLE.encode()})
    without = meta._replace(codecs=tuple(one for one in meta.codecs if one.name != "blosc"))
    with pytest.raises(UnsupportedError, match="Blosc, and nothing else"):
        v0.render(without)
