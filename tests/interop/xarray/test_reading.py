"""Whatever other engines of xarray open, this one opens as they do."""

import asyncio
import importlib.util
import json
import pickle
import warnings

import numpy as np
import pytest

import omnizarr as oz

xr = pytest.importorskip("xarray")

from omnizarr.interop.xarray import OmnizarrBackend  # noqa: E402 - only where xarray is
from omnizarr.interop.xarray.guess import looks_openable  # noqa: E402


def opened(where, **options):
    return xr.open_dataset(where, engine=OmnizarrBackend, **options)


@pytest.fixture
def dataset():
    rng = np.random.default_rng(0)
    packed = {"dtype": "int16", "scale_factor": 0.25, "_FillValue": -999}
    data = rng.random((4, 6, 5)).astype("f4")
    data[1, 2, 3] = np.nan
    return xr.Dataset(
        {
            "t": (("time", "y", "x"), data, {"units": "K"}),
            "p": (("y", "x"), rng.integers(0, 300, (6, 5)) / 4, {}, packed),
            "flag": (("y",), np.arange(6, dtype="u1")),
            "name": (("x",), np.array(["a", "bb", "ccc", "", "é"], object)),
            "height": ((), 2.0, {"units": "m"}),
        },
        coords={"time": np.arange("2001-01-01", "2001-01-05", dtype="M8[D]").astype("M8[ns]"), "y": np.arange(6.0)},
        attrs={"title": "trial", "levels": [1, 2]},
    )


@pytest.mark.parametrize("form", [2, 3])
@pytest.mark.parametrize("consolidated", [False, True])
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::UserWarning")
def test_zarr_opens_as_by_the_engine_zarr(tmp_path, dataset, form, consolidated):
    pytest.importorskip("zarr")
    dataset.to_zarr(tmp_path / "a.zarr", zarr_format=form, consolidated=consolidated)
    theirs, ours = xr.open_dataset(tmp_path / "a.zarr", engine="zarr"), opened(tmp_path / "a.zarr")
    xr.testing.assert_identical(theirs.load(), ours.load())
    for name, var in theirs.variables.items():
        codecs = ("compressors", "filters", "serializer")
        for word, value in var.encoding.items():
            if word not in codecs:
                np.testing.assert_equal(ours[name].encoding[word], value, err_msg=f"{name} {word}")


@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_64BIT", "NETCDF4_CLASSIC"])
@pytest.mark.parametrize("engine", ["netcdf4", "h5netcdf", "scipy"])
def test_files_open_as_by_other_engines(tmp_path, dataset, form, engine):
    pytest.importorskip({"netcdf4": "netCDF4"}.get(engine, engine))
    if (form == "NETCDF3_64BIT") == (engine == "h5netcdf") or (engine == "scipy" and form != "NETCDF3_64BIT"):
        pytest.skip("not for this engine")
    dataset.attrs["levels"] = np.array([1, 2], "i4")
    dataset.to_netcdf(tmp_path / "a.nc", format=form, engine="netcdf4", unlimited_dims=["time"])
    with xr.open_dataset(tmp_path / "a.nc", engine=engine) as theirs, opened(tmp_path / "a.nc") as ours:
        xr.testing.assert_identical(theirs.load(), ours.load())
        assert ours.encoding["unlimited_dims"] == {"time"}


@pytest.mark.parametrize("form", ["zarr2", "zarr3", "nczarr", "nczarr3"])
def test_encodings_make_the_round_trip(dataset, form):
    first, second = {}, {}
    dataset["t"].encoding = {"chunks": (2, 3, 5)}
    dataset.encoding["unlimited_dims"] = {"time"}
    dataset.oz.to_omnizarr(first, format=form)
    one = opened(first)
    one.oz.to_omnizarr(second, format=form)
    two = opened(second)
    xr.testing.assert_identical(one.load(), two.load())
    xr.testing.assert_identical(one.drop_vars("name"), dataset.drop_vars("name"))
    assert one["t"].encoding["chunks"] == (2, 3, 5)
    for name in one.variables:
        for word, value in one[name].encoding.items():
            if word not in ("source", "units"):
                np.testing.assert_equal(two[name].encoding[word], value, err_msg=f"{name} {word}")


@pytest.mark.parametrize("form", ["zarr2", "zarr3", "nczarr", "nczarr3"])
def test_the_engine_of_zarr_reads_what_was_written(tmp_path, form):
    pytest.importorskip("zarr")
    values = np.array([[1.5, np.nan], [2.5, 3.5]], "f4")
    dataset = xr.Dataset({"t": (("y", "x"), values, {"units": "K"}), "n": ("y", np.array([1, 2], "i2"))})
    dataset = dataset.assign_coords(y=[0.5, 1.5])
    dataset["t"].encoding = {"chunks": (1, 2), "_FillValue": np.float32(-9)}
    dataset.oz.to_omnizarr(tmp_path / "a.zarr", format=form)
    # NCZarr has no consolidated metadata, of which xarray would warn.
    with xr.open_dataset(tmp_path / "a.zarr", engine="zarr", consolidated=form in ("zarr2", "zarr3")) as theirs:
        if form == "nczarr3":  # its own marks are attributes like others to who does not know them
            for one in (theirs, *theirs.variables.values()):
                one.attrs = {name: value for name, value in one.attrs.items() if not name.startswith("_nczarr")}
        xr.testing.assert_identical(theirs.load(), dataset)
        assert theirs["t"].encoding["_FillValue"] == -9


def test_codecs_of_zarr_python_are_taken_as_they_are(tmp_path):
    zarr = pytest.importorskip("zarr")
    dataset = xr.Dataset({"t": ("x", np.arange(100.0))})
    encoding = {"t": {"compressors": [zarr.codecs.BloscCodec(cname="zstd", clevel=3)]}}
    dataset.oz.to_omnizarr(tmp_path / "ours.zarr", encoding=encoding)
    dataset.to_zarr(tmp_path / "theirs.zarr", encoding=encoding, consolidated=False, zarr_format=3)
    assert oz.open_array(tmp_path / "ours.zarr/t").codecs == oz.open_array(tmp_path / "theirs.zarr/t").codecs


def test_types_of_attributes_are_kept_in_nczarr(dataset):
    store = {}
    dataset.attrs = {"half": np.float32(0.5), "few": np.array([1, 2], "i2")}
    dataset.oz.to_omnizarr(store, format="nczarr")
    found = opened(store).attrs
    assert type(found["half"]) is np.float32
    assert found["few"].dtype == "i2"


def test_reference_sets_open(tmp_path, dataset):
    pytest.importorskip("netCDF4")
    small = dataset[["t", "p"]]
    small.to_netcdf(tmp_path / "a.nc")
    oz.refs.write(oz.refs.scan(str(tmp_path / "a.nc")), str(tmp_path / "a.json"))
    oz.refs.write(oz.refs.scan(str(tmp_path / "a.nc")), str(tmp_path / "a.parq"))
    with xr.open_dataset(tmp_path / "a.nc", engine="netcdf4") as theirs:
        for name in ("a.json", "a.parq"):
            assert looks_openable(tmp_path / name)
            xr.testing.assert_allclose(opened(tmp_path / name)[["t", "p"]].load(), theirs[["t", "p"]])


@pytest.mark.parametrize("form", ["zarr3", "nczarr", "netcdf4"])
def test_datasets_pickle_as_places(tmp_path, dataset, form):
    where = tmp_path / ("a.nc" if form == "netcdf4" else "a.zarr")
    dataset.oz.to_omnizarr(where, format=form)
    ds = opened(where)
    sent = pickle.dumps(ds)
    assert len(sent) < 40_000
    xr.testing.assert_identical(pickle.loads(sent).load(), ds.load())


FORMS = {"m.nc": "netcdf4", "c.nc": "netcdf3", "m.ncz": "nczarr", "a.zarr": "zarr3"}


@pytest.mark.parametrize("name", FORMS)
def test_what_was_opened_by_a_relative_path_stays_that_file(tmp_path, monkeypatch, name):
    for n, folder in enumerate(("here", "there")):
        (tmp_path / folder).mkdir()
        ds = xr.Dataset({"v": ("x", np.full(3, n, "f8"))})
        ds.oz.to_omnizarr(tmp_path / folder / name, format=FORMS[name])
    monkeypatch.chdir(tmp_path / "here")
    sent = [pickle.dumps(opened(name, **lazy)) for lazy in ({}, {"chunks": {}} if _has_dask() else {})]
    sent.append(pickle.dumps(opened(name if name == "a.zarr" else oz.Dataset(name))))
    monkeypatch.chdir(tmp_path / "there")
    for one in sent:
        assert pickle.loads(one)["v"].values.tolist() == [0, 0, 0]


def _has_dask():
    return importlib.util.find_spec("dask") is not None


@pytest.mark.parametrize("name", FORMS)
def test_the_source_of_what_is_local_is_a_path(tmp_path, monkeypatch, name):
    where = tmp_path / "with space" / name
    where.parent.mkdir()
    xr.Dataset({"v": ("x", np.arange(3.0))}).oz.to_omnizarr(where, format=FORMS[name])
    monkeypatch.chdir(where.parent)
    for place in (name, where, where.as_uri()):
        ds = opened(place)
        assert ds.encoding["source"] == str(where)
        assert ds["v"].encoding["source"] == str(where)


@pytest.mark.parametrize("form", ["zarr2", "zarr3", "netcdf4", "nczarr"])
def test_what_is_dropped_changes_no_other_variable(tmp_path, form):
    """Characters along a dimension that numbers have, too, are no string, whether or not the numbers are asked for."""
    where = tmp_path / ("a.nc" if form == "netcdf4" else "a.zarr")
    made = xr.Dataset({"flag": ("x", np.array([b"a", b"b", b"c"], "S1")), "val": ("x", np.arange(3))})
    if form.startswith("zarr"):
        g = oz.open_group(where, "w", format=form)
        for name, var in made.items():
            g.create_array(name, data=var.values, dims=("x",))
    else:
        with oz.Dataset(where, "w", format=form.upper()) as nc:
            nc.createDimension("x", 3)
            nc.createVariable("flag", "S1", ("x",))[:] = made["flag"].values
            nc.createVariable("val", "i8", ("x",))[:] = made["val"].values
    for dropped in ("val", ["val"], ["val", "none"]):
        ds = opened(where, drop_variables=dropped)
        assert list(ds) == ["flag"]
        assert ds["flag"].values.tolist() == [b"a", b"b", b"c"]


def test_what_cannot_be_read_can_be_dropped(tmp_path):
    g = oz.open_group(tmp_path / "a.zarr", "w")
    g.create_array("good", data=np.arange(3), dims=("x",))
    g.create_array("bad", data=np.arange(3), dims=("x",))
    document = tmp_path / "a.zarr" / "bad" / "zarr.json"
    for broken in (document.read_text().replace('"bytes"', '"nobody knows it"'), "{"):
        document.write_text(broken)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert list(opened(tmp_path / "a.zarr", drop_variables="bad")) == ["good"]


def test_loading_waits_for_nobody(dataset):
    store = {}
    dataset.oz.to_omnizarr(store)
    found = asyncio.run(opened(store).load_async())
    xr.testing.assert_identical(found, opened(store).load())


def test_what_has_grown_since_reads_as_it_was(tmp_path, dataset):
    dataset.oz.to_omnizarr(tmp_path / "a.zarr")
    ds = opened(tmp_path / "a.zarr")
    sent = pickle.dumps(ds)
    dataset.oz.to_omnizarr(tmp_path / "a.zarr", append_dim="time")
    assert pickle.loads(sent)["t"].load().shape == (4, 6, 5)
    assert opened(tmp_path / "a.zarr")["t"].shape == (8, 6, 5)


def test_trees_and_many_files(tmp_path, dataset):
    tree = xr.DataTree.from_dict({"/": dataset[["height"]], "/a": dataset[["t"]], "/a/b": dataset[["flag"]]})
    tree.oz.to_omnizarr(tmp_path / "tree.zarr")
    xr.testing.assert_identical(xr.open_datatree(tmp_path / "tree.zarr", engine=OmnizarrBackend).load(), tree)
    assert set(xr.open_groups(tmp_path / "tree.zarr", engine=OmnizarrBackend)) == {"/", "/a", "/a/b"}
    for i in range(2):
        dataset[["t"]].isel(time=slice(2 * i, 2 * i + 2)).oz.to_omnizarr(tmp_path / f"{i}.zarr")
    paths = [tmp_path / "0.zarr", tmp_path / "1.zarr"]
    with xr.open_mfdataset(paths, engine=OmnizarrBackend) as whole:
        xr.testing.assert_identical(whole.load(), dataset[["t"]])


def test_arrays_without_names_of_dimensions_open():
    group = oz.create_group({})
    group.create_array("a", data=np.zeros((3, 3, 2)))
    assert opened(group)["a"].dims == ("_Anonymous_Dim_3", "_Anonymous_Dim_3_2", "_Anonymous_Dim_2")


def test_shards_are_what_dask_reads():
    group = oz.create_group({})
    group.create_array("a", shape=(8,), dtype="i4", chunks=(2,), shards=(4,), dims=("x",))
    found = opened(group, chunks={})["a"]
    assert found.encoding["chunks"] == (2,)
    assert found.chunks == ((4, 4),)


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ({"zarr.json": b""}, True),
        ({"readme": b""}, False),
        ("s3://bucket/a.zarr", True),
        ("s3://bucket/a.csv", False),
        ("https://example.com/a", False),
        ("https://example.com/a.zarr", True),
        ("file:///a#mode=nczarr,file", True),
        ("missing.zarr", True),
        ("missing.txt", False),
        (b"abc", False),
    ],
)
def test_guesses_are_cheap(where, wanted):
    assert looks_openable(where) is wanted


def test_what_documents_mean_is_remembered(tmp_path, monkeypatch):
    oz.create_group(tmp_path / "a.zarr").create_array("v", data=np.arange(3.0), dims=("x",))
    opened(tmp_path / "a.zarr").close()
    parsed = []
    monkeypatch.setattr("omnizarr.format.v3.parse_array", lambda *args: parsed.append(args))
    assert opened(tmp_path / "a.zarr")["v"].values.tolist() == [0, 1, 2]
    assert parsed == []


def test_decoding_can_be_left_out(dataset, tmp_path):
    dataset.oz.to_omnizarr(tmp_path / "a.zarr")
    assert opened(tmp_path / "a.zarr", decode_cf=False)["p"].dtype == "int16"


@pytest.mark.parametrize("name", [["x"], {"x": 1}])
def test_what_cannot_be_a_name_names_no_dimension(name):
    store = {}
    group = oz.create_group(store, format="zarr2")
    group.create_array("a", shape=(3,), dtype="i4")
    store["a/.zattrs"] = json.dumps({"_ARRAY_DIMENSIONS": [name]}).encode()
    assert opened(group)["a"].dims == ("_Anonymous_Dim_3",)
