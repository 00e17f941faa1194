"""Every operation of a scenario fails in turn: the error is loud, and what was there before is whole."""

import errno

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import OmnizarrError, StoreError
from omnizarr.store.fault import Fault, FaultStore, sweep
from omnizarr.store.memory import MemoryStore

OLD = np.arange(60, dtype="<i4").reshape(6, 10)
NEW = OLD + 1000
LAYOUTS = {
    "plain": {"chunks": (3, 5)},
    "compressed": {"chunks": (3, 5), "codecs": ["bytes", "zstd", "crc32c"]},
    "sharded": {"chunks": (1, 5), "shards": (3, 10)},
}


def filled(layout):
    store = MemoryStore()
    array = oz.create_array(store, shape=OLD.shape, dtype="<i4", fill_value=-1, **LAYOUTS[layout])
    array[...] = OLD
    return store


def rewrite_all(store):
    oz.open_array(store, mode="r+")[...] = NEW
    return 60


def change_a_box_that_no_chunk_fits(store):
    oz.open_array(store, mode="r+")[1:5, 2:7] = NEW[1:5, 2:7]
    return 20


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("scenario", [rewrite_all, change_a_box_that_no_chunk_fits])
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC, errno.EACCES])
def test_a_failing_operation_is_loud_and_spoils_nothing(layout, scenario, when, number):
    runs = 0
    for store in sweep(lambda: filled(layout), Fault(when=when, errno=number)):
        runs += 1
        failure, expected = None, None
        try:
            expected = scenario(store)
        except StoreError as error:
            failure = error
        found = oz.open_array(store.inner, mode="r")[...]
        assert np.all((found == OLD) | (found == NEW))
        if store.fired:
            assert failure is not None
            assert failure.errno == number
            assert failure.key is not None
        else:
            assert np.count_nonzero(found != OLD) == expected
        assert runs < 200
    assert runs > 2


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("how", ["truncate", "corrupt"])
def test_spoilt_reads_are_never_taken_for_other_values(layout, how):
    for store in sweep(lambda: filled(layout), Fault(how, "read")):
        try:
            found = oz.open_array(store, mode="r")[...]
        except OmnizarrError:
            continue
        # A flipped bit in plain bytes cannot be seen by anyone; everything else can.
        if not (how == "corrupt" and layout != "compressed"):
            np.testing.assert_array_equal(found, OLD)


def test_a_failure_is_never_a_fill_value():
    store = FaultStore(filled("plain"), Fault(kind="read", key="c/", times=None))
    array = oz.open_array(store, mode="r")
    with pytest.raises(StoreError) as caught:
        array[0, 0]
    assert caught.value.key.startswith("c/")
    foreign = FaultStore(filled("plain"), Fault(kind="read", key="c/", times=None, error=TimeoutError("gone")))
    with pytest.raises(OSError, match="gone"):
        oz.open_array(foreign, mode="r")[...]
