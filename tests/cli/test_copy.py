"""`oz copy` says what it copied, and by its exit code whether that is right."""

from __future__ import annotations

import json

import pytest

import omnizarr as oz
from omnizarr.cli.main import main
from omnizarr.tools.copy.batches import Mover


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A group of two arrays in the working directory."""
    monkeypatch.chdir(tmp_path)
    group = oz.create_group("a.zarr")
    for name in ("t", "p"):
        group.create_array(name, shape=(4, 4), dtype="i2", chunks=(2, 2), data=[[1, 2, 3, 4]] * 4)
    return tmp_path


def run(capsys, *words):
    code = main(["copy", *words])
    out, err = capsys.readouterr()
    return code, out, err


def test_what_was_copied_is_said(here, capsys):
    code, out, err = run(capsys, "a.zarr", "b.zip", "--verify")
    assert (code, err) == (0, "")
    assert out == f"copied 11 keys, 1.0 kB, to file://{here}/b.zip\nall bytes are equal\n"
    assert oz.open_array("b.zip/t")[1, 1] == 2


def test_patterns_and_paths(here, capsys):
    code, out, _ = run(capsys, "a.zarr", "b.zarr", "--exclude", "t")
    assert (code, out) == (0, f"copied 6 keys, 551 B, to file://{here}/b.zarr\nleft out 1 nodes: t\n")
    run(capsys, "a.zarr", "b.zarr", "--path", "t", "--target-path", "x/t")
    assert "x/t" in oz.open_group("b.zarr")


def test_a_dry_run_says_what_would_be(here, capsys):
    code, out, _ = run(capsys, "a.zarr", "b.zarr", "-n")
    assert (code, out) == (0, f"would copy 11 keys, 1.0 kB, to file://{here}/b.zarr\n")
    assert not (here / "b.zarr").exists()


def test_json(here, capsys):
    code, out, _ = run(capsys, "a.zarr", "b.zarr", "--json", "--verify")
    told = json.loads(out)
    assert code == 0
    assert (told["keys"], told["copied"], told["kept"], told["verified"], told["different"]) == (11, 11, 0, True, [])
    assert told["target"] == f"file://{here}/b.zarr"


def test_trouble_is_told_with_its_cure(capsys):
    run(capsys, "a.zarr", "b.zarr")
    code, _, err = run(capsys, "a.zarr", "b.zarr")
    assert code == 2
    assert len(err.splitlines()) == 2
    assert "overwrite" in err
    assert run(capsys, "a.zarr", "b.zarr", "--overwrite")[0] == 0
    assert run(capsys, "nothing.zarr", "c.zarr")[0] == 2


def test_differences_are_the_answer_no(capsys, monkeypatch):
    real = Mover.__call__

    def differ(self, keys, task):
        found = real(self, keys, task)
        return found._replace(different=tuple(keys[:1])) if task == "compare" and "t/c/0/0" in keys else found

    monkeypatch.setattr(Mover, "__call__", differ)
    code, out, _ = run(capsys, "a.zarr", "b.zarr", "--verify")
    assert code == 1
    assert "differs: p/c/0/0\n" in out
