"""What is said of a group without NumPy is what is said with it."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import omnizarr as oz
from omnizarr.tools.info.quick import quick_info


def many(where, form):
    group = oz.create_group(where, format=form, attrs={"Conventions": "CF-1.8", "title": "é"})
    for i in range(4):
        group.create_array(f"a/b{i}", shape=(10, 20 + i), dtype="f4", chunks=(5, 5), attrs={"n": i}, dims=("y", "x"))
    group.create_array("tiny", shape=(40, 1000), dtype="i2", chunks=(1, 10))
    group.create_array("huge", shape=(1 << 30,), dtype="f8", chunks=(1 << 27,))
    group.create_array("keys", shape=(200_000,), dtype="u1", chunks=(1,))
    group.create_group("empty", attrs={"multiscales": []})
    return group


def rare(where, form):
    """Nodes that only the model understands."""
    group = many(where, form)
    group.create_array("text", shape=(3,), dtype="string")
    group.create_array("struct", shape=(3,), dtype=[("x", "i4"), ("y", "f8")])
    group.create_array("scalar", shape=(), dtype="c8")
    group.create_array("none", shape=(0, 4), dtype="f4", chunks=(1, 1))
    if form == "zarr3":
        group.create_array("sharded", shape=(100, 100), dtype="f4", chunks=(10, 10), shards=(50, 50))
    return group


def broken(where, form):
    group = many(where, form)
    name = "zarr.json" if form == "zarr3" else ".zarray"
    (where / "tiny" / name).write_text("{")
    (where / "huge" / name).write_text((where / "huge" / name).read_text().replace("134217728", "-1"))
    return group


@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
@pytest.mark.parametrize("make", [many, rare, broken])
@pytest.mark.parametrize("consolidated", [False, True], ids=["plain", "consolidated"])
def test_both_say_the_same(make, form, consolidated, tmp_path):
    where = tmp_path / "d.zarr"
    group = (many if consolidated and make is broken else make)(where, form)
    if consolidated:
        group.consolidate()
        if make is broken:  # so that the copy is behind
            group["tiny"].store.put("tiny/zarr.json" if form == "zarr3" else "tiny/.zarray", b"{}")
    found = quick_info(str(where))
    assert found is not None
    assert found == oz.info(where)


@pytest.mark.parametrize("form", ["zarr3", "zarr2"])
def test_a_group_below(form, tmp_path):
    many(tmp_path / "d.zarr", form)
    assert quick_info(str(tmp_path / "d.zarr/a")) == oz.info(tmp_path / "d.zarr/a")


def test_what_is_not_plain_is_left_to_others(tmp_path):
    assert quick_info(str(tmp_path)) is None
    assert quick_info(str(tmp_path / "none")) is None
    oz.create_array(tmp_path / "a.zarr", shape=(2,), dtype="i4")
    assert quick_info(str(tmp_path / "a.zarr")) is None
    oz.create_group(tmp_path / "g.zarr")
    (tmp_path / "g.zarr/attributes.json").write_text("{}")
    assert quick_info(str(tmp_path / "g.zarr")) is None
    document = json.loads((tmp_path / "g.zarr/zarr.json").read_text())
    oz.create_group(tmp_path / "h.zarr")
    (tmp_path / "h.zarr/zarr.json").write_text(json.dumps({**document, "extra": {"must_understand": False}}))
    assert quick_info(str(tmp_path / "h.zarr")) is None


@pytest.mark.parametrize("command", [["info"], ["info", "-k"], ["tree"]])
def test_commands_that_list_load_no_numpy(command, tmp_path):
    many(tmp_path / "d.zarr", "zarr3")
    program = (
        "import sys; from omnizarr.cli.main import main\n"
        f"code = main({[*command, str(tmp_path / 'd.zarr')]!r})\n"
        "sys.exit(10 if 'numpy' in sys.modules else code)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
