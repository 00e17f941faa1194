"""GRIB files through references, against eccodes, which made them."""

from __future__ import annotations

import contextlib
import json

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import CorruptError, UnsupportedError
from omnizarr.refs.scanners.grib import scan
from omnizarr.refs.scanners.source import Options, SourceFile
from omnizarr.refset.store import store_of

ec = pytest.importorskip("eccodes")


def opened(path, **options):
    return oz.open(store_of(scan(SourceFile(path), Options(**options)), uri=str(path), allow=["*"]))


def message(sample="regular_ll_pl_grib2", values=None, seed=0, **keys):
    """Make a message out of a sample of eccodes."""
    handle = ec.codes_grib_new_from_samples(sample)
    for key, value in keys.items():
        ec.codes_set(handle, key, value)
    count = ec.codes_get(handle, "numberOfPoints")
    if values is None:
        values = np.random.default_rng(seed).normal(280, 10, count)
    ec.codes_set_values(handle, np.asarray(values, "f8").reshape(-1))
    return handle


def written(path, handles):
    """Write messages to a file; return what eccodes reads back, by place in the file."""
    with path.open("wb") as file:
        for handle in handles:
            ec.codes_write(handle, file)
    found = []
    with path.open("rb") as file:
        while (handle := ec.codes_grib_new_from_file(file)) is not None:
            found.append(ec.codes_get_values(handle))
    return found


@pytest.mark.parametrize("sample", ["regular_ll_pl_grib2", "regular_ll_pl_grib1"])
def test_a_cube_of_fields(sample, tmp_path):
    path = tmp_path / "a.grib"
    places = [(date, step, level) for date in (20200101, 20200102) for step in (0, 6) for level in (850, 500, 1000)]
    values = written(
        path,
        [message(sample, seed=i, shortName="t", dataDate=d, step=s, level=v) for i, (d, s, v) in enumerate(places)],
    )
    group = opened(path)
    array = group["t"]
    assert array.dims == ("time", "step", "isobaricInhPa", "latitude", "longitude")
    assert group["isobaricInhPa"][...].tolist() == [1000, 850, 500]
    assert group["step"][...].tolist() == [0, 6]
    assert group["time"][...].astype("M8[s]").tolist()[0].isoformat() == "2020-01-01T12:00:00"
    got = array[...]
    for (date, step, level), one in zip(places, values, strict=True):
        at = (20200101, 20200102).index(date), (0, 6).index(step), (1000, 850, 500).index(level)
        np.testing.assert_array_equal(got[at].reshape(-1), one)
    assert array.attrs["GRIB_shortName"] == "t"
    assert array.attrs["units"] == "K"
    assert group["valid_time"].shape == (2, 2)


def test_places_without_a_message_are_missing(tmp_path):
    path = tmp_path / "a.grib"
    values = written(path, [message(level=500, step=0), message(level=850, step=6, seed=1)])
    got = opened(path)["t"][...]
    np.testing.assert_array_equal(got[0, 1].reshape(-1), values[0])
    np.testing.assert_array_equal(got[1, 0].reshape(-1), values[1])
    assert np.isnan(got[0, 0]).all()
    assert np.isnan(got[1, 1]).all()


@pytest.mark.parametrize(
    "keys", [{}, {"jScansPositively": 1}, {"iScansNegatively": 1}, {"jPointsAreConsecutive": 1}], ids=str
)
def test_coordinates_follow_the_scanning_order(keys, tmp_path):
    path = tmp_path / "a.grib"
    handle = message()
    for key, value in keys.items():
        ec.codes_set(handle, key, value)
    if keys.get("jScansPositively"):
        for a, b in (("latitudeOfFirstGridPointInDegrees", 0), ("latitudeOfLastGridPointInDegrees", 60)):
            ec.codes_set(handle, a, b)
    values = written(path, [handle])[0]
    group = opened(path)
    array = group["t"]
    np.testing.assert_array_equal(array[...].reshape(-1), values)
    lat, lon = (ec.codes_get_array(handle, key).reshape(array.shape) for key in ("latitudes", "longitudes"))
    across = np.meshgrid(*(group[dim][...] for dim in array.dims), indexing="ij")
    by_name = dict(zip(array.dims, across, strict=True))
    np.testing.assert_allclose(by_name["latitude"], lat, atol=1e-9)
    np.testing.assert_allclose(by_name["longitude"], lon, atol=1e-9)


@pytest.mark.parametrize(
    "sample",
    [
        "reduced_gg_pl_32_grib2",
        "regular_gg_pl_grib2",
        "sh_pl_grib2",
        "polar_stereographic_pl_grib2",
        "rotated_ll_pl_grib2",
    ],
)
def test_other_grids(sample, tmp_path):
    path = tmp_path / "a.grib"
    try:
        handle = message(sample) if not sample.startswith("sh") else ec.codes_grib_new_from_samples(sample)
    except ec.CodesInternalError as error:
        pytest.skip(str(error))
    values = written(path, [handle])[0]
    group = opened(path)
    name = next(name for name in group if "GRIB_shortName" in group[name].attrs)
    np.testing.assert_array_equal(group[name][...].reshape(-1), values)
    if not sample.startswith("sh"):
        lat = group["latitude"][...]
        places = ec.codes_get_array(handle, "latitudes")
        if lat.size == places.size:
            np.testing.assert_array_equal(lat.reshape(-1), places)
        else:
            np.testing.assert_allclose(np.unique(lat), np.unique(places))


@pytest.mark.parametrize(
    "packing",
    [
        "grid_simple",
        "grid_ccsds",
        "grid_complex",
        "grid_complex_spatial_differencing",
        "grid_ieee",
        "grid_jpeg",
        "grid_png",
        "grid_second_order",
    ],
)
@pytest.mark.parametrize("gaps", [False, True])
def test_packings(packing, gaps, tmp_path):
    path = tmp_path / "a.grib"
    values = np.random.default_rng(3).normal(280, 10, 496)
    values[7] = 9999
    try:
        handle = message(packingType=packing)
        if gaps:
            ec.codes_set(handle, "bitmapPresent", 1)
            ec.codes_set(handle, "missingValue", -5e5)
            values[::5] = -5e5
        ec.codes_set_values(handle, values)
    except ec.CodesInternalError as error:
        pytest.skip(str(error))
    stored = written(path, [handle])[0]
    got = opened(path)["t"][...].reshape(-1)
    if gaps:
        assert np.isnan(got[::5]).all()
        kept = np.setdiff1d(np.arange(496), np.arange(0, 496, 5))
        np.testing.assert_array_equal(got[kept], stored[kept])
    else:
        np.testing.assert_array_equal(got, stored)


def test_names_and_levels_do_not_clash(tmp_path):
    path = tmp_path / "a.grib"
    surface = {"typeOfLevel": "heightAboveGround"}
    written(
        path,
        [
            message(level=500),
            message(seed=1, shortName="2t"),
            message(seed=2, shortName="10u"),
            message(seed=3, shortName="t", **surface, level=80),
        ],
    )
    group = opened(path)
    assert {"t_isobaricInhPa", "t_heightAboveGround", "t2m", "u10"} <= set(group)
    levels = {name: group[name].attrs["coordinates"].split() for name in ("t2m", "u10", "t_heightAboveGround")}
    heights = {
        name: float(group[next(one for one in said if one.startswith("height"))][...]) for name, said in levels.items()
    }
    assert heights == {"t2m": 2, "u10": 10, "t_heightAboveGround": 80}


def test_members_of_an_ensemble(tmp_path):
    path = tmp_path / "a.grib"
    keys = {"productDefinitionTemplateNumber": 1}
    values = written(path, [message(seed=i, **keys, perturbationNumber=i) for i in (2, 0, 1)])
    array = opened(path)["t"]
    assert array.dims[0] == "number"
    np.testing.assert_array_equal(array[2].reshape(-1), values[0])


def test_two_messages_of_one_place(tmp_path):
    path = tmp_path / "a.grib"
    values = written(path, [message(seed=1), message(seed=2)])
    with pytest.raises(UnsupportedError, match="same place"):
        scan(SourceFile(path))
    with pytest.warns(match="same place"):
        np.testing.assert_array_equal(opened(path, on_error="drop")["t"][...].reshape(-1), values[0])


def test_a_message_of_several_fields(tmp_path):
    path = tmp_path / "a.grib"
    data = ec.codes_get_message(message())
    body = data[16:-4]
    second = body[int.from_bytes(body[:4], "big") :]
    whole = data[:8] + (len(data) + len(second)).to_bytes(8, "big") + body + second + b"7777"
    path.write_bytes(whole)
    with pytest.raises(UnsupportedError, match="several fields"):
        scan(SourceFile(path))


def test_other_lines_between_messages(tmp_path):
    path = tmp_path / "a.grib"
    one, two = (ec.codes_get_message(message(level=level)) for level in (500, 850))
    path.write_bytes(b"\r\r\n some header \r\n" + one + b"\0" * 70_000 + two + b"tail")
    assert opened(path)["t"].shape[0] == 2


def test_damaged_files(tmp_path):
    path = tmp_path / "a.grib"
    data = ec.codes_get_message(message())
    for bad in (b"", b"GRIB", data[:-1], data[:100], data[:7] + b"\5" + data[8:], data[:16] + b"\0\0\0\1" + data[20:]):
        path.write_bytes(bad)
        with pytest.raises(CorruptError):
            scan(SourceFile(path))
    path.write_bytes(data)
    references = scan(SourceFile(path))
    path.write_bytes(data[:200] + b"\xff" * 50 + data[250:])
    references.stamps.clear()
    with contextlib.suppress(CorruptError):
        oz.open(store_of(references, uri="x", allow=["*"]))["t"][...]


def test_sets_of_kerchunk(tmp_path):
    pytest.importorskip("cfgrib")
    grib2 = pytest.importorskip("kerchunk.grib2")
    path = tmp_path / "a.grib"
    values = written(path, [message()])[0]
    refs = grib2.scan_grib(str(path))[0]["refs"]
    store = oz.MemoryStore()
    for key, value in refs.items():
        if isinstance(value, list):
            store.put(key, path.read_bytes()[value[1] : value[1] + value[2]])
        else:
            store.put(key, value.encode() if isinstance(value, str) else json.dumps(value).encode())
    np.testing.assert_allclose(oz.open(store)["t"][...].reshape(-1), values, rtol=1e-6)


def test_a_chunk_as_kerchunk_describes_it(tmp_path):
    store = oz.MemoryStore()
    handle = message()
    document = {
        "zarr_format": 2,
        "shape": [31, 16],
        "chunks": [31, 16],
        "dtype": "<f4",
        "order": "C",
        "fill_value": "NaN",
    }
    codec = {"id": "grib", "var": "t", "dtype": "float32"}
    store.put(".zarray", json.dumps({**document, "compressor": None, "filters": [codec]}).encode())
    store.put("0.0", ec.codes_get_message(handle))
    np.testing.assert_array_equal(oz.open(store)[...].reshape(-1), ec.codes_get_values(handle).astype("f4"))
    store.put("0.0", b"nonsense")
    array = oz.open(store)
    with pytest.raises(CorruptError):
        array[...]


def test_fields_without_a_name(tmp_path):
    """Eccodes has no name for some, which others then call unknown; several of them are told apart by their numbers."""
    numbers = {"discipline": 0, "parameterCategory": 250}
    one, two = (message(**numbers, parameterNumber=number, seed=number) for number in (250, 251))
    [values] = written(tmp_path / "one.grib", [one])
    np.testing.assert_array_equal(opened(tmp_path / "one.grib")["unknown"][...].reshape(-1), values)
    both = written(tmp_path / "two.grib", [one, two])
    found = opened(tmp_path / "two.grib")
    for number, expected in zip((250, 251), both, strict=True):
        np.testing.assert_array_equal(found[f"unknown_0_250_{number}"][...].reshape(-1), expected)
