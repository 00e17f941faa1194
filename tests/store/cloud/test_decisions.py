"""Single decisions about a place on S3: what is sent along, and what is left out."""

from __future__ import annotations

import pytest

from omnizarr.errors import UnsafeError
from omnizarr.store.cloud.options import settle
from omnizarr.store.cloud.sources import Container
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
