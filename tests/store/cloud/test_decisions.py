"""Single decisions about a place on S3: what is sent along, and what is left out."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest

from omnizarr.errors import StoreError, UnsafeError
from omnizarr.store.cloud import sts
from omnizarr.store.cloud.keys import Keys, Static
from omnizarr.store.cloud.options import settle
from omnizarr.store.cloud.sources import Container, keys_in
from omnizarr.store.cloud.wishes import understand_options
from omnizarr.store.url.explain import explain
from omnizarr.store.url.rc import read_rc
from tests.store.cloud.homes import make_home
from tests.store.cloud.services import later

PLACE = "s3://buc/k"
KEYS = "aws_access_key_id=A\naws_secret_access_key=s\n"


@pytest.mark.parametrize("more", [{"key": "a", "secret": "b"}, {"role_arn": "arn:r"}])
def test_credentials_and_none_contradict_each_other(more, tmp_path):
    with pytest.raises(UnsafeError, match="credentials, and anon") as caught:
        settle(PLACE, {"anon": True, **more}, make_home(tmp_path, {}))
    assert caught.value.hint == "Leave one of them out."


def test_names_of_places(tmp_path):
    around = make_home(tmp_path, {})
    own = {"anon": True, "endpoint_url": "http://h:9000/"}
    assert settle("s3://b", {"anon": True}, around).uri == "s3://b"
    assert settle("s3://b/a c", {"anon": True}, around).uri == "s3://b/a c"
    assert settle("s3://b", own, around).uri == "http://h:9000/b"
    assert settle("s3://b/a c", own, around).uri == "http://h:9000/b/a%20c"


@pytest.mark.parametrize(
    ("url", "options", "server", "virtual"),
    [
        ("s3://b/k", {}, "https://s3.us-east-1.amazonaws.com", "false"),
        ("s3://b/k", {"addressing_style": "virtual"}, "https://b.s3.us-east-1.amazonaws.com", "true"),
        ("s3://b/k", {"addressing_style": "auto"}, "https://s3.us-east-1.amazonaws.com", "false"),
        ("https://b.s3.example.org/k#mode=s3", {}, "https://b.s3.example.org", "true"),
        ("https://b.s3.example.org/k#mode=s3", {"addressing_style": "path"}, "https://b.s3.example.org", "false"),
    ],
)
def test_buckets_in_the_host_or_in_the_path(url, options, server, virtual, tmp_path):
    found = settle(url, {"anon": True, **options}, make_home(tmp_path, {}))
    if virtual == "true" or "example" not in url:
        assert found.config["aws_endpoint"] == server
    assert found.config["aws_virtual_hosted_style_request"] == virtual
    with pytest.raises(UnsafeError, match="there is no style of addresses 'odd'"):
        settle(url, {"anon": True, "addressing_style": "odd"}, make_home(tmp_path, {}))


def test_a_profile_called_no_signs_nothing(tmp_path):
    around = make_home(tmp_path, {"credentials": f"[no]\nregion=x\n{KEYS}"})
    found = settle(PLACE, {"profile": "no"}, around)
    assert (found.config["aws_skip_signature"], found.config["aws_region"]) == ("true", "us-east-1")


def test_keys_of_a_profile_that_are_empty_are_none(tmp_path):
    around = make_home(tmp_path, {"credentials": "[p]\naws_access_key_id=\naws_secret_access_key=\n"})
    assert explain(f"{PLACE}#aws.profile=p", around=around).credentials == "none"


@pytest.mark.parametrize("token", ["", "hush"])
def test_a_container_gets_a_token_only_if_there_is_one(token, services):
    answer = {"AccessKeyId": "A", "SecretAccessKey": "s", "Token": "t", "Expiration": later()}
    services.give("/c", answer)
    keys = Container(f"{services.url}/c", token, "").keys()
    assert (keys.key_id, keys.secret, keys.token) == ("A", "s", "t")
    assert services.seen[0][2].get("authorization") == (token or None)
    services.give("/c", {**answer, "Token": None})
    assert Container(f"{services.url}/c", token, "").keys().token == ""


def test_when_keys_expire_is_told_where_they_do(tmp_path, services):
    services.give("/c", {"AccessKeyId": "A", "SecretAccessKey": "s", "Expiration": "2100-01-01T00:00:00Z"})
    around = make_home(tmp_path, {}, {"AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{services.url}/c"})
    assert settle(PLACE, {}, around).expires == 4_102_444_800
    assert settle(PLACE, {"key": "a", "secret": "b"}, around).expires is None


def test_lines_for_one_port_are_for_no_other(tmp_path):
    around = make_home(tmp_path, {"ncrc": "[https://h:1/p]AWS.REGION=one\n[https://h/p]AWS.REGION=any\n"})
    rc = read_rc(around)
    assert [(entry.host, entry.path) for entry in rc.entries] == [("h:1", "/p"), ("h", "/p")]
    assert rc.find("AWS.REGION", "h:1", "/p").value == "one"
    assert rc.find("AWS.REGION", "h", "/p").value == "any"
    assert rc.find("AWS.REGION", "h:2", "/p") is None


def test_azurite_is_where_its_url_says(tmp_path):
    found = settle("http://azurite:1/devstoreaccount1/c/k", {}, make_home(tmp_path, {}))
    assert found.config["azure_storage_endpoint"] == "http://azurite:1/devstoreaccount1"


@pytest.mark.parametrize("options", [{"key": "a"}, {"secret": "b"}, {"key": "a", "token": "c"}, {"token": "c"}])
def test_parts_of_a_key_are_refused(options, tmp_path):
    with pytest.raises(UnsafeError, match="key and secret go together"):
        settle(PLACE, options, make_home(tmp_path, {}))


def test_places_without_encryption_are_told_of(tmp_path):
    around = make_home(tmp_path, {})
    for url, told in (("http://h/b/k#mode=s3", True), ("https://h/b/k#mode=s3", False)):
        notes = [note.text for note in explain(url, around=around).notes]
        assert any(text.startswith("http: as the URL says") for text in notes) is told


@pytest.mark.parametrize(
    ("environ", "file", "words"),
    [
        ({"GOOGLE_SERVICE_ACCOUNT": "{root}/c.json"}, "c.json", "GOOGLE_SERVICE_ACCOUNT"),
        ({"GOOGLE_SERVICE_ACCOUNT_PATH": "{root}/c.json"}, "c.json", "GOOGLE_SERVICE_ACCOUNT_PATH"),
        ({"CLOUDSDK_CONFIG": "{root}/g"}, "g/application_default_credentials.json", "application default credentials"),
    ],
)
def test_where_keys_of_google_are_looked_for(environ, file, words, tmp_path):
    account = '{"type": "service_account", "private_key": "hush", "client_email": "me@x"}'
    around = make_home(tmp_path, {file: account}, environ)
    assert settle("gs://b/k", {}, around).credentials == words
    assert settle("gs://b/k", {"anon": True}, around).credentials == "none"
    assert settle("gs://b/k", {"bearer_token": "hush"}, around).credentials == "the options"


def test_other_settings_of_google_are_passed_on(tmp_path):
    around = make_home(tmp_path, {})
    assert settle("gs://b/k", {"anon": True, "proxy_url": "http://p:1"}, around).config["proxy_url"] == "http://p:1"
    with pytest.raises(UnsafeError, match="several credentials") as caught:
        settle("gs://b/k", {"anon": True, "bearer_token": "hush"}, around)
    assert caught.value.hint == "Leave one of them."
    with pytest.raises(StoreError, match="no credentials of Google's") as lacking:
        settle("gs://b/k", {"anon": False}, around)
    assert lacking.value.hint is not None
    assert lacking.value.hint.startswith("Set GOOGLE_APPLICATION_CREDENTIALS")


@pytest.mark.parametrize("url", ["abfss://c@me.dfs.core.windows.net/k", "https://ME.dfs.core.windows.net/c/k"])
@pytest.mark.parametrize("host", ["core.windows.net", "core.chinacloudapi.cn"])
def test_files_of_azure_are_asked_for_as_blobs(url, host, tmp_path):
    found = settle(url.replace("core.windows.net", host), {"anon": True}, make_home(tmp_path, {}))
    assert found.config["azure_storage_endpoint"] == f"https://me.blob.{host}"
    assert (found.config["azure_container_name"], found.prefix) == ("c", "k")


@pytest.mark.parametrize(
    ("region", "host"),
    [("eu-west-1", "sts.eu-west-1.amazonaws.com"), ("cn-north-1", "sts.cn-north-1.amazonaws.com.cn")],
)
def test_the_token_service_of_a_region(region, host, monkeypatch):
    asked = []

    def call(url, _headers, body):
        asked.append((url, parse_qs(body.decode())))
        return b"<AccessKeyId>A</AccessKeyId><SecretAccessKey>s</SecretAccessKey>"

    monkeypatch.setattr(sts.web, "call", call)
    role = sts.Role("arn:r", Static(Keys("A", "s")), region)
    assert role.keys().key_id == "A"
    assert asked[0][0] == f"https://{host}"
    assert asked[0][1]["Version"] == ["2011-06-15"]
    assert "DurationSeconds" not in asked[0][1]
    monkeypatch.setattr(sts.web, "call", lambda *_: b"<AccessKeyId>A</AccessKeyId>")
    with pytest.raises(StoreError, match="has no keys"):
        role.keys()


@pytest.mark.parametrize(
    "found", [{"a": "A"}, {"b": "s"}, {"a": "", "b": "s"}, {"a": "A", "b": ""}, {"a": 1, "b": "s"}]
)
def test_answers_without_keys(found):
    with pytest.raises(StoreError, match="the answer of someone has no keys"):
        keys_in(found, ("a", "b", "c", "d"), "someone")


@pytest.mark.parametrize(("value", "style"), [(True, "virtual"), (False, "path")])
def test_styles_by_yes_and_no(value, style):
    assert understand_options("s3", {"aws_virtual_hosted_style_request": value}).wishes["style"] == style


def test_options_that_say_the_same_twice():
    found = understand_options("s3", {"endpoint": "http://h", "endpoint_url": "http://h", "requests": 3.0, "stall": 3})
    assert found.wishes["endpoint"] == "http://h"
    assert (type(found.settings["requests"]), type(found.settings["stall"])) == (int, float)
    with pytest.raises(UnsafeError, match="endpoint and endpoint_url say different things"):
        understand_options("s3", {"endpoint": "http://h", "endpoint_url": "http://i"})


def test_keys_of_rc_files_that_are_misspelt(tmp_path):
    rc = read_rc(make_home(tmp_path, {"ncrc": "aws.profile=p\nOTHER=1\n"}))
    found = rc.misspelt("AWS.PROFILE")
    assert found is not None
    assert found.value == "p"
    assert rc.misspelt("OTHER") is None
    assert rc.misspelt("aws.profile") is None


def test_hosts_with_dots_are_servers(tmp_path):
    around = make_home(tmp_path, {})
    for url, kind in (("gs3://h.org/b/k", "gs3"), ("s3://h.org/b/k", "s3"), ("https://h.org/b/k#mode=gs3", "gs3")):
        found = explain(url, around=around)
        assert (found.kind, found.bucket, found.endpoint) == (kind, "b", "https://h.org")
        told = any(note.text.startswith("the host has dots") for note in found.notes)
        assert told is (not url.startswith("https"))


@pytest.mark.parametrize("environ", [{"AWS_ACCESS_KEY_ID": "A"}, {"AWS_SECRET_ACCESS_KEY": "s"}])
def test_half_a_key_of_the_environment_is_none(environ, tmp_path):
    assert explain(PLACE, around=make_home(tmp_path, {}, environ)).credentials == "none"


def test_what_comes_before_what_is_told(tmp_path):
    files = {"ncrc": "AWS.REGION=r1\n", "config": "[default]\nregion=r2\n"}
    found = explain(PLACE, around=make_home(tmp_path / "one", files))
    assert found.region == "r1"
    assert ("region", "the profile says r2; .rc files come first, as in netcdf-c") in found.notes
    same = explain(PLACE, around=make_home(tmp_path / "two", {**files, "ncrc": "AWS.REGION=r2\n"}))
    assert not any(note.text.startswith("the profile says") for note in same.notes)
    spelt = explain(PLACE, around=make_home(tmp_path / "three", {"ncrc": "aws.region=r1\n"}))
    assert spelt.region == "us-east-1"
    assert any("but only AWS.REGION counts" in note.text for note in spelt.notes)
    both = explain(PLACE, around=make_home(tmp_path / "four", {"ncrc": "aws.region=r1\n"}, {"AWS_REGION": "r3"}))
    assert both.region == "r3"
    assert not any("but only AWS.REGION counts" in note.text for note in both.notes)


def test_servers_of_the_environment_are_told_of(tmp_path):
    found = explain(PLACE, around=make_home(tmp_path, {}, {"AWS_ENDPOINT_URL": "http://h:1"}))
    assert found.endpoint == "http://h:1"
    assert any(note.text.startswith("AWS_ENDPOINT_URL, as Amazon's tools do") for note in found.notes)
