"""TIFF files through references, against tifffile and GDAL, which made them."""

from __future__ import annotations

import json

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import UnsupportedError
from omnizarr.refs.scanners.source import Options, SourceFile
from omnizarr.refs.scanners.tiff import scan
from omnizarr.refset.store import store_of
from tests.refs.scan.waves import values_of

tifffile = pytest.importorskip("tifffile")
pytest.importorskip("imagecodecs")
plain = pytest.mark.filterwarnings("ignore:Dataset has no geotransform")


def opened(path, **options):
    return oz.open(store_of(scan(SourceFile(path), Options(**options)), uri=str(path), allow=["*"]))


LAYOUTS = {
    "one strip": {},
    "strips": {"rowsperstrip": 10},
    "short last strip": {"rowsperstrip": 16},
    "tiles": {"tile": (16, 32)},
    "big": {"bigtiff": True, "rowsperstrip": 16},
    "big-endian": {"byteorder": ">", "tile": (16, 16)},
    "big-endian strips": {"byteorder": ">", "rowsperstrip": 7},
}
COMPRESSIONS = {
    "none": {},
    "deflate": {"compression": "zlib"},
    "deflate + predictor": {"compression": "zlib", "predictor": True},
    "adobe deflate": {"compression": "adobe_deflate"},
    "lzw": {"compression": "lzw"},
    "lzw + predictor": {"compression": "lzw", "predictor": True},
    "zstd + predictor": {"compression": "zstd", "predictor": True},
    "packbits": {"compression": "packbits"},
    "lzma": {"compression": "lzma"},
}
SHAPES = {
    "gray": (50, 70),
    "stack": (3, 50, 70),
    "rgb": (50, 70, 3),
    "planes": (3, 50, 70),
    "hyperstack": (2, 3, 50, 70),
}


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout, compression, tmp_path):
    checked = 0
    for i, dtype in enumerate(["u1", "i2", "u4", "i8", "f2", "f4", "f8", "c8"]):
        if "predictor" in COMPRESSIONS[compression] and dtype in ("i8", "c8"):
            continue
        if compression == "lzma" and dtype not in ("u1", "f4"):
            continue  # slow to write
        name = list(SHAPES)[(i + len(layout)) % len(SHAPES)]
        options = {**LAYOUTS[layout], **COMPRESSIONS[compression]}
        if name in ("rgb", "planes"):
            options |= {"photometric": "rgb", "planarconfig": "contig" if name == "rgb" else "separate"}
        else:
            options["photometric"] = "minisblack"
        values = values_of(SHAPES[name], dtype)
        path = tmp_path / f"{dtype}.tif"
        tifffile.imwrite(path, values, **options)
        array = opened(path)["0"]
        assert array.dtype.newbyteorder("=") == values.dtype, (dtype, name)
        np.testing.assert_array_equal(array[...], tifffile.imread(path), err_msg=f"{dtype} {name}")
        checked += 1
    assert checked >= (2 if compression == "lzma" else 6)


def test_many_short_strips_are_a_rectilinear_grid(tmp_path):
    values = values_of((3, 1000, 701), "u2")
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, values, rowsperstrip=600, compression="zlib", predictor=True, photometric="minisblack")
    group = opened(path)
    np.testing.assert_array_equal(group["0"][...], values)
    np.testing.assert_array_equal(group["0"][1, 590:610, ::7], values[1, 590:610, ::7])
    assert group["0"].chunks == (1, (600, 400), 701)


@plain
@pytest.mark.parametrize(("bits", "dtype"), [(1, "uint8"), (2, "uint8"), (4, "uint8"), (12, "uint16")])
@pytest.mark.parametrize("compression", [None, "zlib"])
@pytest.mark.parametrize("layout", [{"rowsperstrip": 16}, {"tile": (16, 16)}])
def test_few_bits(bits, dtype, compression, layout, tmp_path):
    values = (np.arange(50 * 43).reshape(50, 43) * 3 % (1 << bits)).astype(dtype)
    path = tmp_path / "a.tif"
    rasterio = pytest.importorskip("rasterio")
    more = {"tiled": True, "blockxsize": 16, "blockysize": 16} if "tile" in layout else {"blockysize": 16}
    with rasterio.open(
        path,
        "w",
        driver="GTiff",
        width=43,
        height=50,
        count=1,
        dtype=dtype,
        nbits=bits,
        compress="deflate" if compression else "none",
        **more,
    ) as file:
        file.write(values, 1)
    np.testing.assert_array_equal(opened(path)["0"][...], values)


def test_bits_in_reverse(tmp_path):
    values = (np.arange(40 * 24).reshape(40, 24) % 3 == 0).astype(np.uint8)
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, values, photometric="minisblack", rowsperstrip=40, metadata=None)
    data = bytearray(path.read_bytes())
    with tifffile.TiffFile(path) as file:
        page = file.pages[0]
        at, size = page.dataoffsets[0], page.databytecounts[0]
    data[at : at + size] = bytes(int(f"{byte:08b}"[::-1], 2) for byte in data[at : at + size])
    with tifffile.TiffFile(path) as file:
        place = (
            file.pages[0].tags[262].offset
        )  # PhotometricInterpretation becomes FillOrder, which sorts before nothing else
    path.write_bytes(bytes(data))
    assert place
    with tifffile.TiffFile(path, mode="r+b") as file:
        entry = file.pages[0].tags["ResolutionUnit"].offset
    data[entry : entry + 12] = (
        (266).to_bytes(2, "little") + (3).to_bytes(2, "little") + (1).to_bytes(4, "little") + b"\2\0\0\0"
    )
    path.write_bytes(bytes(data))
    np.testing.assert_array_equal(opened(path)["0"][...], values)


@pytest.mark.parametrize("name", ["jpeg", "png", "webp", "jpeg2000", "lerc", "jpegxl"])
def test_images_that_imagecodecs_decodes(name, tmp_path):
    values = values_of((64, 96, 3), "u1")
    path = tmp_path / "a.tif"
    try:
        tifffile.imwrite(path, values, compression=name, tile=(32, 48), photometric="rgb")
    except (ValueError, KeyError) as error:
        pytest.skip(str(error))
    np.testing.assert_array_equal(opened(path)["0"][...], tifffile.imread(path))


@plain
def test_compressions_that_are_refused_by_name(tmp_path):
    path = tmp_path / "a.tif"
    rasterio = pytest.importorskip("rasterio")
    with rasterio.open(
        path, "w", driver="GTiff", width=64, height=64, count=1, dtype="uint8", nbits=1, compress="ccittfax4"
    ) as file:
        file.write(np.ones((64, 64), np.uint8), 1)
    with pytest.raises(UnsupportedError, match="CCITT fax 4"):
        scan(SourceFile(path))
    with pytest.warns(match="CCITT"):
        assert not list(opened(path, on_error="drop"))


@plain
def test_samples_that_no_array_has(tmp_path):
    path = tmp_path / "a.tif"
    rasterio = pytest.importorskip("rasterio")
    with rasterio.open(path, "w", driver="GTiff", width=8, height=8, count=1, dtype="complex_int16") as file:
        file.write(np.ones((8, 8), "c8"), 1)
    with pytest.raises(UnsupportedError, match="complex integer"):
        scan(SourceFile(path))


def test_pages_that_disagree_are_arrays_of_their_own(tmp_path):
    path = tmp_path / "a.tif"
    pages = [values_of((20, 30), "u1"), values_of((10, 30), "u2"), values_of((20, 30, 3), "u1")]
    with tifffile.TiffWriter(path) as file:
        for page in pages:
            file.write(page, photometric="rgb" if page.ndim == 3 else "minisblack")
    group = opened(path)
    for i, page in enumerate(pages):
        np.testing.assert_array_equal(group[str(i)][...], page)
    assert group["1"].dims == ("y1", "x")


def test_smaller_versions(tmp_path):
    path = tmp_path / "a.tif"
    values = values_of((3, 64, 96), "u2")
    with tifffile.TiffWriter(path, bigtiff=True) as file:
        options = {"tile": (16, 16), "compression": "zlib", "photometric": "minisblack"}
        file.write(values, subifds=2, **options)
        file.write(values[:, ::2, ::2], subfiletype=1, **options)
        file.write(values[:, ::4, ::4], subfiletype=1, **options)
    group = opened(path)
    for i in range(3):
        np.testing.assert_array_equal(group[str(i)][...], values[:, :: 2**i, :: 2**i])
    datasets = [{"path": "0"}, {"path": "1"}, {"path": "2"}]
    assert group.attrs["multiscales"] == [{"version": "0.1", "name": "", "datasets": datasets, "metadata": {}}]
    assert group["1"].dims == ("page", "y1", "x1")


@pytest.mark.parametrize("shape", [(2, 3, 4, 20, 30), (4, 20, 30), (2, 20, 30, 3)])
def test_hyperstacks_of_imagej(shape, tmp_path):
    path = tmp_path / "a.tif"
    values = values_of(shape, "u2" if shape[-1] != 3 else "u1")
    axes = {5: "TZCYX", 3: "ZYX", 4: "ZYXS"}[len(shape)]
    tifffile.imwrite(path, values, imagej=True, metadata={"axes": axes})
    array = opened(path)["0"]
    np.testing.assert_array_equal(array[...], values)
    assert "".join(dim[0] for dim in array.dims) == axes.lower().replace("s", "b")


@pytest.mark.parametrize("axes", ["TZCYX", "CTZYX", "ZCTYX"])
def test_ome(axes, tmp_path):
    path = tmp_path / "a.ome.tif"
    values = values_of((2, 3, 4, 20, 30), "u2")
    tifffile.imwrite(path, values, metadata={"axes": axes}, photometric="minisblack")
    array = opened(path)["0"]
    np.testing.assert_array_equal(array[...], values)
    assert "".join(array.dims) == axes.lower()


def test_data_behind_a_single_page(tmp_path):
    path = tmp_path / "a.tif"
    values = values_of((5, 20, 31), "u2")
    with tifffile.TiffWriter(path) as file:
        file.write(values, truncate=True, photometric="minisblack", metadata={"axes": "ZYX"})
    array = opened(path)["0"]
    np.testing.assert_array_equal(array[...], values)
    assert array.dims == ("z", "y", "x")


def test_sets_of_tifffile_open(tmp_path):
    values = values_of((64, 96, 3), "u2")
    for i, options in enumerate(
        ({"compression": "lzw", "predictor": True}, {"compression": "zstd"}, {"byteorder": ">"})
    ):
        path = tmp_path / f"{i}.tif"
        tifffile.imwrite(path, values, tile=(32, 32), photometric="rgb", **options)
        with tifffile.imread(path, aszarr=True) as store:
            store.write_fsspec(tmp_path / f"{i}.json", tmp_path.as_uri())
        refs = json.loads((tmp_path / f"{i}.json").read_text())
        memory = oz.MemoryStore()
        for key, value in refs.items():
            if isinstance(value, list):
                data = path.read_bytes()[value[1] : value[1] + value[2]]
            else:
                data = value.encode() if isinstance(value, str) else json.dumps(value).encode()
            memory.put(key, data)
        np.testing.assert_array_equal(oz.open(memory)[...], values)
