"""What an append refuses before it writes, and appends of several programs to one folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.errors import ShapeError

xr = pytest.importorskip("xarray")
pytest.importorskip("omnizarr.interop.xarray")


def whole():
    """A dataset with plain and packed numbers, and one that does not grow."""
    ds = xr.Dataset(
        {
            "n": ("t", np.arange(4, dtype="i2")),
            "r": ("t", np.arange(4, dtype="f4")),
            "p": ("t", np.array([1.0, 2.0, np.nan, 3.0])),
            "still": ("x", [1.0, 2.0]),
        },
        coords={"t": np.arange(4)},
    )
    ds["p"].encoding = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 5.0, "_FillValue": -9}
    return ds


def stored(where):
    return {path.relative_to(where): path.read_bytes() for path in Path(where).rglob("*") if path.is_file()}


@pytest.mark.parametrize("left", [["r"], ["t"], ["n", "p"]])
@pytest.mark.parametrize("mode", ["a", "a-"])
def test_no_variable_that_grows_is_left_out(tmp_path, left, mode):
    whole().oz.to_omnizarr(tmp_path / "x")
    before = stored(tmp_path / "x")
    with pytest.raises(ShapeError) as caught:
        whole().drop_vars(left).oz.to_omnizarr(tmp_path / "x", mode, append_dim="t")
    assert all(repr(name) in str(caught.value) for name in left)
    assert stored(tmp_path / "x") == before
    whole().drop_vars("still").oz.to_omnizarr(tmp_path / "x", mode, append_dim="t")
    assert xr.open_dataset(tmp_path / "x", engine="omnizarr").sizes == {"t": 8, "x": 2}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    ("name", "values", "first"),
    [
        ("n", [1.0, 2.5, 3.0, 4.0], "2.5"),
        ("n", [1.0, np.nan, 3.0, 4.0], "nan"),
        ("n", [1, 2, 3, 70_000], "70000"),
        ("n", [1.0, 2.0, 3.0, 1e30], "1e+30"),
        ("r", [1.0, 1e300, 3.0, 4.0], "1e+300"),
        ("p", [1.0, 2.0, 700.0, 3.0], "700.0"),
        ("p", [1.0, 2.0, -1e9, np.nan], "-1000000000.0"),
    ],
)
def test_values_that_would_change(tmp_path, name, values, first, lazy):
    whole().oz.to_omnizarr(tmp_path / "x")
    other = whole().assign({name: ("t", values)})
    if lazy:
        pytest.importorskip("dask")
        other = other.chunk(t=2)
    with pytest.raises(ShapeError) as caught:
        other.oz.to_omnizarr(tmp_path / "x", append_dim="t")
    assert repr(name) in str(caught.value)
    assert first in str(caught.value)
    assert oz.open(tmp_path / "x")[name].shape == (4,)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("n", [1.0, 2.0, 3.0, -4.0]),
        ("n", np.array([1, 2, 3, 32_767], "u8")),
        ("r", [0.1, 0.2, np.inf, np.nan]),
        ("p", [1.004, 2.006, np.nan, 3.0]),
        ("p", np.array([332.67, -322.6, 0, 1], "f4")),
    ],
)
def test_values_that_stay(tmp_path, name, values, lazy):
    whole().oz.to_omnizarr(tmp_path / "x")
    other = whole().assign({name: ("t", values)})
    (other.chunk(t=2) if lazy and pytest.importorskip("dask") else other).oz.to_omnizarr(tmp_path / "x", append_dim="t")
    found = xr.open_dataset(tmp_path / "x", engine="omnizarr")[name][4:]
    np.testing.assert_allclose(found, np.asarray(values, "f8"), atol=0.0051 if name == "p" else 0, rtol=1e-6)


def _made(values, encoding=None):
    ds = xr.Dataset({"v": ("t", np.asarray(values))})
    ds["v"].encoding = encoding or {}
    return ds


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("part", [{"append_dim": "t"}, {"region": {"t": slice(0, 2)}}])
@pytest.mark.parametrize(
    ("there", "values", "first"),
    [
        (["a", "bb"], np.array(["c", "long"], object), "'long'"),
        ([b"a", b"bb"], np.array([b"c", b"long"], object), "b'long'"),
        ([b"a", b"bb"], np.array(["c", "long"], object), "'long'"),
        ([1.0, 2.0], [1, 1 + 2j], "(1+2j)"),
        (np.array([1, 2], "c8"), [1, 1e300 + 2j], "(1e+300+2j)"),
        ([True, False], [0, 2], "2"),
        ([True, False], [1.0, 0.5], "0.5"),
        ([True, False], [1.0, np.nan], "nan"),
    ],
)
def test_text_that_would_be_cut_and_other_kinds_of_numbers(tmp_path, there, values, *, first, part, lazy):
    _made(there).oz.to_omnizarr(tmp_path / "x")
    other = _made(values)
    if lazy:
        pytest.importorskip("dask")
        other = other.chunk(t=1)
    with pytest.raises(ShapeError) as caught:
        other.oz.to_omnizarr(tmp_path / "x", **part)
    assert caught.value.message.endswith(first)
    if not lazy:
        assert xr.open_dataset(tmp_path / "x", engine="omnizarr")["v"].values.tolist() == list(there)


@pytest.mark.parametrize(
    ("there", "values"),
    [
        (["a", "bb"], np.array(["c", "dd"], object)),
        ([b"a", b"bb"], np.array([b"c", b"dd"], object)),
        ([1.0, 2.0], [3, 4 + 0j]),
        (np.array([1, 2], "c8"), [0.5, np.inf]),
        ([True, False], [0, 1]),
        ([True, False], [0.0, 1.0]),
        ([7, 8], [True, False]),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_text_and_other_kinds_of_numbers_that_fit(tmp_path, there, values):
    _made(there).oz.to_omnizarr(tmp_path / "x")
    _made(values).oz.to_omnizarr(tmp_path / "x", append_dim="t")
    found = xr.open_dataset(tmp_path / "x", engine="omnizarr")["v"].values
    assert found.tolist() == [*np.asarray(there).tolist(), *np.asarray(values).tolist()]


@pytest.mark.parametrize(
    ("there", "values"),
    [
        ([1, 2], np.array(["a"], object)),
        ([1.0, 2.0], ["1"]),
        (["ab", "c"], [1234]),
        (np.array(["a"], object), [1.5]),
        (np.array(["a"], object), [True]),
    ],
)
def test_no_text_among_numbers(tmp_path, there, values):
    _made(there).oz.to_omnizarr(tmp_path / "x")
    with pytest.raises(ValueError, match="Mismatched dtypes for variable v"):
        _made(values).oz.to_omnizarr(tmp_path / "x", append_dim="t")


@pytest.mark.parametrize("how", [{"append_dim": "t"}, {"mode": "a"}, {"mode": "a", "region": {"t": slice(0, 2)}}])
def test_no_dimension_gets_a_second_length(tmp_path, how):
    whole().oz.to_omnizarr(tmp_path / "x")
    before = stored(tmp_path / "x")
    more = whole().isel(t=slice(0, 2)).assign(new=("t", [1, 2]))
    with pytest.raises(ShapeError, match="'new' is new, and its dimension 't' has the length 2") as caught:
        (more if "append_dim" in how else more[["new"]].drop_vars("t")).oz.to_omnizarr(tmp_path / "x", **how)
    assert caught.value.message.endswith(" 6" if "append_dim" in how else " 4")
    assert stored(tmp_path / "x") == before


def test_new_variables_of_fitting_lengths(tmp_path):
    whole().oz.to_omnizarr(tmp_path / "x")
    xr.Dataset({"new": ("t", np.arange(4))}).oz.to_omnizarr(tmp_path / "x", mode="a")
    whole().assign(new=("t", np.arange(4)), more=("y", [1])).oz.to_omnizarr(tmp_path / "x", append_dim="t")
    found = xr.open_dataset(tmp_path / "x", engine="omnizarr")
    assert found.sizes == {"t": 8, "x": 2, "y": 1}
    assert found["new"].values.tolist() == [0, 1, 2, 3] * 2


def test_indexes_of_several_levels(tmp_path):
    ds = xr.Dataset({"v": (("x", "y"), np.ones((2, 2)))}, coords={"x": [1, 2], "y": [3, 4]}).stack(z=("x", "y"))
    for form in ("zarr3", "nczarr"):
        with pytest.raises(NotImplementedError, match="'z' is a MultiIndex"):
            ds.oz.to_omnizarr(tmp_path / form, format=form)


def test_programs_append_to_a_folder_one_after_another(tmp_path):
    where, times = tmp_path / "x", 5
    start = np.zeros((2, 40))
    both = xr.Dataset({"a": (("t", "x"), start), "b": (("t", "x"), start)}, coords={"t": [0, 0]})
    both.oz.to_omnizarr(where, encoding={name: {"chunks": (4, 10)} for name in "ab"}, consolidated=False)
    child = Path(__file__).with_name("_append_child.py")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    running = [subprocess.Popen([sys.executable, child, where, str(n), str(times)], **pipes) for n in (1, 2)]
    for one in running:
        assert one.stdout.readline() == "ready\n"
    for one in running:
        one.stdin.write("\n")
        one.stdin.flush()
    for one in running:
        one.communicate(timeout=100)
        assert one.returncode == 0
    group = oz.open(where)
    order = group["t"][2:].reshape(-1, 3)
    assert (order == order[:, :1]).all()
    assert sorted(order[:, 0].tolist()) == [1] * times + [2] * times
    for name in "ab":
        np.testing.assert_array_equal(group[name][2:], np.repeat(order.reshape(-1, 1), 40, axis=1))


@pytest.mark.parametrize("name", [None, "v", "x", "y"])
def test_arrays_are_written_as_xarray_does(tmp_path, name):
    array = xr.DataArray(np.arange(6.0).reshape(2, 3), dims=("x", "y"), coords={"x": [1, 2]}, name=name, attrs={"a": 1})
    array.oz.to_omnizarr(tmp_path / "ours.zarr")
    array.to_zarr(tmp_path / "theirs.zarr")
    for engine in ("omnizarr", "zarr"):
        for place in ("ours.zarr", "theirs.zarr"):
            with xr.open_dataarray(tmp_path / place, engine=engine) as found:
                xr.testing.assert_identical(found.load(), array)


def test_unknown_words_are_refused(tmp_path):
    for one in (whole(), whole()["n"], xr.DataTree(whole())):
        with pytest.raises(TypeError, match="append_dims"):
            one.oz.to_omnizarr(tmp_path / "x", append_dims="t")
    assert not list(tmp_path.iterdir())


@pytest.mark.filterwarnings("ignore:Time")
@pytest.mark.parametrize("words", [{"append_dim": "t"}, {"mode": "a"}])
@pytest.mark.parametrize(
    ("first", "later", "needed"),
    [
        (["2001-01-01", "2001-01-02"], ["2001-01-03T01:30", "2001-01-04T01:30"], "minutes since 2001-01-01"),
        ([1, 2], [86_407, 172_807], "seconds"),
    ],
)
def test_times_that_are_no_whole_units_of_what_is_stored(tmp_path, first, later, needed, words):
    """xarray counts them in smaller units then, which the array does not have: they would be read as other times."""
    kind = "M8[ns]" if isinstance(first[0], str) else "m8[s]"
    start = np.array(first, "M8[D]" if kind == "M8[ns]" else "m8[D]").astype(kind)
    xr.Dataset({"v": ("t", start)}).oz.to_omnizarr(tmp_path / "x")
    before = stored(tmp_path / "x")
    with pytest.raises(ShapeError, match=needed) as caught:
        xr.Dataset({"v": ("t", np.array(later, kind))}).oz.to_omnizarr(tmp_path / "x", **words)
    assert "'days" in str(caught.value)
    assert stored(tmp_path / "x") == before


def test_times_that_are_whole_units_go_on(tmp_path):
    start = np.array(["2001-01-01", "2001-01-02"], "M8[ns]")
    first = xr.Dataset({"v": ("t", start)})
    first.v.encoding["units"] = "Day since 2000-01-01 00:00:00"
    first.oz.to_omnizarr(tmp_path / "x")
    xr.Dataset({"v": ("t", start + np.timedelta64(40, "D"))}).oz.to_omnizarr(tmp_path / "x", append_dim="t")
    read = xr.open_dataset(tmp_path / "x", engine="omnizarr").v.values
    assert (read == np.concatenate([start, start + np.timedelta64(40, "D")])).all()


def test_times_do_not_go_where_plain_numbers_are(tmp_path):
    xr.Dataset({"v": ("t", [1, 2])}).oz.to_omnizarr(tmp_path / "x")
    with pytest.raises(ShapeError, match="without units"):
        xr.Dataset({"v": ("t", np.array(["2001-01-01"], "M8[ns]"))}).oz.to_omnizarr(tmp_path / "x", append_dim="t")


@pytest.mark.parametrize("words", [{}, {"format": "nczarr"}])
def test_a_name_with_a_slash_is_refused(tmp_path, words):
    """It would lie in a group of its own, and be gone when the dataset is opened again."""
    with pytest.raises(ValueError, match="slash"):
        xr.Dataset({"a/b": ("x", [1])}).oz.to_omnizarr(tmp_path / "x", **words)
