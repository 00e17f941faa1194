"""Where other scanners and libraries say what is to be found, and this one once said otherwise."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import MetadataError, NodeTypeError, NotFoundError
from omnizarr.refset.model import INLINE

h5py = pytest.importorskip("h5py")


def _opened(references, tmp_path):
    oz.refs.write(references, tmp_path / "set.json", overwrite=True)
    return oz.open(tmp_path / "set.json")


def _dims(references) -> dict[str, Any]:
    texts = {key: json.loads(text) for key, text in references.documents.items() if key.endswith("/.zattrs")}
    return {key.removesuffix("/.zattrs"): text["_ARRAY_DIMENSIONS"] for key, text in texts.items()}


def test_dimensions_are_those_of_netcdf(tmp_path):
    """Of several scales of an axis the last counts, and of several names of a scale the first."""
    netcdf4 = pytest.importorskip("netCDF4")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        for name in ("x", "y"):
            file[name] = np.arange(4)
            file[name].make_scale(name)
        file["also"] = file["x"]
        for name, scales in (("v", "xy"), ("w", "yx"), ("u", "x"), ("t", "y")):
            file[name] = np.arange(4.0)
            for scale in scales:
                file[name].dims[0].attach_scale(file[scale])
    with netcdf4.Dataset(tmp_path / "x.h5") as file:
        expected = {name: list(var.dimensions) for name, var in file.variables.items()}
    assert _dims(oz.refs.scan(tmp_path / "x.h5")) == expected
    assert (expected["v"], expected["w"], expected["u"]) == (["y"], ["also"], ["also"])


@pytest.mark.parametrize(
    ("words", "kind"), [([b"water", "süß".encode(), b""], "<U5"), ([b"\xff\xfe", b"a", b""], "S2")]
)
def test_text_in_structures(tmp_path, words, kind):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        values = np.zeros(3, [("n", "<i4"), ("s", h5py.string_dtype())])
        values["n"], values["s"] = [10, 11, 12], words
        file["v"] = values
    found = _opened(oz.refs.scan(tmp_path / "x.h5"), tmp_path)["v"][...]
    assert found.dtype["s"] == kind
    expected = [one.decode() for one in words] if kind[1] == "U" else words
    assert found["s"].tolist() == expected
    assert found["n"].tolist() == [10, 11, 12]


def test_groups_that_are_none(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["g/v"] = np.arange(3)
    assert list(oz.refs.scan(tmp_path / "x.h5", group="g").arrays) == ["v"]
    with pytest.raises(KeyError) as missing:
        oz.refs.scan(tmp_path / "x.h5", group="g/none")
    assert isinstance(missing.value, NotFoundError)
    with pytest.raises(ValueError, match="a variable") as other:
        oz.refs.scan(tmp_path / "x.h5", group="g/v")
    assert isinstance(other.value, NodeTypeError)


def test_fill_values_are_no_masks(tmp_path):
    """In Zarr v2 xarray masks the fill value, so one that no element needs, and no attribute names, is not said."""
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("whole", data=np.arange(10), chunks=(5,), fillvalue=4)
        file.create_dataset("named", data=np.arange(10), chunks=(5,), fillvalue=4).attrs["_FillValue"] = 4
        file.create_dataset("part", shape=(10,), chunks=(5,), dtype="i4", fillvalue=4)[:5] = 1
    references = oz.refs.scan(tmp_path / "x.h5")
    fills = {name: json.loads(references.documents[f"{name}/.zarray"])["fill_value"] for name in references.arrays}
    assert fills == {"whole": None, "named": 4, "part": 4}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_full_files_beside_others_have_their_fill_value(tmp_path, order):
    """All files have the same fill value; a scan says so only of those where it is seen."""
    for number, filled in enumerate((2, 4)):
        with h5py.File(tmp_path / f"{number}.h5", "w") as file:
            file["t"] = np.arange(4) + 4 * order[number]
            file["t"].make_scale("t")
            values = file.create_dataset("v", shape=(4,), chunks=(2,), dtype="i4", fillvalue=42)
            values.dims[0].attach_scale(file["t"])
            values[:filled] = number + 1
    made = oz.refs.combine([tmp_path / "0.h5", tmp_path / "1.h5"], concat="t")
    parts = {order[0]: [1, 1, 42, 42], order[1]: [2, 2, 2, 2]}
    assert _opened(made, tmp_path)["v"][...].tolist() == parts[0] + parts[1]


def test_holes_are_not_given_the_fill_value_of_another_file(tmp_path):
    for number, fill in enumerate((0, 42)):
        with h5py.File(tmp_path / f"{number}.h5", "w") as file:
            file["t"] = np.arange(4) + 4 * number
            file["t"].make_scale("t")
            values = file.create_dataset("v", shape=(4,), chunks=(2,), dtype="i4", fillvalue=fill)
            values.dims[0].attach_scale(file["t"])
            values[:2] = 1
    with pytest.raises(MetadataError, match="fill_value"):
        oz.refs.combine([tmp_path / "0.h5", tmp_path / "1.h5"], concat="t")


@pytest.mark.parametrize("below", [0, 100, 1000])
def test_small_tiles_go_into_the_set(tmp_path, below):
    tifffile = pytest.importorskip("tifffile")
    values = np.zeros((256, 256), "u1")
    values[:64] = np.random.default_rng(1).integers(0, 255, (64, 256), "u1")  # of 16 tiles 4 have much in them
    tifffile.imwrite(tmp_path / "x.tif", values, tile=(64, 64), compression="zlib")
    kept = oz.refs.scan(tmp_path / "x.tif", inline=0).arrays["0"]
    rows = oz.refs.scan(tmp_path / "x.tif", inline=below)
    assert (rows.arrays["0"].urls == INLINE).tolist() == (kept.lengths < below).tolist()
    assert int((kept.lengths < 100).sum()) == 12
    np.testing.assert_array_equal(_opened(rows, tmp_path)["0"][...], values)


@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_CLASSIC"])
def test_nan_is_said_by_the_fill_value_alone(tmp_path, form):
    """As xarray writes all floating point numbers; JSON has no NaN."""
    xr = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    given = xr.Dataset({"v": ("x", [1.0, np.nan, 3.0]), "w": ("x", [1.0, np.nan, 3.0])})
    given.to_netcdf(tmp_path / "x.nc", format=form, engine="netcdf4", encoding={"w": {"_FillValue": -9.5}})
    found = oz.refs.scan(tmp_path / "x.nc")
    attrs = {name: json.loads(found.documents[f"{name}/.zattrs"]) for name in "vw"}
    assert "_FillValue" not in attrs["v"]
    assert attrs["w"]["_FillValue"] == -9.5
    assert json.loads(found.documents["v/.zarray"])["fill_value"] == "NaN"
    oz.refs.write(found, tmp_path / "set.json")
    with xr.open_dataset(tmp_path / "set.json", engine="omnizarr") as made:
        xr.testing.assert_identical(made.load(), given)
