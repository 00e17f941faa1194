"""Credentials from everywhere open what lies on a server that checks signatures; so do stores of other libraries."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import StoreError
from omnizarr.store.cloud import keys as keys_module
from omnizarr.store.cloud.fsspec_store import FsspecStore
from omnizarr.store.cloud.obstore_store import ObstoreStore
from omnizarr.store.cloud.store import CloudStore
from omnizarr.store.resolve import resolve
from tests.cloud.servers.instance import new_keys
from tests.cloud.servers.sigv4 import Account

DATA = np.arange(100, dtype="i4").reshape(10, 10)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    (tmp_path / ".aws").mkdir()
    keys_module.forget()
    yield tmp_path
    keys_module.forget()


@pytest.fixture
def there(faulty):
    oz.create_array(oz.at("s3://bucket/a/x.zarr", **faulty.options), data=DATA, chunks=(5, 5))
    return faulty


def profile(server, name="default", more=""):
    return f"[{name}]\naws_access_key_id={server.key}\naws_secret_access_key={server.secret}\n{more}\n"


@pytest.mark.parametrize(
    "form",
    [
        "http://127.0.0.1:{port}/bucket/a/x.zarr#mode=zarr,s3",
        "http://127.0.0.1:{port}/bucket/a/x.zarr#s3",
        "[mode=zarr,s3]http://127.0.0.1:{port}/bucket/a/x.zarr",
        "http://127.0.0.1:{port}/bucket/a/x.zarr#mode=zarr,gs3",
        "s3://bucket/a/x.zarr",
        "s3a://bucket/a/x.zarr",
        "s3://bucket/a/x.zarr/#mode=zarr&aws.profile=default",
    ],
)
def test_forms_of_urls(form, there, home, monkeypatch):
    (home / ".aws/credentials").write_text(profile(there))
    if form.startswith("s3"):
        monkeypatch.setenv("AWS_ENDPOINT_URL", there.url)
    assert (oz.open(form.format(port=there.port))[...] == DATA).all()


def test_where_keys_come_from(there, home, monkeypatch):
    url = "s3://bucket/a/x.zarr"
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", there.url)
    with pytest.raises(StoreError):  # unsigned
        oz.open(url)
    (home / ".aws/config").write_text(profile(there, "profile me"))
    assert (oz.open(f"{url}#aws.profile=me")[...] == DATA).all()
    assert (oz.open(oz.at(url, profile="me"))[...] == DATA).all()
    monkeypatch.chdir(home)
    (home / ".ncrc").write_text("AWS.PROFILE=me\n")
    assert (oz.open(url)[...] == DATA).all()
    with pytest.raises(StoreError):
        oz.open(f"{url}#aws.profile=no")
    (home / ".ncrc").unlink()
    monkeypatch.setenv("AWS_PROFILE", "me")
    assert (oz.open(url)[...] == DATA).all()
    monkeypatch.delenv("AWS_PROFILE")
    lent = new_keys(there)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", lent["AccessKeyId"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", lent["SecretAccessKey"])
    with pytest.raises(StoreError):  # the token is missing
        oz.open(url)
    monkeypatch.setenv("AWS_SESSION_TOKEN", lent["Token"])
    assert (oz.open(url)[...] == DATA).all()


def test_the_role_of_a_container_and_of_a_machine(there, home, monkeypatch):
    place = oz.at("s3://bucket/a/x.zarr", endpoint_url=there.url, instance_role=True)
    monkeypatch.delenv("AWS_EC2_METADATA_DISABLED")
    monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", there.url)
    assert (oz.open(place)[...] == DATA).all()
    assert there.sent_off == 1
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{there.url}/credentials")
    assert (oz.open(oz.at("s3://bucket/a/x.zarr", endpoint_url=there.url))[...] == DATA).all()
    assert there.sent_off == 2


def test_keys_are_renewed(there, home):
    # Keys that are good for half a minute are asked for again with each request, and each time they are others.
    script = home / "keys.py"
    count = home / "count"
    script.write_text(
        f"import json, pathlib, time\np = pathlib.Path({str(count)!r})\n"
        "n = int(p.read_text()) + 1 if p.exists() else 1\np.write_text(str(n))\n"
        "until = time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(time.time() + 30))\n"
        "print(json.dumps({'Version': 1, 'AccessKeyId': f'k{n}', 'SecretAccessKey': 'hush', 'Expiration': until}))\n"
    )
    for number in range(1, 60):
        there.s3.accounts[f"k{number}"] = Account("hush")
    command = f"{shlex.quote(sys.executable)} -S {shlex.quote(str(script))}"
    (home / ".aws/config").write_text(f"[default]\ncredential_process = {command}\nendpoint_url = {there.url}\n")
    array = oz.open("s3://bucket/a/x.zarr")
    before = int(count.read_text())
    assert (array[:5, :5] == DATA[:5, :5]).all()
    assert int(count.read_text()) > before


def test_secrets_do_not_show(there, home):
    place = oz.at("s3://bucket/a/x.zarr", endpoint_url=there.url, key=there.key, secret="hush", attempts=1)
    store, _ = resolve(place)
    with pytest.raises(StoreError) as caught:
        store.get("zarr.json")
    for shown in (repr(place), repr(store), str(caught.value), repr(store.settled), store.uri):  # type: ignore[attr-defined]
        assert "hush" not in shown


def test_stores_of_obstore(there, home):
    obstore = pytest.importorskip("obstore.store")
    known = {"endpoint": there.url, "region": "us-east-1", "client_options": {"allow_http": True}}
    keys = {"access_key_id": there.key, "secret_access_key": there.secret}
    plain = obstore.S3Store("bucket", prefix="a/x.zarr", **keys, **known)
    lasting = {**keys, "expires_at": None}
    provided = obstore.S3Store("bucket", prefix="a/x.zarr", **known, credential_provider=lambda: lasting)
    for place, kind in ((plain, CloudStore), (provided, ObstoreStore)):
        store, _ = resolve(place)
        assert isinstance(store, kind)
        assert (oz.open(place)[...] == DATA).all()
        tag = store.put_if("new", b"1", None)
        assert tag is not None
        assert store.put_if("new", b"2", None) is None
        assert store.put_if("new", b"2", tag) not in (None, tag)
        assert store.put_if("new", b"3", tag) is None
        assert store.erase("new")
    assert resolve(plain)[0].uri == resolve(oz.at("s3://bucket/a/x.zarr", **there.options))[0].uri


def test_file_systems_of_s3fs(there, home):
    s3fs = pytest.importorskip("s3fs")
    fs = s3fs.S3FileSystem(key=there.key, secret=there.secret, endpoint_url=there.url, skip_instance_cache=True)
    place = fs.get_mapper("bucket/a/x.zarr")
    store, _ = resolve(place)
    assert isinstance(store, FsspecStore)
    assert "secret" not in store.uri
    assert there.secret not in repr(store)
    assert (oz.open(place)[...] == DATA).all()
    oz.create_array((fs, "bucket/b.zarr"), data=DATA, chunks=(5, 5))
    assert (oz.open(oz.at("s3://bucket/b.zarr", **there.options))[...] == DATA).all()
    there.put("bucket", "b.zarr/later", b"1")  # what others write is seen
    found, _ = resolve((fs, "bucket/b.zarr"))
    assert found.get("later") == b"1"
    assert found.get_many(["later", "never"]) == [b"1", None]
    found.erase_prefix("")
    assert list(found.list_prefix("")) == []
    assert there.data("bucket", "a/x.zarr/zarr.json")


def test_google(gcs, home):
    pytest.importorskip("obstore")
    from tests.cloud.servers.google import account

    place = oz.at("gs://bucket/x.zarr", token=json.loads(account(gcs.url)), endpoint_url=gcs.url)
    oz.create_array(place, data=DATA)
    assert (oz.open(place)[...] == DATA).all()
    file = Path(home / "key.json")
    file.write_text(account(gcs.url))
    assert (oz.open(oz.at("gs://bucket/x.zarr", token=str(file), endpoint_url=gcs.url))[...] == DATA).all()


def test_azure(azure, home):
    options = {"account_name": azure.key, "account_key": azure.secret, "endpoint_url": azure.url}
    store, _ = resolve(oz.at("az://bucket/x.zarr", **options))
    values: dict[str, bytes] = {}
    oz.create_array(values, data=DATA)
    for key, value in values.items():
        store.put(key, value)
    assert (oz.open(oz.at("abfs://bucket/x.zarr", **options))[...] == DATA).all()
    assert (oz.open(f"{azure.url}/bucket/x.zarr#mode=zarr")[...] == DATA).all()
    store.erase_prefix("")
