import json

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ExistsError, UnsupportedError


def test_a_folder_of_files_is_never_replaced(tmp_path):
    (tmp_path / "thesis.txt").write_text("dear reader")
    with pytest.raises(ExistsError, match="no dataset"):
        oz.Dataset(tmp_path, "w")
    assert (tmp_path / "thesis.txt").read_text() == "dear reader"


def test_plain_zarr_is_changed_by_a_url_that_says_so(tmp_path):
    url = f"file://{tmp_path / 'x'}#mode=zarr,file"
    with oz.Dataset(url, "w") as ds:
        ds.createDimension("x", 2)
        ds.createVariable("v", "i4", ("x",))[:] = [1, 2]
    with oz.Dataset(url, "a") as ds:
        ds["v"][1] = 5
    assert oz.open(tmp_path / "x")["v"][:].tolist() == [1, 5]
    oz.Dataset(tmp_path / "n", "w").close()
    with pytest.raises(UnsupportedError, match="is NCZarr"):
        oz.Dataset(f"file://{tmp_path / 'n'}#mode=zarr,file", "a")


def test_shuffle_without_a_size_means_the_elements_of_the_array_in_plain_zarr_of_netcdf_c():
    place = {}
    values = np.arange(12, dtype="f4").reshape(4, 3)
    codecs = [{"id": "shuffle", "elementsize": 4}, {"id": "zlib", "level": 1}]
    oz.create_array(place, shape=(4, 3), chunks=(2, 3), dtype="f4", format="zarr2", codecs=codecs)[...] = values
    document = json.loads(place[".zarray"])
    document["filters"][0]["elementsize"] = 0
    order = ("zarr_format", "shape", "dtype", "chunks", "fill_value", "order", "compressor", "filters")
    place[".zarray"] = json.dumps({name: document[name] for name in order}).encode()
    assert oz.open_array(place)[...].tolist() == values.tolist()
