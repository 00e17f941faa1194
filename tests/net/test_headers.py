"""Headers that users give: they reach the server that was named, and no other; nothing shows them."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import omnizarr as oz
from omnizarr import native, refs
from omnizarr.cli.main import main
from omnizarr.errors import OmnizarrError, StoreError, UnsafeError, UnsupportedError
from omnizarr.refset.opening import open_set
from omnizarr.store.http import HttpStore
from omnizarr.store.remote import Remote
from tests.net.serving import Handler, Served, serving, usual
from tests.net.test_direct import VALUES, make_netcdf, serve_folder
from tests.net.test_reach import moved

NAME, SECRET = "Authorization", "Bearer hush-hush"
HEADERS = {NAME: SECRET}
OPTIONS = {"headers": HEADERS}


def guarded(handler: Handler, data: bytes, asked: tuple[int, int] | None) -> None:
    """Answer who has the header, and nobody else."""
    if handler.headers.get(NAME) == SECRET:
        usual(handler, data, asked)
    else:
        handler.reply(401, b"who are you?")


def noting(seen: list[str | None]):
    """Answer everybody, and note the header of each request."""

    def answer(handler: Handler, data: bytes, asked: tuple[int, int] | None) -> None:
        seen.append(handler.headers.get(NAME))
        usual(handler, data, asked)

    return answer


def guard_all(server: Served) -> None:
    server.odd |= dict.fromkeys(server.files, guarded)


@pytest.fixture
def other() -> Iterator[Served]:
    """Another server, on another port of this machine."""
    with serving() as served:
        yield served


@pytest.fixture
def zarr(server: Served, tmp_path: Path) -> str:
    group = oz.open_group(tmp_path / "x.zarr", mode="w", format="zarr3")
    group.create_array("v", data=VALUES, chunks=(2, 5), shards=(6, 10))
    group.consolidate()
    serve_folder(server, tmp_path / "x.zarr", "/d/x.zarr")
    guard_all(server)
    return f"{server.url}/d/x.zarr"


@pytest.fixture
def file(server: Served, tmp_path: Path) -> str:
    server.files["/d/x.nc"] = make_netcdf(tmp_path / "x.nc").read_bytes()
    guard_all(server)
    return f"{server.url}/d/x.nc"


@pytest.mark.parametrize("options", [OPTIONS, {"client_kwargs": OPTIONS}, {**OPTIONS, "attempts": 2, "anon": True}])
@pytest.mark.parametrize("modes", ["", "#mode=zarr"])
def test_zarr(zarr, options, modes):
    with pytest.raises(StoreError, match="401"):
        oz.open(zarr + modes)["v"][...]
    group = oz.open(zarr + modes, storage_options=options)
    np.testing.assert_array_equal(group["v"][...], VALUES)
    np.testing.assert_array_equal(oz.open(oz.at(zarr + modes, **options), path="v")[1:, ::2], VALUES[1:, ::2])


def test_files(file):
    with pytest.raises(StoreError, match="401"):
        oz.open(file)
    np.testing.assert_array_equal(oz.open(file, storage_options=OPTIONS)["v"][...], VALUES)
    np.testing.assert_array_equal(oz.open(file + "/v", storage_options=OPTIONS)[...], VALUES)
    with oz.Dataset(file, storage_options=OPTIONS) as found:
        np.testing.assert_array_equal(found["v"][...], VALUES)


def test_zarr_as_a_dataset(zarr):
    with oz.Dataset(f"{zarr}#mode=zarr", storage_options=OPTIONS) as found:
        np.testing.assert_array_equal(found["v"][...], VALUES)
    with oz.Dataset(zarr, storage_options=OPTIONS) as found:
        np.testing.assert_array_equal(found["v"][...], VALUES)


def test_pages_that_list(server, zarr):
    page = b'<a href="v/">v</a> <a href="zarr.json">z</a>'
    server.odd["/d/x.zarr/"] = lambda handler, _data, asked: guarded(handler, page, asked)
    assert HttpStore(zarr, options=OPTIONS).list_dir("") == (["zarr.json"], ["v/"])
    with pytest.raises(UnsupportedError):
        HttpStore(zarr).list_dir("")


@pytest.mark.parametrize("form", ["set.json", "set.json.zst", "set.parq"])
def test_sets(server, tmp_path, form):
    make_set(tmp_path, "x.nc", form)
    serve_folder(server, tmp_path / "d", "/d")
    guard_all(server)
    url = f"{server.url}/d/{form}"
    with pytest.raises(StoreError, match="401"):
        oz.open(url)
    # What is for buckets may stand beside it.
    for options in (OPTIONS, {**OPTIONS, "key": "me", "secret": "you"}):
        group = oz.open(url, storage_options=options)
        np.testing.assert_array_equal(group["v"][...], VALUES)
        np.testing.assert_array_equal(
            pickle.loads(pickle.dumps(group.store)).get("v/.zattrs"), group.store.get("v/.zattrs")
        )


def make_set(tmp_path: Path, target: str, form: str = "set.json") -> Path:
    """Write a set whose chunks are all in a file that it names."""
    (tmp_path / "d").mkdir()
    data = make_netcdf(tmp_path / "d" / "x.nc")
    found = refs.scan(str(data), inline=0)
    found.stamps, found.urls = {}, [target]
    refs.write(found, tmp_path / "d" / form)
    return tmp_path / "d" / form


def test_a_set_of_this_machine_needs_the_name_of_the_server(file, server, tmp_path, monkeypatch):
    place = make_set(tmp_path, file)
    with pytest.raises(UnsafeError, match="no server that they are for"):
        oz.open(place, storage_options=OPTIONS)
    with pytest.raises(UnsafeError, match="no server that they are for"):
        oz.open(place, storage_options=OPTIONS, allow=["*"])
    group = oz.open(place, storage_options=OPTIONS, allow=[server.url + "/d/"])
    np.testing.assert_array_equal(group["v"][...], VALUES)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(group))["v"][...], VALUES)
    # Those of the environment are for all that is named, and a set names nothing.
    monkeypatch.setenv("OMNIZARR_STORAGE_OPTIONS", json.dumps(OPTIONS))
    with pytest.raises(StoreError, match="401"):
        oz.open(place, allow=["*"])["v"][...]
    np.testing.assert_array_equal(oz.open(place, allow=[server.url])["v"][...], VALUES)
    assert not [one for one in refs.validate(str(place), allow=[server.url]) if one.severity == "error"]


def test_servers_that_only_a_set_names_see_nothing(server, other, tmp_path, monkeypatch):
    make_set(tmp_path, f"{other.url}/d/x.nc")
    serve_folder(server, tmp_path / "d", "/d")
    guard_all(server)
    seen: list[str | None] = []
    other.files["/d/x.nc"] = server.files["/d/x.nc"]
    other.odd["/d/x.nc"] = noting(seen)
    url = f"{server.url}/d/set.json"
    # Not even where the set may reach it: that is no word about headers.
    for allow in (["*"], [other.url + "/"]):
        np.testing.assert_array_equal(oz.open(url, storage_options=OPTIONS, allow=allow)["v"][...], VALUES)
    monkeypatch.setenv("OMNIZARR_STORAGE_OPTIONS", json.dumps(OPTIONS))
    np.testing.assert_array_equal(oz.open(url, allow=[other.url + "/"])["v"][...], VALUES)
    refs.validate(url, allow=[other.url])
    assert len(seen) >= 3
    assert set(seen) == {None}


def test_redirections(server, other):
    seen: list[str | None] = []
    for one in (server, other):
        one.files["/d/new"] = bytes(range(256)) * 1000
    other.odd["/d/new"] = noting(seen)
    server.odd |= {"/d/new": guarded, "/d/here": moved("new"), "/d/there": moved(other.url + "/d/new")}
    server.odd["/d/alias"] = moved(server.url.replace("127.0.0.1", "localhost") + "/d/new")
    for path in ("here", "there"):
        remote = Remote(f"{server.url}/d/{path}", ["*"], options=OPTIONS)
        with remote.open() as file:
            file.seek(200_000)
            assert file.read(3) == bytes(range(64, 67))
    assert seen == [None, None]
    # And back again: it is the server that was named.
    other.odd["/d/back"] = moved(server.url + "/d/new")
    server.odd["/d/round"] = moved(other.url + "/d/back")
    assert len(Remote(f"{server.url}/d/round", ["*"], options=OPTIONS).native.document(1 << 20)) == 256_000
    with pytest.raises(StoreError, match="401"):
        Remote(f"{server.url}/d/alias", ["*"], options=OPTIONS).stamp()


def test_a_store_that_is_redirected(server, other, zarr):
    seen: list[str | None] = []
    other.files["/e/zarr.json"] = server.files["/d/x.zarr/zarr.json"]
    other.odd["/e/zarr.json"] = noting(seen)
    server.odd["/d/x.zarr/zarr.json"] = moved(other.url + "/e/zarr.json")
    pairs = (list(HEADERS.items()), [zarr])
    store = native.CloudStore("http", {"url": zarr}, "", zarr, allow=["*"], headers=pairs)
    assert store.get("zarr.json") == other.files["/e/zarr.json"]
    assert seen == [None]


@pytest.mark.parametrize(
    ("headers", "words"),
    [
        *(({name: "hush"}, f"{name} cannot be given") for name in ("Range", "if-match", "HOST", "Content-Length")),
        *(({name: "hush"}, f"{name} cannot be given") for name in ("Connection", "Accept-Encoding", "TE")),
        ({"hush\n": "a"}, "no header can have"),
        ({"hush: a": "a"}, "no header can have"),
        ({"": "hush"}, "no header can have"),
        ({"ünï": "hush"}, "no header can have"),
        ({"X-Key": "hush\r\nHost: evil"}, "X-Key cannot be sent"),
        ({"X-Key": "hush\n"}, "X-Key cannot be sent"),
        ({"X-Key": "hush\0"}, "X-Key cannot be sent"),
        ({"X-Key": "hush …"}, "X-Key cannot be sent"),
        ({"X-Key": "hush", "x-key": "hush"}, "given twice"),
        ({"X-Key": 5}, "mapping of texts"),
        (["hush"], "mapping of texts"),
        ("hush", "mapping of texts"),
        ('{"X-Key": hush}', "mapping of texts"),
    ],
)
def test_what_cannot_be_a_header(server, headers, words):
    for where in ("x.zarr", "x.zarr#mode=zarr", "set.json"):
        with pytest.raises(UnsafeError, match=words) as caught:
            oz.open(f"{server.url}/d/{where}", storage_options={"headers": headers})
        assert "hush" not in f"{caught.value} {caught.value.hint}"
    assert not server.requests


def test_values_of_latin_1(server):
    seen: list[str | None] = []
    server.files["/d/x"] = b"data"
    server.odd["/d/x"] = noting(seen)
    Remote(server.url + "/d/x", options={"headers": {NAME: "schlüssel"}}).stamp()
    assert seen == ["schlüssel"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"key": "hush"}, "no option 'key'"),
        ({**OPTIONS, "proxy_url": "http://hush"}, "proxy_url is not for a plain server"),
        ({**OPTIONS, "verify": False}, "allow_invalid_certificates is not for a plain server"),
        ({**OPTIONS, "client_kwargs": {"headers": {"A": "hush"}}}, "say different things"),
    ],
)
def test_options_that_are_not_for_a_server(zarr, options, words):
    with pytest.raises(OmnizarrError, match=words) as caught:
        oz.open(zarr, storage_options=options)
    assert "hush" not in str(caught.value)


def test_pickles_carry_them_and_nothing_shows_them(zarr, file, server):
    array = oz.open(zarr, storage_options=OPTIONS)["v"]
    scanned = oz.open(file, storage_options=OPTIONS)
    for one in (array, array.store, scanned, scanned.store, oz.at(zarr, **OPTIONS), HttpStore(zarr, options=OPTIONS)):
        again = pickle.loads(pickle.dumps(one))
        for shown in (repr(one), str(one), repr(again), repr(one.__reduce__()), repr(again.__reduce__())):
            assert "hush" not in shown
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(array))[...], VALUES)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(scanned))["v"][...], VALUES)
    server.odd[f"/d/x.zarr/{array.metadata.keys.key((0, 0))}"] = moved("http://127.0.0.1:1/")
    server.odd = dict.fromkeys(server.odd, lambda handler, _data, _asked: handler.reply(403, b""))
    with pytest.raises(StoreError) as caught:
        pickle.loads(pickle.dumps(array))[...]
    assert "hush" not in f"{caught.value!r} {caught.value}"


def test_commands(zarr, file, capsys, monkeypatch):
    as_json = ["--storage-option", "headers=" + json.dumps(HEADERS)]
    as_line = ["--storage-option", f"headers={NAME}: {SECRET}"]
    for url in (zarr, file):
        assert main(["cat", f"{url}/v"]) == 2
        said = capsys.readouterr().err
        assert "401" in said
        for words in (as_json, as_line):
            assert main([*words, "--trace", "cat", f"{url}/v"]) == 0
            printed = capsys.readouterr()
            assert "59" in printed.out
            assert "requests" in printed.err
            assert "hush" not in printed.out + printed.err
    assert main([*as_line, "info", "--explain", zarr]) == 0
    printed = capsys.readouterr()
    assert "hush" not in printed.out + printed.err
    other = ["--storage-option", "headers=X-Other: 1"]
    for words in (
        [*as_line, *other],
        [*other, *as_json],
        ["--storage-option", f"headers={NAME.lower()}: wrong", *as_line],
    ):
        assert main([*words, "ls", zarr]) == 0
        assert "hush" not in "".join(capsys.readouterr())
    assert main([*as_line, "--storage-option", "headers=hush", "ls", zarr]) == 2
    assert "hush" not in "".join(capsys.readouterr())
    for odd in (f"{NAME}: {SECRET}", "headers=hush", "headers={hush", f"headers=Range: {SECRET}"):
        assert main(["--storage-option", odd, "ls", zarr]) == 2
        assert "hush" not in capsys.readouterr().err
    # What is for buckets means nothing to a server, and is passed over.
    monkeypatch.setenv(
        "OMNIZARR_STORAGE_OPTIONS", json.dumps({**OPTIONS, "profile": "none", "config": {"region": "x"}})
    )
    assert main(["ls", zarr]) == 0


def test_options_that_are_given_come_before_those_of_the_environment(server, monkeypatch):
    seen: list[str | None] = []
    server.files["/d/x"] = b"data"
    server.odd["/d/x"] = noting(seen)
    monkeypatch.setenv("OMNIZARR_STORAGE_OPTIONS", json.dumps(OPTIONS))
    for options in ({}, {"headers": {NAME: "mine"}}, {"headers": {"X-Other": "mine"}}, {"anon": True}):
        Remote(server.url + "/d/x", options=options).stamp()
    assert seen == [SECRET, "mine", None, None]


def test_combining_and_exporting_what_is_named(file, tmp_path, monkeypatch):
    monkeypatch.setenv("OMNIZARR_STORAGE_OPTIONS", json.dumps(OPTIONS))
    made = refs.combine([file], concat="t", scan=refs.Options(inline=0))
    refs.write(made, tmp_path / "set.json")
    store = open_set(tmp_path / "set.json", allow=[file])
    np.testing.assert_array_equal(oz.open(store)["v"][...], VALUES)
    refs.export(str(tmp_path / "set.json"), tmp_path / "out.zarr", allow=[file])
    np.testing.assert_array_equal(oz.open(tmp_path / "out.zarr")["v"][...], VALUES)
