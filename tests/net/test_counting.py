"""What is stored of arrays on a web server: counted where it has pages that list its folders."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import UnsupportedError


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


class Bare(Quiet):
    """Lists nothing."""

    def list_directory(self, path: str) -> None:
        del path
        self.send_error(403)


@pytest.fixture
def folder(tmp_path):
    group = oz.create_group(tmp_path / "g.zarr")
    a = group.create_array("a", shape=(6, 4), chunks=(2, 2), dtype="i4")
    a[:3] = np.arange(12).reshape(3, 4)
    group.create_array("b/c", shape=(8,), chunks=(2,), shards=(4,), dtype="f8")[:3] = 1
    group.consolidate()
    return tmp_path


@pytest.fixture
def server(request, folder) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(request.param, directory=str(folder))) as served:
        Thread(target=served.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{served.server_address[1]}/g.zarr"
        served.shutdown()


@pytest.mark.parametrize("server", [Quiet], indirect=True)
def test_where_folders_are_listed(server, folder):
    for path in ("a", "b/c"):
        there, here = oz.open_array(f"{server}/{path}"), oz.open_array(folder / "g.zarr" / path)
        assert (there.nchunks_stored, there.nbytes_stored) == (here.nchunks_stored, here.nbytes_stored)
        assert oz.census(there, decode=True) == oz.census(here, decode=True)
        assert oz.info(there, stored=True).array.census.present == here.nchunks_stored
    found = oz.validate(server, decode=True)
    assert found.ok
    assert sum(one.present for one in found.census) == 6


@pytest.mark.parametrize("server", [Quiet, Bare], indirect=True)
def test_what_is_known_without_counting(server):
    found = oz.info(f"{server}/a")
    assert found.array.shape == (6, 4)
    assert found.array.census is None
    assert oz.info(server).group.arrays == 2


@pytest.mark.parametrize("server", [Bare], indirect=True)
def test_where_nothing_is_listed(server):
    array = oz.open_array(f"{server}/a")
    assert array[2].tolist() == [8, 9, 10, 11]
    with pytest.raises(UnsupportedError, match="does not list what it has"):
        _ = array.nchunks_stored
    remarks = oz.info(array, stored=True).remarks
    assert any(one.id == "unreadable-data" and "does not list" in one.message for one in remarks)
