"""An order that the user knows better than the document: it must hold for as long as the handle does."""

import json
import pickle

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import MetadataError

VALUES = np.arange(12).reshape(4, 3)


@pytest.fixture
def place(tmp_path):
    """Make an array as `migrate_1to2` left it: C order in the chunks, F in the document."""
    oz.create_array(tmp_path, data=VALUES, chunks=(2, 3), codecs="zlib", format="zarr2")
    document = json.loads((tmp_path / ".zarray").read_text())
    (tmp_path / ".zarray").write_text(json.dumps({**document, "order": "F"}))
    return tmp_path


def test_refreshing_keeps_it(place):
    a = oz.open_array(place, stored_order="C")
    a.refresh()
    assert np.array_equal(a[...], VALUES)


def test_pickling_keeps_it(place):
    again = pickle.loads(pickle.dumps(oz.open_array(place, stored_order="C")))
    assert np.array_equal(again[...], VALUES)


def test_setting_attributes_keeps_it_and_leaves_the_document_alone(place):
    before = (place / ".zarray").read_bytes()
    a = oz.open_array(place, "r+", stored_order="C")
    a.attrs["units"] = "m"
    assert np.array_equal(a[...], VALUES)
    assert (place / ".zarray").read_bytes() == before


def test_growing_puts_the_document_right(place):
    a = oz.open_array(place, "r+", stored_order="C")
    a.append([[7, 8, 9]])
    whole = np.concatenate([VALUES, [[7, 8, 9]]])
    assert np.array_equal(a[...], whole)
    assert np.array_equal(oz.open(place)[...], whole)


@pytest.mark.parametrize("word", ["c", "f", "A", 1])
def test_other_words_are_refused(place, word):
    with pytest.raises(MetadataError, match="stored_order"):
        oz.open_array(place, stored_order=word)
