"""What is near a place that holds no node: above it, below it, or of a similar name."""

from __future__ import annotations

import zipfile

import pytest

import omnizarr as oz


@pytest.fixture
def tree(tmp_path):
    """Folders around arrays: `data/x.zarr` (v3 group with `a` and `sub/b`), `data/old/y.zarr` (v2 array)."""
    root = oz.create_group(tmp_path / "data/x.zarr")
    root.create_array("a", shape=(4,), chunks=(2,), data=[1, 2, 3, 4])
    root.create_array("sub/b", shape=(2,), data=[1, 2])
    oz.create_array(tmp_path / "data/old/y.zarr", shape=(2, 2), data=[[1, 2], [3, 4]], format="zarr2", separator="/")
    return tmp_path


# The place, and the end of the nearest node.
PLACES = {
    "one level above": ("data", "x.zarr"),
    "one level above another": ("data/old", "y.zarr"),
    "two levels above": (".", "x.zarr"),
    "the document of v3": ("data/x.zarr/zarr.json", "data/x.zarr"),
    "the document of an array within": ("data/x.zarr/a/zarr.json", "data/x.zarr/a"),
    "the document of v2": ("data/old/y.zarr/.zarray", "data/old/y.zarr"),
    "a chunk of v3": ("data/x.zarr/a/c/0", "data/x.zarr/a"),
    "the folder of chunks": ("data/x.zarr/a/c", "data/x.zarr/a"),
    "a chunk of v2": ("data/old/y.zarr/0/0", "data/old/y.zarr"),
    "a folder of chunks of v2": ("data/old/y.zarr/0", "data/old/y.zarr"),
    "a child that is not there": ("data/x.zarr/c", "data/x.zarr"),
    "a name that is wrongly spelt": ("data/xx.zarr", "data/x.zarr"),
    "a child that is wrongly spelt": ("data/x.zarr/subb", "data/x.zarr"),
}


@pytest.mark.parametrize("name", PLACES)
def test_what_is_near(tree, ends_with, name):
    place, end = PLACES[name]
    found = oz.detect(tree / place)
    assert (found.format, found.kind) == ("", "")
    assert ends_with(found.near, end), found.near


@pytest.mark.parametrize("name", PLACES)
def test_the_error_names_what_is_near(tree, name):
    place, end = PLACES[name]
    with pytest.raises((oz.errors.NotFoundError, oz.errors.UnsupportedError)) as caught:
        oz.open(tree / place)
    assert end.rpartition("/")[2] in (caught.value.hint or "")


@pytest.mark.parametrize("name", PLACES)
def test_what_is_near_can_be_opened(tree, name):
    for one in oz.detect(tree / PLACES[name][0]).near:
        assert oz.open(one) is not None


def test_several_are_near(tree, ends_with):
    near = oz.detect(tree / "data").near
    assert ends_with(near, "x.zarr")
    assert ends_with(near, "y.zarr")


OLD_META = (
    b'{"zarr_format": 1, "shape": [2], "chunks": [2], "dtype": "<i4", "compression": "none", '
    b'"compression_opts": null, "fill_value": 0, "order": "C"}'
)


def test_old_arrays_side_by_side(tmp_path, ends_with):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "meta").write_bytes(OLD_META)
        (tmp_path / name / "attrs").write_bytes(b"{}")
    found = oz.detect(tmp_path)
    assert (found.what, found.format) == ("directory", "")
    assert ends_with(found.near, "first")
    assert ends_with(found.near, "second")


def test_prefixes_in_a_mapping(ends_with):
    store: dict[str, bytes] = {"README": b"two arrays"}
    oz.create_array(inner := {}, shape=(2,))
    store |= {f"bucket/run1/{key}": value for key, value in inner.items()}
    store |= {f"bucket/run2/{key}": value for key, value in inner.items()}
    found = oz.detect(store)
    assert (found.format, found.kind) == ("", "")
    assert ends_with(found.near, "bucket/run1")
    assert ends_with(found.near, "bucket/run2")
    with pytest.raises(oz.errors.NotFoundError, match="bucket/run1"):
        oz.open(store)
    assert oz.open(store, path="bucket/run1").shape == (2,)


def test_a_zip_with_two_folders(tmp_path, ends_with):
    oz.create_array(inner := {}, shape=(2,))
    where = tmp_path / "two.zip"
    with zipfile.ZipFile(where, "w") as archive:
        for top in ("one", "two"):
            for key, value in inner.items():
                archive.writestr(f"{top}/{key}", bytes(value))
    found = oz.detect(where)
    assert (found.format, found.kind) == ("", "")
    assert ends_with(found.near, "one")
    assert oz.open(where, path="two").shape == (2,)


def test_a_large_folder_is_not_searched_whole(tmp_path):
    for number in range(2000):
        (tmp_path / f"{number:04}").mkdir()
    assert oz.detect(tmp_path).what == "directory"
