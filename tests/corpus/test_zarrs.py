"""The test arrays of zarrs hold what its scripts and examples wrote."""

from __future__ import annotations

import csv
import os
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.codec.registry import kind_of

HERE = Path(os.environ.get("OMNIZARR_CORPUS", Path(__file__).parent / "outside")) / "zarrs.tar.xz"
SQUARE = np.arange(100, dtype="f4").reshape(10, 10)
LARGE = np.arange(10_000, dtype="u2").reshape(100, 100)
TEXT = ["abc", "\N{PARTY POPPER}", "hi", "te", ""]
NAN = float("nan")

SQUARES = (
    *(f"v2/array_{name}.zarr" for name in ("blosc_C", "blosc_F", "bz2_C", "gzip_C", "none_C", "none_F", "zstd_C")),
    *(f"v2/array_{name}_C.zarr" for name in ("pcodec", "zfpy")),
    *(f"v3/array_{name}.zarr" for name in ("blosc", "blosc_transpose", "bz2", "gzip", "none", "none_transpose")),
    *(f"v3/array_{name}.zarr" for name in ("pcodec", "zfpy", "zstd")),
    *(f"v3_zarr_python/array_{name}.zarr" for name in ("adler32", "blosc", "bz2", "fletcher32", "gzip", "none")),
    *(f"v3_zarr_python/array_{name}.zarr" for name in ("pcodec", "zfpy", "zlib", "zstd")),
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("zarrs")
    with tarfile.open(HERE) as archive:
        archive.extractall(place, filter="data")
    return place


def read(data: Path, name: str) -> Any:
    array = oz.open(data / name)
    assert isinstance(array, oz.Array)
    return array[...]


@pytest.mark.filterwarnings("ignore:.*holds documents of Zarr v2 and v3")  # in v3/ there are both
@pytest.mark.parametrize("name", SQUARES)
def test_ten_by_ten(data: Path, name: str) -> None:
    pytest.importorskip("numcodecs")
    for package in ("pcodec", "zfpy"):
        if package in name:
            pytest.importorskip(package)
    got = read(data, name)
    assert got.dtype == SQUARE.dtype
    # zfp kept an accuracy of 0.01.
    np.testing.assert_allclose(got, SQUARE, rtol=0, atol=0.01 if "zfpy" in name else 0)


@pytest.mark.parametrize("name", ["adler32", "fletcher32"])
def test_checksums(data: Path, name: str) -> None:
    pytest.importorskip("numcodecs")
    np.testing.assert_array_equal(read(data, f"zarr_python_compat/{name}.zarr"), LARGE)


@pytest.mark.parametrize("name", ["v3/cities", "zarr_python_compat/cities_v2", "zarr_python_compat/cities_v3"])
def test_cities(data: Path, name: str) -> None:
    with (data / "cities.csv").open(encoding="utf-8", newline="") as lines:
        cities = [row[0] for row in csv.reader(lines)]
    got = read(data, f"{name}.zarr")
    assert len(cities) == 47868
    assert got.tolist() == cities


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("str_v2_fv_0", ["a", "bb", "", "", ""]),
        ("str_v2_fv_null", ["a", "bb", "", "", ""]),
        ("bool_v2_fv_null", [True, False, False, False, False]),
        ("int_v2_fv_null", [42, 123, 0, 0, 0]),
        ("float_v2_fv_null", np.array([3.14, 2.71, 0, 0, 0], "f4").tolist()),
        ("v3_bytes", [b"New York", b"Los Angeles", b"Chicago"]),
        ("fixed_length_utf32_v2_be", TEXT),
        ("fixed_length_utf32_v2_le", TEXT),
        ("fixed_length_utf32_v3_le", TEXT),
    ],
)
def test_by_zarr_python(data: Path, name: str, values: list[Any]) -> None:
    assert read(data, f"zarr_python_compat/{name}.zarr").tolist() == values


@pytest.mark.parametrize("unit", ["Y", "W", "D", "h", "m", "s", "ms", "us", "ns", "10ms", "10us"])
def test_points_of_time(data: Path, unit: str) -> None:
    got = read(data, f"zarr_python_compat/datetime64[{unit}].zarr")
    given = ["1970", "NaT", "2005-02-03", "2005-02-03T04:05", "2005-02-03T04:05:06", "NaT"]
    assert got.dtype == np.dtype(f"M8[{unit}]")
    np.testing.assert_array_equal(got, np.array(given, "M8[s]").astype(got.dtype))


@pytest.mark.parametrize("unit", ["ms", "us", "ns", "ps", "10ms", "10us"])
def test_spans_of_time(data: Path, unit: str) -> None:
    got = read(data, f"zarr_python_compat/timedelta64[{unit}].zarr")
    seconds = [8760 * 3600, 14 * 86400, 3 * 86400, 4 * 3600, 5 * 60, 6, 7, 8, 9, 0]
    wanted = np.array([*seconds, "NaT"], "m8[s]").astype("m8[ns]")
    assert got.dtype == np.dtype(f"m8[{unit}]")
    with np.errstate(over="ignore"):  # a year of picoseconds is too much, and wrapped around when it was written
        wanted = (wanted.astype("i8") * 1000).view("m8[ps]") if unit == "ps" else wanted.astype(got.dtype)
    if unit == "ps":
        wanted[-1] = "NaT"
    np.testing.assert_array_equal(got, wanted)


def test_write_read(data: Path) -> None:
    wanted = np.full((8, 8), NAN, "f4")
    wanted[:4, 4:] = 0.1
    wanted[4:, :4], wanted[4:, 4:] = 1.0, 1.1
    wanted[3:6, 3:6] = [[-3.3, -3.4, -3.5], [-4.3, -4.4, -4.5], [-5.3, -5.4, -5.5]]
    wanted[:, 6] = [-0.6, -1.6, -2.6, -3.6, -4.6, -5.6, -6.6, -7.6]
    wanted[7, 4:] = [-7.4, -7.5, -7.6, -7.7]
    wanted[:4, :4] = NAN
    np.testing.assert_array_equal(read(data, "array_write_read.zarr/group/array"), wanted)


def test_shards(data: Path) -> None:
    wanted = np.arange(64, dtype="u2").reshape(8, 8)
    np.testing.assert_array_equal(read(data, "sharded_array_write_read.zarr/group/array"), wanted)


def test_arrays_without_chunks(data: Path) -> None:
    group = oz.open(data / "hierarchy.zarr")
    for name in ("a/foo", "a/baz"):
        array = group[name]
        assert array.shape == (10000, 1000)
        assert np.isnan(array[::999, ::999]).all()


def test_a_group_named_meta(data: Path) -> None:
    group = oz.open(data / "issue_287.zarr")
    assert group["meta/date"][...].tolist() == np.array(["2023-01-01", "2023-01-02", "2023-01-03"], "M8[ms]").tolist()
    assert group["meta/collection"][...].tolist() == ["collection_a", "collection_b", "collection_c"]
    assert group["meta/bbox"][0] == "POLYGON ((10 -10, 10 10, -10 10, -10 -10, 10 -10))"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("uint8", [0, 1, 10, 12, 96, 128, 192, 192, 224, 224]),
        ("float32", [0, 0.1015625, 1.25, 12, 120, 1280, NAN, float("inf"), float("-inf")]),
    ],
)
def test_rounded_bits(data: Path, name: str, values: list[float]) -> None:
    if kind_of("bitround") is None:
        pytest.skip("there is no codec bitround")
    np.testing.assert_array_equal(read(data, f"codec/bitround/bitround_{name}.zarr"), values)


def test_optional(data: Path) -> None:
    array = oz.open(data / "v3/array_optional.zarr/array")
    assert array.fill_value is None
    assert array[...].tolist() == [[0, None, 2, 3], [None, 5, None, 7], [8, 9, None, None], [12, None, None, None]]


def test_optional_of_optional(data: Path) -> None:
    array = oz.open(data / "v3/array_optional_nested.zarr/array")
    empty = (None,)
    wanted = [[None, empty, 2, 3], [None, 5, None, 7], [empty, empty, None, None], [empty, empty, None, None]]
    assert array.fill_value == empty
    assert array[...].tolist() == wanted


@pytest.mark.parametrize("name", ["array_optional", "array_optional_nested"])
def test_what_we_write_is_what_zarrs_wrote(data: Path, name: str) -> None:
    source = oz.open(data / f"v3/{name}.zarr/array")
    folder = data / f"v3/{name}.zarr/array"
    store = {"zarr.json": (folder / "zarr.json").read_bytes()}
    oz.open_array(store, "r+")[...] = source[...]
    chunks = {str(path.relative_to(folder)): path.read_bytes() for path in folder.glob("c/*/*")}
    assert {key: value for key, value in store.items() if key != "zarr.json"} == chunks
