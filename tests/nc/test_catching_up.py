"""A variable whose document a crash has left behind the others catches up with the next write to it."""

import json

import pytest

import omnizarr as oz


@pytest.mark.parametrize("kind", ["NCZARR", "NCZARR3"])
def test_the_shape_is_written_though_the_dimension_is_long_enough(tmp_path, kind):
    place = tmp_path / "a.zarr"
    with oz.Dataset(str(place), "w", format=kind) as dataset:
        dataset.createDimension("time", None)
        dataset.createVariable("time", "i4", ("time",), chunksizes=(4,))[:1] = [5]
        dataset.createVariable("t", "i4", ("time",), chunksizes=(4,))[:1] = [7]
    document = place / "t" / ("zarr.json" if kind.endswith("3") else ".zarray")
    text = json.loads(document.read_text())
    document.write_text(json.dumps({**text, "shape": [0]}))
    with oz.Dataset(str(place), "a") as dataset:
        dataset["t"][0] = 8
    assert json.loads(document.read_text())["shape"] == [1]
    assert oz.open_group(place, consolidated=False)["t"][...].tolist() == [8]
