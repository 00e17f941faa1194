"""Traps 38 to 48: keys and names, debris, zips, odd types of old writers, where checksums stand."""

from __future__ import annotations

import json
import struct
import unicodedata
import zipfile

import numcodecs
import numcodecs.checksum32
import numpy as np
import pytest

import omnizarr as oz

ONE_TWO = struct.pack("<2i", 1, 2)


def test_trap_38_nested_chunks_without_a_separator(v2, tmp_path):
    meta = v2(shape=[2, 4], chunks=[1, 2])
    store = {".zarray": meta, "0/0": ONE_TWO, "1/1": ONE_TWO}
    expected = [[1, 2, 0, 0], [0, 0, 1, 2]]
    assert oz.open(store)[...].tolist() == expected
    for key, value in store.items():
        place = tmp_path / "x.zarr" / key
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(value)
    assert oz.open(tmp_path / "x.zarr")[...].tolist() == expected
    array = oz.open_array(tmp_path / "x.zarr", "r+")
    array[0, 2:] = 7
    assert (tmp_path / "x.zarr/0/1").is_file()  # written as the others are
    assert array[...].tolist() == [[1, 2, 7, 7], [0, 0, 1, 2]]


def test_trap_38_dotted_chunks_without_a_separator(v2):
    store = {".zarray": v2(shape=[2, 4], chunks=[1, 2]), "0.0": ONE_TWO, "1.1": ONE_TWO}
    assert oz.open(store)[...].tolist() == [[1, 2, 0, 0], [0, 0, 1, 2]]


@pytest.mark.parametrize("separator", ["/", "."])
def test_trap_39_each_format_has_its_own_separator(v3, separator):
    new: dict[str, bytes] = {}
    old: dict[str, bytes] = {}
    for store, fmt in ((new, "zarr3"), (old, "zarr2")):
        array = oz.create_array(store, shape=(2, 2), chunks=(1, 2), dtype="i4", separator=separator, format=fmt)
        array[...] = 1
    document = json.loads(new["zarr.json"])
    assert "dimension_separator" not in document
    assert document["chunk_key_encoding"]["configuration"]["separator"] == separator
    assert set(new) == {"zarr.json", f"c{separator}0{separator}0", f"c{separator}1{separator}0"}
    assert json.loads(old[".zarray"]).get("dimension_separator", ".") == separator
    assert set(old) - {".zattrs"} == {".zarray", f"0{separator}0", f"1{separator}0"}


@pytest.mark.parametrize(("configuration", "key"), [({}, "1"), ({"separator": "/"}, "1")])
def test_trap_39_the_v2_encoding_has_no_c(v3, configuration, key):
    encoding = {"name": "v2", "configuration": configuration}
    store = {"zarr.json": v3(chunk_key_encoding=encoding), key: ONE_TWO, "c/0": ONE_TWO}
    assert oz.open(store)[...].tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize("fmt", ["zarr2", "zarr3"])
@pytest.mark.parametrize("kind", ["memory", "file"])
def test_trap_40_names_that_begin_alike_stay_apart(fmt, kind, tmp_path):
    where = {} if kind == "memory" else tmp_path / "x.zarr"
    root = oz.create_group(where, format=fmt)
    for name in ("a", "ab", "a.b"):
        root.create_group(name).create_array(f"in_{name}", shape=(1,), data=[1])
    assert list(root["a"]) == ["in_a"]
    assert root["a/in_a"].nchunks_stored == 1
    del root["a"]
    assert sorted(root) == ["a.b", "ab"]
    assert root["ab/in_ab"][...].tolist() == [1]
    assert root["a.b/in_a.b"][...].tolist() == [1]


@pytest.mark.parametrize("path", ["/foo/bar", "foo//bar/", "//foo/bar//"])
def test_trap_41_slashes_are_brought_to_one_form(path):
    store: dict[str, bytes] = {}
    oz.create_array(store, path=path, shape=(2,), data=[1, 2])
    assert {key.split("/")[0] for key in store} == {"zarr.json", "foo"}
    assert not any("//" in key or key.startswith("/") or key.endswith("/") for key in store)
    root = oz.open(store)
    assert root[path][...].tolist() == root["foo/bar"][...].tolist() == [1, 2]


@pytest.mark.parametrize("path", ["..", "a/../b", "./a", "a/."])
def test_trap_41_dots_are_refused(path):
    with pytest.raises(oz.errors.UnsafeError):
        oz.create_array({}, path=path, shape=(2,))


def test_trap_42_a_backslash_is_never_part_of_a_key(tmp_path):
    store: dict[str, bytes] = {}
    oz.create_array(store, path="a\\b", shape=(2,), data=[1, 2])
    assert not any("\\" in key for key in store)
    oz.create_array(tmp_path / "x.zarr", path="a\\b", shape=(2,), data=[1, 2])
    assert not list(tmp_path.rglob("*\\*"))
    assert oz.open(tmp_path / "x.zarr")["a/b"][...].tolist() == [1, 2]


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_trap_43_names_keep_their_code_points(kind, tmp_path):
    where = {} if kind == "memory" else tmp_path / "x.zarr"
    composed, decomposed = unicodedata.normalize("NFC", "é"), unicodedata.normalize("NFD", "é")
    assert composed != decomposed
    root = oz.create_group(where)
    for number, name in enumerate((composed, decomposed, "Foo", "foo")):
        if kind == "file" and number in (1, 3) and list(tmp_path.rglob(name)):
            continue  # a file system that takes the two for one
        root.create_array(name, shape=(1,), data=[number + 1])
    read = oz.open(where)
    assert read[composed][...].tolist() == [1]
    assert read["Foo"][...].tolist() == [3]
    if kind == "memory":
        assert sorted(read) == sorted([composed, decomposed, "Foo", "foo"])
        assert read[decomposed][...].tolist() == [2]
        assert read["foo"][...].tolist() == [4]


DEBRIS = ["0.lock", "0.blosc", "1.0123456789abcdef0123456789abcdef.partial", ".DS_Store", "00", "+1", "0.0", "x", "-1"]


def test_trap_44_debris_is_no_chunk(v2, tmp_path):
    place = tmp_path / "x.zarr"
    place.mkdir()
    (place / ".zarray").write_bytes(v2())
    (place / "1").write_bytes(ONE_TWO)
    for name in DEBRIS:
        (place / name).write_bytes(b"?")
    array = oz.open(place)
    assert array.nchunks_stored == 1
    assert array[...].tolist() == [0, 0, 1, 2]


def test_trap_44_debris_of_v0_is_no_chunk(v0, tmp_path):
    data = tmp_path / "x.zarr/__zdata__"
    data.mkdir(parents=True)
    (data.parent / "__zmeta__").write_bytes(v0())
    (data.parent / "__zattr__.lock").write_bytes(b"")
    (data / "1.blosc").write_bytes(numcodecs.Blosc().encode(ONE_TWO))
    for name in ("0.blosc.lock", "0.blosc.abc.partial", ".DS_Store"):
        (data / name).write_bytes(b"")
    array = oz.open(data.parent)
    assert array.nchunks_stored == 1
    assert array[...].tolist() == [0, 0, 1, 2]


def test_trap_44_debris_is_no_child(tmp_path):
    root = oz.create_group(tmp_path / "x.zarr")
    root.create_array("a", shape=(1,))
    for name in (".DS_Store", "b.lock", "c.partial", "README"):
        (tmp_path / "x.zarr" / name).write_bytes(b"{}")
    (tmp_path / "x.zarr/.hidden").mkdir()
    (tmp_path / "x.zarr/empty").mkdir()
    assert list(oz.open(tmp_path / "x.zarr")) == ["a"]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("top", ["", "x.zarr/"])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_trap_45_zips(v2, tmp_path, method, top):
    where = tmp_path / "x.zip"
    with zipfile.ZipFile(where, "w", method) as archive:
        archive.writestr(f"{top}.zarray", v2())
        archive.writestr(f"{top}0", b"the first of two")
        archive.writestr(f"{top}1", ONE_TWO)
        archive.writestr(f"{top}0", ONE_TWO)
    assert oz.open(where)[...].tolist() == [1, 2, 1, 2]


@pytest.mark.parametrize(
    ("dtype", "codec", "values"),
    [("<U3", numcodecs.VLenUTF8(), ["a", "bcd"]), ("|S3", numcodecs.VLenBytes(), [b"a", b"bcd"])],
)
def test_trap_46_text_of_fixed_length_under_a_variable_codec(v2, dtype, codec, values):
    filters = [{"id": codec.codec_id}]
    chunk = bytes(codec.encode(np.array(values, object)))
    array = oz.open({".zarray": v2(dtype=dtype, fill_value="", filters=filters), "1": chunk})
    assert array.dtype == np.dtype(dtype)
    assert array[2:].tolist() == values
    assert array[:2].tolist() == [values[0][:0]] * 2


def test_trap_47_fields_without_a_name_are_padding(v2):
    aligned = np.dtype([("a", "|u1"), ("b", "<i4")], align=True)
    values = np.array([(1, 2), (3, 4)], aligned)
    dtype = [["a", "|u1"], ["", "|V3"], ["b", "<i4"]]
    store = {".zarray": v2(dtype=dtype, fill_value=None, shape=[2]), "0": values.tobytes()}
    array = oz.open(store)
    assert array.dtype.names == ("a", "b")
    assert array.dtype.itemsize == 8
    assert array[...].tolist() == [(1, 2), (3, 4)]


CHECKS = {
    "crc32": (numcodecs.CRC32(), "start"),
    "adler32": (numcodecs.Adler32(), "start"),
    "crc32c": (numcodecs.checksum32.CRC32C(), "end"),
    "fletcher32": (numcodecs.Fletcher32(), "end"),
    "jenkins_lookup3": (numcodecs.checksum32.JenkinsLookup3(), "end"),
}


@pytest.mark.parametrize("name", CHECKS)
def test_trap_48_where_checksums_stand(v2, v3, name):
    codec, side = CHECKS[name]
    chunk = bytes(codec.encode(np.frombuffer(ONE_TWO, "u1")))
    assert (chunk[4:] if side == "start" else chunk[:8]) == ONE_TWO
    filters = [{"id": name}] if name != "jenkins_lookup3" else [codec.get_config()]
    v3_codec = {"name": f"numcodecs.{name}", "configuration": {}}
    codecs = [{"name": "bytes", "configuration": {"endian": "little"}}, v3_codec]
    for key, store in (("0", {".zarray": v2(filters=filters)}), ("c/0", {"zarr.json": v3(codecs=codecs)})):
        assert oz.open({**store, key: chunk})[...].tolist() == [1, 2, 0, 0]
        damaged = bytearray(chunk)
        damaged[5] ^= 1
        with pytest.raises(oz.OmnizarrError, match="checksum"):
            oz.open({**store, key: bytes(damaged)})[...]
        written = dict(store)
        oz.open_array(written, "r+")[:2] = [1, 2]
        assert bytes(written[key]) == chunk
