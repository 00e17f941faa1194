"""Commands take netcdf-c's URLs; `oz info --explain` and `oz zmap`."""

from __future__ import annotations

import json

import pytest

import omnizarr as oz
from omnizarr.cli.main import main


@pytest.fixture
def url(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NCRCENV_IGNORE", "1")
    group = oz.create_group("d.zarr", format="zarr2", attrs={"a": 1})
    group.create_array("t", shape=(4,), dtype="i4")[:] = [1, 2, 3, 4]
    return f"file://{tmp_path}/d.zarr#mode=nczarr,file"


@pytest.mark.parametrize(
    "words",
    [
        ["info", "URL"],
        ["info", "-s", "URL"],
        ["tree", "URL"],
        ["ls", "-l", "URL"],
        ["attrs", "URL"],
        ["consolidate", "URL"],
        ["validate", "URL"],
        ["cat", "URL/t"],
        ["copy", "URL", "NEW"],
        ["convert", "URL", "NEW", "--to", "zarr3"],
        ["diff", "URL", "URL"],
        ["mv", "URL/t", "URL/u"],
        ["rm", "--yes", "URL/t"],
        ["zmap", "URL"],
    ],
)
def test_every_command_takes_a_url(words, url, capsys):
    start, mode = url.split("#")
    texts = {"URL": url, "NEW": "file://new#mode=zarr,file"}
    texts |= {f"URL/{name}": f"{start}/{name}#{mode}" for name in "tu"}
    assert main([texts.get(word, word) for word in words]) == 0, capsys.readouterr()
    if "NEW" in words:
        assert list(oz.open("new")["t"][:]) == [1, 2, 3, 4]
    if words[0] == "mv":
        assert list(oz.open("d.zarr")) == ["u"]


def test_explain_as_text(url, capsys):
    assert main(["info", "--explain", url]) == 0
    text = capsys.readouterr().out
    rows = dict(line.split(None, 1) for line in text.partition("\n\n")[0].splitlines())
    assert rows["kind"] == "file"
    assert rows["path"].endswith("d.zarr")
    assert rows["modes"] == "nczarr, file"
    assert rows["model"] == "nczarr"
    assert "NCRCENV_IGNORE" in text


def test_explain_as_json(url, capsys, monkeypatch):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    assert main(["info", "--json", "--explain", "s3://b/k#mode=zarr&log=x"]) == 0
    text = capsys.readouterr().out
    found = json.loads(text)
    assert (found["kind"], found["bucket"], found["key"], found["pure"]) == ("s3", "b", "k", True)
    assert found["parameters"] == {"log": "x"}
    assert {"about", "text"} == set(found["notes"][0])
    assert "hush" not in text


@pytest.mark.parametrize("where", ["file:///x#mode=zip,file", "zarr://x", "s3:///x"])
def test_what_cannot_be_understood(where, capsys):
    assert main(["info", "--explain", where]) == 2
    assert capsys.readouterr().err.startswith("oz: error:")


def test_a_bucket_that_cannot_be_reached_is_told_of(url, capsys, monkeypatch):
    monkeypatch.setenv(
        "OMNIZARR_STORAGE_OPTIONS", '{"attempts": 1, "endpoint_url": "http://127.0.0.1:9", "anon": true}'
    )
    assert main(["tree", "s3://b/k#aws.region=mars-1"]) == 2
    said = capsys.readouterr().err
    assert "http://127.0.0.1:9/b/k" in said
    assert "endpoint_url in storage_options gives another" in said


def test_options_of_other_services_are_left_to_them_and_unknown_ones_refused(capsys):
    known = ["--storage-option", "account_name=me", "--storage-option", "attempts=1", "--storage-option", "anon=true"]
    known += ["--storage-option", "endpoint_url=http://127.0.0.1:9"]
    assert main([*known, "ls", "s3://b/k"]) == 2
    assert "account_name" not in capsys.readouterr().err
    assert main([*known, "--storage-option", "attempt=1", "ls", "s3://b/k"]) == 2
    said = capsys.readouterr().err
    assert "'attempt'" in said
    assert "did you mean 'attempts'?" in said


def test_a_netcdf_file_is_not_written_to_a_bucket(tmp_path, capsys):
    (tmp_path / "x.cdl").write_text("netcdf x { dimensions: t = 1; }")
    assert main(["gen", "-o", "s3://b/x.nc", str(tmp_path / "x.cdl")]) == 2
    assert "add #mode=nczarr" in capsys.readouterr().err


def test_zmap(url, capsys):
    assert main(["zmap", url]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [line[-1] for line in lines[:-1]] == ["/.zattrs", "/.zgroup", "/t/.zarray", "/t/0"]
    assert lines[3] == ["16", "chunk", "of", "int", "/t/0"]
    assert main(["zmap", "d.zarr", "t", "--json", "-c"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["key"] for one in found] == ["/t/.zarray", "/t/0"]
    assert json.loads(found[0]["content"])["shape"] == [4]
    assert main(["zmap", "d.zarr", "-c", "/.zattrs"]) == 0
    assert '"a": 1' in capsys.readouterr().out
    assert main(["zmap", "-s", "d.zarr"]) == 0
    assert capsys.readouterr().out.split() == [".zattrs", ".zgroup", "t"]
    assert main(["zmap", "-s", "d.zarr", "/t/0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.parametrize("words", [["d.zarr", "/x"], ["-s", "d.zarr", "/x"], ["nothing"], ["d.zarr", "a//b"]])
def test_zmap_of_nothing(words, url, capsys):
    assert main(["zmap", *words]) == 2
    assert capsys.readouterr().err.startswith("oz: error:")
