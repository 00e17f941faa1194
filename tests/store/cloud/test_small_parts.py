"""Small decisions about servers, hosts and the files that name them."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from omnizarr.errors import UnsafeError
from omnizarr.store.cloud import adapters, s3
from omnizarr.store.cloud.secret import without_secrets
from omnizarr.store.cloud.settled import checked_endpoint
from omnizarr.store.cloud.sources import Container
from omnizarr.store.url import clouds, explain, grammar
from omnizarr.store.url.grammar import Pair
from omnizarr.store.url.rc import Rc, RcEntry


@pytest.mark.parametrize("text", ["https://me@here", "https://me:secret@here", "ftp://here", "https://", "https://["])
def test_endpoints_are_urls_of_servers_and_nothing_else(text):
    assert checked_endpoint("https://here:443") == "https://here"
    with pytest.raises(UnsafeError) as caught:
        checked_endpoint(text)
    assert "secret" not in str(caught.value)
    for more in ("?a=b", "#a"):
        with pytest.raises(UnsafeError):
            checked_endpoint(f"https://here{more}")


def test_keys_of_containers_come_from_this_machine_or_by_https():
    for url in ("https://example.org/keys", "http://127.0.0.1/keys", "http://169.254.170.2/keys"):
        assert Container(url).url == url
    for url in ("http://example.org/keys", "ftp://127.0.0.1/keys", "127.0.0.1"):
        with pytest.raises(UnsafeError):
            Container(url)


@pytest.mark.parametrize(
    ("asked", "chosen", "endpoint"),
    [
        ("", "", "https://bucket.example.org"),
        ("", "path", "https://example.org"),
        ("auto", "", "https://example.org"),  # who asks is heard before the host of the URL
        ("virtual", "path", "https://bucket.example.org"),
    ],
)
def test_how_a_bucket_is_addressed(asked, chosen, endpoint):
    place = SimpleNamespace(style="virtual", host="bucket.example.org", bucket="bucket")
    decided = SimpleNamespace(place=place, choice=SimpleNamespace(style=chosen))
    assert s3._address("https://example.org", decided, asked)["aws_endpoint"] == endpoint


def test_lines_of_an_rc_file_are_for_their_own_path():
    anywhere = RcEntry("K", "1", "", "", "f:1")
    there = RcEntry("K", "2", "here", "/a", "f:2")
    rc = Rc((anywhere, there), ())
    assert rc.find("K", "here", "/a/") is there
    assert rc.find("K", "HERE", "/a") is there
    assert rc.find("K", "here", "/b") is anywhere
    assert rc.find("K", "other", "/a") is anywhere
    assert rc.find("k") is None


def test_a_key_without_a_value_has_none_to_give():
    url = grammar.parse("https://example.org/a#x=&x=1&x=2")
    assert url.first("x") == "1"
    assert url.first("y") is None


def test_modes_in_fragments_have_short_forms():
    assert explain._is_mode(Pair("mode", "zarr"))
    assert explain._is_mode(Pair("bytes", None))
    assert not explain._is_mode(Pair("bytes", "1"))
    assert not explain._is_mode(Pair("aws.profile", None))


def test_the_emulator_of_azure_is_known_by_its_port():
    def found(text):
        return clouds.cloud_place(grammar.parse(text))

    assert found("http://127.0.0.1:10000/me/box/a").kind == "azure"
    assert found("http://example.org:10000/devstoreaccount1/box/a").kind == "azure"
    for text in ("http://127.0.0.1:9999/me/box/a", "http://example.org:10000/me/box/a", "http://127.0.0.1:10000/"):
        assert found(text) is None


def test_where_a_store_of_obstore_says_no_region_the_environment_does(monkeypatch):
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    assert adapters._region_and_endpoint({})["region"] == adapters.DEFAULT_REGION
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-north-1")
    found = {"region": "eu-north-1", "endpoint": "https://s3.eu-north-1.amazonaws.com"}
    assert adapters._region_and_endpoint({}) == found
    monkeypatch.setenv("AWS_REGION", "eu-west-1")
    assert adapters._region_and_endpoint({})["region"] == "eu-west-1"


def test_a_text_that_is_no_url_shows_nothing_of_itself():
    assert without_secrets("https://[me:hush@example.org") == "…"
    assert without_secrets("https://me:hush@example.org/a?hush") == "https://example.org/a"
