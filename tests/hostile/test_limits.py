"""Every limit is a member of one object, holds, and can be raised by the caller."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import LimitError, OmnizarrError, UnsafeError
from omnizarr.limits import Limits
from omnizarr.refset.json_reading import JsonOptions, read_json
from omnizarr.store.http import HttpStore
from tests.net.serving import serving
from torture.inputs.case import BYTES, FOUR, RAW, v2, v3
from torture.inputs.shards import sharding


def _array(folder, document, chunk=RAW, key="c/0"):
    (folder / key).parent.mkdir(parents=True, exist_ok=True)
    (folder / "zarr.json").write_text(json.dumps(document))
    (folder / key).write_bytes(chunk)
    return folder


def _long(folder):
    return _array(folder, v3(attributes={"x": "y" * 5000}))


def _deep(folder):
    value = 1
    for _ in range(150):
        value = [value]
    return _array(folder, v3(attributes={"x": value}))


def _wide(folder):
    return _array(folder, v3(shape=[1, 1, 1, 4], chunks=[1, 1, 1, 4]), key="c/0/0/0/0")


def _large(folder):
    return _array(folder, v3())


def _nested(folder):
    """Shards in shards, twelve deep, none of which has anything in it."""
    codecs = [BYTES]
    for _ in range(12):
        codecs = sharding(codecs, chunk=(4,), index=[BYTES])
    return _array(folder, v3(codecs=codecs), b"\xff" * 16)


def _strings(folder):
    oz.create_array(folder, shape=(3,), dtype=str)[...] = ["a" * 3000, "b", "c"]
    return folder


def _archive(folder):
    with zipfile.ZipFile(folder / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zarr.json", json.dumps(v3()))
        archive.writestr("c/0", RAW)
        archive.writestr("c/1", bytes(5000))
    return folder / "x.zip"


@pytest.mark.parametrize(
    ("name", "low", "high", "make", "expected"),
    [
        ("max_document_bytes", 4000, 8000, _long, FOUR),
        ("max_document_depth", 100, 200, _deep, FOUR),
        ("max_dimensions", 3, 4, _wide, FOUR.reshape(1, 1, 1, 4)),
        ("max_chunk_bytes", 15, 16, _large, FOUR),
        ("max_shard_depth", 8, 12, _nested, np.zeros(4, "i4")),
        ("max_variable_bytes", 100, 10_000, _strings, ["a" * 3000, "b", "c"]),
        ("max_entry_bytes", 10, 10_000, _archive, FOUR),
    ],
)
def test_a_limit_holds_and_can_be_raised(tmp_path, name, low, high, make, expected):  # noqa: PLR0917 - one row
    place = make(tmp_path)
    with pytest.raises(OmnizarrError) as caught:
        oz.open_array(place, limits=Limits()._replace(**{name: low}))[...]
    assert isinstance(caught.value, LimitError) or name == "max_variable_bytes", caught.value
    np.testing.assert_array_equal(oz.open_array(place, limits=Limits()._replace(**{name: high}))[...], expected)


def test_limits_of_sets():
    gen = [{"key": "x{{i}}", "url": "u", "dimensions": {"i": {"stop": 50}}}]
    text = json.dumps({"version": 1, "refs": {"k": "v"}, "gen": gen}).encode()
    for limits in (Limits(max_set_bytes=len(text) - 1), Limits(max_set_references=49)):
        with pytest.raises(LimitError):
            read_json(text, JsonOptions(limits=limits))
    raised = Limits(max_set_bytes=len(text), max_set_references=50)
    assert len(read_json(text, JsonOptions(limits=raised)).others) == 50


def test_a_limit_of_folders_that_a_server_lists():
    """A server that lists a folder in each folder, up to one."""
    with serving() as server:

        def page(handler, data, asked):
            del data, asked
            handler.reply(200, b'<a href="a/">a</a> <a href="x">x</a>', {"Content-Type": "text/html"})

        for depth in range(70):
            server.odd["/s/" + "a/" * depth] = page
        server.odd["/s/" + "a/" * 70] = lambda handler, *_: handler.reply(
            200, b'<a href="x">x</a>', {"Content-Type": "text/html"}
        )
        with pytest.raises(LimitError, match="64 deep"):
            HttpStore(server.url + "/s").list_prefix("")
        store = HttpStore(server.url + "/s", limits=Limits(max_folder_depth=80))
        assert len(store.list_prefix("")) == 71


def test_places_are_allowed_by_the_same_object(tmp_path):
    for name in ("in", "out"):
        (tmp_path / name).mkdir()
    (tmp_path / "out/x.bin").write_bytes(RAW)
    refs = {"a/.zarray": json.dumps(v2()), "a/0": [str(tmp_path / "out/x.bin"), 0, 16]}
    (tmp_path / "in/set.json").write_text(json.dumps({"version": 1, "refs": refs}))
    with pytest.raises(UnsafeError):
        oz.open_array(tmp_path / "in/set.json", path="a")[...]
    limits = Limits(allow=(str(tmp_path / "out"),))
    np.testing.assert_array_equal(oz.open_array(tmp_path / "in/set.json", path="a", limits=limits)[...], FOUR)


def test_every_limit_is_tested_here():
    tested = {"max_document_bytes", "max_document_depth", "max_dimensions", "max_chunk_bytes", "max_shard_depth",
              "max_variable_bytes", "max_entry_bytes", "max_folder_depth", "max_set_bytes", "max_set_references",
              "allow"}  # fmt: skip
    assert tested == set(Limits._fields)
