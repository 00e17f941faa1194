"""`oz refs`: each action on small files of netCDF-3, and what the command says when something is wrong."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import netCDF4
import numpy as np
import pytest

import omnizarr as oz
from tests.refset.example import VERSION_0, VERSION_1

SETS = ("days.json", "again.json")


@pytest.fixture
def days(tmp_path, monkeypatch):
    """Three files, two times in each, in the current folder; and their values one after the other."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OMNIZARR_ALLOW", raising=False)
    values = np.arange(6 * 200, dtype="f4").reshape(6, 200)
    for day in range(3):
        with netCDF4.Dataset(f"day{day + 1}.nc", "w", format="NETCDF3_CLASSIC") as file:
            file.createDimension("time", None)
            file.createDimension("x", 200)
            file.createVariable("time", "i4", ("time",))[:] = [2 * day, 2 * day + 1]
            file.createVariable("t", "f4", ("time", "x"))[:] = values[2 * day : 2 * day + 2]
    return values


@pytest.fixture
def joined(command, days):
    """The set of the first two files, in JSON."""
    assert command("refs", "combine", "day1.nc", "day2.nc", "-d", "time", "-o", "days.json").code == 0
    return days[:4]


def test_scan_one(command, days):
    ran = command("refs", "scan", "day1.nc", "-o", "one.json")
    assert ran == (0, "one.json: 2 arrays, 3 references to 1 file, 1 of them inline\n", "")
    np.testing.assert_array_equal(oz.open("one.json")["t"][...], days[:2])


@pytest.mark.parametrize(("form", "ending"), [(None, "json"), ("json.zst", "json.zst"), ("parquet", "parq")])
def test_scan_many(command, days, form, ending):
    words = ["--form", form] if form else []
    ran = command("refs", "scan", "day1.nc", "day2.nc", "-o", "sets", "--workers", 1, "--json", *words)
    assert ran.code == 0
    assert [row["set"] for row in json.loads(ran.out)] == [f"sets/day{day}.nc.{ending}" for day in (1, 2)]
    for day in (0, 1):
        opened = oz.open(f"sets/day{day + 1}.nc.{ending}", allow=["."])
        np.testing.assert_array_equal(opened["t"][...], days[2 * day : 2 * day + 2])


@pytest.mark.parametrize(("options", "arrays"), [(["--only", "t"], ["t"]), (["--skip", "t"], ["time"])])
def test_scan_some_variables(command, days, options, arrays):
    assert command("refs", "scan", "day1.nc", "-o", "one.json", *options).code == 0
    assert list(oz.refs.read("one.json").arrays) == arrays


@pytest.mark.parametrize("target", ["days.json", "days.parq", "days.json.zst"])
def test_many_sets_are_no_set(command, days, target):
    ran = command("refs", "scan", "day1.nc", "day2.nc", "-o", target)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines() == [
        f"oz: error: 2 files are a set each, in a folder, and {target} is the name of one set",
        "  'oz refs combine' makes one set of several files.",
    ]
    assert not Path(target).exists()
    assert days.size


def test_sets_of_one_name(command, days):
    Path("other").mkdir()
    shutil.copy("day2.nc", "other/day1.nc")
    ran = command("refs", "scan", "day1.nc", "other/day1.nc", "-o", "sets", "--overwrite")
    assert ran.code == 2
    assert "day1.nc and other/day1.nc have the same name, and both sets would be sets/day1.nc.json" in ran.err
    assert not Path("sets").exists()
    assert days.size


def test_one_file_twice(command, days):
    ran = command("refs", "combine", "day1.nc", "day1.nc", "-d", "time", "-o", "twice.json")
    assert ran.code == 2
    assert ran.err.splitlines()[-1] == (
        "  --keep first or --keep last says which of two sets counts where both have a place."
    )
    assert days.size


@pytest.mark.parametrize("files", [["day1.nc"], ["day1.nc", "day2.nc"]])
@pytest.mark.parametrize("action", ["scan", "combine"])
def test_documents_of_v3(command, days, action, files):
    dims = ["-d", "time"] if action == "combine" else []
    several = action == "scan" and len(files) > 1
    target = "sets" if several else "one.json"
    assert command("refs", action, *files, *dims, "-o", target, "--workers", 1, "--format", "zarr3").code == 0
    opened = oz.open(f"sets/{files[-1]}.json", allow=["."]) if several else oz.open(target)
    assert opened["t"].format == opened.format == "zarr3"
    np.testing.assert_array_equal(opened["t"][...][-2:], days[2 * len(files) - 2 : 2 * len(files)])


@pytest.mark.parametrize("target", ["days.json", "days.json.gz", "days.parq"])
def test_combine_and_append(command, days, target):
    ran = command("refs", "combine", "day2.nc", "day1.nc", "-d", "time", "-o", target)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"{target}: 5 references to 2 files, 1 of them inline\n")
    np.testing.assert_array_equal(oz.open(target)["t"][...], days[:4])
    ran = command("refs", "append", target, "day3.nc", "-d", "time")
    # In place, the chunks of coordinates keep their length: one more is stored.
    told = "8 references to 3 files, 2 of them" if target == "days.parq" else "7 references to 3 files, 1 of them"
    assert ran.out == f"{target}: {told} inline\n"
    np.testing.assert_array_equal(oz.open(target)["t"][...], days)
    assert oz.open(target)["time"][...].tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(("source", "runs"), [("day{:d}.nc", [1, 2]), ("INDEX", [0, 1]), ("7,9", [7, 9])])
def test_combine_along_a_new_dimension(command, days, source, runs):
    words = ("day1.nc", "day2.nc", "-d", f"run={source}", "--identical", "time", "-o", "runs.json")
    assert command("refs", "combine", *words).code == 0
    np.testing.assert_array_equal(oz.open("runs.json")["t"][...], days[:4].reshape(2, 2, 200))
    assert oz.open("runs.json")["run"][...].tolist() == runs


def test_files_that_do_not_fit(command, days):
    ran = command("refs", "combine", "day1.nc", "day2.nc", "-d", "run=INDEX", "-o", "runs.json")
    assert ran.code == 2
    assert "time" in ran.err
    assert ran.err.splitlines()[-1] == "  --compat override, or --identical NAME, takes what the first file has"


def test_show(command, joined, tmp_path):
    ran = command("refs", "show", "days.json")
    assert ran.out.splitlines()[0] == "5 references to 2 files, 1 of them inline"
    assert "float32 (4, 200) · 4 references · 3.2 kB" in ran.out
    told = json.loads(command("refs", "show", "days.json", "--json").out)
    assert {one["path"]: (one["references"], one["inline"]) for one in told["arrays"]} == {"t": (4, 0), "time": (0, 1)}
    files = [str(tmp_path / f"day{day}.nc") for day in (1, 2)]
    assert command("refs", "show", "days.json", "--files").out.splitlines() == files


def test_show_of_a_set_that_holds_everything_itself(command, days):
    command("refs", "scan", "day1.nc", "-o", "one.json", "--inline", 10000)
    assert command("refs", "show", "one.json").out.splitlines()[0] == "2 references, all of them inline"


def test_expand(command, days, tmp_path):
    (tmp_path / "set.json").write_text(json.dumps(VERSION_1))
    assert json.loads(command("refs", "expand", "set.json").out) == VERSION_0
    assert command("refs", "expand", "set.json", "-o", "plain.json").code == 0
    assert json.loads((tmp_path / "plain.json").read_text()) == VERSION_0


def test_convert_there_and_back(command, joined):
    assert (
        command("refs", "convert", "days.json", "days.parq").out
        == "days.parq: 5 references to 2 files, 1 of them inline\n"
    )
    assert command("refs", "convert", "days.parq", "again.json").code == 0
    before, after = ({key: str(one).strip() for key, one in oz.refs.expand(name).items()} for name in SETS)
    assert after == before
    assert oz.refs.read("again.json").stamps == oz.refs.read("days.json").stamps


def test_validate(command, joined, tmp_path):
    assert command("refs", "validate", "days.json") == (0, "valid\n", "")
    with (tmp_path / "day2.nc").open("ab") as file:
        file.write(b"more")
    ran = command("refs", "validate", "days.json")
    assert ran.code == 1
    assert "day2.nc: it has changed since it was scanned" in ran.out
    told = json.loads(command("refs", "validate", "days.json", "--json").out)
    assert not told["valid"]
    assert command("refs", "validate", "days.json", "--no-sources").code == 0


def test_rewrite(command, joined, tmp_path):
    assert command("refs", "rewrite", "days.json", "beside.json", "--relative").code == 0
    assert '"day1.nc"' in (tmp_path / "beside.json").read_text()
    moved = tmp_path / "moved"
    moved.mkdir()
    for name in ("beside.json", "day1.nc", "day2.nc"):
        (tmp_path / name).rename(moved / name)
    np.testing.assert_array_equal(oz.open("moved/beside.json")["t"][...], joined)
    command("refs", "rewrite", "days.json", "far.json", "--change", f"{tmp_path}/", "s3://bucket/")
    assert oz.refs.read("far.json").urls == ["s3://bucket/day1.nc", "s3://bucket/day2.nc"]


@pytest.mark.parametrize(("options", "format"), [([], "zarr2"), (["--to", "zarr3"], "zarr3")])
def test_export(command, joined, tmp_path, options, format):  # noqa: A002 - the word of the documents
    assert command("refs", "export", "days.json", "own.zarr", *options).code == 0
    (tmp_path / "day1.nc").unlink()
    opened = oz.open("own.zarr")
    assert opened.format == format
    np.testing.assert_array_equal(opened["t"][...], joined)


@pytest.mark.parametrize("words", [("cat", "away/one.json/t", "0,:2"), ("refs", "export", "away/one.json", "own.zarr")])
def test_places_that_a_set_may_not_reach(command, days, tmp_path, words):
    (tmp_path / "away").mkdir()
    command("refs", "scan", "day1.nc", "-o", "away/one.json")
    ran = command(*words)
    assert ran.code == 2
    assert "is not followed" in ran.err
    assert ran.err.splitlines()[-1] == f"  if the set is to be trusted, --allow {tmp_path}/"
    assert command(*words, "--allow", ".").code == 0
    assert command("cat", "away/one.json/t", "0,:2", "--allow", ".").out == "[0. 1.]\n"
    assert command("cat", "away/one.json/t", "0,:2").code == 2, "what one command may is not left to the next"


@pytest.mark.parametrize("place", ["days.json/t", "days.parq/t", "day1.nc/t"])
def test_paths_lead_into_sets_and_files(command, joined, place):
    command("refs", "convert", "days.json", "days.parq")
    assert command("cat", place, "1,:3").out == "[200. 201. 202.]\n"
    assert command("cat", place + "t", "0").code == 2


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("scan", "none.nc", "-o", "x.json"), "none.nc"),
        (("scan", "notes.txt", "-o", "x.json"), "is a text file, of which no references can be made"),
        (("scan", "day1.nc", "-o", "x.bin"), "does not tell how to write the set"),
        (("scan", "day1.nc", "-o", "notes.txt", "--form", "json"), "notes.txt"),
        (("scan", "day1.nc", "day2.nc", "-o", "notes.txt"), "is a file"),
        (("combine", "day1.nc", "-d", "=3", "-o", "x.json"), "is no dimension"),
        (("rewrite", "days.json", "x.json"), "nothing to change"),
        (("show", "day1.nc.gz"), "day1.nc.gz"),
        (("convert", "notes.txt", "x.json"), "notes.txt"),
        (("shw", "days.json"), "'oz refs' has no action 'shw'"),
    ],
)
def test_errors_take_two_lines(command, joined, tmp_path, words, text):
    (tmp_path / "notes.txt").write_text("only text")
    ran = command("refs", *words)
    assert ran.code == 2
    assert ran.out == ""
    assert text in ran.err
    assert "unexpected" not in ran.err
    assert len(ran.err.splitlines()) <= 2
    assert not (tmp_path / "x.json").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("show",),
        ("expand",),
        ("validate",),
        ("convert", "x.parq"),
        ("export", "x.zarr"),
        ("rewrite", "x.json", "--relative"),
    ],
    ids=lambda words: words[0],
)
def test_a_file_is_no_set(command, days, words):
    ran = command("refs", words[0], "day1.nc", *words[1:])
    assert ran.code == 2
    assert "this is a netCDF classic file, not a reference set" in ran.err
    assert "'oz refs scan' makes a set of it" in ran.err


def test_no_such_dimension(command, days):
    ran = command("refs", "combine", "day1.nc", "day2.nc", "-d", "tiem", "-o", "days.json")
    assert ran.code == 2
    assert "no set has the dimension 'tiem' (there are time, x)" in ran.err
    assert "-d 'tiem=FROM'" in ran.err
    assert "concat" not in ran.err


def test_info_says_what_a_file_is(command, days):
    assert "netCDF-3 (zarr2): the file is read by references" in command("info", "day1.nc").out
    assert oz.info("day1.nc/t").what == "netCDF-3 array"


def test_a_set_that_is_cut_off(command, joined, tmp_path):
    for size in (5, 20):
        (tmp_path / "cut.json").write_bytes((tmp_path / "days.json").read_bytes()[:size])
        ran = command("info", "cut.json")
        assert (ran.code, "damaged JSON document" in ran.err) == (2, True)


def test_a_changed_file_is_told_once(command, joined, tmp_path):
    with (tmp_path / "day2.nc").open("ab") as file:
        file.write(b"more")
    ran = command("refs", "validate", "days.json")
    assert ran.code == 1
    assert ran.out.splitlines()[1:] == ["1 error"]
    assert "day2.nc: it has changed since it was scanned: size was" in ran.out


def test_a_changed_file_that_is_in_the_set(command, days, tmp_path):
    command("refs", "scan", "day1.nc", "-o", "one.json", "--inline", 10000)
    with (tmp_path / "day1.nc").open("ab") as file:
        file.write(b"more")
    ran = command("refs", "validate", "one.json")
    assert (ran.code, ran.out.splitlines()[1]) == (0, "valid")
    assert ran.out.startswith("warning ")
    assert "which keeps the old ones" in ran.out
    np.testing.assert_array_equal(oz.open("one.json")["t"][...], days[:2])


def test_sets_of_another_folder_are_guarded_while_they_are_combined(command, days):
    command("refs", "scan", "day1.nc", "day2.nc", "-o", "sets", "--inline", 0, "--workers", 1)
    words = ("refs", "combine", "sets/day1.nc.json", "sets/day2.nc.json", "-d", "time", "-o", "all.json")
    ran = command(*words)
    assert (ran.code, "is not followed" in ran.err, "--allow" in ran.err) == (2, True, True)
    assert command(*words, "--allow", ".").code == 0
    np.testing.assert_array_equal(oz.open("all.json")["t"][...], days[:4])
