"""Which key, region and endpoint are selected, from real files of settings in a temporary home.

The rules are those of netcdf-c (profile: URL, .rc file, AWS_PROFILE, default; region: host, URL, .rc file, profile,
environment), and beyond them those of Amazon's tools.
"""

from __future__ import annotations

import contextlib

import pytest

from omnizarr.errors import OmnizarrError, OmnizarrWarning, StoreError, UnsafeError
from omnizarr.store.cloud.options import settle
from tests.store.cloud.case_addresses import ADDRESSES
from tests.store.cloud.cases import CONFIG, DEFAULT, EU, KEYS, NOBODY, TWO, US, keyed
from tests.store.cloud.homes import make_home

CASES = [*KEYS, *ADDRESSES]


def test_there_are_enough_cases():
    assert len(CASES) >= 60
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_selection(case, tmp_path):
    around = make_home(tmp_path, case.files, case.env)
    with pytest.warns(OmnizarrWarning, match=case.warning) if case.warning else contextlib.nullcontext():
        found = settle(case.url, case.options, around)
    assert found.kind == "s3"
    config = found.config
    anonymous = config.get("aws_skip_signature") == "true"
    assert config.get("aws_access_key_id", NOBODY) == case.key
    assert anonymous is (case.key == NOBODY)
    assert config["aws_region"] == case.region
    assert config["aws_endpoint"] == (case.endpoint or f"https://s3.{case.region}.amazonaws.com")
    virtual = config["aws_endpoint"].partition("//")[2].startswith("buc.")
    assert config["aws_virtual_hosted_style_request"] == ("true" if virtual else "false")
    assert config.get("allow_http") == ("true" if case.endpoint.startswith("http:") else None)
    assert (config["aws_bucket_name"], found.prefix) == ("buc", "k")
    assert found.renew is None


@pytest.mark.parametrize(
    ("url", "options", "error", "words"),
    [
        ("s3://b/k#aws.profile=q", {}, StoreError, ["no profile 'q'", "default", "config"]),
        ("s3://b/k", {"profile": "q"}, StoreError, ["no profile 'q'"]),
        ("s3://b/k", {"key": "hush"}, UnsafeError, ["key and secret go together"]),
        ("s3://b/k", {"secret": "hush"}, UnsafeError, ["key and secret go together"]),
        ("s3://b/k", {"token": "hush"}, UnsafeError, ["key and secret go together"]),
        ("s3://b/k", {"anon": True, "key": "hush", "secret": "hush"}, UnsafeError, ["anon"]),
        (
            "s3://b/k",
            {"key": "hush1", "client_kwargs": {"aws_access_key_id": "hush2"}},
            UnsafeError,
            ["different things"],
        ),
        ("s3://b/k", {"bucket": "other"}, UnsafeError, ["'other'", "'b'"]),
        ("s3://b/k", {"endpoint_url": "ftp://x"}, UnsafeError, ["endpoint"]),
        ("s3://b/k", {"endpoint_url": "http://me:hush@x/?hush"}, UnsafeError, ["endpoint"]),
        ("s3://b/k", {"config_kwargs": {"s3": {"addressing_style": "round"}}}, UnsafeError, ["round", "virtual"]),
        ("s3://b/k", {"role_arn": "arn:x", "profile": "no"}, UnsafeError, ["role_arn"]),
        ("s3://b/k#aws.profile=no", {"anon": False}, StoreError, ["anon=False", "AWS_ACCESS_KEY_ID"]),
        ("s3://", {}, UnsafeError, ["bucket"]),
        ("http://127.0.0.1/#mode=s3", {}, UnsafeError, ["bucket"]),
        ("file:///x", {}, OmnizarrError, ["object store"]),
        ("relative/path", {}, OmnizarrError, ["object store"]),
    ],
)
def test_what_cannot_be_selected(url, options, error, words, tmp_path):
    with pytest.raises(error) as caught:
        settle(url, options, make_home(tmp_path, DEFAULT))
    for word in words:
        assert word in str(caught.value)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize(
    "files", [DEFAULT, TWO, CONFIG, {"config": "[default]\ns3 =\n  a = b\nregion=x1\n" + keyed("A")}]
)
@pytest.mark.parametrize("profile", [None, "p", "default"])
def test_botocore_selects_the_same(files, profile, tmp_path, monkeypatch):
    session = pytest.importorskip("botocore.session")
    around = make_home(tmp_path, files)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", f"{around.home}/.aws/config")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", f"{around.home}/.aws/credentials")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    theirs = session.Session(profile=profile)
    try:
        keys = theirs.get_credentials()
    except session.ProfileNotFound:
        with pytest.raises(StoreError, match="no profile"):
            settle("s3://buc/k", {"profile": profile}, around)
        return
    ours = settle("s3://buc/k", {"profile": profile}, around).config
    assert ours["aws_access_key_id"] == keys.access_key
    assert ours["aws_region"] == (theirs.get_config_variable("region") or US)


def test_one_place_has_one_uri(tmp_path):
    around = make_home(tmp_path, {}, {"AWS_REGION": EU})
    forms = [
        "s3://buc/k/x", "s3a://buc/k/x/", "s3://buc//k/x", f"https://buc.s3.{EU}.amazonaws.com/k/x",
        "https://buc.s3.amazonaws.com/k/x", f"https://s3.{EU}.amazonaws.com/buc/k/x", f"s3://s3.{EU}.amazonaws.com/buc/k/x",
        "https://s3.us-west-1.amazonaws.com/buc/k/x#mode=zarr,s3&aws.profile=no",
    ]  # fmt: skip
    assert {settle(form, None, around).uri for form in forms} == {"s3://buc/k/x"}
    local = ["http://Here:9000/buc/a%20b#mode=s3", "http://here:9000/buc/a b/#mode=zarr,s3"]
    assert {settle(form, None, around).uri for form in local} == {"http://here:9000/buc/a%20b"}
    assert settle("s3://buc/a b", {"endpoint_url": "HTTP://here:9000/"}, around).uri == "http://here:9000/buc/a%20b"
    assert settle("https://buc.s3.reg.a.org:443/k#s3", None, around).uri == "https://s3.reg.a.org/buc/k"
    google = ["gs3://buc/k", "gs://buc/k", "gcs://buc/k", "https://storage.googleapis.com/buc/k"]
    assert {settle(form, None, around).uri for form in google} == {"gs://buc/k"}
