"""`oz info`: what it prints, in text and JSON, and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.cli.main import main

SOURCE = str(Path(oz.__file__).parents[1])


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    group = oz.create_group("data.zarr", attrs={"Conventions": "CF-1.10"})
    t = group.create_array(
        "t", shape=(4, 50, 60), dtype="f4", chunks=(1, 50, 60), dims=("time", "lat", "lon"), fill_value=np.nan,
        attrs={"units": "K", "range": [1, 2]}, codecs=[{"name": "bytes"}, {"name": "crc32c"}],
    )  # fmt: skip
    t[0] = 280
    group.create_array("s", shape=(40, 40), dtype="i2", chunks=(10, 10), shards=(40, 40))[:10] = 1
    return tmp_path


def rows(text):
    head = text.partition("\n\n")[0]
    return {line[:12].strip(): line[12:].strip() for line in head.splitlines()}


def oz_info(*words):
    return subprocess.run(
        [sys.executable, "-m", "omnizarr", "info", *words],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": SOURCE},
    )  # fmt: skip


def test_an_array_in_text(data, capsys):
    assert main(["info", "data.zarr/t"]) == 0
    text = capsys.readouterr().out
    found = rows(text)
    assert found["array"] == "/"
    assert found["format"] == "Zarr v3 (zarr3): there is 'zarr.json'"
    assert found["shape"] == "(time: 4, lat: 50, lon: 60)"
    assert found["chunks"] == "(1, 50, 60) of 12.0 kB, 4 in all"
    assert found["codecs"] == "bytes(endian=little) → crc32c"
    assert found["fill value"] == "NaN"
    assert found["size"] == "48.0 kB"
    assert found["stored"] == "12.0 kB, ratio 1.0"
    assert found["present"] == "1 of 4 chunks (25 %)"
    assert "all fill" not in found
    assert "units" not in text


def test_attributes_and_shards(data, capsys):
    assert main(["info", "--attrs", "--decode", "data.zarr/s"]) == 0
    found = rows(capsys.readouterr().out)
    assert found["shards"] == "(40, 40) of 3.2 kB"
    assert found["inner"] == "4 of 16 inner chunks (25 %)"
    assert (found["all fill"], found["damaged"]) == ("0 of the chunks that are present", "0")
    assert main(["info", "-a", "data.zarr/t"]) == 0
    assert capsys.readouterr().out.endswith('\n\nunits = "K"\nrange = [1, 2]\n')


def test_a_group_in_text(data, capsys):
    assert main(["info", "data.zarr"]) == 0
    found = rows(capsys.readouterr().out.replace("consolidated  ", "consolid      "))
    assert found["holds"] == "2 arrays, 0 groups"
    assert found["consolid"] == "none"
    assert found["conventions"] == "CF-1.10"
    assert main(["info", "-s", "data.zarr"]) == 0
    assert "2 of 5 keys of chunks (40 %)" in capsys.readouterr().out


def test_the_format_in_one_word(data, capsys):
    for form in ("zarr3", "zarr2", "zarr1", "zarr0"):
        oz.create_array(f"{form}.zarr", shape=(4,), dtype="u1", format=form)
        assert main(["info", "-k", f"{form}.zarr"]) == 0
        assert capsys.readouterr().out == f"{form}\n"
    assert main(["info", "-k", "--json", "zarr2.zarr"]) == 0
    assert json.loads(capsys.readouterr().out) == {"format": "zarr2"}


def test_json_holds_all(data, capsys):
    assert main(["info", "--json", "--decode", "data.zarr/t"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["kind"], found["array"]["fill_value"], found["array"]["census"]["filled"]) == ("array", "NaN", 0)
    assert found["array"]["codecs_json"][1]["name"] == "crc32c"
    assert main(["info", "--json", "data.zarr"]) == 0
    assert json.loads(capsys.readouterr().out)["group"]["arrays"] == 2


def test_remarks_come_last(data, capsys):
    Path("data.zarr/t/junk").write_bytes(b"?")
    assert main(["info", "data.zarr/t"]) == 0
    text = capsys.readouterr().out
    assert text.endswith("\n\nstray-keys: keys that are neither chunks nor documents (1): junk\n")


def test_as_a_program(data):
    done = oz_info("data.zarr/t")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    done = oz_info("data.zarr/nothing")
    assert done.returncode == 2
    assert done.stdout == ""
    done = oz_info("--colour", "always", "data.zarr/t")
    assert "\x1b[36m" in done.stdout


def test_damage_is_told_of(data, capsys):
    path = Path("data.zarr/t/c/0/0/0")
    content = bytearray(path.read_bytes())
    content[7] ^= 1
    path.write_bytes(content)
    assert main(["info", "-d", "data.zarr/t"]) == 0
    text = capsys.readouterr().out
    assert rows(text)["damaged"] == "1"
    assert "faults: damage in stored chunks (1), first in 'c/0/0/0': checksum mismatch" in text
