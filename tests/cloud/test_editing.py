"""Nodes in a bucket that are changed by their own paths: the groups above them know of it."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import MetadataError, NodeTypeError, OmnizarrError, UnsupportedError
from omnizarr.store.cloud.store import CloudStore
from omnizarr.tools.editing.attributes import change_attributes
from omnizarr.tools.editing.erasing import condemn, erase
from omnizarr.tools.editing.moving import move

WHERE = "s3://bucket/way/g.zarr"


@pytest.fixture
def at(faulty):
    """Make a consolidated hierarchy, and return what names a place in it."""
    options = {**faulty.options, "pause": 0.001}

    def named(path=""):
        return oz.at(f"{WHERE}/{path}".rstrip("/"), **options)

    group = oz.create_group(named())
    group.create_array("a", data=np.arange(1, 5))
    group.create_array("ocean/salt", data=np.arange(1, 4.0))
    group.consolidate()
    return named


def copied(faulty):
    """Return what the consolidated metadata of the topmost group list."""
    return json.loads(faulty.data("bucket", "way/g.zarr/zarr.json"))["consolidated_metadata"]["metadata"]


def test_what_is_erased_is_gone_from_the_groups_above(faulty, at):
    erase(condemn(at("a")))
    assert sorted(copied(faulty)) == ["ocean", "ocean/salt"]
    assert "a" not in oz.open_group(at())
    erase(condemn(at("ocean/salt")))
    assert sorted(copied(faulty)) == ["ocean"]


def test_attributes_are_the_same_everywhere(faulty, at):
    change_attributes(at("ocean/salt"), {"units": "1e-3"})
    assert copied(faulty)["ocean/salt"]["attributes"] == {"units": "1e-3"}
    assert oz.open_array(at("ocean/salt")).attrs["units"] == "1e-3"


def test_nodes_are_moved(faulty, at):
    assert move(at("a"), at("new/way/b"), dry_run=True).done is False
    assert move(at("a"), at("new/way/b")).target.endswith("/g.zarr/new/way/b")
    move(at("new/way/b"), at("ocean"))
    assert oz.open_array(at("ocean/b"))[...].tolist() == [1, 2, 3, 4]
    assert sorted(copied(faulty)) == ["new", "new/way", "ocean", "ocean/b", "ocean/salt"]
    with pytest.raises(NodeTypeError):
        move(at("ocean/b"), at("ocean/salt/b"))
    with pytest.raises(UnsupportedError, match="two stores"):
        move(at("ocean/b"), oz.at("s3://bucket/way/other.zarr", **faulty.options))


def test_what_is_copied_below_a_group_is_listed_there(faulty, at):
    oz.copy(oz.create_array({}, data=np.arange(3)), at("more/c"))
    assert "more/c" in copied(faulty)
    with pytest.raises(OmnizarrError, match="zarr2"):
        oz.copy(oz.create_array({}, data=np.arange(3), format="zarr2"), at("d"))


def test_no_array_gets_another_format_than_its_group(at):
    with pytest.raises(MetadataError, match="lies in a group of the format zarr3"):
        oz.convert(at("a"), format="zarr2")
    with pytest.raises(MetadataError):
        oz.convert(at("a"), at("e"), format="zarr2")
    oz.convert(at("a"), at("f"), codecs="zstd")
    assert "f" in oz.open_group(at())


def test_what_lies_between_ends_the_search(faulty):
    """A group far above holds nothing that a folder without a group is between."""
    options = faulty.options
    oz.create_group("s3://bucket/top", storage_options=options).consolidate()
    faulty.put("bucket", "top/plain/note.txt", b"")
    oz.create_array("s3://bucket/top/plain/a", shape=(2,), dtype="i1", storage_options=options)
    erase(condemn(oz.at("s3://bucket/top/plain/a", **options)))
    assert faulty.data("bucket", "top/plain/note.txt") == b""


@pytest.mark.parametrize("where", ["s3://bucket/x y/b/c", "https://s3.eu-west-1.amazonaws.com/bucket/x y/b/c#mode=s3"])
def test_a_shorter_prefix(where):
    store = CloudStore(where, {"anon": True})
    above = store.above(2)
    assert above.uri == "s3://bucket/x y"
    assert above.settled.prefix == "x y"
    assert above == store.above().above() == CloudStore("s3://bucket/x y", {"anon": True, "region": _region(store)})
    assert pickle.loads(pickle.dumps(above)) == above
    assert above.above().uri == "s3://bucket"


def _region(store):
    return store.settled.config["aws_region"]
