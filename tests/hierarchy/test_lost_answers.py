"""A store that does what it is asked and says that it has failed: what was cut off or never made does not come back."""

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import StoreError
from omnizarr.store.fault import Fault, FaultStore

NOTE = ".omnizarr-resize.json"


@pytest.mark.parametrize("more", [(), (Fault(kind="erase", when="after", times=None),)], ids=["once", "from there on"])
@pytest.mark.parametrize(("version", "document"), [("zarr2", ".zarray"), ("zarr3", "zarr.json")])
def test_a_cut_whose_answer_was_lost_is_finished(version, document, more):
    store = oz.MemoryStore()
    oz.create_array(store, shape=(9,), chunks=(4,), dtype="i4", fill_value=-1, format=version)[...] = np.arange(9)
    failing = FaultStore(store, Fault(kind="put", key=document, when="after"), *more)
    with pytest.raises(StoreError):
        oz.open_array(failing, mode="r+").resize((2,))
    array = oz.open_array(store, mode="r+")
    assert array.shape == (2,)
    array.resize((9,))
    assert array[...].tolist() == [0, 1, *[-1] * 7]
    assert store.get(NOTE) is None


def test_a_cut_that_did_not_happen_leaves_no_note():
    store = oz.MemoryStore()
    oz.create_array(store, shape=(9,), chunks=(4,), dtype="i4")[...] = np.arange(9)
    with pytest.raises(StoreError):
        oz.open_array(FaultStore(store, Fault(kind="put", key="zarr.json")), mode="r+").resize((2,))
    assert oz.open_array(store)[...].tolist() == list(range(9))
    assert store.get(NOTE) is None


@pytest.mark.parametrize("path", ["a", "a/b"])
def test_attributes_of_a_node_that_was_never_made_are_not_those_of_the_next(path):
    store = oz.MemoryStore()
    oz.create_group(store, format="zarr2")
    with pytest.raises(StoreError):
        oz.open_group(FaultStore(store, Fault(kind="put", key=".zgroup")), mode="r+").create_group("a", attrs={"k": 0})
    group = oz.open_group(store, mode="r+")
    group.create_group(path)
    assert dict(group["a"].attrs) == {}


@pytest.mark.parametrize("child", ["", "/c"])
@pytest.mark.parametrize("how", ["copy", "move"])
def test_nor_those_of_a_copy(how, child):
    store = oz.MemoryStore()
    group = oz.create_group(store, format="zarr2")
    group.create_group("a" + child)
    store.put(f"b{child}/.zattrs", b'{"k": 0}')
    getattr(group, how)("a", "b")
    assert dict(group["b" + child].attrs) == {}
