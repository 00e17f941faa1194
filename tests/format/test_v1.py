"""Zarr v1: documents, and where its only writer did not keep to them."""

import bz2
import json
import lzma
import zlib

import numcodecs
import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.format import old, v1
from omnizarr.model.dtype import DType
from omnizarr.model.fill import Fill
from omnizarr.model.keys import v2_keys

VALUES = np.arange(35, dtype="<i4").reshape(5, 7)

META = {
    "chunks": [2, 3],
    "compression": "zlib",
    "compression_opts": 1,
    "dtype": "<i4",
    "fill_value": 9,
    "order": "C",
    "shape": [5, 7],
    "zarr_format": 1,
}


def store_of(compression, options, encode, order, stored):
    """Build an array as zarr 1.x wrote it: the chunks in the order `stored`, the document saying `order`."""
    document = {**META, "compression": compression, "compression_opts": options, "order": order}
    store = {"meta": json.dumps(document, indent=4).encode(), "attrs": b"{}"}
    for i in range(3):
        for j in range(3):
            chunk = np.full((2, 3), 9, "<i4")
            part = VALUES[2 * i : 2 * i + 2, 3 * j : 3 * j + 3]
            chunk[: part.shape[0], : part.shape[1]] = part
            store[f"{i}.{j}"] = encode(chunk.tobytes(stored))
    return store


OTHERS = [
    ("zlib", 1, zlib.compress),
    ("gzip", 1, zlib.compress),
    ("bz2", 1, bz2.compress),
    ("lzma", {"check": 0, "filters": None, "format": 1, "preset": 1}, lzma.compress),
    ("none", None, bytes),
    (None, None, bytes),
]


@pytest.mark.parametrize(("compression", "options", "encode"), OTHERS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_only_blosc_keeps_to_order_f(compression, options, encode, order):
    store = store_of(compression, options, encode, order, "C")
    assert np.array_equal(oz.open(store)[...], VALUES)
    # A rewrite of the document keeps what it said.
    oz.open(store, "r+").resize((6, 7))
    assert json.loads(store["meta"])["order"] == order
    assert np.array_equal(oz.open(store)[:5], VALUES)


@pytest.mark.parametrize("order", ["C", "F"])
def test_blosc_keeps_to_its_order(order):
    codec = numcodecs.Blosc("blosclz", 5, 1)
    options = {"clevel": 5, "cname": "blosclz", "shuffle": 1}
    store = store_of("blosc", options, lambda raw: codec.encode(np.frombuffer(raw, "<i4")), order, order)
    a = oz.open(store)
    assert a.order == order
    assert np.array_equal(a[...], VALUES)


def test_arrays_that_were_migrated_wrongly_can_be_read():
    """zarr 2 copied "order": "F" of arrays whose chunks are in C order."""
    old = store_of("zlib", 1, zlib.compress, "F", "C")
    compressor = {"id": "zlib", "level": 1}
    document = {
        "zarr_format": 2,
        "compressor": compressor,
        "filters": None,
        **{k: META[k] for k in ("chunks", "dtype")},
    }
    document |= {"fill_value": 9, "order": "F", "shape": [5, 7]}
    store = {".zarray": json.dumps(document).encode(), **{key: old[key] for key in old if key[0].isdigit()}}
    assert not np.array_equal(oz.open_array(store)[...], VALUES)
    assert np.array_equal(oz.open_array(store, stored_order="C")[...], VALUES)


@pytest.mark.parametrize(
    ("codecs", "name", "options"),
    [
        (oz.codec.blosc("lz4"), "blosc", {"cname": "lz4", "clevel": 5, "shuffle": 1}),
        (oz.codec.zlib(3), "zlib", 3),
        (oz.codec.bz2(4), "bz2", 4),
        (oz.codec.lzma(1), "lzma", {"format": 1, "check": -1, "preset": 1, "filters": None}),
        (None, "none", None),
    ],
)
def test_documents_written(tmp_path, codecs, name, options):
    a = oz.create_array(tmp_path, data=VALUES, chunks=(2, 3), codecs=codecs, fill_value=9, format="zarr1")
    written = json.loads((tmp_path / "meta").read_text())
    assert written == {**META, "compression": name, "compression_opts": options}
    assert (tmp_path / "attrs").read_text() == "{}"
    assert (tmp_path / "meta").read_text() == json.dumps(written, indent=4, sort_keys=True)
    a.attrs["units"] = "K"
    assert json.loads((tmp_path / "attrs").read_text()) == {"units": "K"}
    assert np.array_equal(oz.open(tmp_path)[...], VALUES)
    assert dict(oz.open(tmp_path).attrs) == {"units": "K"}
    raw = (tmp_path / "1.0").read_bytes()
    decoded = raw if codecs is None else numcodecs.get_codec({"id": name}).decode(raw)
    assert np.frombuffer(decoded, "<i4").tolist() == VALUES[2:4, :3].ravel().tolist()


def test_order_f_with_blosc_is_written_as_such():
    store = {}
    oz.create_array(store, data=VALUES, chunks=(2, 3), codecs=oz.codec.blosc(), order="F", format="zarr1")
    assert json.loads(store["meta"])["order"] == "F"
    chunk = np.frombuffer(numcodecs.Blosc().decode(store["0.0"]), "<i4")
    assert chunk.tolist() == VALUES[:2, :3].ravel("F").tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"codecs": "zstd"}, "blosc, zlib, bz2 and lzma"),
        ({"codecs": oz.codec.zlib(), "order": "F"}, "only Blosc"),
        ({"codecs": [oz.codec.delta("<i4"), oz.codec.zlib()]}, "no filters"),
        ({"separator": "/"}, "no other separator"),
        ({"codecs": {"id": "blosc", "cname": "lz4", "blocksize": 256}}, "Blosc's block size"),
    ],
)
def test_what_it_cannot_express(options, message):
    with pytest.raises(UnsupportedError, match=message):
        oz.create_array({}, data=VALUES, format="zarr1", **options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"zarr_format": 2}, "not 1"),
        ({"compression": "lzo"}, "not one of"),
        ({"compression_opts": "x"}, "options of zlib"),
        ({"order": "K"}, "'C', 'F'"),
        ({"order": ...}, "the field 'order' is missing"),
        ({"fill_value": ...}, "the field 'fill_value' is missing"),
        ({"compression": 1}, "not one of"),
        ({"compression": "lzma", "compression_opts": 1}, "options of lzma"),
        ({"zarr_format": True}, "not 1"),
    ],
)
def test_broken_documents(change, message):
    document = {name: one for name, one in {**META, **change}.items() if one is not ...}
    store = {"meta": json.dumps(document).encode(), "attrs": b"{}"}
    with pytest.raises(MetadataError, match=message) as caught:
        oz.open(store)
    assert caught.value.key == "meta"


def test_a_file_called_meta_alone_makes_no_array(tmp_path):
    (tmp_path / "meta").write_text("notes")
    assert oz.detect(tmp_path).format == ""


def test_fill_values_are_bare_words():
    store = {"meta": json.dumps({**META, "dtype": "<f4", "fill_value": float("nan")}).encode(), "attrs": b"{}"}
    assert b"NaN" in store["meta"]
    assert np.isnan(oz.open(store)[...]).all()


@pytest.mark.parametrize("shape", [(2, 3), (200, 300)])
def test_the_order_f_takes_blosc_by_itself(shape):
    values = np.arange(np.prod(shape)).reshape(shape)
    store = {}
    oz.create_array(store, data=values, order="F", format="zarr1")
    a = oz.open(store)
    assert (a.order, a.codecs[-1].name) == ("F", "blosc")
    assert np.array_equal(a[...], values)


@pytest.mark.parametrize("length", [20, 100, 200])
def test_a_document_that_is_cut_off_is_told_of(length):
    store = {}
    oz.create_array(store, shape=(3,), format="zarr1")
    assert len(store["meta"]) > 200
    store["meta"] = store["meta"][:length]
    with pytest.raises(MetadataError, match=r"not JSON.*'meta'"):
        oz.open(store)


def test_shapes_and_keys_that_it_does_not_have():
    with pytest.raises(UnsupportedError, match="without dimensions"):
        oz.create_array({}, shape=(), format="zarr1")
    meta = v1.parse("", {"meta": json.dumps(META).encode()})
    with pytest.raises(UnsupportedError, match="no chunk keys such as '1/2'"):
        v1.render(meta._replace(keys=v2_keys("/")))


def test_a_compression_without_options_has_the_defaults_of_the_time():
    store = store_of("zlib", None, zlib.compress, "C", "C")
    assert np.array_equal(oz.open(store)[...], VALUES)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (b'{"zarr_format": 1}', True),
        (b'{"chunks": [1]}', False),  # a document of somebody else's
        (b' {"chunks": [1], "fill_value": ', True),  # one that was cut off
        (b'["chunks", "zarr_format"]', False),
    ],
)
def test_documents_are_told_from_those_of_others(text, is_one):
    assert v1.is_meta(text) is is_one


def test_text_that_reads_as_a_number_stays_text():
    text, number = DType.of("<U8"), DType.of("<f8")
    assert old.render_fill(Fill.of("NaN", text), text, "Zarr v1") == "NaN"
    assert old.render_fill(Fill.of(np.nan, number), number, "Zarr v1") != "NaN"


def test_types_inside_of_structures_are_looked_at():
    assert old.old_dtype([["a", [["b", "<i4"]]]], "Zarr v1")
    with pytest.raises(UnsupportedError, match="no type of Zarr v1"):
        old.old_dtype([["a", [["b", "bfloat16"]]]], "Zarr v1")
