"""Documents of v2 that name the shuffle of blosc in the words of v3, as VirtualiZarr writes them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import MetadataError


@pytest.fixture
def place(tmp_path):
    """Give an array of v2 in blosc, which the tests change the document of."""
    codec = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 2, "blocksize": 0}
    array = oz.create_array(tmp_path / "a", shape=(100,), chunks=(40,), dtype="<i4", format="zarr2", codecs=[codec])
    array[...] = np.arange(100)
    return tmp_path / "a"


def renamed(place, name):
    document = json.loads((place / ".zarray").read_text())
    assert document["compressor"]["shuffle"] == 2
    document["compressor"]["shuffle"] = name
    (place / ".zarray").write_text(json.dumps(document))


@pytest.mark.parametrize("name", ["noshuffle", "shuffle", "bitshuffle"])
def test_names(place, name):
    renamed(place, name)
    array = oz.open_array(place, mode="r+")
    assert array[...].tolist() == list(range(100))
    array[3] = 7
    array.resize((90,))
    # What is written anew says it as v2 does.
    number = json.loads((place / ".zarray").read_text())["compressor"]["shuffle"]
    assert number == ["noshuffle", "shuffle", "bitshuffle"].index(name)
    assert oz.open(place)[:5].tolist() == [0, 1, 2, 7, 4]


def test_other_names(place):
    renamed(place, "mix")
    with pytest.raises(MetadataError, match="shuffle must be a whole number from -1 to 2 or 'noshuffle'"):
        oz.open(place)
