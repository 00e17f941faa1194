"""Names of options, and places and credentials of Google's and Microsoft's stores."""

from __future__ import annotations

import json
import pickle
from datetime import timedelta
from typing import Any

import pytest

import omnizarr as oz
from omnizarr.errors import OmnizarrError, StoreError, UnsafeError, UnsupportedError
from omnizarr.store.cloud.names import GROUPS, IGNORED, SETTINGS, WISHES, names_of
from omnizarr.store.cloud.options import VARIABLE, kind_of, settle
from omnizarr.store.url.explain import explain
from tests.store.cloud.homes import make_home

CHASSIS = "7783-7084-3265-9085-8269-3286-77\n"
ACCOUNT = {"type": "service_account", "private_key": "hush", "private_key_id": "hush", "client_email": "me"}
BLOB = "https://acc.blob.core.windows.net"


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("s3://b/k", "s3"),
        ("s3a://b", "s3"),
        ("gs3://b/k#mode=zarr", "s3"),
        ("https://b.s3.amazonaws.com/k", "s3"),
        ("http://h:1/b/k#mode=s3", "s3"),
        ("[mode=s3]http://h:1/b/k", "s3"),
        ("gs://b/k", "gcs"),
        ("gcs://b/k#mode=zarr", "gcs"),
        ("az://c/k", "azure"),
        ("azure://c/k", "azure"),
        ("abfs://c@acc.dfs.core.windows.net/k", "azure"),
        ("wasbs://c@acc.blob.core.windows.net/k", "azure"),
        ("https://acc.blob.core.windows.net/c/k#mode=zarr", "azure"),
        ("https://acc.dfs.core.windows.net/c/k", "azure"),
        ("http://127.0.0.1:10000/devstoreaccount1/c/k", "azure"),
        ("http://azurite:1/devstoreaccount1/c/k", "azure"),
        ("http://127.0.0.1:9999/c/k", "http"),
        ("https://example.org/x.zarr#mode=zarr", "http"),
        ("https://example.org/x#mode=bytes", "http"),
        ("https://example.org/x#dap2", ""),
        ("dods://example.org/x", ""),
        ("file:///x", ""),
        ("x.zarr", ""),
        ("c:/x", ""),
    ],
)
def test_kinds(url, kind):
    assert kind_of(url) == kind


def test_settings_are_passed_on(tmp_path):
    options = {
        "attempts": 3, "pause": 0.5, "config_kwargs": {"read_timeout": 20, "connect_timeout": 1.5}, "requests": "8",
        "forbidden_is_missing": True, "cache": tmp_path / "cache",
        "retry_config": {"retry_timeout": timedelta(minutes=1)},
        "client_options": {"timeout": "30s", "user_agent": "me"}, "requester_pays": True, "verify": False,
    }  # fmt: skip
    found = settle("s3://b/k", options, make_home(tmp_path, {}))
    assert found.settings == {
        "attempts": 3, "pause": 0.5, "stall": 20.0, "requests": 8, "forbidden_is_missing": 1,
        "cache": str(tmp_path / "cache"), "patience": 60.0,
    }  # fmt: skip
    for name, value in {
        "connect_timeout": "1500ms", "timeout": "30000ms", "user_agent": "me", "aws_request_payer": "true",
        "allow_invalid_certificates": "true",
    }.items():  # fmt: skip
        assert found.config[name] == value
    assert settle("gs://b", {"max_retries": 4}, make_home(tmp_path, {})).settings == {"attempts": 5}


def test_encryption_is_not_lost_and_the_rest_is_told_of(tmp_path):
    extra = {"ServerSideEncryption": "aws:kms", "SSEKMSKeyId": "hush", "ACL": "public-read"}
    options = {"s3_additional_kwargs": extra, "default_block_size": 5, "use_listings_cache": False, "loop": object()}
    found = settle("s3://b/k", options, make_home(tmp_path, {}))
    assert found.config["aws_server_side_encryption"] == "aws:kms"
    assert found.config["aws_sse_kms_key_id"] == "hush"
    told = {note.about: note.text for note in found.notes}
    for name in ("s3_additional_kwargs ACL", "default_block_size", "use_listings_cache", "loop"):
        assert told[name].startswith("ignored: ")


def test_unsigned_as_botocore_says_it(tmp_path):
    unsigned = pytest.importorskip("botocore").UNSIGNED
    around = make_home(tmp_path, {}, {"AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "B"})
    for value, signs in ((unsigned, False), ("unsigned", False), ("s3v4", True)):
        found = settle("s3://b/k", {"config_kwargs": {"signature_version": value}}, around)
        assert ("aws_access_key_id" in found.config) is signs


@pytest.mark.parametrize(
    ("url", "name", "near"),
    [
        ("s3://b/k", "endpiont_url", "endpoint_url"),
        ("s3://b/k", "acess_key_id", "access_key_id"),
        ("s3://b/k", "account_name", None),
        ("gs://b/k", "tokn", "token"),
        ("az://b/k", "acount_name", "account_name"),
        ("https://example.org/x", "header", "headers"),
        ("s3://b/k", "xyzzy_plugh", None),
    ],
)
def test_unknown_names(url, name, near, tmp_path):
    for options in ({name: "hush"}, {"client_kwargs": {name: "hush"}}):
        with pytest.raises(UnsupportedError) as caught:
            settle(url, options, make_home(tmp_path, {}))
        assert repr(name) in str(caught.value)
        assert "hush" not in str(caught.value)
        if near:
            assert caught.value.hint == f"did you mean {near!r}?"


@pytest.mark.parametrize(
    "options",
    [
        {"anon": "perhaps-hush"}, {"attempts": "hush"}, {"attempts": -1}, {"pause": float("nan")}, {"key": ["hush"]},
        {"client_kwargs": "hush"}, {"s3_additional_kwargs": "hush"}, {"proxies": "hush"}, {"profile": 5}, {5: "hush"},
        {"attempts": True}, {"timeout": object()}, {"verify": "hush.pem"}, {"region": b"hush"},
    ],
)  # fmt: skip
def test_wrong_values(options: Any, tmp_path):
    with pytest.raises((UnsafeError, UnsupportedError)) as caught:
        settle("s3://b/k", options, make_home(tmp_path, {}))
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("kind", ["s3", "gcs", "azure", "http"])
def test_the_table_of_names_is_whole(kind):
    prefixes = ("aws_", "google_", "azure_")
    plain = {
        "allow_http", "user_agent", "connect_timeout", "timeout", "max_retries", "virtual", "signature_version",
        "proxies", "s3_additional_kwargs", "use_emulator", "allow_invalid_certificates", "http1_only", "http2_only",
        "proxy_url", "proxy_ca_certificate", "proxy_excludes", "pool_idle_timeout", "pool_max_idle_per_host",
    }  # fmt: skip
    for name, target in names_of(kind).items():
        assert name == name.lower()
        assert target in SETTINGS or target in WISHES or target in plain or target.startswith(prefixes)
    assert not set(GROUPS) & names_of(kind).keys()
    assert all(IGNORED.values())


# Google.


@pytest.mark.parametrize(
    ("options", "files", "environ", "expected"),
    [
        ({}, {}, {}, {"google_skip_signature": "true"}),
        ({"anon": True}, {"adc": "{}"}, {}, {"google_skip_signature": "true"}),
        ({"token": "anon"}, {}, {"GOOGLE_APPLICATION_CREDENTIALS": "/x"}, {"google_skip_signature": "true"}),
        ({"token": "{root}/k.json"}, {"k.json": json.dumps(ACCOUNT)}, {}, {"google_service_account": "{root}/k.json"}),
        ({"token": ACCOUNT}, {}, {}, {"google_service_account_key": json.dumps(ACCOUNT)}),
        ({"token": "ya29.hush"}, {}, {}, {"google_bearer_token": "ya29.hush"}),
        ({"token": "cloud"}, {}, {}, {}),
        ({"instance_role": True}, {}, {}, {}),
        ({"service_account_key": "hush"}, {}, {}, {"google_service_account_key": "hush"}),
        ({"service_account": "/x"}, {}, {}, {"google_service_account": "/x"}),
        ({}, {"k": json.dumps(ACCOUNT)}, {"GOOGLE_SERVICE_ACCOUNT": "{root}/k"},
         {"google_service_account": "{root}/k"}),
        ({}, {"k": '{"type": "authorized_user"}'}, {"GOOGLE_APPLICATION_CREDENTIALS": "{root}/k"},
         {"google_application_credentials": "{root}/k"}),
        ({}, {"adc": '{"type": "authorized_user"}'}, {},
         {"google_application_credentials": "{root}/home/.config/gcloud/application_default_credentials.json"}),
        ({"token": "google_default"}, {"adc": json.dumps(ACCOUNT)}, {},
         {"google_service_account": "{root}/home/.config/gcloud/application_default_credentials.json"}),
        ({}, {"product": "Google Compute Engine\n"}, {}, {}),
        ({}, {}, {"GOOGLE_SERVICE_ACCOUNT_KEY": "hush"}, {"google_service_account_key": "hush"}),
    ],
)  # fmt: skip
def test_credentials_of_google(options, files, environ, expected, tmp_path):
    def rooted(text):
        return text.replace("{root}", str(tmp_path)) if isinstance(text, str) else text

    options = {name: rooted(value) for name, value in options.items()}
    found = settle("gs://b/k/x", options, make_home(tmp_path, files, environ))
    assert (found.kind, found.prefix, found.uri) == ("gcs", "k/x", "gs://b/k/x")
    config = dict(found.config)
    assert config.pop("google_bucket_name") == "b"
    if config.get("google_skip_signature"):
        assert json.loads(config.pop("google_service_account_key"))["disable_oauth"] is True
    assert config == {name: rooted(value) for name, value in expected.items()}
    for text in (repr(found), str(pickle.loads(pickle.dumps(found)))):
        assert "hush" not in text


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"token": "browser"}, UnsupportedError),
        ({"token": {"type": "external_account"}}, UnsupportedError),
        ({"token": object()}, UnsupportedError),
        ({"token": "/no/such/file"}, StoreError),
        ({"token": "google_default"}, StoreError),
        ({"anon": False}, StoreError),
        ({"anon": True, "service_account_key": "hush"}, UnsafeError),
        ({"token": "ya29.hush", "service_account_key": "hush"}, UnsafeError),
        ({"requester_pays": True}, UnsupportedError),
        ({"bucket": "other"}, UnsafeError),
    ],
)
def test_credentials_of_google_that_cannot_be(options, error, tmp_path):
    with pytest.raises(error) as caught:
        settle("gs://b/k", options, make_home(tmp_path, {}))
    assert "hush" not in str(caught.value)


def test_another_server_for_google(tmp_path):
    for options, environ in (({"endpoint_url": "http://h:4443"}, {}), ({}, {"STORAGE_EMULATOR_HOST": "h:4443"})):
        found = settle("gs://b/k", options, make_home(tmp_path, {}, environ))
        assert (found.config["google_base_url"], found.config["allow_http"]) == ("http://h:4443", "true")
        assert found.uri == "http://h:4443/b/k"


# Microsoft.

STRING = "DefaultEndpointsProtocol=https;AccountName=acc;AccountKey=hush==;EndpointSuffix=core.windows.net"


@pytest.mark.parametrize(
    ("url", "options", "environ", "expected"),
    [
        ("az://c/k", {"account_name": "acc"}, {}, {"azure_skip_signature": "true"}),
        ("abfs://c/k", {"account_name": "acc", "account_key": "hush"}, {}, {"azure_storage_account_key": "hush"}),
        ("abfss://c@acc.dfs.core.windows.net/k", {"sas_token": "hush"}, {}, {"azure_storage_sas_key": "hush"}),
        (f"{BLOB}/c/k", {}, {}, {"azure_skip_signature": "true"}),
        ("https://acc.dfs.core.windows.net/c/k", {"anon": True}, {}, {"azure_skip_signature": "true"}),
        (f"{BLOB}/c/k", {"credential": "hush"}, {}, {"azure_storage_account_key": "hush"}),
        (f"{BLOB}/c/k", {"token": "hush"}, {}, {"azure_storage_token": "hush"}),
        (f"{BLOB}/c/k", {"client_id": "i", "client_secret": "hush", "tenant_id": "t"}, {},
         {"azure_client_id": "i", "azure_client_secret": "hush", "azure_tenant_id": "t"}),
        ("az://c/k", {"connection_string": STRING}, {}, {"azure_storage_account_key": "hush=="}),
        ("az://c/k", {}, {"AZURE_STORAGE_CONNECTION_STRING": STRING}, {"azure_storage_account_key": "hush=="}),
        ("az://c/k", {}, {"AZURE_STORAGE_ACCOUNT": "acc", "AZURE_STORAGE_KEY": "hush"},
         {"azure_storage_account_key": "hush"}),
        (f"{BLOB}/c/k", {}, {"AZURE_STORAGE_ACCOUNT": "other", "AZURE_STORAGE_KEY": "hush"},
         {"azure_skip_signature": "true"}),
        (f"{BLOB}/c/k", {}, {"AZURE_TENANT_ID": "t", "AZURE_CLIENT_ID": "i", "AZURE_FEDERATED_TOKEN_FILE": "/f"},
         {"azure_client_id": "i", "azure_federated_token_file": "/f", "azure_tenant_id": "t"}),
        (f"{BLOB}/c/k", {"instance_role": True}, {}, {"azure_credential_type": "managed_identity"}),
        ("az://c/k", {"connection_string": f"AccountName=acc;AccountKey=hush;BlobEndpoint={BLOB}"}, {},
         {"azure_storage_account_key": "hush"}),
    ],
)  # fmt: skip
def test_credentials_of_azure(url, options, environ, expected, tmp_path):
    found = settle(url, options, make_home(tmp_path, {}, environ))
    assert (found.kind, found.prefix, found.uri) == ("azure", "k", f"{BLOB}/c/k")
    place = {"azure_storage_account_name": "acc", "azure_container_name": "c", "azure_storage_endpoint": BLOB}
    assert found.config == {**place, **expected}
    assert "hush" not in repr(found)


def test_a_machine_of_microsoft(tmp_path):
    found = settle(f"{BLOB}/c/k", None, make_home(tmp_path, {"chassis": CHASSIS}))
    assert found.config["azure_credential_type"] == "managed_identity"


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("http://127.0.0.1:10000/devstoreaccount1/c/k", {}),
        ("az://c/k", {"connection_string": "UseDevelopmentStorage=true"}),
        ("az://c/k", {"use_emulator": True}),
        ("az://c/k", {"account_name": "devstoreaccount1"}),
    ],
)
def test_azurite(url, options, tmp_path):
    found = settle(url, options, make_home(tmp_path, {}))
    assert found.uri == "http://127.0.0.1:10000/devstoreaccount1/c/k"
    assert found.config["azure_storage_endpoint"] == "http://127.0.0.1:10000/devstoreaccount1"
    assert found.config["allow_http"] == "true"
    assert found.config["azure_storage_account_key"]
    assert found.config["azure_storage_account_key"] not in repr(found)


@pytest.mark.parametrize(
    ("url", "options", "words"),
    [
        ("az://c/k", {}, "account"),
        (f"{BLOB}/c/k", {"account_name": "other"}, "other"),
        (f"{BLOB}/c/k", {"container_name": "other"}, "the container 'other', the URL 'c'"),
        (f"{BLOB}/", {}, "container"),
        (f"{BLOB}/c/k", {"anon": False}, "anon=False"),
        (f"{BLOB}/c/k", {"anon": True, "account_key": "hush"}, "anon"),
        (f"{BLOB}/c/k", {"credential": object()}, "credential="),
        ("az://c/k", {"connection_string": STRING, "account_key": "hush2"}, "different"),
    ],
)
def test_what_cannot_be_on_azure(url, options, words, tmp_path):
    with pytest.raises(OmnizarrError, match=words) as caught:
        settle(url, options, make_home(tmp_path, {}))
    assert "hush" not in str(caught.value)


# Servers, and explaining.


def test_servers(tmp_path):
    url = "https://me:hush@example.org/data.zarr/?sig=hush#mode=zarr"
    found = settle(url, {"headers": {"Authorization": "hush"}, "stall": 3}, make_home(tmp_path, {}))
    assert (found.kind, found.uri, found.prefix) == ("http", "https://example.org/data.zarr", "")
    assert found.config["url"] == url.partition("#")[0]
    assert json.loads(found.config["headers"]) == {"Authorization": "hush"}
    assert "hush" not in repr(found)
    assert settle("[mode=zarr]http://h/x", None, make_home(tmp_path, {})).config["url"] == "http://h/x"
    with pytest.raises(UnsafeError, match="headers"):
        settle(url, {"headers": {"Authorization": 5}}, make_home(tmp_path, {}))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("gs://b/k/x", ("gcs", "b", "k/x", None, "https://storage.googleapis.com")),
        ("abfss://c@acc.dfs.core.windows.net/k", ("azure", "c", "k", "acc", BLOB)),
        (f"{BLOB}/c", ("azure", "c", "", "acc", BLOB)),
        ("az://c/k", ("azure", "c", "k", "", None)),
    ],
)
def test_explaining(url, expected, tmp_path):
    around = make_home(tmp_path, {})
    found = explain(url, around=around)
    assert (found.kind, found.bucket, found.key, found.account, found.endpoint) == expected
    assert found.credentials == "none"
    again = explain(found.canonical, around=around)
    assert (again.kind, again.bucket, again.key, again.account) == expected[:4]


def test_explaining_names_the_credentials(tmp_path):
    around = make_home(tmp_path, {}, {"AZURE_STORAGE_ACCOUNT": "acc", "AZURE_STORAGE_KEY": "hush"})
    found = explain("az://c/k", around=around)
    assert found.credentials == "the environment"
    assert "hush" not in repr(found)
    around = make_home(tmp_path, {}, {"GOOGLE_APPLICATION_CREDENTIALS": "/no/such/file"})
    assert any("is not there" in note.text for note in explain("gs://b/k", around=around).notes)


@pytest.mark.parametrize(
    ("given", "key", "secret"),
    [
        ({}, "AMB", "hush"),
        ({"anon": False}, "AMB", "hush"),
        ({"anon": True}, None, None),
        ({"access_key_id": "ME", "secret_access_key": "mine"}, "ME", "mine"),
        ({"profile": "no"}, None, None),
        ({"region": "r2"}, "AMB", "hush"),
    ],
)
def test_options_of_the_environment(given, key, secret, tmp_path):
    ambient = {"key": "AMB", "secret": "hush", "region_name": "r1", "account_name": "acc", "attempts": 2}
    around = make_home(tmp_path, {}, {VARIABLE: json.dumps(ambient)})
    found = settle("s3://b/k", given, around)
    assert (found.config.get("aws_access_key_id"), found.config.get("aws_secret_access_key")) == (key, secret)
    assert found.config["aws_region"] == given.get("region", "r1")
    assert found.settings == {"attempts": 2}
    assert settle("az://c/k", {"account_key": "hush", "account_name": "me"}, around).uri.startswith("https://me.")
    assert settle("az://c/k", None, around).uri == "https://acc.blob.core.windows.net/c/k"
    for text in ("hush", "[]"):
        with pytest.raises(UnsafeError, match=VARIABLE) as caught:
            settle("s3://b/k", given, make_home(tmp_path, {}, {VARIABLE: text}))
        assert "hush" not in str(caught.value)


def test_files_need_no_options(tmp_path):
    oz.create_array(tmp_path / "a.zarr", data=[1, 2], storage_options={"anon": True})
    assert oz.open(tmp_path / "a.zarr", storage_options={"anon": True})[...].tolist() == [1, 2]


@pytest.mark.parametrize("options", [[1], "anon", 3])
def test_options_are_names_with_values(options):
    with pytest.raises(TypeError, match="names with values"):
        oz.open("s3://bucket/x", storage_options=options)
