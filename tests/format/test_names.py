"""Names and paths."""

from __future__ import annotations

import pytest

from omnizarr.errors import UnsafeError
from omnizarr.format.names import check_new_path, join, normal_path


@pytest.mark.parametrize(
    ("given", "path"),
    [("", ""), ("/", ""), ("a", "a"), ("/a//b/", "a/b"), ("a\\b", "a/b"), ("é/e\u0301", "é/e\u0301"), ("a b", "a b")],
)
def test_one_form(given, path):
    assert normal_path(given) == path


@pytest.mark.parametrize("path", ["..", "a/../b", "./a", "a/.", "..\\a", "a\0b", "\ud800", "a/\udcff"])
def test_paths_that_lead_elsewhere(path):
    with pytest.raises(UnsafeError):
        normal_path(path)


@pytest.mark.parametrize("path", ["__x", "a/...", "zarr.json", "a/.zarray", ".zgroup", ".zattrs/x", ".zmetadata"])
def test_names_that_new_nodes_must_not_have(path):
    with pytest.raises(UnsafeError):
        check_new_path(path)


def test_names_that_new_nodes_may_have():
    assert check_new_path("/a/_b/c__/.d/zarr.json.bak/") == "a/_b/c__/.d/zarr.json.bak"
    assert check_new_path("") == ""
    assert join("", "a") == "a"
    assert join("a/b", "c") == "a/b/c"
