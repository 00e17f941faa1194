"""Arrays that other writers of long ago left: what is odd about them is told, and nothing else."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from omnizarr.tools.validate import validate

ARCHIVE = Path(__file__).parents[2] / "corpus" / "golden-old-writers.zip"

ODD = {
    "v0_zarr0.4.0/missing_42_lazy": {"OZ604"},
    "v1_zarr1.0.0/bz2_F": {"OZ405"},
    "v1_zarr1.0.0/lzma_F": {"OZ405"},
    "v1_zarr1.0.0/none_F": {"OZ405"},
    "v1_zarr1.0.0/zlib_F": {"OZ405"},
    "v2_zarr2.18.7/h": {"OZ506"},
    "zarrpy3.0.10/v2_S": {"OZ327"},
    "zarrpy3.0.10/v2_U": {"OZ327"},
}


@pytest.fixture(scope="module")
def golden(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("golden")
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(place)
    return place


def test_what_old_writers_left(golden):
    stores = [one for one in golden.glob("*/*") if one.is_dir() and one.name != "expected"]
    assert len(stores) > 50
    found = {}
    for store in stores:
        report = validate(store, decode=True)
        assert report.nodes
        assert report.ok
        if report.findings:
            found[store.relative_to(golden).as_posix()] = {one.rule for one in report.findings}
    assert found == ODD
