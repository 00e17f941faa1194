"""What a set may reach: its own folder, public servers, and what the caller allows."""

from __future__ import annotations

import json
import os
import sys

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import OmnizarrError, UnsafeError
from omnizarr.limits import Limits
from omnizarr.refset.guard import VARIABLE, base_of, defaults, spelled
from omnizarr.refset.model import Chunks, References
from omnizarr.refset.store import store_of

ARRAY = {"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "|u1", "order": "C", "fill_value": 0}
DOCUMENT = json.dumps({**ARRAY, "compressor": None, "filters": None}).encode()


@pytest.fixture
def archive(tmp_path):
    """A set's folder, with a file in it, below it and beside it."""
    for name in ("inside/a.bin", "inside/sub/a.bin", "inside/with space.bin", "inside/odd%20name.bin", "secret/a.bin"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_bytes(b"\1\2\3\4")
    return tmp_path


def _read(url, where, allow=(), limits=None):
    base, allowed = defaults(where)
    made = References({"v/.zarray": DOCUMENT}, {"v": Chunks.ranges((1,), 0, [0], [4])}, [url])
    more = {} if limits is None else {"limits": limits}
    return oz.open(store_of(made, uri=where, base=base, allow=[*allowed, *allow], **more), path="v")[...]


@pytest.mark.parametrize(
    "url",
    ["a.bin", "./a.bin", "sub/a.bin", "sub/../a.bin", "with space.bin", "odd%20name.bin", "{}/inside/a.bin",
     "file://{}/inside/a.bin", "file:{}/inside/a.bin", "file://localhost{}/inside/a.bin", "FILE://{}/inside/a.bin",
     "local://{}/inside/a.bin", "file://{}/inside/with%20space.bin", "file://{}/inside/odd%2520name.bin",
     "file://{}/inside/odd%20name.bin", "{}/secret/../inside/a.bin"],
)  # fmt: skip
@pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")
def test_its_own_folder(archive, url):
    np.testing.assert_array_equal(_read(url.format(archive), f"{archive}/inside/set.json"), [1, 2, 3, 4])


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_its_own_folder_by_either_name(archive):
    (archive / "link").symlink_to(archive / "inside")
    for name in ("link", "inside"):
        np.testing.assert_array_equal(_read(f"{archive}/{name}/a.bin", f"{archive}/link/set.json"), [1, 2, 3, 4])
    with pytest.raises(UnsafeError):
        _read(f"{archive}/secret/a.bin", f"{archive}/link/set.json")
    (archive / "inside/set.json").symlink_to(archive / "secret/set.json")  # a set lies where its name does
    with pytest.raises(UnsafeError):
        _read(f"{archive}/secret/a.bin", f"{archive}/inside/set.json")


@pytest.mark.parametrize(
    "url",
    ["../secret/a.bin", "sub/../../secret/a.bin", "{}/secret/a.bin", "file://{}/secret/a.bin",
     "file://{}/inside/../secret/a.bin", "file://{}/inside/%2e%2e/secret/a.bin", "/etc/passwd", "file:///etc/passwd",
     "file:/etc/passwd", "{}/inside2/a.bin", "link.bin", "folder/a.bin"],
)  # fmt: skip
@pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")
def test_elsewhere_is_refused_and_the_hint_allows_it(archive, url):
    (archive / "inside/link.bin").symlink_to(archive / "secret/a.bin")
    (archive / "inside/folder").symlink_to(archive / "secret")
    with pytest.raises(UnsafeError, match="not followed") as caught:
        _read(url.format(archive), f"{archive}/inside/set.json")
    assert "allow=[" in str(caught.value.hint)
    assert "--allow" in str(caught.value.hint)
    if "secret" in url or "link" in url or "folder" in url:
        for allow in (["*"], [f"{archive}/secret"], [f"{archive}/secret/"], [f"file://{archive}/secret/"]):
            got = _read(url.format(archive), f"{archive}/inside/set.json", allow)
            np.testing.assert_array_equal(got, [1, 2, 3, 4])


@pytest.mark.parametrize(
    "url",
    ["file://elsewhere/a.bin", "file://..", "file:a.bin", "ftp://example.org/a", "memory://a", "zip://a::file:///etc/x",
     "javascript://x", "", "a\0b", "gopher://127.0.0.1/", "http://[::1", "data://x"],
)  # fmt: skip
def test_what_is_never_followed(archive, url):
    with pytest.raises(OmnizarrError):
        _read(url, f"{archive}/inside/set.json", ["*"])


@pytest.mark.parametrize("where", ["http://127.0.0.1:9/x/set.json", "https://example.org/set.json", "memory:x"])
@pytest.mark.parametrize("url", ["{}/inside/a.bin", "file://{}/inside/a.bin", "/etc/passwd"])
@pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")
def test_a_set_from_elsewhere_reaches_no_file(archive, where, url):
    with pytest.raises(UnsafeError):
        _read(url.format(archive), where)


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:9/a", "http://localhost:9/a", "http://169.254.169.254/latest/", "http://10.0.0.1/", "http://[::1]:9/",
     "http://0x7f.1:9/", "http://2130706433:9/", "http://[::ffff:127.0.0.1]:9/", "http://192.168.0.1/", "http://0:9/"],
)  # fmt: skip
def test_servers_that_only_this_machine_can_see(archive, url):
    with pytest.raises(UnsafeError):
        _read(url, f"{archive}/inside/set.json")


def test_pipes_and_folders_do_not_block(archive):
    (archive / "inside/d").mkdir()
    names = ["d"]
    if hasattr(os, "mkfifo"):
        os.mkfifo(archive / "inside/pipe")
        names.append("pipe")
    for name in names:
        with pytest.raises(OmnizarrError, match=r"no file|Is a directory"):
            _read(name, f"{archive}/inside/set.json")


def test_the_callers_word(archive, monkeypatch):
    url, where = f"{archive}/secret/a.bin", f"{archive}/inside/set.json"
    limits = Limits(allow=(str(archive / "secret"),))
    np.testing.assert_array_equal(_read(url, where, limits=limits), [1, 2, 3, 4])
    monkeypatch.setenv(VARIABLE, os.pathsep.join(["/nowhere", f"{archive}/secret", "https://example.org/data/"]))
    np.testing.assert_array_equal(_read(url, where), [1, 2, 3, 4])
    assert defaults(where)[1][-1] == "https://example.org/data/"
    assert defaults(where, limits)[1][-1] == str(archive / "secret")
    monkeypatch.chdir(archive)
    assert spelled(["secret", "*", "s3://x/", ""]) == [f"{archive}{os.sep}secret", "*", "s3://x/"]


def test_where_sets_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert base_of("set.json") == f"{tmp_path}{os.sep}"
    assert base_of("sub/set.parquet/") == f"{tmp_path}{os.sep}sub{os.sep}"
    assert base_of((tmp_path / "a b" / "set.json").as_uri()) == f"{tmp_path}{os.sep}a b{os.sep}"
    assert base_of("https://example.org/x/set.json?token=a/b#c") == "https://example.org/x/"
    assert base_of("https://example.org") == "https://example.org/"


def test_allow_is_a_list():
    with pytest.raises(TypeError, match="list"):
        oz.open({}, allow="/data/")
