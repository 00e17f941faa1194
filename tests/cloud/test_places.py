"""One dataset by every form of URL that netcdf-c knows, and what else can lie in a bucket: files, archives, sets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import omnizarr as oz

VALUES = np.arange(600, dtype="i4").reshape(20, 30)
CDL = """netcdf x {
dimensions:
    time = UNLIMITED ; x = 3 ;
variables:
    double time(time) ;
        time:units = "days since 2000-01-01" ;
    float v(time, x) ;
        v:_FillValue = -1.f ;
// global attributes:
    :title = "a title" ;
data:
    time = 0, 1 ;
    v = 1, 2, 3, _, 5, 6 ;
}
"""


FORMS = [
    "s3://bucket/d/x",
    "s3://bucket/d/x#mode=nczarr,s3",
    "s3://bucket/d/x#mode=zarr&aws.region=eu-west-1",
    "http://127.0.0.1:{port}/bucket/d/x#mode=s3",
    "http://127.0.0.1:{port}/bucket/d/x#mode=zarr,s3",
    "http://localhost:{port}/bucket/d/x#mode=s3",
    "http://s3.eu-west-1.localhost:{port}/bucket/d/x#mode=s3",
    "http://bucket.s3.eu-west-1.localhost:{port}/d/x#mode=s3",
    "http://bucket.s3.localhost:{port}/d/x#mode=s3",
]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_url(faulty, form):
    array = oz.create_array("s3://bucket/d/x", shape=(20, 30), dtype="i4", storage_options=faulty.options)
    array[...] = VALUES
    options = {"key": faulty.key, "secret": faulty.secret}
    if "://bucket/" in form:
        options["endpoint_url"] = faulty.url
    faulty.forget()
    found = oz.open_array(form.format(port=faulty.port), storage_options=options)
    np.testing.assert_array_equal(found[...], VALUES)
    assert {one.bucket for one in faulty.log} == {"bucket"}


def oz_command(*arguments, env):
    ran = subprocess.run(
        [sys.executable, "-m", "omnizarr", *arguments], capture_output=True, text=True, env=env, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture
def env(faulty, tmp_path):
    """The surroundings of a command: keys in a file at home, and nothing else."""
    home = tmp_path / "home"
    (home / ".aws").mkdir(parents=True)
    keys = f"aws_access_key_id = {faulty.key}\naws_secret_access_key = {faulty.secret}\n"
    (home / ".aws" / "credentials").write_text(f"[default]\n{keys}")
    (home / ".aws" / "config").write_text(f"[default]\nregion = eu-west-1\nendpoint_url = {faulty.url}\n")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return {**kept, "HOME": str(home)}


@pytest.mark.parametrize("mode", ["nczarr,s3", "zarr,s3"])
def test_gen_then_dump(faulty, tmp_path, env, mode):
    (tmp_path / "x.cdl").write_text(CDL)
    local, far = f"file://{tmp_path}/x.zarr#mode={mode.replace('s3', 'file')}", f"s3://bucket/x.zarr#mode={mode}"
    for place in (local, far):
        oz_command("gen", "-o", place, str(tmp_path / "x.cdl"), env=env)
    assert oz_command("dump", far, env=env) == oz_command("dump", local, env=env)


def test_an_archive_is_read_by_ranges(faulty, tmp_path):
    array = oz.create_array(tmp_path / "x.zarr", shape=(1000, 1000), chunks=(100, 100), dtype="f8", codecs=None)
    array[...] = np.arange(1e6).reshape(1000, 1000)
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for file in sorted((tmp_path / "x.zarr").rglob("*")):
            if file.is_file():
                archive.write(file, file.relative_to(tmp_path / "x.zarr"))
    data = (tmp_path / "x.zip").read_bytes()
    faulty.put("bucket", "x.zip", data)
    found = oz.open_array("s3://bucket/x.zip", storage_options=faulty.options)
    assert found[555, 666] == 555_666
    ranged = [one for one in faulty.log if one.kind == "get" and one.status == 206]
    assert ranged
    assert faulty.count() < 12
    assert not any(one.kind == "get" and one.status == 200 and one.key == "x.zip" for one in faulty.log)


def test_a_set_of_references_into_a_bucket(faulty, tmp_path):
    faulty.put("bucket", "blob", b"head" + VALUES.tobytes())
    array = {"zarr_format": 2, "shape": [20, 30], "chunks": [10, 30], "dtype": "<i4", "compressor": None}
    refs = {
        ".zgroup": json.dumps({"zarr_format": 2}),
        "a/.zarray": json.dumps({**array, "fill_value": 0, "filters": None, "order": "C"}),
        "a/0.0": ["s3://bucket/blob", 4, 1200],
        "a/1.0": ["s3://bucket/blob", 1204, 1200],
    }
    text = json.dumps({"version": 1, "refs": refs})
    (tmp_path / "refs.json").write_text(text)
    faulty.put("bucket", "refs.json", text.encode())
    for place in (tmp_path / "refs.json", "s3://bucket/refs.json"):
        group = oz.open_group(place, storage_options=faulty.options, allow=["s3://bucket/"])
        np.testing.assert_array_equal(group["a"][...], VALUES)


def test_a_netcdf_file_in_a_bucket(faulty, tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.nc", "w") as file:
        file.create_dataset("a", data=VALUES, chunks=(10, 30))
    faulty.put("bucket", "x.nc", (tmp_path / "x.nc").read_bytes())
    for url in ("s3://bucket/x.nc", "s3://bucket/x.nc#mode=bytes"):
        np.testing.assert_array_equal(oz.open(url, storage_options=faulty.options)["a"][...], VALUES)


@pytest.mark.parametrize("name", ["d/x", "d/x#mode=nczarr,s3", "d/x.nc"])
def test_datasets_with_options(faulty, tmp_path, name):
    """As NCZarr and as a file, by the credentials given, not by those of the environment."""
    path = f"s3://bucket/{name.partition('#')[0]}"
    with oz.Dataset(tmp_path / "x.nc", "w", format="NETCDF3_CLASSIC") as made:
        made.createDimension("x", 3)
        made.createVariable("v", "f4", ("x",), fill_value=-1.0)[:] = [1, 2, -1]
    if name.endswith(".nc"):
        store = oz.open_group("s3://bucket", mode="a", storage_options=faulty.options).store
        store.put("d/x.nc", (tmp_path / "x.nc").read_bytes())
    else:
        with oz.Dataset(path, "w", storage_options=faulty.options) as made:
            made.createDimension("x", 3)
            made.createVariable("v", "f4", ("x",), fill_value=-1.0)[:] = [1, 2, -1]
    with oz.Dataset(f"s3://bucket/{name}", storage_options=faulty.options) as found:
        assert found["v"].dimensions == ("x",)
        assert found["v"][:].tolist() == [1, 2, None]
    with pytest.raises(TypeError, match="storage_options"):
        oz.Dataset({}, storage_options=faulty.options)
