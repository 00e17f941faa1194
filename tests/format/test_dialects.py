"""The table of dialects."""

from __future__ import annotations

import pytest

from omnizarr.errors import UnsupportedError
from omnizarr.format.dialects import DIALECTS, WRITABLE, dialect, render
from omnizarr.model.group import GroupMeta


def test_dialects_are_found_by_name():
    assert [dialect(name).name for name in DIALECTS] == list(DIALECTS)
    with pytest.raises(UnsupportedError, match="the format 'zarr4' is not known") as caught:
        dialect("zarr4")
    assert caught.value.hint == "Formats are zarr3, zarr2, zarr1, zarr0, n5, zarr3-draft."


@pytest.mark.parametrize("name", ["n5", "zarr3-draft"])
def test_those_that_are_only_read_are_not_written(name):
    assert name not in WRITABLE
    with pytest.raises(UnsupportedError, match=f"the format {name} can be read but not written") as caught:
        render(GroupMeta({}, name))
    assert caught.value.hint == "Write the data to a new array of the format zarr3, zarr2."


def test_groups_of_v2_have_a_document_of_attributes_only_if_there_are_any():
    assert list(render(GroupMeta({}, "zarr2"))) == [".zgroup"]
    assert list(render(GroupMeta({"a": 1}, "zarr2"))) == [".zattrs", ".zgroup"]
    assert list(render(GroupMeta({"a": 1}, "zarr3"))) == ["zarr.json"]
