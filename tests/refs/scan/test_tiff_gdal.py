"""TIFF files of GDAL through references: GeoTIFF, cloud-optimised and sparse files, and all its compressions."""

from __future__ import annotations

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import UnsupportedError
from omnizarr.refs.scanners.source import Options, SourceFile
from omnizarr.refs.scanners.tiff import scan
from omnizarr.refset.store import store_of
from tests.refs.scan.waves import values_of

rasterio = pytest.importorskip("rasterio")
from rasterio.enums import Resampling  # noqa: E402 - where the package is installed
from rasterio.shutil import copy as rio_copy  # noqa: E402 - where the package is installed
from rasterio.transform import from_origin  # noqa: E402 - where the package is installed

pytestmark = [
    pytest.mark.filterwarnings("ignore:Dataset has no geotransform"),
    pytest.mark.filterwarnings("ignore:Use `@` matmul"),
]


def opened(path, **options):
    return oz.open(store_of(scan(SourceFile(path), Options(**options)), uri=str(path), allow=["*"]))


def write(path, values, **options):
    bands, height, width = values.shape
    with rasterio.open(
        path, "w", driver="GTiff", width=width, height=height, count=bands, dtype=values.dtype.name, **options
    ) as file:
        file.write(values)


def as_bands(array):
    """Return values in the order of rasterio: bands first."""
    values = array[...]
    if values.ndim == 2:
        return values[None]
    return values if array.dims[0] == "band" else np.moveaxis(values, -1, 0)


COMPRESSIONS = ["none", "lzw", "deflate", "zstd", "packbits", "lzma", "lerc", "webp", "jxl", "jpeg"]


@pytest.mark.parametrize("compress", COMPRESSIONS)
@pytest.mark.parametrize("interleave", ["pixel", "band"])
@pytest.mark.parametrize("tiled", [True, False])
def test_compressions(compress, interleave, tiled, tmp_path):
    path = tmp_path / "a.tif"
    options = {"compress": compress, "interleave": interleave}
    options |= {"tiled": True, "blockxsize": 32, "blockysize": 16} if tiled else {"blockysize": 16}
    tried, refused = 0, []
    for dtype in ("uint8", "int16", "uint32", "float32", "float64", "int64"):
        values = values_of((3, 50, 70), dtype)
        for predictor in (1, 2, 3):
            if (predictor == 3 and dtype[0] != "f") or (predictor > 1 and compress not in ("lzw", "deflate", "zstd")):
                continue
            try:
                write(path, values, **options, **({"predictor": predictor} if predictor > 1 else {}))
                with rasterio.open(path) as file:
                    expected = file.read()
            except rasterio.errors.RasterioIOError:
                continue  # GDAL does not have it, or cannot read what it wrote
            try:
                got = as_bands(opened(path)["0"])
            except UnsupportedError as error:
                refused.append(str(error))
                continue
            np.testing.assert_array_equal(got, expected, err_msg=f"{dtype} predictor {predictor}")
            tried += 1
    if not tried and compress in ("webp", "jxl"):
        pytest.skip("GDAL was built without it")
    assert tried
    assert all("predictor" in one or compress.upper() in one.upper() for one in refused)


@pytest.mark.parametrize("dtype", ["complex64", "complex128", "int8", "uint64"])
def test_other_types(dtype, tmp_path):
    path = tmp_path / "a.tif"
    values = values_of((1, 20, 30), dtype)
    write(path, values, compress="deflate")
    np.testing.assert_array_equal(as_bands(opened(path)["0"]), values)


def test_cloud_optimised(tmp_path):
    path = tmp_path / "a.tif"
    values = values_of((2, 600, 700), "uint16")
    with rasterio.MemoryFile() as memory:
        with memory.open(
            driver="GTiff",
            width=700,
            height=600,
            count=2,
            dtype="uint16",
            crs="EPSG:32633",
            nodata=7,
            transform=from_origin(500000, 6000000, 10, 20),
        ) as file:
            file.write(values)
            file.scales, file.offsets = (0.5, 0.25), (1, 2)
            file.update_tags(AREA="somewhere")
            file.set_band_description(1, "first")
            file.build_overviews([2, 4], Resampling.nearest)
        with memory.open() as file:
            rio_copy(file, path, driver="COG", compress="deflate", blocksize=128, overviews="force_use_existing")
    group = opened(path)
    with rasterio.open(path) as file:
        np.testing.assert_array_equal(as_bands(group["0"]), file.read())
        factors = file.overviews(1)
        left, top = file.xy(0, 0)
        right, bottom = file.xy(599, 699)
    for i in range(len(factors)):
        with rasterio.open(path, overview_level=i) as file:
            np.testing.assert_array_equal(as_bands(group[str(i + 1)]), file.read())
            x, y = file.xy(3, 5)
            name = group[str(i + 1)].dims[1]
            np.testing.assert_allclose(group[name][5], x)
            np.testing.assert_allclose(group[group[str(i + 1)].dims[0]][3], y)
    assert len(factors) == 2
    np.testing.assert_allclose(
        [group["x"][0], group["x"][-1], group["y"][0], group["y"][-1]], [left, right, top, bottom]
    )
    attrs = group["0"].attrs
    assert attrs["_FillValue"] == 7
    assert attrs["scales"] == [0.5, 0.25]
    assert attrs["offsets"] == [1, 2]
    assert group.attrs["crs"] == "EPSG:32633"
    assert group.attrs["AREA"] == "somewhere"
    assert group.attrs["ModelPixelScale"] == [10, 20, 0]


def test_masks_and_geographic_coordinates(tmp_path):
    path = tmp_path / "a.tif"
    values = values_of((1, 40, 50), "uint8")
    mask = np.where(values[0] > 50, 255, 0).astype(np.uint8)
    with (
        rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True),
        rasterio.open(
            path,
            "w",
            driver="GTiff",
            width=50,
            height=40,
            count=1,
            dtype="uint8",
            crs="EPSG:4326",
            transform=from_origin(-10, 60, 0.5, 0.25),
        ) as file,
    ):
        file.write(values)
        file.write_mask(mask)
    group = opened(path)
    np.testing.assert_array_equal(group["mask"][...] != 0, mask != 0)
    np.testing.assert_allclose(group["y"][...], 60 - 0.25 * (np.arange(40) + 0.5))
    assert group["x"].attrs["units"] == "degrees_east"


@pytest.mark.parametrize("nodata", [None, 9])
def test_sparse_files(nodata, tmp_path):
    path = tmp_path / "a.tif"
    with rasterio.open(
        path,
        "w",
        driver="GTiff",
        width=64,
        height=64,
        count=1,
        dtype="uint8",
        tiled=True,
        blockxsize=16,
        blockysize=16,
        sparse_ok=True,
        nodata=nodata,
        compress="lzw",
    ) as file:
        file.write(np.full((1, 16, 16), 5, np.uint8), window=((16, 32), (16, 32)))
    references = scan(SourceFile(path), Options(inline=0))
    assert (references.arrays["0"].urls == 0).sum() == 1
    with rasterio.open(path) as file:
        np.testing.assert_array_equal(opened(path)["0"][...], file.read(1))


@pytest.mark.parametrize(
    ("nodata", "dtype", "fill"), [(-9999.0, "float32", -9999), (np.nan, "float64", None), (255, "uint8", 255)]
)
def test_no_data(nodata, dtype, fill, tmp_path):
    path = tmp_path / "a.tif"
    write(path, values_of((1, 8, 8), dtype), nodata=nodata)
    array = opened(path)["0"]
    assert array.attrs.get("_FillValue") == fill
    np.testing.assert_equal(float(array.fill_value), float(nodata))
