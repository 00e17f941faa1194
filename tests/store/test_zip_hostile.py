"""Archives that are damaged, or made to do harm: an error, or the right bytes."""

import contextlib
import io
import os
import random
import struct
import zipfile
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import omnizarr as oz
from omnizarr.errors import ChecksumError, CorruptError, LimitError, OmnizarrError, UnsafeError, UnsupportedError
from omnizarr.store.zip import ZipStore

CUT = "copy it again"


class Entry:
    """An entry whose headers say whatever they are told to."""

    def __init__(self, name, data=b"", **claims):
        self.name = name if isinstance(name, bytes) else name.encode()
        self.data = data
        claims = {"method": 0, "flags": 0, "crc": zlib.crc32(data), "size": len(data), "packed": len(data)} | claims
        self.offset = claims.pop("offset", None)
        self.extra = claims.pop("extra", b"")
        self.central_extra = claims.pop("central_extra", b"")
        self.local_name = claims.pop("local_name", self.name)
        self.claims = claims

    def _shared(self):
        c = self.claims
        return struct.pack("<HHHHHIII", 45, c["flags"], c["method"], 0, 33, c["crc"], c["packed"], c["size"])

    def local(self):
        lengths = struct.pack("<HH", len(self.local_name), len(self.extra))
        return b"PK\3\4" + self._shared() + lengths + self.local_name + self.extra + self.data

    def central(self, offset):
        lengths = struct.pack("<HHHHHI", len(self.name), len(self.central_extra), 0, 0, 0, 0)
        offset = struct.pack("<I", offset if self.offset is None else self.offset)
        return b"PK\1\2" + b"\x2d\3" + self._shared() + lengths + offset + self.name + self.central_extra


def archive(*entries, count=None):
    body, directory = b"", b""
    for entry in entries:
        directory += entry.central(len(body))
        body += entry.local()
    count = len(entries) if count is None else count
    return body + directory + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), len(body), 0)


def reader(data, **options):
    return ZipStore(io.BytesIO(data), read_only=True, **options)


def deflated(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def test_the_maker_makes_good_archives():
    data = archive(Entry("a", b"123"), Entry("b", deflated(b"x" * 99), method=8, size=99, crc=zlib.crc32(b"x" * 99)))
    assert zipfile.ZipFile(io.BytesIO(data)).testzip() is None
    assert reader(data).get_many(["a", "b"]) == [b"123", b"x" * 99]


NAMES = {
    "../evil": "'..'",
    "a/../../evil": "'..'",
    "/etc/passwd": "empty",
    "a//b": "empty",
    "a\\b": "backslash",
    "a\0b": "NUL",
    "C:/x": "drive",
    "c:x": "drive",
    "": "empty",
    ".": "'.'",
    "a/./b": "'.'",
}


@pytest.mark.parametrize("name", NAMES)
def test_names_that_lead_out_are_ignored_with_a_reason(name):
    store = reader(archive(Entry(name, b"evil"), Entry("good", b"1")))
    assert list(store.list_prefix("")) == ["good"]
    assert store.list_dir("") == (["good"], [])
    assert list(store.ignored) == [name]
    assert NAMES[name] in store.ignored[name]
    with contextlib.suppress(UnsafeError):
        assert store.get(name) is None
    assert store.get("good") == b"1"


def test_names_in_other_alphabets():
    plain = Entry("caf\u00e9".encode("cp437"), b"1")
    flagged = Entry("é", b"2", flags=1 << 11)
    unflagged = Entry("ü", b"3")  # UTF-8 without saying so, as many do
    wrong = Entry(b"\xff", b"4", flags=1 << 11)
    raw = b"#U00f6"
    field = b"\1" + struct.pack("<I", zlib.crc32(raw)) + "ö".encode()
    beside = Entry(raw, b"5", central_extra=struct.pack("<HH", 0x7075, len(field)) + field)
    store = reader(archive(plain, flagged, unflagged, wrong, beside, Entry("./here", b"6")))
    values = {"café": b"1", "é": b"2", "ü": b"3", "ö": b"5", "here": b"6"}
    assert {key: store.get(key) for key in store.list_prefix("")} == values
    assert list(store.ignored.values()) == ["its name is not UTF-8"]


@pytest.mark.parametrize(
    ("claims", "error", "match"),
    [
        ({"crc": 1}, ChecksumError, "CRC-32"),
        ({"size": 9}, CorruptError, "stored in 3 bytes and claims to have 9"),
        ({"size": 9, "packed": 9}, CorruptError, "overlaps"),
        ({"size": 2**31, "packed": 2**31}, CorruptError, "overlaps"),
        ({"offset": 1}, CorruptError, "local header|overlaps"),
        ({"offset": 2**31}, CorruptError, "overlaps"),
        ({"local_name": b"b"}, CorruptError, "another name"),
        ({"extra": b"", "local_name": b"aa"}, CorruptError, "another name"),
        ({"flags": 1}, UnsupportedError, "encrypted"),
        ({"method": 9}, UnsupportedError, "method 9"),
        ({"method": 99}, UnsupportedError, "method 99"),
        ({"method": 8}, CorruptError, "does not decompress"),
        ({"method": 8, "size": 2**31}, CorruptError, "cannot inflate"),
        ({"method": 93}, CorruptError, "does not decompress"),
        ({"method": 12}, CorruptError, "does not decompress"),
        ({"method": 14}, CorruptError, "does not decompress"),
        ({"method": 95}, CorruptError, "does not decompress"),
        ({"method": 93, "size": 2**31}, LimitError, "2147483648"),
        ({"size": 0xFFFFFFFF, "packed": 0xFFFFFFFF}, CorruptError, "overlaps"),
    ],
    ids=str,
)
def test_headers_that_lie(claims, error, match):
    store = reader(archive(Entry("a", b"123", **claims), Entry("other", b"1")))
    with pytest.raises(error, match=match) as caught:
        store.get("a")
    if "overlaps" not in match:
        assert caught.value.key == "a"
        assert store.get("other") == b"1"
    assert caught.value.hint


def test_a_local_header_cannot_shift_the_data_into_the_next_entry():
    first = Entry("a", b"123", extra=b"")
    data = bytearray(archive(first, Entry("b", b"456")))
    data[28:30] = struct.pack("<H", 4)  # the length of the extra field, which is not there
    with pytest.raises(CorruptError, match="past its end"):
        reader(bytes(data)).get("a")


def test_overlapping_entries_are_refused():
    """Many entries that share one compressed stream: a small file that would unpack to petabytes."""
    kernel = deflated(bytes(1 << 20))
    shared = [
        Entry(f"e{i}", kernel, method=8, size=1 << 20, crc=zlib.crc32(bytes(1 << 20)), offset=0) for i in range(9)
    ]
    body = shared[0].local()
    directory = b"".join(entry.central(0) for entry in shared)
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 9, 9, len(directory), len(body), 0)
    with pytest.raises(CorruptError, match="overlaps"):
        reader(body + directory + end).get("e0")
    # Quoted: each entry's data begins with the header of the next.
    inner = Entry("inner", b"1" * 50).local()
    outer = Entry("outer", inner)
    at = len(outer.local()) - len(inner)
    directory = outer.central(0) + Entry("inner", b"1" * 50).central(at)
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 2, 2, len(directory), len(outer.local()), 0)
    with pytest.raises(CorruptError, match="overlaps"):
        reader(outer.local() + directory + end).get("outer")


def test_what_inflates_too_much_is_refused():
    size = 50 << 20
    bomb = archive(Entry("zarr.json", deflated(bytes(size)), method=8, size=size, crc=0))
    limits = oz.Limits()._replace(max_entry_bytes=1 << 20)
    with pytest.raises(LimitError, match=str(size)) as caught:
        reader(bomb, limits=limits).get("zarr.json")
    assert "max_entry_bytes" in caught.value.hint
    with pytest.raises(ChecksumError):
        reader(bomb).get("zarr.json")
    # One that does not say how much it inflates to.
    for claimed in (10, size - 1):
        with pytest.raises(CorruptError):
            reader(archive(Entry("a", deflated(bytes(size)), method=8, size=claimed))).get("a")


def test_a_chunk_takes_no_more_than_it_can_be():
    file = io.BytesIO()
    oz.create_array(file, data=np.arange(100, dtype="u1"), codecs=None).close()
    document = zipfile.ZipFile(file).read("zarr.json")
    size = 30 << 20
    chunk = Entry("c/0", deflated(bytes(size)), method=8, size=size, crc=zlib.crc32(bytes(size)))
    with pytest.raises(CorruptError):
        oz.open(io.BytesIO(archive(Entry("zarr.json", document), chunk)))[...]


@pytest.mark.parametrize("end", [1, 2, 21, 22, 23, 40, 100, 500])
def test_archives_that_are_cut_short(end, tmp_path):
    place = tmp_path / "a.zip"
    oz.create_array(place, data=np.arange(100), chunks=(10,)).close()
    data = place.read_bytes()
    place.write_bytes(data[:-end])
    with pytest.raises(CorruptError) as caught:
        oz.open(place)
    assert CUT in caught.value.hint


def test_an_archive_within_a_cut_archive_is_not_the_archive():
    inner = archive(Entry("zarr.json", b"{}"))
    outer = archive(Entry("nested.zip", inner), Entry("more", b"1" * 1000))
    assert reader(outer).get("nested.zip") == inner
    with pytest.raises(CorruptError):
        reader(outer[: 500 + len(inner)]).get("zarr.json")


@pytest.mark.parametrize(
    "data", [b"PK\3\4", b"PK\5\6", b"<html>", bytes(1000), b"PK\5\6" + b"\xff" * 18, b"PK\5\6" * 99]
)
def test_what_is_no_archive(data, tmp_path):
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(CorruptError):
        oz.open(tmp_path / "a.zip")
    with pytest.raises(CorruptError):
        ZipStore(tmp_path / "a.zip").put("k", b"1")
    assert (tmp_path / "a.zip").read_bytes() == data
    assert os.listdir(tmp_path) == ["a.zip"]  # noqa: PTH208 - names are wanted


def test_comments_and_bytes_around_an_archive_do_no_harm():
    data = archive(Entry("a", b"1"))
    comment = b"PK\5\6 looks like an end"
    for whole in (
        data[:-2] + struct.pack("<H", len(comment)) + comment,
        data[:-2] + struct.pack("<H", 65535) + b"x" * 65535,
        b"#!/bin/sh\n" * 50 + data,
    ):
        assert reader(whole).get("a") == b"1"


@pytest.mark.parametrize("count", [0, 1, 3, 65535])
def test_a_wrong_number_of_entries_is_noticed(count):
    with pytest.raises(CorruptError):
        reader(archive(Entry("a", b"1"), Entry("b", b"2"), count=count)).get("a")


GOOD = archive(
    Entry("a", b"123"),
    Entry("b/c", deflated(b"x" * 300), method=8, size=300, crc=zlib.crc32(b"x" * 300)),
    Entry("é", b"", flags=1 << 11),
)
VALUES = {"a": b"123", "b/c": b"x" * 300, "é": b""}


@given(st.data())
def test_no_damage_makes_a_wrong_value(data):
    damaged = bytearray(GOOD)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(GOOD) - 1))
        damaged[at] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(GOOD)))
    for bad in (bytes(damaged), bytes(damaged[:cut]), bytes(damaged[cut:])):
        store = reader(bad)
        for key, value in VALUES.items():
            try:
                found = store.get(key)
            except OmnizarrError:
                continue
            assert found in (None, value)


def test_zip64_by_the_number_of_entries(tmp_path):
    place = tmp_path / "a.zip"
    keys = [f"c/{i}" for i in range(66_000)]
    random.Random(1).shuffle(keys)
    with ZipStore(place) as store:
        for key in keys:
            store.put(key, key.encode())
    with zipfile.ZipFile(place) as archive:
        assert len(archive.namelist()) == len(keys)
        assert archive.read("c/65999") == b"c/65999"
    with ZipStore(place) as store:
        assert store.get_many(keys[:1000]) == [key.encode() for key in keys[:1000]]
        store.erase_prefix("c/")
        store.put("one", b"1")
    assert place.stat().st_size < 200
    with zipfile.ZipFile(place, "w") as archive:
        for key in keys:
            archive.writestr(key, b"")
    assert sorted(ZipStore(place, read_only=True).list_prefix("c/")) == sorted(keys)


def test_zip64_by_size_and_offset(tmp_path):
    """More than 4 GiB, nearly all of which is a hole that takes up no room."""
    place = tmp_path / "a.zip"
    size = (1 << 32) + 1000
    extra = struct.pack("<HHQQ", 1, 16, size, size)
    big = Entry("big", packed=0xFFFFFFFF, size=0xFFFFFFFF, extra=extra, central_extra=extra)
    head = big.local()
    small_at = len(head) + size
    small = Entry("small", b"123", offset=0xFFFFFFFF, central_extra=struct.pack("<HHQ", 1, 8, small_at))
    directory = big.central(0) + small.central(0)
    at = small_at + len(small.local())
    end = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, 2, 2, len(directory), at)
    end += struct.pack("<4sIQI", b"PK\6\7", 0, at + len(directory), 1)
    end += b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 2, 2, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    with place.open("wb") as file:
        file.write(head)
        file.seek(small_at - 5)
        file.write(b"01234" + small.local() + directory + end)
    assert zipfile.ZipFile(place).read("small") == b"123"
    store = ZipStore(place, read_only=True)
    assert store.size("big") == size
    assert store.get_range("big", -7) == b"\0\x0001234"
    assert store.get_range("big", 1 << 32, 3) == bytes(3)
    assert store.get("small") == b"123"
