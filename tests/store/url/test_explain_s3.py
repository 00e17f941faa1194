"""Buckets, keys, regions, endpoints and profiles; files of Amazon's tools and .rc files."""

from __future__ import annotations

import pytest

import omnizarr as oz
from omnizarr.errors import UnsupportedError
from omnizarr.store.url.explain import explain
from omnizarr.store.url.rc import read_rc
from omnizarr.store.url.settings import Surroundings

US = "https://s3.us-east-1.amazonaws.com"
WEST = "https://s3.eu-west-1.amazonaws.com"
GOOGLE = "https://storage.googleapis.com"
NOWHERE = Surroundings({}, "/nowhere", "/nowhere")


@pytest.fixture
def around(tmp_path):
    for name in ("home/.aws", "work"):
        (tmp_path / name).mkdir(parents=True)

    def make(**environ):
        return Surroundings(environ, str(tmp_path / "home"), str(tmp_path / "work"))

    return make


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://buc.s3.eu-west-1.amazonaws.com/k/x", ("s3", "virtual", "buc", "k/x", "eu-west-1", WEST)),
        ("https://buc.s3.amazonaws.com/k", ("s3", "virtual", "buc", "k", "us-east-1", US)),
        ("https://my.buc.s3.eu-west-1.amazonaws.com/k", ("s3", "virtual", "my.buc", "k", "eu-west-1", WEST)),
        ("https://Buc.S3.eu-west-1.AmazonAWS.com/k", ("s3", "virtual", "Buc", "k", "eu-west-1", WEST)),
        ("https://buc.s3-eu-west-1.amazonaws.com/k", ("s3", "virtual", "buc", "k", "eu-west-1", WEST)),
        ("https://buc.s3.dualstack.eu-west-1.amazonaws.com/k", ("s3", "virtual", "buc", "k", "eu-west-1", WEST)),
        ("https://s3.eu-west-1.amazonaws.com/buc/k", ("s3", "path", "buc", "k", "eu-west-1", WEST)),
        ("https://s3.amazonaws.com/buc/k/", ("s3", "path", "buc", "k", "us-east-1", US)),
        ("https://s3.amazonaws.com/buc", ("s3", "path", "buc", "", "us-east-1", US)),
        ("https://s3.amazonaws.com/buc/a%20b", ("s3", "path", "buc", "a b", "us-east-1", US)),
        ("s3://buc/k/x", ("s3", "s3", "buc", "k/x", "us-east-1", US)),
        ("s3://buc/a%20b", ("s3", "s3", "buc", "a%20b", "us-east-1", US)),
        ("S3://buc", ("s3", "s3", "buc", "", "us-east-1", US)),
        ("s3://s3.eu-west-1.amazonaws.com/buc/k", ("s3", "path", "buc", "k", "eu-west-1", WEST)),
        ("gs3://buc/k", ("gs3", "s3", "buc", "k", "us-east-1", GOOGLE)),
        ("https://storage.googleapis.com/buc/k", ("gs3", "path", "buc", "k", "us-east-1", GOOGLE)),
        ("https://host/buc/k#mode=s3", ("s3", "other", "buc", "k", "us-east-1", "https://host")),
        ("https://host:9000/buc/k#mode=zarr,s3", ("s3", "other", "buc", "k", "us-east-1", "https://host:9000")),
        ("http://localhost:9000/buc/k#mode=s3", ("s3", "other", "buc", "k", "us-east-1", "http://localhost:9000")),
        ("s3://localhost:9000/buc/k", ("s3", "other", "buc", "k", "us-east-1", "https://localhost:9000")),
        ("https://buc.s3.reg.a.org/k#mode=s3", ("s3", "virtual", "buc", "k", "reg", "https://s3.reg.a.org")),
        ("https://buc.s3.reg.localhost/k#s3", ("s3", "virtual", "buc", "k", "reg", "https://s3.reg.localhost")),
        ("https://s3.reg.a.org/buc/k#mode=s3", ("s3", "other", "buc", "k", "reg", "https://s3.reg.a.org")),
        ("https://s3.a.org/buc/k#mode=s3", ("s3", "other", "buc", "k", "us-east-1", "https://s3.a.org")),
        (
            "https://s3.eu-west-1.org/buc/k#mode=s3",
            ("s3", "other", "buc", "k", "eu-west-1", "https://s3.eu-west-1.org"),
        ),
        ("https://p.buc.s3.l.a.org/b/k#mode=s3", ("s3", "other", "b", "k", "us-east-1", "https://p.buc.s3.l.a.org")),
        ("https://host/buc/k#mode=gs3", ("gs3", "other", "buc", "k", "us-east-1", "https://host")),
    ],
)
def test_forms(url, expected, around):
    found = explain(url, around=around())
    assert (found.kind, found.style, found.bucket, found.key, found.region, found.endpoint) == expected
    assert found.path is None
    again = explain(found.canonical, around=around())
    kind, _, bucket, key, _, endpoint = expected
    assert (again.kind, again.bucket, again.key, again.endpoint) == (kind, bucket, key.replace("%20", " "), endpoint)


@pytest.mark.parametrize("url", ["s3://buc", "gs3://buc/x"])
def test_a_store_of_files_says_what_was_understood(url, around, monkeypatch):
    monkeypatch.setenv("NCRCENV_IGNORE", "1")
    monkeypatch.setenv("AWS_REGION", "mars-1")
    with pytest.raises(UnsupportedError, match="no store of files for") as caught:
        oz.FileStore(url)
    for word in ("bucket b", "key", "region mars-1", "endpoint https://", "profile"):
        assert word in caught.value.hint


@pytest.mark.parametrize(
    ("fragment", "files", "environ", "expected"),
    [
        ("", ("", ""), {}, ("no", "us-east-1")),
        ("", ("", "[default]\nregion=d1"), {}, ("default", "d1")),
        ("", ("", "[default]\naws_region=d1"), {}, ("default", "d1")),
        ("", ("", "[profile p]\nregion = p1 "), {"AWS_PROFILE": "p"}, ("p", "p1")),
        ("", ("", "[profile p]\nregion=p1"), {"AWS_PROFILE": "q"}, ("no", "us-east-1")),
        ("", ("AWS.PROFILE=p", "[p]\nregion=p1\n[default]\nregion=d1"), {"AWS_PROFILE": "default"}, ("p", "p1")),
        ("aws.profile=p", ("AWS.PROFILE=q", "[p]\nregion=p1"), {}, ("p", "p1")),
        ("AWS.Profile=no", ("", "[default]\nregion=d1"), {"AWS_REGION": "e1"}, ("no", "e1")),
        ("aws.profile=none", ("", "[default]\nregion=d1"), {}, ("none", "us-east-1")),
        ("aws.region=u1", ("AWS.REGION=r1", "[default]\nregion=d1"), {"AWS_REGION": "e1"}, ("default", "u1")),
        ("", ("AWS.REGION=r1", "[default]\nregion=d1"), {"AWS_REGION": "e1"}, ("default", "r1")),
        ("", ("", "[default]\nregion=d1"), {"AWS_REGION": "e1"}, ("default", "d1")),
        ("", ("", ""), {"AWS_REGION": "e1", "AWS_DEFAULT_REGION": "e2"}, ("no", "e1")),
        ("", ("", ""), {"AWS_DEFAULT_REGION": "e2"}, ("no", "e2")),
        ("", ("AWS.REGION=r1", ""), {"NCRCENV_IGNORE": "1"}, ("no", "us-east-1")),
        ("", ("aws.region=r1", ""), {}, ("no", "us-east-1")),
        ("", ("# AWS.REGION=r0\n\n AWS.REGION = r1 \nAWS.REGION=r2", ""), {}, ("no", "r2")),
        ("", ("[s3://buc/k]AWS.REGION=k1\n[s3://buc]AWS.REGION=b1\nAWS.REGION=r1", ""), {}, ("no", "k1")),
        ("", ("[s3://buc]AWS.REGION=b1\nAWS.REGION=r1", ""), {}, ("no", "b1")),
        ("", ("[s3://other]AWS.REGION=b1", ""), {}, ("no", "us-east-1")),
    ],
)
def test_profile_and_region(fragment, files, environ, expected, around, tmp_path):  # noqa: PLR0917 - two are fixtures
    (tmp_path / "home/.ncrc").write_text(files[0])
    (tmp_path / "home/.aws/config").write_text(files[1])
    found = explain(f"s3://buc/k#mode=zarr&{fragment}", around=around(**environ))
    assert (found.profile, found.region) == expected
    about = {note.about for note in found.notes}
    assert {"profile", "region"} <= about


def test_a_region_in_the_host_comes_first(around):
    found = explain("https://b.s3.eu-west-1.amazonaws.com/k#aws.region=x", around=around(AWS_REGION="y"))
    assert found.region == "eu-west-1"


def test_which_rc_file_counts(around, tmp_path):
    def region(**environ):
        return explain("s3://b/k", around=around(**environ)).region

    order = ["home/.ncrc", "home/.daprc", "home/.dodsrc", "work/.ncrc", "work/.daprc", "work/.dodsrc"]
    for name in order:
        (tmp_path / name).write_text(f"AWS.REGION={name}\n")
        assert region() == name
    (tmp_path / "else").mkdir()
    (tmp_path / "else/.ncrc").write_text("AWS.REGION=else\n")
    (tmp_path / "one").write_text("AWS.REGION=one\n")
    assert region(NCRCENV_RC=str(tmp_path / "one")) == "one"
    assert region(NCRCENV_RC=str(tmp_path / "none")) == "us-east-1"
    for name in order[3:]:
        (tmp_path / name).unlink()
    assert region() == "home/.dodsrc"
    assert region(NCRCENV_HOME=str(tmp_path / "else")) == "else"


def test_odd_files_are_told_of_and_secrets_are_not(around, tmp_path):
    (tmp_path / "home/.ncrc").write_text("[s3://b AWS.REGION=x\n[nonsense]AWS.REGION=y\nAWS.PROFILE\n")
    config = "hush1\n[default]\nhush2\n# c\n; c\nregion = r\naws_secret_access_key = hush3\n"
    (tmp_path / "home/.aws/config").write_text(config)
    (tmp_path / "home/.aws/credentials").write_bytes(b"[default]\naws_access_key_id=hush4\n\xff\n[]\nx=hush5\n")
    found = explain("s3://b/k", around=around(AWS_SECRET_ACCESS_KEY="hush6", AWS_ACCESS_KEY_ID="hush7"))
    text = repr(found)
    assert "hush" not in text
    assert found.credentials == "an access key of the profile default"
    assert text.count("it is ignored") == 6
    assert ".ncrc:1" in text
    assert "config:1" in text
    for name in ("no", "none"):
        surroundings = around(AWS_SECRET_ACCESS_KEY="hush6", AWS_ACCESS_KEY_ID="hush7")
        assert explain(f"s3://b/k#aws.profile={name}", around=surroundings).credentials == "none"


def test_credentials_override_the_config(around, tmp_path):
    (tmp_path / "home/.aws/config").write_text("[uni]\nregion=one\n[profile play]\nregion=two\n")
    (tmp_path / "home/.aws/credentials").write_text("[uni]\nregion=three\n")
    assert explain("s3://b/k", around=around(AWS_PROFILE="uni")).region == "three"
    assert explain("s3://b/k", around=around(AWS_PROFILE="play")).region == "two"
    other = tmp_path / "other/.aws"
    other.mkdir(parents=True)
    (other / "config").write_text("[uni]\nregion=four\n")
    assert (
        explain("s3://b/k", around=around(AWS_PROFILE="uni", NC_TEST_AWS_DIR=str(tmp_path / "other"))).region == "four"
    )
    found = explain("s3://b/k", around=around(AWS_PROFILE="play", AWS_CONFIG_FILE=str(other / "config")))
    assert found.profile == "no"


def test_an_endpoint_of_a_profile(around, tmp_path):
    (tmp_path / "home/.aws/config").write_text("[default]\nendpoint_url = https://minio.org/\n")
    assert explain("s3://b/k", around=around()).endpoint == "https://minio.org"
    assert explain("s3://b/k", around=around(AWS_ENDPOINT_URL="http://here:1")).endpoint == "http://here:1"
    assert explain("https://b.s3.amazonaws.com/k", around=around()).endpoint == US


@pytest.mark.parametrize(("text", "expected"), [("/", "/"), (".", "."), ("x", None), ("", None)])
def test_separator(text, expected, around, tmp_path):
    (tmp_path / "work/.ncrc").write_text(f"ZARR.DIMENSION_SEPARATOR={text}\n")
    found = explain("file:///x#mode=nczarr,file", around=around())
    assert found.separator == expected
    assert any(note.about == "separator" for note in found.notes)


@pytest.mark.parametrize(("text", "expected"), [("1", True), ("yes", True), ("TRUE", True), ("0", False), ("x", False)])
def test_consolidated(text, expected, around):
    assert explain("file:///x#mode=nczarr", around=around(NCZARR_CONSOLIDATED=text)).consolidated is expected
    assert explain("file:///x#mode=nczarr,consolidated", around=around()).consolidated


def test_keys_that_are_too_long_and_queries_are_told_of():
    notes = {note.about: note.text for note in explain(f"s3://b/{'k' * 1025}?x=1", around=NOWHERE).notes}
    assert "longer than the 1024 bytes" in notes["key"]
    assert notes["query"] == "queries are not used"
    assert "key" not in {note.about for note in explain(f"s3://b/{'k' * 1024}", around=NOWHERE).notes}


def test_lines_without_a_key_say_nothing(tmp_path):
    (tmp_path / ".ncrc").write_text("=x\n\n# AWS.REGION=no\nAWS.REGION=yes\n[https://h/p]=y\n")
    rc = read_rc(Surroundings({}, str(tmp_path), "/nowhere"))
    assert [(entry.key, entry.value, entry.where) for entry in rc.entries] == [
        ("AWS.REGION", "yes", f"{tmp_path / '.ncrc'}:4")
    ]
