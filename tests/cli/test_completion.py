"""Shells complete commands, options, choices and nodes."""

from __future__ import annotations

import shutil
import subprocess

import pytest

import omnizarr as oz
from omnizarr.cli.complete import candidates
from omnizarr.cli.completion import SCRIPTS


@pytest.fixture
def stores(data):
    with oz.create_group("data.zip") as group:
        group.create_array("temp", shape=(3,))
        group.create_group("tides")
    oz.create_group("data.zarr/tides", overwrite=True)
    (data / "data.zarr" / "notes.txt").write_text("")
    return data


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["tr"], ["tree"]),
        (["c"], ["cat", "consolidate", "copy", "convert", "completion", "conformance"]),
        (["--v"], ["--version"]),
        (["help", "tr"], ["tree"]),
        (["tree", "--at"], ["--attrs"]),
        (["cat", "x", "--format", ""], ["text", "csv", "npy", "json"]),
        (["completion", "z"], ["zsh"]),
        (["tree", "data"], ["data.zarr/", "data.zip"]),
        (["tree", "data.zarr/"], ["data.zarr/ocean/", "data.zarr/t", "data.zarr/tides/"]),
        (["tree", "--attrs", "data.zarr/ti"], ["data.zarr/tides/"]),
        (["tree", "data.zarr/t/"], []),
        (["cat", "data.zip/te"], ["data.zip/temp"]),
        (["cat", "data.zip/"], ["data.zip/temp", "data.zip/tides/"]),
        (["cat", "nothing/x"], []),
        (["nonsense", ""], []),
        (["tree", "-L", ""], []),
    ],
)
def test_candidates(words, found, stores):
    assert sorted(candidates(words)) == sorted(found)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("oz tre", ["tree"]),
        ("oz ls data.zarr/t", ["data.zarr/t", "data.zarr/tides/"]),
        ("oz tree 'data.zarr/oc", ["data.zarr/ocean/"]),
        ("oz completion ", ["bash", "fish", "zsh"]),
        ("oz tree file://{here}/data.zarr/oc", ["//{here}/data.zarr/ocean/"]),
    ],
)
def test_bash(line, found, shell, stores):
    line = line.replace("{here}", str(stores))
    ran = shell(
        f'eval "$(oz completion bash)"; COMP_LINE="{line}"; COMP_POINT=${{#COMP_LINE}}; _oz;'
        ' printf "%s\\n" "${COMPREPLY[@]}"; complete -p oz >&2'
    )
    assert ran.out.splitlines() == [one.replace("{here}", str(stores)) for one in found]
    assert "-F _oz oz" in ran.err


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_are_sound(name, command):
    ran = command("completion", name)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == SCRIPTS[name]
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    done = subprocess.run([name, "-n"], input=ran.out, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
