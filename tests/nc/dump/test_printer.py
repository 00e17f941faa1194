"""What `oz dump` prints is what ncdump prints for the file that ncgen makes of the same text."""

from __future__ import annotations

import io

import numpy as np
import pytest

from omnizarr.errors import NotFoundError, SelectionError
from omnizarr.nc.dump.options import Options
from omnizarr.nc.dump.run import dataset_name, dump, to_cdl
from omnizarr.nc.source import MemorySource
from omnizarr.nc.tree import Attr, Filter
from omnizarr.nc.types import CHAR, DOUBLE, FLOAT, INT, STRING, UBYTE, Compound, Enum, Field, Vlen
from tests.nc.dump import samples
from tests.nc.dump.oracle import generate, needs_netcdf, run

LETTERS = {
    "plain": ((), {}),
    "h": (("-h",), {"data": "none"}),
    "c": (("-c",), {"data": "coordinates"}),
    "s": (("-s",), {"special": True}),
    "t": (("-t",), {"times": " "}),
    "i": (("-i", "-l", "60"), {"times": "T", "width": 60}),
    "p": (("-p", "4,9"), {"float_digits": 4, "double_digits": 9}),
    "p17": (("-p", "9,17"), {"float_digits": 9, "double_digits": 17}),
    "l": (("-l", "30"), {"width": 30}),
    "b c": (("-b", "c"), {"notes": "rows c"}),
    "b f": (("-b", "f"), {"notes": "rows f"}),
    "f c": (("-f", "c"), {"notes": "values c"}),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    return {name: generate(text, folder / f"{name}.nc") for name, text in samples.ALL.items()}


def printed(source, **options):
    text = io.BytesIO()
    dump(source, text, Options(**options))
    return text.getvalue()


@needs_netcdf
@pytest.mark.parametrize("letters", LETTERS)
@pytest.mark.parametrize("name", samples.ALL)
def test_files_are_printed_as_ncdump_does(files, name, letters):
    pytest.importorskip("h5py")
    words, options = LETTERS[letters]
    if (name, letters) == ("stored", "plain"):
        options = {**options, "variables": ("a", "c", "e", "s")}  # d holds whatever is in memory
        words = (*words, "-v", "a,c,e,s")
    elif name == "stored":
        words, options = (*words, "-h"), {**options, "data": "none"}
    assert printed(files[name], **options) == run("ncdump", *words, files[name])


@needs_netcdf
@pytest.mark.parametrize("name", ["types", "numbers", "shapes", "texts", "groups", "times"])
def test_parsed_texts_are_printed_as_ncdump_does(files, name):
    from omnizarr.nc.cdl.parser import parse

    source = parse(samples.ALL[name])
    assert printed(source, name=name) == run("ncdump", files[name])


@needs_netcdf
@pytest.mark.parametrize(
    ("kind", "letters"),
    # ncdump fails on -s for CDF-5.
    [("-3", "plain"), ("-6", "plain"), ("-5", "plain"), ("-7", "plain"), ("-3", "s"), ("-6", "s"), ("-7", "s")],
)
def test_classic_files_are_printed_as_ncdump_does(tmp_path, kind, letters):
    pytest.importorskip("h5py")
    path = generate(samples.CLASSIC, tmp_path / "classic.nc", kind)
    words, options = LETTERS[letters]
    assert printed(path, **options) == run("ncdump", *words, path)


@needs_netcdf
def test_ncml_is_what_ncdump_prints(tmp_path):
    path = generate(samples.CLASSIC, tmp_path / "classic.nc", "-7")
    text = io.BytesIO()
    dump(path, text, form="ncml")
    assert text.getvalue() == run("ncdump", "-x", path)


@pytest.fixture
def source():
    source = MemorySource(name="/data/some.set.nc")
    root = source.root
    time, x = root.add_dim("time", 2, unlimited=True), root.add_dim("x", 3)
    var = root.add_var("v", INT, (time, x))
    source.write(var, (slice(0, 2, 1), slice(0, 3, 1)), np.arange(6, dtype="i4").reshape(2, 3))
    inner = root.add_group("g")
    source.write(inner.add_var("v", DOUBLE, (x,)), (slice(0, 3, 1),), np.array([0.5, 1, np.nan]))
    return source


def data(text):
    return [line for line in text.splitlines() if line.startswith(("  ", " "))]


@pytest.mark.parametrize(
    ("variables", "wanted"),
    [
        (("v[0]",), [" // v[0:1,0:3]", " v =", "  0, 1, 2 ;", "   // v[0:1]", "   v = 0.5 ;"]),
        (("/v[:,1:]",), [" // v[0:2,1:3]", " v =", "  1, 2,", "  4, 5 ;"]),
        (("/v[-1,::2]",), [" // v[1:2,0:3:2]", " v =", "  3, 5 ;"]),
        (("g/v[...]",), ["   // v[0:3]", "   v = 0.5, 1, NaN ;"]),
        (("g/v",), ["   v = 0.5, 1, NaN ;"]),
        (("v[2:]",), ["   // v[2:3]", "   v = NaN ;"]),
    ],
)
def test_parts_of_variables(source, variables, wanted):
    shown = [line for line in data(to_cdl(source, variables=variables)) if "\t" not in line]
    assert [line for line in shown if line.strip() not in ("data:", "variables:", "} // group g")] == wanted


def test_notes_tell_indices_of_the_whole_variable(source):
    text = to_cdl(source, variables=("/v[1,1:]",), notes="values c")
    assert "4,   // v(1,1)" in text
    assert "5;  // v(1,2)" in text
    assert "// v(2-3 ,2)" in to_cdl(source, variables=("/v[1,1:]",), notes="rows f")


@pytest.mark.parametrize("name", ["w", "g/w", "/g/x/v", "w[0]"])
def test_a_variable_that_is_not_there(source, name):
    with pytest.raises(NotFoundError, match="no variable"):
        to_cdl(source, variables=(name,))


@pytest.mark.parametrize("slices", ["0,0,0", "a", "5", "::-1", "1:2:3:4", ""])
def test_slices_that_do_not_fit(source, slices):
    if slices:
        with pytest.raises(SelectionError):
            to_cdl(source, variables=(f"/v[{slices}]",))
    else:
        assert "0, 1, 2,\n  3, 4, 5 ;" in to_cdl(source, variables=("/v[]",))


def test_groups(source):
    assert "NaN" in to_cdl(source, groups=("g",))
    assert "3, 4, 5" not in to_cdl(source, groups=("/g",))
    assert "NaN" not in to_cdl(source, groups=("/",))
    with pytest.raises(NotFoundError, match="no group"):
        to_cdl(source, groups=("h",))


def test_the_name_on_the_first_line(source):
    assert to_cdl(source).startswith("netcdf some.set {\n")
    assert to_cdl(source, name="a b").startswith("netcdf a\\ b {\n")
    assert dataset_name("s3://bucket/key/x.zarr?a=b#mode=nczarr,s3") == "x"


def test_large_values_are_read_in_parts_that_make_one_text():
    source = MemorySource()
    dims = tuple(source.root.add_dim(name, size) for name, size in (("a", 3), ("b", 700), ("c", 1000)))
    values = np.random.default_rng(0).integers(-1000, 1000, (3, 700, 1000)).astype("i4")
    var = source.root.add_var("v", INT, dims)
    var.storage.chunks = (2, 300, 1000)
    var.handle = values
    text = to_cdl(source).split("v =\n", 1)[1].rstrip("}\n ;")
    assert np.array_equal(np.array(text.replace("\n", " ").split(","), "i4").reshape(values.shape), values)
    texts = source.root.add_var("t", CHAR, (source.root.add_dim("n", 3), source.root.add_dim("long", 300_000)))
    texts.handle = np.frombuffer(b"ab" * 450_000, "S1").reshape(3, 300_000)
    assert to_cdl(source).count('"' + "ab" * 150_000 + '"') == 3


def test_what_ncdump_gets_wrong_is_right():
    source = MemorySource()
    root = source.root
    n = root.add_dim("n", 2)
    answer = root.add_type(Enum("answer", UBYTE, (("so so", 2), ("no", 1))))
    enum = root.add_var("e", answer, (n,))
    enum.handle = np.array([2, 77], "u1")
    root.add_var("s", STRING, (n,)).handle = np.array(["a\vb", "\x7f"], object)
    letters = root.add_type(Vlen("letters", CHAR))
    held = np.empty((), object)
    held[()] = np.array([b"a", b"\n"], "S1")
    root.add_var("l", letters).handle = held
    text = to_cdl(source)
    assert " e = so\\ so, 77 ;" in text
    assert ' s = "a\\vb", "\\177" ;' in text
    assert ' l = {"a\\\n"} ;' in text


def test_fill_values_of_user_types():
    source = MemorySource()
    root = source.root
    n = root.add_dim("n", 3)
    kind = root.add_type(Compound("c", (Field("x", FLOAT, (2,)), Field("k", INT))))
    var = root.add_var("v", kind, (n,))
    fill = np.array([((1, 2), 3)], kind.numpy)
    var.attrs["_FillValue"] = Attr("_FillValue", kind, fill)
    var.handle = np.array([((1, 2), 3), ((1, 9), 3), ((1, np.float32(2.0000002)), 3)], kind.numpy)
    assert " v = _, {{1, 9}, 3}, _ ;" in to_cdl(source)


def test_storage_is_told_as_attributes():
    source = MemorySource()
    var = source.root.add_var("v", DOUBLE, (source.root.add_dim("n", 3),))
    var.storage.chunks, var.storage.filters = (2,), (Filter(32015, (3, 4)), Filter(5))
    var.storage.codecs, var.storage.endian, var.storage.shuffle = '[{"id": "zstd"}]', "big", True
    text = to_cdl(source, special=True)
    for line in (
        '_Storage = "chunked"', "_ChunkSizes = 2", '_Shuffle = "true"', '_Filter = "32015,3,4|5"',
        '_Codecs = "[{\\"id\\": \\"zstd\\"}]"', '_Endianness = "big"',
    ):  # fmt: skip
        assert f"\t\tv:{line} ;\n" in text
    assert '_Filter = "2,8|32015,3,4|5"' in to_cdl(source, special=True, filters=True)
    assert '\t\t:_Format = "netCDF-4" ;\n' in text
