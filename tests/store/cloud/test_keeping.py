"""Options of the cache, and places with options."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from types import SimpleNamespace

import pytest

from omnizarr.errors import OmnizarrWarning, ReadOnlyError, UnsafeError
from omnizarr.limits import DEFAULT_LIMITS
from omnizarr.store.cloud.at import At, at, located
from omnizarr.store.cloud.keeping import DEFAULT, SMALLEST, cache_of, tell_of_trouble
from omnizarr.store.cloud.opening import is_cloud, is_web, names_file, open_cloud
from omnizarr.store.cloud.secret import Config
from omnizarr.store.cloud.settled import Settled
from omnizarr.store.cloud.store import CloudStore


def settled(kind="s3", **settings):
    return Settled(kind=kind, config=Config(), prefix="", uri="s3://b", settings=settings)


def test_where_and_how_much_is_kept(tmp_path, monkeypatch):
    assert cache_of(settled()) is None
    assert cache_of(settled(cache=str(tmp_path))) == (str(tmp_path), DEFAULT)
    assert cache_of(settled(cache=str(tmp_path / "new"), cache_bytes=SMALLEST)) == (str(tmp_path / "new"), SMALLEST)
    assert cache_of(settled("http", cache=str(tmp_path))) is None
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert cache_of(settled(cache="~/x")) == cache_of(settled(cache="x")) == (str(tmp_path / "x"), DEFAULT)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"cache": "x", "cache_bytes": SMALLEST - 1}, "at least 65536"),
        ({"cache": "x", "cache_bytes": "much"}, "at least 65536"),
        ({"cache_bytes": SMALLEST}, "needs the option cache"),
        ({"cache": " "}, "a folder of this machine"),
        ({"cache": 5}, "a folder of this machine"),
        ({"cache": "a\0b"}, "a folder of this machine"),
        ({"cache": "s3://b/k"}, "a folder of this machine"),
        ({"cache": __file__}, "is something else"),
    ],
)
def test_options_that_are_refused(settings, words):
    with pytest.raises(UnsafeError, match=words):
        cache_of(settled(**settings))


def test_trouble_is_told_once():
    folder = f"/nowhere/{os.urandom(4).hex()}"
    tell_of_trouble(folder, SimpleNamespace(cache_trouble=None))
    with pytest.warns(OmnizarrWarning, match=rf"nothing is kept in '{folder}'.*: it is full") as caught:
        tell_of_trouble(folder, SimpleNamespace(cache_trouble="it is full"))
    assert len(caught) == 1
    tell_of_trouble(folder, SimpleNamespace(cache_trouble="it is full"))


def test_a_place_with_options():
    place = at("s3://b/k?x=hush", key="me", secret="hush")
    assert repr(place) == "At('s3://b/k', {'key': …, 'secret': …})"
    again = pickle.loads(pickle.dumps(place))
    assert (again.where, again.options) == ("s3://b/k?x=hush", {"key": "me", "secret": "hush"})
    assert located("x", None) == "x"
    assert located("x", {}) == "x"
    found = located(Path("a/b"), {"anon": True})
    assert isinstance(found, At)
    assert (found.where, found.options) == (os.path.join("a", "b"), {"anon": True})  # noqa: PTH118
    with pytest.raises(TypeError, match="a store has its own"):
        located({}, {"anon": True})


@pytest.mark.parametrize(
    ("where", "cloud", "web", "file"),
    [
        ("s3://b/k", True, False, False),
        ("s3://b/k.nc", True, False, True),
        ("s3://b/k.NC4", True, False, True),
        ("s3://b/k.json.zst", True, False, True),
        ("s3://b/k.ncx", True, False, False),
        ("s3://b/k#mode=bytes", True, False, True),
        ("s3://b/k.nc#mode=zarr", True, False, False),
        ("https://example.org/x.nc", False, True, True),
        ("x.nc", False, False, False),
    ],
)
def test_places_by_their_names(where, cloud, web, file):
    assert (is_cloud(where), is_web(where), names_file(where)) == (cloud, web, file)
    assert is_cloud(At(where))


@pytest.mark.parametrize("where", ["s3://b/k.zip", "s3://b/k#mode=zarr,zip"])
def test_archives_in_object_stores_are_only_read(where):
    with pytest.raises(ReadOnlyError, match="only read") as caught:
        open_cloud(At(where, {"anon": True}), read_only=False, limits=DEFAULT_LIMITS, look=True)
    assert caught.value.path == where.partition("#")[0]
    assert caught.value.hint == "Make the archive here, and copy it there."


def test_what_no_name_tells_of_is_a_folder_of_keys():
    for where in ("s3://b", "s3://b/k", "s3://b/k.nc#mode=zarr"):
        store, path = open_cloud(At(where, {"anon": True}), read_only=False, limits=DEFAULT_LIMITS, look=True)
        assert isinstance(store, CloudStore)
        assert (store.uri, path) == (where.partition("#")[0], "")
    quick, _ = open_cloud(At("s3://b/k", {"anon": True}), read_only=True, limits=DEFAULT_LIMITS, look=False)
    assert quick == CloudStore("s3://b/k", {"anon": True})


def test_stores_are_equal_if_place_and_options_are():
    one = CloudStore("s3://b/k", {"anon": True})
    assert one == CloudStore("s3a://b/k/", {"anon": True})
    assert hash(one) == hash(CloudStore("s3a://b/k/", {"anon": True}))
    assert one != CloudStore("s3://b/k", {"key": "a", "secret": "b"})
    assert one != CloudStore("s3://b/k", {"anon": True, "attempts": 2})
    assert one != "s3://b/k"
    assert pickle.loads(pickle.dumps(one)) == one
    assert repr(one) == "CloudStore('s3://b/k')"


def test_conditions_can_be_left_out():
    assert not CloudStore("s3://b/k", {"anon": True, "conditional_put": "disabled"}).conditional
    assert CloudStore("s3://b/k", {"anon": True}).conditional
