"""A crash between the documents of variables that grow together: what readers see of them does not go again."""

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import StoreError
from omnizarr.store.fault import Fault, FaultStore

ROWS = np.arange(6, dtype="i4").reshape(2, 3)


def dataset(store, mode, **options):
    made = oz.Dataset(store, mode, **options)
    made.set_auto_mask(False)
    return made


def grow(store, name, row):
    with dataset(store, "r+") as opened:
        opened.variables[name][row : row + 2] = ROWS + 10 * row


@pytest.fixture(params=["NCZARR", "NCZARR3"])
def store(request):
    """Two variables of which the second's document was written last, and is behind."""
    store = oz.MemoryStore()
    with dataset(store, "w", format=request.param) as made:
        made.createDimension("t", None)
        made.createDimension("x", 3)
        for name in ("first", "second"):
            made.createVariable(name, "i4", ("t", "x"), fill_value=-1, chunksizes=(2, 2))
    fault = Fault(kind="put", key="second/zarr.json" if request.param == "NCZARR3" else "second/.zarray", times=None)
    with pytest.raises(StoreError):
        grow(FaultStore(store, fault), "second", 0)
    return store


def seen(store, name):
    with dataset(store, "r") as opened:
        return np.asarray(opened.variables[name][...]).tolist()


def test_what_is_seen_stays(store):
    assert seen(store, "second") == ROWS.tolist()
    assert seen(store, "first") == [[-1] * 3] * 2
    with pytest.raises(StoreError):
        grow(FaultStore(store, Fault(kind="write", at=2, times=None)), "second", 4)
    assert seen(store, "second")[:2] == ROWS.tolist()
    grow(store, "second", 4)
    assert seen(store, "second") == [*ROWS.tolist(), [-1] * 3, [-1] * 3, *(ROWS + 40).tolist()]
    assert seen(store, "first") == [[-1] * 3] * 6
