"""Values whose documents do not say what is stored, and chunks that are not as long as they should be."""

from __future__ import annotations

import bz2
import json
import zlib

import numpy as np
import pytest
from numcodecs import Blosc, Shuffle, Zstd
from numcodecs.fletcher32 import Fletcher32

from omnizarr.errors import CorruptError, MetadataError, OmnizarrWarning
from omnizarr.nc.types import DOUBLE
from omnizarr.nc.zarr.reader import open_reader
from tests.nc.zarr.stores import FOUR, array, nczarr, old_group, plain, refers, text, values, zarray


def test_text_of_old_versions_has_one_byte_each():
    document = {**zarray([4], "<U1", fill_value=""), "_NCZARR_ARRAY": {"dimrefs": ["/x"], "storage": "chunked"}}
    group = old_group(
        _NCZARR_SUPERBLOCK={"version": "2.0.0"}, _NCZARR_GROUP={"dims": {"x": 4}, "vars": ["v"], "groups": []}
    )
    source = open_reader({".zgroup": text(group), **array("v", document, None, b"abcd")})
    assert source.root.vars["v"].type.name == "char"
    assert values(source).tobytes() == b"abcd"


def test_text_of_four_bytes_is_text_in_plain_zarr():
    source = open_reader(plain(v=(zarray([2], "<U1", fill_value=""), None, np.array(["a", "é"], "<U1").tobytes())))
    assert source.root.vars["v"].type.name == "string"
    assert values(source).tolist() == ["a", "é"]


@pytest.mark.parametrize(("version", "order"), [("4.9.2", "<"), ("4.8.1", "<"), ("4.9.3", ">"), ("4.10.1", ">")])
def test_big_endian_is_a_label_up_to_4_9_2(version, order):
    chunk = np.arange(4, dtype=f"{order}f4").tobytes()
    store = plain(v=(zarray([4], ">f4", fill_value=-1), None, chunk))
    store[".zattrs"] = text({"_NCProperties": f"version=2,netcdf={version},nczarr=2.0.0"})
    source = open_reader(store)
    found = values(source)
    assert found.tolist() == [0, 1, 2, 3]
    assert found.dtype == "=f4"
    assert found.dtype.isnative
    assert source.root.vars["v"].storage.endian == "big"


@pytest.mark.parametrize("case", ["B", "C"])
def test_big_endian_is_a_label_where_marks_tell(case):
    key = "_NCZARR_ARRAY" if case == "B" else "_nczarr_array"
    document = {**zarray([4], ">i4", fill_value=-1), key: {"dimrefs": ["/x"], "storage": "chunked"}}
    names_ = ("_NCZARR_SUPERBLOCK", "_NCZARR_GROUP") if case == "B" else ("_nczarr_superblock", "_nczarr_group")
    group = old_group(**{names_[0]: {"version": "2.0.0"}, names_[1]: {"dims": {"x": 4}, "vars": ["v"], "groups": []}})
    assert values(open_reader({".zgroup": text(group), **array("v", document, None, FOUR)})).tolist() == [0, 1, 2, 3]


def test_big_endian_of_others_is_big_endian():
    store = plain(v=(zarray([4], ">i4", fill_value=258), None), w=(zarray([4], ">i4"), None, FOUR))
    source = open_reader(store)
    assert values(source).tolist() == [258] * 4
    assert values(source, "w").tolist() == np.frombuffer(FOUR, ">i4").tolist()


@pytest.mark.parametrize(
    ("fill", "dtype", "value"),
    [
        (9.96921e36, "<f8", DOUBLE.fill),
        ([9.96921e36], "<f8", DOUBLE.fill),
        ([5], "<i2", 5),
        ("NaN", "<f4", np.nan),
        (["NaN"], "<f4", np.nan),
        ("-Infinity", "<f8", -np.inf),
        ("inf", "<f8", np.inf),
        ("1.5", "<f4", 1.5),
        ("-9", "<i4", -9),
        ("0xff", "|u1", 255),
        (b"NaN", "<f4", np.nan),
        (b"-infinity", "<f8", -np.inf),
        ("zz", "|S4", "zz"),
        ("miss", "|S8", "miss"),
        ("", ">S1", b""),
        ("x", ">S1", b"x"),
        ([""], ">S1", b""),
    ],
)
def test_fill_values(fill, dtype, value):
    document = text(zarray([2], dtype, fill_value="FILL")).replace(
        b'"FILL"', fill if isinstance(fill, bytes) else text(fill)
    )
    source = open_reader({**nczarr({"x": 2}, ["v"]), **array("v", document, refers("/x"))})
    np.testing.assert_array_equal(values(source), [value, value])


def test_fill_that_is_none_leaves_zeros():
    attributes = {**refers("/x"), "_FillValue": -1, "_nczarr_attr": {"types": {"_FillValue": "<i4"}}}
    store = {**nczarr({"x": 4}, ["v"]), **array("v", zarray([4], fill_value=None), attributes)}
    source = open_reader(store)
    assert source.root.vars["v"].storage.no_fill
    assert values(source).tolist() == [0, 0, 0, 0]
    assert source.root.vars["v"].fill == -1


def shuffled(data: bytes, size: int) -> bytes:
    return bytes(Shuffle(size).encode(np.frombuffer(data, "u1")))


ZLIB = {"id": "zlib", "level": 1}
SHUFFLE = {"id": "shuffle", "elementsize": 0}
MANY = np.arange(1000, dtype="<i4").tobytes()
CHAINS = {
    "raw": ([], MANY),
    "zlib": ([ZLIB], zlib.compress(MANY)),
    "bz2": ([{"id": "bz2", "level": 9}], bz2.compress(MANY)),
    "zstd": ([{"id": "zstd", "level": 5}], bytes(Zstd(5).encode(MANY))),
    "zstd with checksum": ([{"id": "zstd", "level": 5}], bytes(Zstd(5, checksum=True).encode(MANY))),
    "zstd of noise": ([{"id": "zstd", "level": 5}], None),
    "blosc": (
        [{"id": "blosc", "clevel": 5, "blocksize": 0, "cname": "lz4", "shuffle": 1}],
        bytes(Blosc().encode(np.frombuffer(MANY, "<i4"))),
    ),
    "fletcher32": ([{"id": "fletcher32"}], bytes(Fletcher32().encode(MANY))),
    "shuffle": ([SHUFFLE, ZLIB], zlib.compress(shuffled(MANY, 4))),
    "all": (
        [SHUFFLE, ZLIB, {"id": "fletcher32"}],
        bytes(Fletcher32().encode(zlib.compress(shuffled(MANY, 4)))),
    ),
}


@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("tail", [b"", b"what was there before" * 20])
def test_chains_of_netcdf_and_old_bytes_behind_chunks(chain, tail):
    codecs, chunk = CHAINS[chain]
    expected = np.arange(1000)
    if chunk is None:
        noise = np.random.default_rng(1).integers(0, 1 << 31, 1000, "<i4")
        chunk, expected = bytes(Zstd(5).encode(noise.tobytes())), noise
    document = zarray([1000], filters=codecs[:-1] or None, compressor=codecs[-1] if codecs else None)
    store = {**nczarr({"x": 1000}, ["v"]), **array("v", document, refers("/x"), chunk + tail)}
    source = open_reader(store)
    if tail and chain != "blosc":
        with pytest.warns(OmnizarrWarning, match="longer or shorter"):
            found = values(source)
    else:
        found = values(source)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(source.read(source.root.vars["v"], [slice(5, 900, 7)]), expected[5:900:7])
    storage = source.root.vars["v"].storage
    assert storage.shuffle == (SHUFFLE in codecs)
    assert storage.fletcher32 == ("fletcher32" in str(codecs))
    assert storage.deflate == ("zlib" in str(codecs))
    assert '"elementsize": 0' not in storage.codecs


def test_shuffled_strings_are_shuffled_by_eight():
    stored = np.array([b"north", b"south", b"", b"east"], "S8").tobytes()
    document = zarray([4], "|S8", fill_value="", filters=[SHUFFLE], compressor=ZLIB)
    chunk = zlib.compress(shuffled(stored, 8))
    store = {**nczarr({"x": 4}, ["v"]), **array("v", document, refers("/x"), chunk)}
    assert values(open_reader(store)).tolist() == ["north", "south", "", "east"]


def test_short_raw_chunks_end_in_zeros():
    store = {**nczarr({"x": 4}, ["v"]), **array("v", zarray([4], fill_value=-1), refers("/x"), FOUR[:8])}
    with pytest.warns(OmnizarrWarning, match="longer or shorter"):
        assert values(open_reader(store)).tolist() == [0, 1, 0, 0]


def test_chunks_of_others_must_be_as_long_as_they_should_be():
    source = open_reader(plain(v=(zarray([4]), None, FOUR + b"tail")))
    with pytest.raises(CorruptError):
        values(source)


def test_damage_is_not_read_as_a_tail():
    document = zarray([1000], compressor=ZLIB)
    store = {**nczarr({"x": 1000}, ["v"]), **array("v", document, refers("/x"), CHAINS["zlib"][1][:-30])}
    with pytest.raises(CorruptError, match="zlib"):
        values(open_reader(store))


def test_order_f_is_read_in_order():
    expected = np.arange(6, dtype="<i4").reshape(2, 3)
    document = zarray([2, 3], order="F")
    store = {**nczarr({"x": 2, "y": 3}, ["v"]), **array("v", document, refers("/x", "/y"), expected.tobytes("F"))}
    np.testing.assert_array_equal(values(open_reader(store)), expected)


@pytest.mark.parametrize("declared", [True, False])
def test_separator(declared, tmp_path):
    document = zarray([2, 2], **({"dimension_separator": "/"} if declared else {}))
    for key, data in {**nczarr({"x": 2}, ["v"]), **array("v", document, refers("/x", "/x"))}.items():
        (tmp_path / key).parent.mkdir(exist_ok=True)
        (tmp_path / key).write_bytes(data)
    (tmp_path / "v/0").mkdir()
    (tmp_path / "v/0/0").write_bytes(FOUR)
    assert values(open_reader(tmp_path)).tolist() == [[0, 1], [2, 3]]


def test_unknown_codecs_fail_one_variable_when_it_is_read():
    document = zarray([4], compressor={"id": "nobody-has-this", "n": 5})
    store = {**nczarr({"x": 4}, ["v", "w"]), **array("v", document, refers("/x"), FOUR)}
    source = open_reader({**store, **array("w", zarray([4]), refers("/x"), FOUR)})
    assert values(source, "w").tolist() == [0, 1, 2, 3]
    assert json.loads(source.root.vars["v"].storage.codecs) == [{"id": "nobody-has-this", "n": 5}]
    with pytest.raises(MetadataError, match="nobody-has-this"):
        values(source)
