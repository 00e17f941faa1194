"""F40 to F44: what a server does wrong while it is read from is put right or told, and never becomes values."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import StaleReferenceError, StoreError
from tests.cloud.servers import faults
from tests.cloud.servers.instance import new_keys

VALUES = np.arange(10_000, dtype="i4").reshape(100, 100)
QUICK = {"pause": 0.001, "stall": 0.4, "patience": 0.6}


@pytest.fixture
def array(faulty):
    """Ten raw chunks, for which wrong bytes would be wrong values."""
    options = {**faulty.options, **QUICK}
    made = oz.create_array(
        "s3://bucket/x", shape=(100, 100), chunks=(10, 100), dtype="i4", codecs=None, storage_options=options
    )
    made[...] = VALUES
    faulty.forget()
    return oz.open_array("s3://bucket/x", storage_options=options)


@pytest.fixture
def shards(faulty):
    options = {**faulty.options, **QUICK}
    made = oz.create_array(
        "s3://bucket/s",
        shape=(100, 100),
        chunks=(10, 10),
        shards=(50, 100),
        dtype="i4",
        codecs=None,
        storage_options=options,
    )
    made[...] = VALUES
    return oz.open_array("s3://bucket/s", storage_options=options)


def chunk_requests(server):
    return sum(1 for one in server.log if "/c/" in one.key)


def test_f40_missing_is_fill(faulty, array):
    faulty.plan.add(faults.missing, key="c/3/", times=1)
    expected = VALUES.copy()
    expected[30:40] = 0
    np.testing.assert_array_equal(array[...], expected)
    assert chunk_requests(faulty) == 10


@pytest.mark.parametrize("fault", [faults.forbidden, faults.unauthorized])
def test_f41_refusals_are_errors(faulty, array, fault):
    faulty.plan.add(fault, key="c/3/")
    with pytest.raises(StoreError, match="refuses access") as caught:
        array[...]
    assert "c/3" in str(caught.value)
    assert faulty.secret not in str(caught.value)


def test_f41_refusals_are_missing_only_if_told(faulty, array):
    options = {**faulty.options, "forbidden_is_missing": True}
    lenient = oz.open_array("s3://bucket/x", storage_options=options)
    faulty.plan.add(faults.forbidden, key="c/3/")
    assert not lenient[30:40].any()
    assert lenient[0, 1] == 1


@pytest.mark.parametrize("fault", [faults.expired, faults.skewed])
def test_f41_tokens_and_clocks_are_seen_to_once(faulty, array, fault):
    faulty.plan.add(fault, key="c/3/", times=1)
    np.testing.assert_array_equal(array[...], VALUES)
    assert chunk_requests(faulty) == 11


@pytest.mark.parametrize("fault", [faults.expired, faults.skewed])
def test_f41_tokens_and_clocks_that_stay_wrong_are_errors(faulty, array, fault):
    faulty.plan.add(fault, key="c/3/")
    with pytest.raises(StoreError, match=r"Expired|Skewed"):
        array[...]
    assert chunk_requests(faulty) < 30


def test_f41_expired_keys_are_refused(faulty, array):
    made = new_keys(faulty, lasting=-1)
    options = {"key": made["AccessKeyId"], "secret": made["SecretAccessKey"], "token": made["Token"]}
    with pytest.raises(StoreError, match="ExpiredToken") as caught:
        oz.open_array("s3://bucket/x", storage_options={**options, "endpoint_url": faulty.url})
    assert made["Token"] not in str(caught.value)


@pytest.mark.parametrize("fault", faults.PASSING, ids=lambda fault: fault.__qualname__)
@pytest.mark.parametrize("times", [1, 2])
def test_f42_f43_what_passes_is_asked_for_again(faulty, array, fault, times):
    faulty.plan.add(fault, key="c/3/", times=times)
    np.testing.assert_array_equal(array[...], VALUES)
    assert chunk_requests(faulty) <= 10 + times


def test_f42_a_server_may_say_when_to_come_back(faulty, array):
    faulty.plan.add(faults.throttled_for_a_second, key="c/3/", times=1)
    np.testing.assert_array_equal(array[...], VALUES)
    assert chunk_requests(faulty) == 11


@pytest.mark.parametrize("fault", [faults.busy, faults.internal, faults.reset_before, faults.truncated])
def test_f42_what_does_not_pass_is_told_with_its_cause(faulty, array, fault):
    faulty.plan.add(fault, key="c/3/")
    with pytest.raises(StoreError, match=r"attempts|retries") as caught:
        array[30:40]
    assert "c/3" in str(caught.value)
    assert chunk_requests(faulty) < 30


def test_f42_nobody_there(faulty):
    options = {**faulty.options, "endpoint_url": "http://127.0.0.1:1", "attempts": 2, "pause": 0.001}
    with pytest.raises(StoreError):
        oz.open_array("s3://bucket/x", storage_options=options)


@pytest.mark.parametrize("fault", [faults.stall(5), faults.silent(5)], ids=["stall", "silent"])
def test_f43_a_stall_is_asked_for_again(faulty, array, fault):
    faulty.plan.add(fault, key="c/3/", times=1)
    np.testing.assert_array_equal(array[...], VALUES)


def test_f43_a_drip_ends(faulty, array):
    faulty.plan.add(faults.drip(0.1), key="c/3/")
    with pytest.raises(StoreError, match="slow"):
        array[30:40]


def test_f43_what_came_is_not_asked_for_again(faulty, array):
    faulty.plan.add(faults.truncated, key="c/3/", times=1)
    array[30:40]
    assert [one.range for one in faulty.log if "/c/" in one.key] == [None, "bytes=2000-3999"]


@pytest.mark.parametrize("fault", [faults.range_ignored, faults.compressed])
def test_f44_odd_answers_for_whole_chunks(faulty, array, fault):
    faulty.plan.add(fault, key="c/3/", times=1)
    np.testing.assert_array_equal(array[...], VALUES)


@pytest.mark.parametrize("fault", [faults.html, faults.html_as_range])
def test_f44_pages_in_place_of_chunks(faulty, array, fault):
    faulty.plan.add(fault, key="c/3/", times=1)
    np.testing.assert_array_equal(array[...], VALUES)
    assert chunk_requests(faulty) <= 11
    faulty.plan.clear()
    faulty.plan.add(fault, key="c/3/")
    with pytest.raises(StoreError, match="HTML"):
        array[...]


def test_f44_a_part_in_place_of_the_whole(faulty, array):
    faulty.plan.add(faults.wrong_range, key="c/3/", times=1)
    np.testing.assert_array_equal(array[...], VALUES)


@pytest.mark.parametrize(
    "fault", [faults.range_ignored, faults.wrong_range, faults.other_version, faults.compressed, faults.html]
)
def test_f44_odd_answers_for_ranges(faulty, shards, fault):
    shards[0, 0]  # the index of the shard is known from here on
    faulty.forget()
    faulty.plan.add(fault, key="c/0/", times=1)
    try:
        got = shards[20:30, 30:40]
    except (StoreError, StaleReferenceError):
        got = shards[20:30, 30:40]
    np.testing.assert_array_equal(got, VALUES[20:30, 30:40])
    assert faulty.faults()


def test_f44_a_changed_shard_is_not_mixed_with_its_old_index(faulty, shards):
    shards[0, 0]
    other = oz.open_array("s3://bucket/s", mode="r+", storage_options=faulty.options)
    other[0:50] = VALUES[50:] + 7
    np.testing.assert_array_equal(shards[20:30, 30:40], VALUES[70:80, 30:40] + 7)


@pytest.mark.parametrize(("selected", "border"), [(np.s_[...], 50), (np.s_[12:14, 25:75], 2), (np.s_[45:55], 5)])
def test_f44_shards_that_change_with_every_look_are_read_whole(faulty, shards, selected, border):
    """Whoever reads an index first and then what it leads to would never come to an end."""
    restless = oz.open_array("s3://bucket/s", mode="r+", storage_options=faulty.options)
    restless[...] = 1
    states = [faulty.bucket().objects[f"s/c/{i}/0"].data for i in range(2)]
    restless[...] = 2
    states += [faulty.bucket().objects[f"s/c/{i}/0"].data for i in range(2)]
    answer, looks = faulty.s3.answer, Counter()

    def answered(request):
        answered = answer(request)
        if "/c/" in request.key:
            looks[request.key] += 1
            faulty.put("bucket", request.key, states[int(request.key[-3]) + 2 * (1 - looks[request.key] % 2)])
        return answered

    faulty.s3.answer = answered
    found = shards[selected]
    assert all(len(set(part.ravel().tolist())) == 1 for part in (found[:border], found[border:]) if part.size)
    assert set(found.ravel().tolist()) <= {1, 2}
    assert looks.total() < 40
