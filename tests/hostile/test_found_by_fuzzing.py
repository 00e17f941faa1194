"""Inputs that fuzzing and reviews have found, each of which once ended in something else than an error of ours."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import omnizarr as oz
from omnizarr.errors import ConflictError, LimitError, OmnizarrError

GROUP = b'{"zarr_format": 2}'


def test_groups_in_groups_without_end() -> None:
    store = oz.MemoryStore()
    for depth in range(1200):
        store.put("a/" * depth + ".zgroup", GROUP)
    group = oz.open_group(store)
    assert sum(1 for _ in group.members(max_depth=None)) == 1199
    assert sum(1 for _ in group.members(max_depth=700)) == 701
    with pytest.raises(LimitError, match="lie in each other"):
        group.tree()
    with pytest.raises(LimitError, match="lie in each other"):
        oz.info(store)
    assert "a" in str(group.tree(depth=3))


def test_empty_documents() -> None:
    found = oz.info({".zgroup": GROUP, "a/.zarray": b"", "b/.zgroup": b"", "c/.zattrs": b""})
    assert found is not None
    with pytest.raises(OmnizarrError):
        oz.open({".zgroup": GROUP, "a/.zarray": b""}, path="a")


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_where_an_archive_grows(tmp_path: Path) -> None:
    (tmp_path / "victim").write_bytes(b"precious")
    for target in ("victim", "nothing"):
        (tmp_path / ".a.zip.partial").symlink_to(target)
        with pytest.raises(ConflictError, match="is a link"):
            oz.create_array(tmp_path / "a.zip", data=[1, 2, 3])
        (tmp_path / ".a.zip.partial").unlink()
    assert (tmp_path / "victim").read_bytes() == b"precious"
    assert not (tmp_path / "nothing").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is known there")
def test_more_strings_than_memory_holds() -> None:
    program = """
import resource, omnizarr as oz
a = oz.create_array({}, shape=(300_000_000,), dtype="string", chunks=(100,))
a[:5]
resource.setrlimit(resource.RLIMIT_AS, (4_000_000_000, 4_000_000_000))
try:
    a[...]
except oz.errors.LimitError as error:
    print("told", error.hint)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert "told" in done.stdout, done.stderr
