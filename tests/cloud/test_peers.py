"""zarr-python, on obstore and on s3fs, and tensorstore read on S3 what we wrote there, and the reverse."""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from pathlib import Path

import numpy as np
import pytest

import omnizarr as oz

pytestmark = pytest.mark.peers
zarr = pytest.importorskip("zarr")
VALUES = np.arange(1200, dtype="i4").reshape(30, 40)
OPENED = []
CHILD = Path(__file__).with_name("_tensorstore_child.py")
FORMS = [{"format": "zarr3"}, {"format": "zarr2"}, {"format": "zarr3", "shards": (20, 40)}]


@pytest.fixture(params=["rclone_s3", "faulty"])
def service(request):
    return request.getfixturevalue(request.param)


def by_obstore(service, path, *, read_only):
    from obstore.store import S3Store

    keys = {"access_key_id": service.key, "secret_access_key": service.secret, "region": "us-east-1"}
    store = S3Store("bucket", prefix=path, endpoint=service.url, client_options={"allow_http": True}, **keys)
    return zarr.storage.ObjectStore(store, read_only=read_only)


def by_s3fs(service, path, *, read_only):
    import s3fs

    fs = s3fs.S3FileSystem(**service.options, asynchronous=True, skip_instance_cache=True)
    OPENED.append(fs)
    return zarr.storage.FsspecStore(fs, path=f"bucket/{path}", read_only=read_only)


@pytest.fixture(autouse=True)
def _closed():
    """Close what s3fs leaves open."""
    from zarr.core.sync import sync

    yield
    while OPENED:
        if (client := OPENED.pop()._s3) is not None:
            sync(client.close())


def ours(service, path, form):
    kind = {"shape": (30, 40), "chunks": (10, 20), "dtype": "i4", **form}
    array = oz.create_array(f"s3://bucket/{path}", storage_options=service.options, **kind)
    array[...] = VALUES
    array.attrs["units"] = "K"


@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("reader", [by_obstore, by_s3fs])
def test_zarr_python_reads_ours(service, reader, form):
    if "shards" in form and reader is by_obstore and not hasattr(service, "plan"):
        pytest.skip("rclone answers a suffix range with all of the object, which obstore refuses")
    path = f"ours-{uuid.uuid4().hex}"
    ours(service, path, form)
    array = zarr.open_array(reader(service, path, read_only=True), mode="r")
    np.testing.assert_array_equal(array[...], VALUES)
    assert dict(array.attrs) == {"units": "K"}


@pytest.mark.parametrize("form", [2, 3])
@pytest.mark.parametrize("writer", [by_obstore, by_s3fs])
def test_we_read_zarr_python(service, writer, form):
    path = f"zarr-{uuid.uuid4().hex}"
    group = zarr.open_group(writer(service, path, read_only=False), mode="w", zarr_format=form)
    array = group.create_array("a", shape=(30, 40), chunks=(10, 20), dtype="i4", attributes={"units": "K"})
    array[...] = VALUES
    found = oz.open_group(f"s3://bucket/{path}", storage_options=service.options)
    np.testing.assert_array_equal(found["a"][...], VALUES)
    assert dict(found["a"].attrs) == {"units": "K"}


@pytest.mark.skipif(sys.platform == "win32", reason="tensorstore has no wheels there")
def test_tensorstore(service, tmp_path):
    pytest.importorskip("tensorstore")
    paths = [f"ours-{uuid.uuid4().hex}" for _ in FORMS]
    for path, form in zip(paths, FORMS, strict=True):
        ours(service, path, form)
    np.save(tmp_path / "values.npy", VALUES)
    theirs = f"tensorstore-{uuid.uuid4().hex}"
    given = {
        "key": service.key,
        "secret": service.secret,
        "url": service.url,
        "values": str(tmp_path / "values.npy"),
        "read": [
            (f"{path}/", "zarr" if form["format"] == "zarr2" else "zarr3")
            for path, form in zip(paths, FORMS, strict=True)
        ],
        "write": f"{theirs}/",
    }
    ran = subprocess.run([sys.executable, str(CHILD), json.dumps(given)], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr[-2000:]
    found = oz.open_array(f"s3://bucket/{theirs}", storage_options=service.options)
    np.testing.assert_array_equal(found[...], VALUES)


def test_xarray_reads_and_writes_by_our_engine(service):
    xr = pytest.importorskip("xarray")
    where = f"s3://bucket/{uuid.uuid4()}.zarr"
    dataset = xr.Dataset({"t": (("y", "x"), VALUES)}, attrs={"title": "t"}).chunk(y=7)
    import omnizarr.interop.xarray as interop

    dataset.oz.to_omnizarr(
        where, storage_options=service.options, encoding={"t": {"chunks": (10, 20)}}, align_chunks=True
    )
    found = xr.open_dataset(where, engine=interop.OmnizarrBackend, storage_options=service.options)
    xr.testing.assert_identical(found.load(), dataset.load())
