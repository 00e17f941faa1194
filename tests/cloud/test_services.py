"""The same on every service: arrays, groups, attributes, appends, deletions; three of S3, Azure and Google."""

from __future__ import annotations

import uuid

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import NotFoundError, StoreError
from tests.cloud.servers.google import account

SCHEMES = {"rclone_s3": "s3", "moto_s3": "s3", "faulty": "s3", "azure": "az", "gcs": "gs"}


@pytest.fixture(params=SCHEMES)
def place(request, tmp_path):
    """A URL of a folder of its own, and the options for it."""
    service = request.getfixturevalue(request.param)
    document = tmp_path / "account.json"
    document.write_text(account(service.url))
    options = {
        "az": lambda: {"account_name": service.key, "account_key": service.secret, "endpoint": service.url},
        "gs": lambda: {"token": str(document), "allow_http": True},
        "s3": lambda: service.options,
    }[SCHEMES[request.param]]()
    return f"{SCHEMES[request.param]}://bucket/{uuid.uuid4().hex}", options


@pytest.mark.parametrize("form", ["zarr2", "zarr3"])
def test_a_hierarchy(place, form):
    url, options = place
    group = oz.create_group(url, format=form, storage_options=options, attrs={"title": "T"})
    values = np.arange(600, dtype="f4").reshape(20, 30)
    array = group.create_array("sub/a b", shape=(20, 30), chunks=(7, 10), dtype="f4")
    array[...] = values
    array[3:5, 4] = -1
    values[3:5, 4] = -1
    array.append(values)
    again = oz.open_group(url, mode="r+", storage_options=options)
    assert dict(again.attrs) == {"title": "T"}
    np.testing.assert_array_equal(again["sub/a b"][...], np.concatenate([values, values]))
    assert [name for name, _ in again.members(max_depth=None)] == ["sub", "sub/a b"]
    del again["sub"]
    assert list(oz.open_group(url, storage_options=options)) == []


def test_shards_and_large_objects(place):
    url, options = place
    kind = {"shape": (2000, 1500), "chunks": (100, 100), "shards": (2000, 1500), "dtype": "f8", "codecs": None}
    array = oz.create_array(url, storage_options=options, **kind)
    values = np.arange(3e6).reshape(2000, 1500)
    array[...] = values
    array = oz.open_array(url, storage_options=options)
    assert array[1234, 987] == values[1234, 987]
    np.testing.assert_array_equal(array[::10, ::10], values[::10, ::10])


def test_nothing_there(place):
    url, options = place
    with pytest.raises(NotFoundError):
        oz.open(url, storage_options=options)
    with pytest.raises((NotFoundError, StoreError)):
        oz.open(url.replace("//bucket", "//no-such-bucket"), storage_options=options)


@pytest.mark.parametrize("name", ["rclone_s3", "faulty"])
def test_wrong_keys(name, request):
    service = request.getfixturevalue(name)
    options = {**service.options, "secret": "wrong"}
    with pytest.raises(StoreError, match="SignatureDoesNotMatch") as caught:
        oz.open("s3://bucket/x", storage_options=options)
    assert service.secret not in str(caught.value)
