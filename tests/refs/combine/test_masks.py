"""Which elements are missing, where sets become v3: there a fill value alone does not say so."""

from __future__ import annotations

import numpy as np
import pytest

import omnizarr as oz

xr = pytest.importorskip("xarray")


@pytest.mark.parametrize(("chunks", "form"), [((2, 2), "zarr2"), ((2, 3), "zarr3")])
def test_masks_that_only_the_fill_value_says(tmp_path, chunks, form):
    """As xarray writes v2; files of different chunks have no v2 together."""
    parts = []
    for number, length in enumerate(chunks):
        part = xr.Dataset(
            {"v": ("t", np.array([1, -9, 3, 4, 5, -9]))}, {"t": np.arange(6) + 6 * number, "u": ("t", np.arange(6))}
        )
        part["v"].encoding = {"_FillValue": -9, "chunks": (length,), "dtype": "i4"}
        part.to_zarr(tmp_path / f"{number}.zarr", zarr_format=2)
        parts.append(part)
    made = oz.refs.combine([tmp_path / "0.zarr", tmp_path / "1.zarr"], concat="t")
    oz.refs.write(made, tmp_path / "set.json")
    assert oz.open(tmp_path / "set.json")["v"].format == form
    with xr.open_dataset(tmp_path / "set.json", engine="omnizarr") as found:
        whole = xr.concat(parts, "t")
        np.testing.assert_array_equal(found["v"], whole["v"].where(whole["v"] != -9))
        assert found["u"].dtype.kind == "i"
