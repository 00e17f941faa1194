"""Texts in JSON that are nested a hundred thousand deep, in places where few look for any."""

from __future__ import annotations

import pytest

import omnizarr as oz
from omnizarr.errors import CorruptError, ExistsError, MetadataError
from omnizarr.nc.zarr.filters import parse_codecs
from omnizarr.tools.convert.journal import Journal

DEEP = b"[" * 100_000


def test_the_note_of_a_copy(tmp_path):
    oz.create_array(tmp_path / "from", shape=1, dtype="i4")
    (tmp_path / "to").mkdir()
    (tmp_path / "to/.omnizarr-copy.json").write_bytes(DEEP)
    with pytest.raises(ExistsError):
        oz.copy(tmp_path / "from", tmp_path / "to")


def test_the_journal_of_a_conversion():
    with pytest.raises(CorruptError):
        Journal.from_bytes(DEEP, "key")


def test_codecs_in_an_attribute():
    with pytest.raises(MetadataError, match="no JSON"):
        parse_codecs(DEEP.decode())


def test_the_description_of_a_tiff_file(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    # Whoever reads it looks for the shape of the pages in it.
    text = '{"shape": ' + DEEP.decode()
    tifffile.imwrite(tmp_path / "a.tif", [[1, 2]], description=text, metadata=None)
    assert oz.refs.scan(tmp_path / "a.tif") is not None
