"""Coordinates of a set that grows keep the length of their chunks, so that the old documents still fit."""

import json
from base64 import b64encode

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import StoreError
from omnizarr.store.file import FileStore


def array(shape, chunks):
    about = {"zarr_format": 2, "dtype": "<i4", "order": "C", "compressor": None, "filters": None, "fill_value": -1}
    return json.dumps({**about, "shape": shape, "chunks": chunks})


def inline(values):
    return "base64:" + b64encode(np.asarray(values, "<i4").tobytes()).decode()


def times(start, length):
    """A set with a field over time, and its coordinate."""
    dims = {"t": ["time"], "time": ["time"]}
    refs = {
        ".zgroup": '{"zarr_format": 2}',
        "time/.zarray": array((length,), (length,)),
        "time/0": inline(range(start, start + length)),
        "t/.zarray": array((length,), (1,)),
        **{f"t/{i}": inline([100 + start + i]) for i in range(length)},
        **{f"{name}/.zattrs": json.dumps({"_ARRAY_DIMENSIONS": names}) for name, names in dims.items()},
    }
    return {"version": 1, "refs": refs}


def opened(place):
    group = oz.open_group(place)
    return group["time"][...].tolist(), group["t"][...].tolist()


@pytest.fixture
def place(tmp_path):
    oz.refs.write(oz.refs.combine([times(0, 2)], concat="time"), tmp_path / "a.parq", record_size=2)
    return tmp_path / "a.parq"


@pytest.mark.parametrize("lengths", [(2, 2, 2), (3, 1, 5), (1, 1, 1)])
def test_values_are_right_whatever_the_lengths(place, lengths):
    end = 2
    for length in lengths:
        oz.refs.append(place, [times(end, length)], concat="time")
        end += length
        assert opened(place) == (list(range(end)), list(range(100, 100 + end)))
    assert oz.open_group(place)["time"].chunks == (2,)


def test_an_append_that_fails_at_the_end_leaves_the_old_set(place, monkeypatch):
    put = FileStore.put

    def fail(self, key, data):
        if key.endswith(".zmetadata"):
            raise StoreError("no")
        put(self, key, data)

    for end, length in ((2, 3), (5, 4)):
        before = opened(place)
        with monkeypatch.context() as patch:
            patch.setattr(FileStore, "put", fail)
            with pytest.raises(StoreError):
                oz.refs.append(place, [times(end, length)], concat="time")
        assert opened(place) == before
        oz.refs.append(place, [times(end, length)], concat="time")
        assert opened(place) == (list(range(end + length)), list(range(100, 100 + end + length)))
