"""A folder where the file of a chunk should be is no missing chunk."""

from __future__ import annotations

import errno

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import StoreError

KINDS = {
    "compressed": {"codecs": [oz.codec.gzip()]},
    "plain": {"codecs": []},
    "cached": {"codecs": [oz.codec.zstd()]},
    "sharded": {"chunks": (2, 2), "shards": (4, 4)},
}


@pytest.mark.parametrize("selection", [..., (slice(0, 1), slice(0, 2)), (0, 0)], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_in_place_of_a_chunk_is_an_error(tmp_path, kind, selection):
    options = {"chunks": (4, 4), **KINDS[kind]}
    oz.create_array(tmp_path / "a", shape=(8, 8), dtype="i4", fill_value=7, **options)
    (tmp_path / "a" / "c" / "0" / "0").mkdir(parents=True)
    a = oz.open_array(tmp_path / "a", cache_bytes=1 << 20 if kind == "cached" else 0)
    with pytest.raises(StoreError, match="a folder is where its file should be") as caught:
        a[selection]
    assert caught.value.key == "c/0/0"
    assert caught.value.errno == errno.EISDIR
    assert "remove it" in str(caught.value)
    np.testing.assert_array_equal(a[4:], np.full((4, 8), 7))


def test_a_folder_in_place_of_a_chunk_is_not_written_over(tmp_path):
    a = oz.create_array(tmp_path / "a", shape=(4,), dtype="i4", chunks=(2,))
    (tmp_path / "a" / "c" / "0").mkdir(parents=True)
    for selection in (slice(0, 2), 0):
        with pytest.raises(StoreError) as caught:
            a[selection] = 1
        assert caught.value.key == "c/0"
