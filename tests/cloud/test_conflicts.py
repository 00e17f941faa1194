"""Eight processes append and rewrite at once: nothing is lost, by conditional puts. OMNIZARR_LONG says for how long."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import omnizarr as oz

CHILD = Path(__file__).with_name("_conflict_child.py")


def test_nothing_is_lost(faulty):
    seconds = float(os.environ.get("OMNIZARR_LONG", "3"))
    options = faulty.options
    group = oz.create_group("s3://bucket/g", storage_options=options)
    group.create_array("rows", shape=(0, 4), chunks=(16, 4), dtype="i4", fill_value=0)
    group.create_array("sums", shape=(40,), chunks=(16,), dtype="i8", fill_value=0)
    command = [sys.executable, str(CHILD), "s3://bucket/g", json.dumps(options)]
    children = [
        subprocess.Popen([*command, str(number), str(seconds)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for number in range(8)
    ]
    try:
        ended = [(child.communicate(timeout=seconds + 60), child) for child in children]
    finally:
        for child in children:
            child.kill()
            child.communicate()
    for (_, errors), child in ended:
        assert child.returncode == 0, errors.decode()[-2000:]
    told = [json.loads(out) for (out, _), _ in ended]
    group = oz.open_group("s3://bucket/g", storage_options=options)
    rows = group["rows"][...]
    assert rows.shape[0] == sum(one["appended"] for one in told)
    for number, one in enumerate(told):
        assert (rows == number + 1).all(axis=1).sum() == one["appended"]
    np.testing.assert_array_equal(group["sums"][...], np.repeat([one["added"] for one in told], 5))
    assert sum(one["appended"] for one in told) >= 16


@pytest.mark.parametrize("attrs", [None, {"own": 1}])
@pytest.mark.parametrize("overwrite", [False, True])
def test_what_a_killed_program_left_is_not_inherited(attrs, overwrite, faulty):
    options = faulty.options
    root = oz.create_group("s3://bucket/g", format="zarr2", storage_options=options)
    for path in ("a", "a/b", "a/b/c"):
        root.store.put(f"{path}/.zattrs", b'{"left": 1}')
    made = oz.create_array("s3://bucket/g", path="a/b/c", shape=(2,), dtype="i4", format="zarr2", attrs=attrs,
                           overwrite=overwrite, storage_options=options)  # fmt: skip
    assert dict(made.attrs) == (attrs or {})
    root = oz.open_group("s3://bucket/g", storage_options=options)
    assert [dict(root[path].attrs) for path in ("a", "a/b", "a/b/c")] == [{}, {}, attrs or {}]


@pytest.mark.parametrize("layout", [{"chunks": (10,)}, {"chunks": (5,), "shards": (10,)}])
def test_what_was_appended_outlives_writers_of_the_old_shape(layout, faulty):
    options = faulty.options
    array = oz.create_array("s3://bucket/a", shape=(15,), dtype="i4", storage_options=options, **layout)
    old = oz.open_array("s3://bucket/a", "r+", storage_options=options)
    array[...] = 1
    array.append(np.full(5, 7, "i4"))
    old[...] = 3
    assert oz.open("s3://bucket/a", storage_options=options)[...].tolist() == [3] * 15 + [7] * 5
    old[...] = 0
    assert oz.open("s3://bucket/a", storage_options=options)[...].tolist() == [0] * 15 + [7] * 5
