"""What the small commands print, as text and as JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.letters import columns_of


def test_tree(command, data):
    ran = command("tree", "data.zarr")
    assert ran.out == (
        "data.zarr zarr3\n"
        "├── ocean\n"
        "│   └── salt (6,) int64  48 B\n"
        "└── t (time: 2, lat: 3, lon: 4) float32  96 B\n"
        "\n"
        "2 groups, 2 arrays, 144 B\n"
    )
    assert (ran.code, ran.err) == (0, "")


def test_tree_of_one_level_with_attributes(command, data):
    assert command("tree", "data.zarr", "-L", "1", "--attrs").out == (
        "data.zarr zarr3\n"
        '    title = "trial"\n'
        "├── ocean\n"
        "└── t (time: 2, lat: 3, lon: 4) float32  96 B\n"
        '        units = "K"\n'
        "        levels = [1, 2]\n"
        "\n"
        "2 groups, 1 array, 96 B\n"
    )


@pytest.mark.parametrize(
    ("pattern", "shown"),
    [
        ("t", ["", "t"]),
        ("s*", ["", "ocean", "ocean/salt"]),
        ("ocean", ["", "ocean", "ocean/salt"]),
        ("*/s*", ["", "ocean", "ocean/salt"]),
        ("q", [""]),
    ],
)
def test_tree_of_what_matches(pattern, shown, command, data):
    top = json.loads(command("tree", "data.zarr", "--filter", pattern, "--json").out)

    def paths(node: dict) -> list[str]:
        return [node["path"], *(path for child in node.get("children", ()) for path in paths(child))]

    assert paths(top) == shown


def test_tree_of_an_array_and_stored_bytes(command, data):
    ran = command("tree", "data.zarr/ocean/salt", "--stored", "--json")
    told = json.loads(ran.out)
    assert told["nbytes_stored"] == oz.open_array("data.zarr/ocean/salt").nbytes_stored
    assert (told["name"], told["shape"], told["chunks"]) == ("data.zarr/ocean/salt", [6], [2])
    assert "48 B, " in command("tree", "data.zarr/ocean/salt", "--stored").out


def test_tree_tells_of_what_cannot_be_read(command, data):
    (data / "data.zarr" / "t" / "zarr.json").write_text('{"zarr_format": 3, "node_type": "array"}')
    ran = command("tree", "data.zarr")
    assert ran.code == 0
    assert "t cannot be read: the field 'shape' is missing" in ran.out
    assert "1 that cannot be read" in ran.out


def test_ls(command, data):
    assert command("ls", "data.zarr").out == "ocean\nt\n"
    assert command("ls", "data.zarr", "-R").out == "ocean\nocean/salt\nt\n"
    assert command("ls", "data.zarr/t").out == "data.zarr/t\n"
    assert command("ls", "-l", "data.zarr").out == (
        "name   kind   shape                      type     chunks     codecs\n"
        "ocean  group\n"
        "t      array  (time: 2, lat: 3, lon: 4)  float32  (2, 3, 4)  bytes\n"
    )
    assert [row["path"] for row in json.loads(command("ls", "data.zarr", "-R", "--json").out)] == [
        "ocean",
        "ocean/salt",
        "t",
    ]


def test_ls_of_shards_and_of_chunks_that_differ(command, data):
    oz.create_array("data.zarr/sharded", shape=(8, 8), chunks=(2, 2), shards=(4, 4), dtype="u1")
    oz.create_array("data.zarr/uneven", shape=(6, 8), chunks=([1, 2, 3], 4), dtype="u1")
    out = command("ls", "-l", "data.zarr").out
    assert "(2, 2) in (4, 4)" in out
    assert "((1, 2, 3), 4)" in out
    told = {row["name"]: row for row in json.loads(command("ls", "data.zarr", "--json").out)}
    assert told["sharded"]["shards"] == [4, 4]
    assert told["uneven"]["chunks"] == [[1, 2, 3], 4]


def test_cat(command, data):
    assert command("cat", "data.zarr/t", "time=1,lat=0").out == "[1.2 1.3 1.4 1.5]\n"
    assert command("cat", "data.zarr/t", "1,0").out == "[1.2 1.3 1.4 1.5]\n"
    assert command("cat", "data.zarr/t[1,0]").out == "[1.2 1.3 1.4 1.5]\n"
    assert command("cat", "data.zarr/t", "-1,", "0", "--format", "csv").out == "1.2\n1.3\n1.4\n1.5\n"
    assert command("cat", "data.zarr/t", "--format", "csv", "-1", ":", "-1:").out == "1.5\n1.9\n2.3\n"


def test_cat_into_files_whose_names_tell_the_format(command, data):
    for name in ("t.npy", "t.csv", "t.json", "t.txt"):
        assert command("cat", "data.zarr/t", "0", "-o", name) == (0, "", "")
    assert np.array_equal(np.load("t.npy"), oz.open_array("data.zarr/t")[0])
    assert (data / "t.csv").read_text().startswith("0.0,0.1,0.2,0.3\n")
    assert json.loads((data / "t.json").read_text())["shape"] == [3, 4]
    assert (data / "t.txt").read_text().startswith("[[0.  0.1")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["data.zarr"], "this is a group, not an array (data.zarr)\n  it holds ocean, t\n"),
        (["data.zarr/t", "2"], "index 2 is out of bounds for dimension 0, whose length is 2\n  valid are -2 to 1\n"),
        (["data.zarr/t", "depth=2"], "there is no dimension 'depth'\n  the dimensions are time, lat, lon\n"),
        (["data.zarr/t", "--json", "--format", "csv"], "exclude each other"),
    ],
)
def test_cat_refuses(words, text, command, data):
    ran = command("cat", *words)
    assert (ran.code, ran.out) == (2, "")
    assert text in ran.err


def test_attrs_are_shown(command, data):
    assert command("attrs", "data.zarr/t").out == 'units  = "K"\nlevels = [1, 2]\n'
    assert command("attrs", "data.zarr/t", "units").out == "K\n"
    assert command("attrs", "data.zarr/t", "get", "levels").out == "[1, 2]\n"
    assert json.loads(command("attrs", "data.zarr/t", "--json").out) == {"units": "K", "levels": [1, 2]}
    assert json.loads(command("attrs", "data.zarr/t", "units", "--json").out) == "K"


def test_attrs_that_are_missing(command, data):
    assert command("attrs", "data.zarr/t", "unit") == (
        1,
        "",
        "oz: error: there is no attribute 'unit'\n  did you mean 'units'?\n",
    )
    assert command("attrs", "data.zarr/t", "rm", "units", "q").code == 1
    assert "units" in oz.open("data.zarr/t").attrs
    assert command("attrs", "data.zarr", "set").code == 1


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["units", "degC"], {"units": "degC"}),
        (["n", "-5"], {"n": -5}),
        (["n", "5", "--type", "str"], {"n": "5"}),
        (["n", "5", "--type", "float"], {"n": 5.0}),
        (["n", "[1, 2.5]", "--type=float"], {"n": [1.0, 2.5]}),
        (["n", "yes", "--type", "bool"], {"n": True}),
        (["n", '{"a": null}'], {"n": {"a": None}}),
        (["a=1", "b=x=y", "c="], {"a": 1, "b": "x=y", "c": ""}),
    ],
)
def test_attrs_are_set(words, values, command, data):
    ran = command("attrs", "data.zarr/t", "set", *words)
    assert ran.code == 0
    found = oz.open("data.zarr/t").attrs.asdict()
    for name, value in values.items():
        assert (found[name], type(found[name])) == (value, type(value))
    assert found.keys() == {"units", "levels", *values}


@pytest.mark.parametrize(
    "words",
    [["n", "x", "--type", "int"], ["n", "1.5", "--type", "int"], ["n", "x", "--type", "json"], ["a", "b", "c"], ["=1"]],
)
def test_attrs_that_do_not_fit_are_refused(words, command, data):
    before = oz.open("data.zarr/t").attrs.asdict()
    assert command("attrs", "data.zarr/t", "set", *words).code == 2
    assert oz.open("data.zarr/t").attrs.asdict() == before


def test_attrs_are_removed(command, data):
    assert command("attrs", "data.zarr/t", "rm", "units", "levels") == (0, "", "")
    assert not oz.open("data.zarr/t").attrs


def test_mv(command, data):
    assert command("mv", "data.zarr/t", "data.zarr/u", "--dry-run").out == "would move data.zarr/t to data.zarr/u\n"
    assert command("mv", "data.zarr/t", "data.zarr/u").out == "moved data.zarr/t to data.zarr/u\n"
    assert command("mv", "data.zarr/u", "data.zarr/ocean").out == "moved data.zarr/u to data.zarr/ocean/u\n"
    told = json.loads(command("mv", "data.zarr/ocean/u", "data.zarr/new/deep/t", "--json").out)
    assert told["target"].endswith("/data.zarr/new/deep/t")
    assert oz.open("data.zarr/new/deep/t").shape == (2, 3, 4)
    ran = command("mv", "data.zarr/ocean", "other.zarr")
    assert ran.code == 2
    assert "oz copy" in ran.err


def test_rm(command, data, monkeypatch):
    ran = command("rm", "data.zarr/t")
    assert (ran.code, ran.err) == (
        2,
        "oz: error: there is no one to ask whether to erase it\n  --yes erases without asking\n",
    )
    assert command("rm", "--yes", "data.zarr").code == 2
    assert command("rm", "-rn", "data.zarr").out == "would erase data.zarr (group, 4 nodes, 8 keys)\n"
    assert command("rm", "-y", "data.zarr/t").out == "erased data.zarr/t (array, 2 keys)\n"
    assert list(oz.open("data.zarr")) == ["ocean"]
    told = json.loads(command("rm", "-ry", "data.zarr", "--json").out)
    assert (told[0]["nodes"], told[0]["done"]) == (3, True)
    assert not (data / "data.zarr").exists()


def test_rm_leaves_what_is_not_zarr(command, data):
    (data / "data.zarr" / "notes.txt").write_text("mine")
    (data / "data.zarr" / "t" / "c" / "notes.txt").write_text("mine, too")
    ran = command("rm", "-ry", "data.zarr")
    assert ran.code == 0
    assert "notes.txt" in ran.err
    left = sorted(path.relative_to(data).as_posix() for path in (data / "data.zarr").rglob("*") if path.is_file())
    assert left == ["data.zarr/notes.txt", "data.zarr/t/c/notes.txt"]
    assert command("rm", "-ry", "data.zarr").code == 2


def test_consolidate(command, data):
    ran = command("consolidate", "data.zarr")
    assert ran.code == 0
    assert "3 nodes consolidated" in ran.out
    assert oz.open("data.zarr", consolidated=True)["t"].shape == (2, 3, 4)


def test_places_in_archives(command, data):
    with oz.create_group("data.zip") as group:
        group.create_array("a/b", data=np.arange(3))
    assert command("ls", "-R", "data.zip").out == "a\na/b\n"
    assert command("cat", "data.zip/a/b").out == "[0 1 2]\n"
    assert command("attrs", "data.zip/a", "set", "x", "1").code == 0
    assert command("mv", "data.zip/a/b", "data.zip/c").code == 0
    assert command("tree", "data.zip", "--attrs").out.splitlines()[1:4] == [
        "├── a",
        "│       x = 1",
        "└── c (3,) int64  24 B",
    ]
    assert command("rm", "-y", "data.zip/a").code == 0
    assert command("ls", "data.zip").out == "c\n"
    assert command("cat", (data / "data.zip" / "c").as_uri()).out == "[0 1 2]\n"


def test_a_slip_in_the_name_of_a_node_in_an_archive(command, data):
    with oz.create_group("data.zip") as group:
        group.create_array("ocean/temp", data=np.arange(3))
    for words in (("cat",), ("tree",), ("ls",), ("attrs",)):
        ran = command(*words, "data.zip/ocean/tmp")
        assert ran.code == 2
        assert ran.err.endswith("ocean/temp'?\n")
    assert command("cat", "data.zip/ocean/tmp").err == (
        "oz: error: no array or group is there (data.zip/ocean/tmp)\n  did you mean 'data.zip/ocean/temp'?\n"
    )


def test_an_archive_that_is_cut_short_is_named(command, data):
    (data / "short.zip").write_bytes(b"PK\x03\x04" + b"\0" * 60)
    ran = command("tree", "short.zip")
    assert ran.code == 2
    assert ran.err.splitlines()[0].endswith("its end is missing (short.zip)")


def test_columns_are_straight_below_each_other_whatever_the_letters(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    group = oz.create_group("data.zarr")
    for name in ("温度", "e\u0301te\u0301", "line\nbreak", "plain"):
        group.create_array(name, shape=(2,), dtype="i4")
    lines = command("ls", "-l", "data.zarr").out.splitlines()
    assert {columns_of(line[: line.index("array" if "array" in line else "kind")]) for line in lines} == {13}
    assert any(line.startswith(r"line\nbreak") for line in lines)


def test_names_with_control_characters_are_listed_and_drawn(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    group = oz.create_group("data.zarr")
    group.create_array("a\nb", shape=(2,), dtype="i4")[...] = 1
    done = command("zmap", "data.zarr")
    assert done.code == 0
    assert r"/a\nb/c/0" in done.out
    assert "/a\nb/c/0" in [entry["key"] for entry in json.loads(command("zmap", "data.zarr", "--json").out)]
    assert r"── a\nb (2,) int32" in command("tree", "data.zarr").out
    assert r"── a\nb (2,) int32" in str(group.tree())
