"""FITS files through references, against astropy, which made them."""

from __future__ import annotations

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import CorruptError, UnsupportedError
from omnizarr.refs.scanners.fits import scan
from omnizarr.refs.scanners.source import Options, SourceFile
from omnizarr.refset.store import store_of
from tests.refs.scan.waves import values_of

fits = pytest.importorskip("astropy.io.fits")


def opened(path, **options):
    return oz.open(store_of(scan(SourceFile(path), Options(**options)), uri=str(path), allow=["*"]))


@pytest.mark.parametrize("dtype", ["u1", "i1", "i2", "u2", "i4", "u4", "i8", "f4", "f8"])
@pytest.mark.parametrize("shape", [(30,), (20, 30), (4, 20, 30), (2, 3, 4, 5)])
def test_images(dtype, shape, tmp_path):
    values = values_of(shape, dtype)
    path = tmp_path / "a.fits"
    fits.HDUList([fits.PrimaryHDU(values), fits.ImageHDU(values[..., ::2].copy(), name="SCI")]).writeto(path)
    group = opened(path)
    assert group["PRIMARY"].dtype.newbyteorder("=") == values.dtype
    np.testing.assert_array_equal(group["PRIMARY"][...], values)
    np.testing.assert_array_equal(group["SCI"][...], values[..., ::2])
    assert group["SCI"].dims[-1] == "x_1"


def test_large_images_are_cut(tmp_path):
    values = np.arange(3 * 1500 * 1000, dtype="f8").reshape(3, 1500, 1000)
    path = tmp_path / "a.fits"
    fits.PrimaryHDU(values).writeto(path)
    array = opened(path)["PRIMARY"]
    assert array.chunks == (1, 500, 1000)
    np.testing.assert_array_equal(array[...], values)


def test_unsigned_values_of_64_bits_are_refused(tmp_path):
    path = tmp_path / "a.fits"
    fits.PrimaryHDU(np.arange(10, dtype="u8")).writeto(path)
    with pytest.raises(UnsupportedError, match="64 bits"):
        scan(SourceFile(path))


def test_scales_and_blanks_are_attributes(tmp_path):
    path = tmp_path / "a.fits"
    hdu = fits.PrimaryHDU(np.array([[1, 2, -99], [4, 5, 6]], "i2"))
    hdu.header["BSCALE"], hdu.header["BZERO"], hdu.header["BLANK"] = 0.5, 10.0, -99
    hdu.writeto(path)
    array = opened(path)["PRIMARY"]
    raw, attrs = array[...], array.attrs
    made = np.where(raw == attrs["_FillValue"], np.nan, raw * attrs["scale_factor"] + attrs["add_offset"])
    with fits.open(path) as file:
        np.testing.assert_array_equal(made, file[0].data)


def test_cards(tmp_path):
    path = tmp_path / "a.fits"
    hdu = fits.PrimaryHDU(np.zeros((4, 5), "f4"))
    header = hdu.header
    header["OBJECT"] = "it's / here"
    header["LONG"] = "word " * 40 + "end"
    header["HIERARCH ESO DET GAIN"] = 1.25
    header["FLAG"], header["NUMBER"], header["SMALL"] = True, -7, 1.5e-20
    header["CRVAL1"], header["CTYPE1"] = 12.5, "RA---TAN"
    header["EMPTY"] = None
    header.add_history("first")
    header.add_history("second")
    hdu.writeto(path)
    attrs = opened(path)["PRIMARY"].attrs
    for name in ("OBJECT", "LONG", "ESO DET GAIN", "FLAG", "NUMBER", "SMALL", "CRVAL1", "CTYPE1"):
        assert attrs[name] == header[name], name
    assert attrs["EMPTY"] is None
    assert attrs["HISTORY"] == "first\nsecond"


def test_binary_tables(tmp_path):
    path = tmp_path / "a.fits"
    columns = [
        fits.Column("id", "J", array=np.arange(7)),
        fits.Column("name", "8A", array=[f"star {i}" for i in range(7)]),
        fits.Column("flux", "3E", array=values_of((7, 3), "f4"), unit="Jy"),
        fits.Column("grid", "6D", dim="(3,2)", array=values_of((7, 2, 3), "f8")),
        fits.Column("flag", "L", array=np.arange(7) % 2 == 0),
        fits.Column("wave", "M", array=np.arange(7) * 1j),
        fits.Column("bits", "11X", array=np.arange(77).reshape(7, 11) % 3 == 0),
    ]
    table = fits.BinTableHDU.from_columns(columns, name="STARS")
    fits.HDUList([fits.PrimaryHDU(), table]).writeto(path)
    array = opened(path)["STARS"]
    rows = array[...]
    with fits.open(path) as file:
        data = file[1].data
        for name in ("id", "flux", "grid", "wave"):
            np.testing.assert_array_equal(rows[name], data[name])
        assert [one.decode().rstrip() for one in rows["name"]] == list(data["name"])
        np.testing.assert_array_equal(rows["flag"] == b"T", data["flag"])
        np.testing.assert_array_equal(np.unpackbits(rows["bits"], axis=1)[:, :11], data["bits"])
        header = dict(file[1].header)
    assert dict(array.attrs) == {**header, "_ARRAY_DIMENSIONS": ["x"]}
    assert array.dims == ("x",)


def _with_heap(path, **forms):
    columns = [fits.Column("id", "J", array=[1, 2, 3])]
    for form, arrays in forms.items():
        columns.append(fits.Column(form, f"{form}()", array=np.array([*arrays, None], object)[:-1]))
    fits.HDUList([fits.PrimaryHDU(), fits.BinTableHDU.from_columns(columns, name="T")]).writeto(path)


@pytest.mark.parametrize("form", ["PB", "PI", "PJ", "QJ", "PK", "PE", "QD"])
def test_columns_of_different_lengths(form, tmp_path):
    path = tmp_path / "a.fits"
    kind = {"B": "u1", "I": "i2", "J": "i4", "K": "i8", "E": "f4", "D": "f8"}[form[1]]
    arrays = [np.arange(n, dtype=kind) + n for n in (2, 0, 5)]
    _with_heap(path, **{form: arrays})
    group = opened(path)
    with fits.open(path) as file:
        expected = [one.tolist() for one in file["T"].data[form]]
    assert [one.tolist() for one in group[f"T_{form}"][...]] == expected == [one.tolist() for one in arrays]
    assert group[f"T_{form}"][...][2].dtype == kind
    assert group[f"T_{form}"].dims == group["T"].dims == ("x",)
    assert group["T"][...]["id"].tolist() == [1, 2, 3]
    assert group["T"][...][form][:, 0].tolist() == [2, 0, 5]


def test_text_of_different_lengths(tmp_path):
    _with_heap(tmp_path / "a.fits", PA=["ab", "", "cde"])
    assert list(opened(tmp_path / "a.fits")["T_PA"][...]) == ["ab", "", "cde"]


def test_bits_of_different_lengths(tmp_path):
    path = tmp_path / "a.fits"
    _with_heap(path, PB=[np.array([0b10110000], "u1"), np.array([], "u1"), np.array([1, 0b01000000], "u1")])
    data = path.read_bytes().replace(b"PB(2)", b"PX(9)")
    with fits.open(path) as file:
        start = file["T"]._data_offset
    data = bytearray(data)
    for row, bits in enumerate((3, 0, 10)):  # rows count bits, not bytes
        data[start + 12 * row + 4 : start + 12 * row + 8] = np.array(bits, ">i4").tobytes()
    path.write_bytes(data)
    found = [one.tolist() for one in opened(path)["T_PB"][...]]
    assert found == [[True, False, True], [], [*[False] * 7, True, False, True]]


def test_truths_of_different_lengths(tmp_path):
    path = tmp_path / "a.fits"
    _with_heap(path, PL=[np.array([True, False]), np.array([], bool), np.array([True])])
    with fits.open(path) as file:
        start, size = file["T"]._data_offset, 3 * 12
    assert [one.tolist() for one in opened(path)["T_PL"][...]] == [[True, False], [], [True]]
    data = bytearray(path.read_bytes())
    data[start + size] = 0
    path.write_bytes(data)
    with pytest.raises(UnsupportedError, match="PL leave open"):
        scan(SourceFile(path))


def test_columns_of_an_unknown_kind_are_refused_by_name(tmp_path):
    path = tmp_path / "a.fits"
    _with_heap(path, PJ=[np.arange(2), np.arange(3), np.arange(4)])
    path.write_bytes(path.read_bytes().replace(b"PJ(4)", b"PZ(4)"))
    with pytest.raises(UnsupportedError, match="PJ"):
        scan(SourceFile(path))
    assert opened(path, on_error="drop")["T"][...]["id"].tolist() == [1, 2, 3]
    assert not list(opened(path, skip=("T",)))


@pytest.mark.parametrize("place", [(-1, 0), (4, -8), (1 << 30, 0), (1, 1 << 30)])
def test_arrays_outside_the_heap(place, tmp_path):
    path = tmp_path / "a.fits"
    _with_heap(path, PJ=[np.arange(2), np.arange(3), np.arange(4)])
    data = bytearray(path.read_bytes())
    with fits.open(path) as file:
        start = file["T"]._data_offset
    data[start + 4 : start + 12] = np.array(place, ">i4").tobytes()
    path.write_bytes(data)
    with pytest.raises(CorruptError, match="outside the heap"):
        scan(SourceFile(path))


def test_ascii_tables_are_text(tmp_path):
    path = tmp_path / "a.fits"
    columns = [
        fits.Column("n", "I6", array=[1, -20]),
        fits.Column("x", "F10.3", array=[1.5, 2.25]),
        fits.Column("s", "A5", array=["ab", "cde"]),
    ]
    fits.HDUList([fits.PrimaryHDU(), fits.TableHDU.from_columns(columns, name="T")]).writeto(path)
    rows = opened(path)["T"][...]
    assert [int(one) for one in rows["n"]] == [1, -20]
    assert [float(one) for one in rows["x"]] == [1.5, 2.25]
    assert [one.decode().strip() for one in rows["s"]] == ["ab", "cde"]


@pytest.mark.parametrize("code", ["GZIP_1", "GZIP_2", "RICE_1", "NOCOMPRESS"])
@pytest.mark.parametrize(("shape", "tile"), [((64, 96), (16, 32)), ((50, 70), (16, 32)), ((3, 20, 30), (1, 20, 30))])
@pytest.mark.parametrize("dtype", ["u1", "i2", "u2", "i4", "f4", "f8"])
def test_compressed_images(code, shape, tile, dtype, tmp_path):
    if code == "RICE_1" and dtype[0] == "f":
        pytest.skip("floats would be quantised")
    values = values_of(shape, dtype)
    path = tmp_path / "a.fits"
    hdu = fits.CompImageHDU(values, compression_type=code, tile_shape=tile, quantize_level=0, name="SCI")
    fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(path)
    array = opened(path)["SCI"]
    assert array.dtype.newbyteorder("=") == values.dtype
    np.testing.assert_array_equal(array[...], values)


@pytest.mark.parametrize(("code", "dtype"), [("HCOMPRESS_1", "i2"), ("PLIO_1", "i2"), ("RICE_1", "f4")])
def test_codes_that_are_refused_by_name(code, dtype, tmp_path):
    path = tmp_path / "a.fits"
    values = np.abs(values_of((64, 64), dtype))
    fits.HDUList([fits.PrimaryHDU(), fits.CompImageHDU(values, compression_type=code, name="SCI")]).writeto(path)
    with pytest.raises(UnsupportedError, match="ZSCALE" if dtype == "f4" else code):
        scan(SourceFile(path))


def test_random_groups_are_refused(tmp_path):
    path = tmp_path / "a.fits"
    data = fits.GroupData(np.zeros((5, 1, 2, 3), "f4"), parnames=["U"], pardata=[np.arange(5)], bitpix=-32)
    fits.GroupsHDU(data).writeto(path)
    with pytest.raises(UnsupportedError, match="random groups"):
        scan(SourceFile(path))


def test_damaged_files(tmp_path):
    path = tmp_path / "a.fits"
    fits.HDUList([fits.PrimaryHDU(values_of((40, 50), "f4")), fits.ImageHDU(np.zeros((9, 9)))]).writeto(path)
    data = path.read_bytes()
    other = tmp_path / "b.fits"
    for cut in (100, 2880, 2880 * 2, 2880 * 4 + 100):
        other.write_bytes(data[:cut])
        with pytest.raises(CorruptError):
            scan(SourceFile(other))
    for old, new in (
        (b"BITPIX  =", b"BITPIX  = 'a'"),
        (b"NAXIS1  =          ", b"NAXIS1  =   9999999"),
        (b"NAXIS   =", b"XAXIS   ="),
    ):
        other.write_bytes(
            data.replace(old, new, 1) if len(old) == len(new) else data.replace(old.ljust(14), new.ljust(14), 1)
        )
        with pytest.raises(CorruptError):
            scan(SourceFile(other))
