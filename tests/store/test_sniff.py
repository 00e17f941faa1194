"""What a file is, from its first bytes and from its place."""

from __future__ import annotations

import gzip
import os

import pytest

from omnizarr.store.sniff import SET, above, is_set_name, sniff, sniff_file, with_article


@pytest.mark.parametrize(
    ("head", "what"),
    [
        (b"", "empty file"),
        (b"\x89HDF\r\n\x1a\n", "HDF5 file"),
        (bytes(2048) + b"\x89HDF\r\n\x1a\n", "HDF5 file"),
        (bytes(100) + b"\x89HDF\r\n\x1a\n", "binary file"),
        (b"x" * 257 + b"ustar", "tar file"),
        (b" \n<!DOCTYPE HTML>", "HTML page"),
        (b"\xef\xbb\xbf<?xml", "XML document"),
        (b'{"a": 1}', "JSON document"),
        (b'{"a": 1', "damaged JSON document"),
        (b"[1, 2]", "JSON document"),
        (b"[1, 2", "damaged JSON document"),
        (b"[" * 100_000, "damaged JSON document"),
        (b'{"version": 1, "refs": {}}', SET),
        (b'{"a/0": ["x.nc", 0, 100]}', SET),
        (b'["refs"]', "JSON document"),
        ("café".encode(), "text file"),
        ("café".encode()[:-1], "text file"),
        (b"caf\xe9 au lait", "binary file"),
        (b"a\0b", "binary file"),
    ],
)
def test_whole_files(head, what):
    assert sniff(head, whole=True).what == what


def test_a_part_of_a_document_is_not_damaged():
    assert sniff(b'{"a": 1').what == "JSON document"


def test_what_is_packed_counts_only_if_it_is_a_set(tmp_path):
    path = tmp_path / "x.json.gz"
    path.write_bytes(gzip.compress(b'{"refs": {}}'))
    assert sniff_file(str(path)).what == SET
    path.write_bytes(gzip.compress(b"text"))
    assert sniff_file(str(path)).what == "gzip file"
    path.write_bytes(b"\x1f\x8bbroken")
    assert sniff_file(str(path)).what == "gzip file"
    path.write_bytes(b"\x28\xb5\x2f\xfdbroken")
    assert sniff_file(str(path)).what == "zstd file"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
def test_what_is_no_file(tmp_path):
    assert sniff_file(str(tmp_path)) is None
    assert sniff_file(str(tmp_path / "x")).what == "missing"
    os.mkfifo(tmp_path / "pipe")
    assert sniff_file(str(tmp_path / "pipe")).what == "pipe"
    assert sniff_file(os.devnull).what == "device"
    (tmp_path / "loop").symlink_to("loop")
    assert sniff_file(str(tmp_path / "loop")).what == "unreadable"


def test_what_a_path_leads_into(tmp_path):
    (tmp_path / "x.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    assert above(str(tmp_path / "x.png/a/b")) == (str(tmp_path / "x.png"), "a/b", "PNG image")
    assert above(str(tmp_path / "a/b")) == (str(tmp_path), "a/b", "folder")
    assert above("not there at all") == ("", "not there at all", "missing")


def test_articles():
    words = ["HDF5 file", "XML document", "xz file", "image", "unknown", "PNG image", "zip file"]
    expected = ["an", "an", "an", "an", "an", "a", "a"]
    assert [with_article(word).split()[0] for word in words] == expected


@pytest.mark.parametrize("at", [0, 512, 1024, 2048, 4096, 8192])
def test_a_block_of_the_user_comes_before_hdf5(at):
    assert sniff(bytes(at) + b"\x89HDF\r\n\x1a\n" + bytes(8)).what == "HDF5 file"


@pytest.mark.parametrize("left", [1, 2, 3])
def test_text_that_is_cut_off_in_a_character_is_text(left):
    text = ("some words " + "𝄞").encode()
    assert sniff(text[: len(text) - 4 + left]).what == sniff(b"some words").what
    assert sniff(text[: len(text) - 4 + left] + b"abc").what != sniff(b"some words").what


def test_names_of_reference_sets():
    for name in ("a.json", "a.JSON.gz?x=1", "a.json.zst/", "https://example.org/a.parq?b=c.zarr", "a.parquet"):
        assert is_set_name(name)
    for name in ("a.zarr", "a.zarr?b=c.json", "json", ""):
        assert not is_set_name(name)
