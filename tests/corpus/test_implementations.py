"""The examples of zarr_implementations: one picture in v2, in draft v3 and in N5."""

from __future__ import annotations

import numpy as np
import pytest

import omnizarr as oz

ARRAYS = {
    "zarr.zr": ("zarr2", ["blosc", "gzip", "raw", "zlib"]),
    "zarrita.zr3": ("zarr3-draft", ["blosc/lz4", "gzip", "raw", "zlib"]),
    "z5py.n5": ("n5", ["gzip", "raw"]),
}
ALL = [(root, name) for root, (_, names) in ARRAYS.items() for name in names]

pytestmark = pytest.mark.filterwarnings("ignore::omnizarr.OmnizarrWarning")


@pytest.fixture(scope="module")
def picture(implementations):
    return np.load(implementations / "reference_image.npy")


@pytest.mark.parametrize(("root", "name"), ALL)
def test_the_picture_is_whole(implementations, picture, root, name):
    array = oz.open(implementations / root)[name]
    assert array.format == ARRAYS[root][0]
    assert (array.shape, array.dtype, array.chunks) == ((512, 512, 3), np.dtype("u1"), (100, 100, 1))
    assert array[...].tobytes() == picture.tobytes()
    assert dict(array.attrs) == {}


@pytest.mark.parametrize(("root", "name"), ALL)
def test_a_part_is_the_same_part(implementations, picture, root, name):
    array = oz.open(implementations / root)[name]
    np.testing.assert_array_equal(array[95:512:7, 499:505, 1], picture[95:512:7, 499:505, 1])
    np.testing.assert_array_equal(array[-1, -1], picture[-1, -1])


@pytest.mark.parametrize(("root", "name"), [one for one in ALL if one[0] != "zarrita.zr3"])
def test_an_array_opens_by_its_own_path(implementations, picture, root, name):
    array = oz.open(implementations / root / name)
    assert isinstance(array, oz.Array)
    np.testing.assert_array_equal(array[200:300, 200:300], picture[200:300, 200:300])


@pytest.mark.parametrize("root", ARRAYS)
def test_the_groups_list_their_children(implementations, root):
    group = oz.open(implementations / root)
    assert isinstance(group, oz.Group)
    assert sorted(group) == sorted({name.split("/")[0] for name in ARRAYS[root][1]})
