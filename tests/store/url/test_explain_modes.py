"""Modes, their inferences and shorthands; the forms of file URLs; which texts are URLs at all."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import omnizarr as oz
from omnizarr.errors import OmnizarrError, OmnizarrWarning, UnsafeError, UnsupportedError
from omnizarr.store.cloud.options import settle
from omnizarr.store.remote import url_of
from omnizarr.store.uri import path_to_uri
from omnizarr.store.url.explain import explain
from omnizarr.store.url.grammar import parse
from omnizarr.store.url.local import local_of
from omnizarr.store.url.modes import understand_modes
from omnizarr.store.url.places import cannot_open
from omnizarr.store.url.settings import Surroundings

NOWHERE = Surroundings({}, "/nowhere", "/nowhere")


@pytest.mark.parametrize(
    ("fragment", "given", "inferred", "model", "xarray"),
    [
        ("mode=nczarr", ("nczarr",), (), "nczarr", True),
        ("mode=nczarr,file", ("nczarr", "file"), (), "nczarr", True),
        ("mode=NCZarr,File", ("nczarr", "file"), (), "nczarr", True),
        ("MODE=zarr", ("zarr",), ("nczarr",), "zarr", True),
        ("mode=nczarr,zarr", ("nczarr", "zarr"), (), "zarr", True),
        ("mode=zarr&mode=file", ("zarr", "file"), ("nczarr",), "zarr", True),
        ("mode=zarr,zarr", ("zarr",), ("nczarr",), "zarr", True),
        ("mode=xarray", ("xarray",), ("zarr", "nczarr"), "zarr", True),
        ("mode=nczarr,xarray", ("nczarr", "xarray"), (), "nczarr", True),
        ("mode=noxarray", ("noxarray",), ("nczarr",), "nczarr", False),
        ("mode=nczarr,noxarray", ("nczarr", "noxarray"), (), "nczarr", False),
        ("mode=zarr,noxarray", ("zarr", "noxarray"), ("nczarr",), "zarr", False),
        ("mode=zarr,xarray,noxarray", ("zarr", "xarray", "noxarray"), ("nczarr",), "zarr", False),
        ("mode=bytes", ("bytes",), (), "bytes", True),
        ("mode=zarr,bytes", ("zarr", "bytes"), ("nczarr",), "bytes", True),
        ("mode=nczarr,v2", ("nczarr", "v2"), (), "nczarr", True),
        ("mode=nczarr,what", ("nczarr", "what"), (), "nczarr", True),
        ("mode=nczarr,", ("nczarr",), (), "nczarr", True),
        ("mode= nczarr , file ", ("nczarr", "file"), (), "nczarr", True),
        ("mode=classic", ("netcdf-3",), (), "netcdf-3", True),
        ("mode=enhanced", ("netcdf-4",), (), "netcdf-4", True),
        ("zarr", ("nczarr", "zarr"), (), "zarr", True),
        ("nczarr", ("nczarr",), (), "nczarr", True),
        ("xarray", ("xarray",), ("zarr", "nczarr"), "zarr", True),
        ("noxarray", ("nczarr", "noxarray"), (), "nczarr", False),
        ("bytes", ("bytes",), (), "bytes", True),
        ("zarr&mode=file", ("nczarr", "zarr", "file"), (), "zarr", True),
        ("log", (), (), "", True),
    ],
)
def test_modes(fragment, given, inferred, model, xarray):
    found = explain(f"file:///x#{fragment}", around=NOWHERE)
    assert (found.modes, found.inferred, found.model, found.xarray) == (given, inferred, model, xarray)
    assert found.pure == (model == "zarr")
    assert found.bytes == (model == "bytes")
    assert (found.kind, found.path) == ("file", "/x")
    in_brackets = "".join(f"[{word}]" for word in fragment.split("&"))
    again = explain(f"{in_brackets}file:///x", around=NOWHERE)
    assert (again.modes, again.model, again.canonical) == (given, model, found.canonical)


@pytest.mark.parametrize(
    ("fragment", "word"),
    [
        ("mode=nczarr,xarray", "stays NCZarr"),
        ("mode=noxarray", "stays NCZarr"),
        ("mode=zarr", "follows from zarr"),
        ("zarr", "short for mode=nczarr,zarr"),
        ("mode=bytes,nczarr", "bytes cancels nczarr"),
        ("mode=nczarr,xarray,noxarray", "noxarray cancels xarray"),
        ("mode=nczarr,what", "'what' is no mode"),
        ("mode=nczarr,awsprofile=x", "#mode=nczarr&aws.profile=…"),
        ("mode=nczarr", "none is named"),
        ("mode=nczarr&log=a&log=b", "the first counts"),
    ],
)
def test_decisions_have_reasons(fragment, word):
    assert any(word in note.text for note in explain(f"file:///x#{fragment}", around=NOWHERE).notes)


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("file://{}/a.zarr#mode=nczar,file", "'nczar' is no mode of a URL, and is ignored; there are nczarr, zarr, "),
        ("{}/a.zarr#mode=bogus", "'bogus' is no mode of a URL"),
        ("[mode=bogus]file://{}/a.zarr", "'bogus' is no mode of a URL"),
        ("file://{}/a.zarr#mode=zarr,awsprofile=hush", "'awsprofile' is no mode of a URL, and is ignored: & separates"),
    ],
)
def test_who_opens_hears_of_words_that_are_no_modes(place, words, tmp_path):
    oz.create_array(tmp_path / "a.zarr", data=[1, 2])
    text = place.format(tmp_path)
    for opened in (oz.open, oz.open_array):
        with pytest.warns(OmnizarrWarning, match=words) as caught:
            assert opened(text)[...].tolist() == [1, 2]
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert "hush" not in str(caught[0].message)
    explain(text, around=NOWHERE)  # has notes


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("s3://b/k#mode=nczarr,bogus", {"anon": True}),
        ("https://example.org/k#mode=zarr,bogus", {}),
        ("gs://b/k#mode=bogus", {"anon": True}),
    ],
)
def test_words_that_are_no_modes_in_object_stores(url, options):
    with pytest.warns(OmnizarrWarning, match="'bogus' is no mode of a URL, and is ignored; there are .*enhanced$"):
        settle(url, options, NOWHERE)


def test_words_that_are_no_modes_on_servers():
    with pytest.warns(OmnizarrWarning, match="'bogus' is no mode"):
        assert url_of("https://example.org/x.nc#mode=bytes,bogus") == "https://example.org/x.nc"


@pytest.mark.parametrize(
    "url",
    [
        "file:///x#mode=zip,file",
        "file:///x#mode=nczarr&mode=s3",
        "file:///x#s3",
        "s3://bucket/x#mode=nczarr,file",
        "s3://bucket/x#mode=gs3",
        "file:///x#mode=dap2,nczarr",
        "file:///x#mode=netcdf-3,zarr",
        "file:///x?query#mode=zarr",
        "file:#mode=zarr",
        "[mode=zarrfile:///x://",
        "http::x#mode=zarr",
        "https://user@:80/x#mode=zarr",
        "https://@host/x#mode=zarr",
        "https://host:port/x#mode=zarr",
        "https:///x#mode=zarr",
        "s3:///x",
        "",
        "a\0b",
    ],
)
def test_contradictions_and_broken_urls_are_loud(url):
    with pytest.raises(UnsafeError):
        explain(url, around=NOWHERE)


@pytest.mark.parametrize("url", ["zarr://x/y", "ftp://h/x", "zip::file:///x"])
def test_other_schemes_are_refused(url):
    with pytest.raises(UnsupportedError, match="not a scheme") as caught:
        explain(url, around=NOWHERE)
    assert "s3" in caught.value.hint


def test_forms_of_file_urls(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    here = str(tmp_path)
    for url, path in {
        "file:///x/y": "/x/y",
        "file:/x/y": "/x/y",
        "FILE:/x/y": "/x/y",
        "file://localhost/x/y": "/x/y",
        "file://x/y": f"{here}/x/y",
        "file://./x": f"{here}/x",
        "file://../x": str(tmp_path.parent / "x"),
        "file:x/y": f"{here}/x/y",
        "file:///a%20b%23c": "/a b#c",
        "file://a%20b": f"{here}/a b",
        "x/y": f"{here}/x/y",
        "/x/y": "/x/y",
    }.items():
        for whole in (f"{url}#mode=nczarr,file", f"[mode=nczarr,file]{url}", f" {url}#mode=nczarr,file "):
            found = explain(whole, around=NOWHERE)
            assert found.path == path, whole
            assert oz.FileStore(whole).root == path
            assert explain(found.canonical, around=NOWHERE).path == path


@pytest.mark.parametrize("start", ["file:d:/x y", "file://d:/x y", "file:///d:/x y", "file:/d:/x y"])
def test_drives_of_windows(start):
    assert local_of(parse(f"{start}#mode=zarr"), "windows").path == "d:\\x y"


def test_a_path_that_exists_is_a_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    url = "x.zarr#mode=nczarr"
    assert oz.FileStore(url).root == str(tmp_path / "x.zarr")
    oz.create_group(Path(url))
    assert oz.FileStore(url).root == str(tmp_path / url)
    assert explain(url, around=NOWHERE).path == str(tmp_path / url)
    assert explain(Path("y.zarr#mode=nczarr"), around=NOWHERE).path == str(tmp_path / "y.zarr#mode=nczarr")


@pytest.mark.parametrize("name", ["run#1.zarr", "run#zarr", "[1].zarr", "[a][b", "a=b#c=d", "#", "[", "[]"])
def test_names_with_such_letters_are_names(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    oz.create_group(name)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert explain(name, around=NOWHERE).kind == "file"


def test_a_fragment_of_something_else_is_refused():
    with pytest.raises(UnsafeError, match="fragment"):
        oz.FileStore("file:///x#1.zarr")


def test_zip_by_mode_and_by_name(tmp_path):
    start = path_to_uri(str(tmp_path))
    for name, mode, kind in [
        ("a.any", "nczarr,zip", "zip"),
        ("b.zip", "nczarr", "zip"),
        ("c.zip", "nczarr,file", "file"),
        ("d.any", "zarr", "file"),
    ]:
        url = f"{start}/{name}#mode={mode}"
        assert explain(url, around=NOWHERE).kind == kind
        with oz.create_group(url) as group:
            group.create_array("t", shape=(3,), dtype="i4")[:] = [1, 2, 3]
        assert (tmp_path / name).is_dir() == (kind == "file")
        for mode_again in (mode, "nczarr", "zarr,file", "zarr,zip"):
            assert oz.open(f"{start}/{name}/t#mode={mode_again}")[2] == 3
        assert oz.open(url)["t"][0] == 1
        assert oz.detect(url).kind == "group"


def test_parameters_and_passwords():
    found = explain("https://me:hush@host:81/x?q#mode=zarr&show=fetch&log&aws.secret=hush", around=NOWHERE)
    assert (found.kind, found.path, found.endpoint) == ("http", "/x", "https://host:81")
    assert found.parameters == {"show": "fetch", "log": "", "aws.secret": "…"}
    assert "hush" not in repr(found)
    assert "me@host" in found.url


def test_dap_and_bytes():
    assert explain("https://host/x", around=NOWHERE).kind == "dap"
    assert explain("dods://host/x", around=NOWHERE).endpoint == "http://host"
    assert explain("dap4://host/x", around=NOWHERE).model == "dap4"
    assert explain("https://host/x#dap4", around=NOWHERE).model == "dap4"
    assert explain("https://host/x.nc#bytes", around=NOWHERE).kind == "http"
    s3 = explain("https://s3.us-east-1.amazonaws.com/goes/a/b.nc#mode=bytes", around=NOWHERE)
    assert (s3.kind, s3.bucket, s3.key, s3.bytes) == ("s3", "goes", "a/b.nc", True)


@given(st.text() | st.text(alphabet="[]#=&:/?%.@,smodezarfile3nczh \0"))
@example("[[[]]]://#mode=")
@example("s3://[::1]:9/b/k#mode=s3")
@example("[x]s3:")
@example("https://[/#mode=s3")
def test_arbitrary_text_is_understood_or_refused(text):
    try:
        found = explain(text, around=NOWHERE)
    except OmnizarrError:
        pass
    else:
        assert found.kind
        if found.bucket is None and found.kind in ("file", "zip"):
            assert Path(found.path).is_absolute()
    with contextlib.suppress(OmnizarrError):
        oz.FileStore(text)


@given(st.text(alphabet="abs3.-amzonwcexil", min_size=1), st.text(max_size=5), st.sampled_from(["s3", "gs3", "https"]))
def test_arbitrary_hosts_are_understood_or_refused(host, path, scheme):
    try:
        found = explain(f"{scheme}://{host}/{path}#mode=zarr", around=NOWHERE)
    except OmnizarrError:
        return
    if found.kind in ("s3", "gs3"):
        assert found.bucket
        assert found.endpoint.startswith("https://")
        again = explain(found.canonical, around=NOWHERE)
        assert (again.bucket, again.key) == (found.bucket, found.key)


def test_bytes_in_a_bucket_are_one_file():
    found = explain("s3://data/x.nc#mode=bytes", around=NOWHERE)
    assert (found.model, found.modes, found.inferred, found.bytes) == ("bytes", ("bytes",), ("s3",), True)


def test_an_archive_in_a_bucket_has_two_storages():
    assert understand_modes(parse("s3://data/x#mode=zarr,zip")).storage == "zip"
    assert understand_modes(parse("https://h/data/x#mode=zarr,zip,s3")).storage == "zip"
    with pytest.raises(UnsafeError, match="zip and s3 at once") as caught:
        understand_modes(parse("file:///x#mode=zarr,zip,s3"))
    assert caught.value.hint == "Leave one: file, zip, s3, gs3."


def test_a_folder_is_not_on_a_server():
    with pytest.raises(UnsafeError, match="asks for the storage file, but its scheme is https:") as caught:
        understand_modes(parse("https://h/x#mode=zarr,file"))
    assert "file:///path" in str(caught.value.hint)
    with pytest.raises(UnsafeError, match="asks for the storage s3, but names a file"):
        understand_modes(parse("file:///x#mode=zarr,s3"))


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("dods://h/x", "a server of dap2 at http://h\nAdd #mode=… to mean another."),
        ("https://h/x#dap4", "a server of dap4 at https://h"),
        ("https://h/x", "a server of dap2 at https://h"),
        ("https://h:1/x#mode=zarr", "/x at https://h:1\n`omnizarr.open`"),
        ("gs3://data/t", "bucket data, key t"),
        ("s3://data", "key (all)"),
    ],
)
def test_what_cannot_be_opened_as_files_is_understood_all_the_same(url, words):
    error = cannot_open(url)
    assert isinstance(error, UnsupportedError)
    assert f"Understood: {words}" in str(error.hint) or words in str(error.hint)


def test_schemes_of_others_and_broken_urls():
    error = cannot_open("ftp://h/x")
    assert "no store of files for ftp: URLs" in error.message
    assert "fsspec.get_mapper" in str(error.hint)
    assert isinstance(cannot_open("s3://"), UnsafeError)
