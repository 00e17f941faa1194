"""What is written reads as what it was, by us and by fsspec."""

from __future__ import annotations

import json
import warnings

import fsspec
import numpy as np
import pytest

from omnizarr.errors import ExistsError, MetadataError, OmnizarrWarning
from omnizarr.refset.json_reading import read_json
from omnizarr.refset.json_writing import dumps, pieces_of, write_json
from omnizarr.refset.model import Chunks, References, Stamp
from omnizarr.refset.opening import open_set
from tests.refset.json.sets import SOURCE, random_set, values

FORMS = ["set.json", "set.json.gz", "set.json.zst"]


@pytest.mark.parametrize("seed", range(200))
def test_random_sets_survive_every_form(seed, tmp_path):
    made = random_set(seed)
    expected = values(made)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OmnizarrWarning)
        for version in (0, 1):
            name = FORMS[(seed + version) % 3]
            options = {"objects": seed % 5 == 0, "templates": seed % 3 == 0, "overwrite": True}
            write_json(made, tmp_path / name, version=version, **options)
            found = read_json((tmp_path / name).read_bytes())
            assert _same(values(found), expected)
            assert version == 0 or found.stamps == made.stamps
    if seed % 4 == 0:
        _fsspec_agrees(made, expected, tmp_path)


def _same(found, expected):
    """Whether two sets say the same; white space of documents that were objects may differ."""
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        if found[key] != value:
            assert json.loads(found[key]) == json.loads(value)
            assert key.rpartition("/")[2].startswith(".z")
    return True


def _fsspec_agrees(made, expected, folder):
    """Every byte is the same through fsspec; and what fsspec saves, we read."""
    (folder / "f").mkdir(exist_ok=True)
    for url in made.urls:
        path = folder / "f" / url
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(SOURCE)
    moved = References(made.documents, made.arrays, [f"{folder}/f/{url}" for url in made.urls], made.stamps)
    moved.others = {key: (f"{folder}/f/{value[0]}", *value[1:]) for key, value in made.others.items()}
    write_json(moved, folder / "moved.json", overwrite=True)
    theirs = fsspec.filesystem(
        "reference", fo=str(folder / "moved.json"), remote_protocol="file", skip_instance_cache=True
    )
    ours = open_set(folder / "moved.json", allow=[str(folder)])
    assert set(ours.list_prefix("")) == set(theirs.references) == set(expected)
    for key in expected:
        assert ours.get(key) == theirs.cat(key), key
    theirs.save_json(str(folder / "theirs.json"))
    assert _same(values(read_json((folder / "theirs.json").read_bytes())), values(moved))


def test_stamps_have_no_place_in_version_0():
    made = References(urls=["x"], stamps={"x": Stamp(5, 6, 'é"')})
    assert read_json(dumps(made)).stamps == made.stamps
    with pytest.warns(OmnizarrWarning, match="version 0"):
        dumps(made, version=0)
    with pytest.raises(MetadataError):
        dumps(made, version=2)  # type: ignore[arg-type]


def test_nothing_is_replaced_unasked_and_nothing_is_left_of_a_failure(tmp_path):
    path = tmp_path / "set.json"
    write_json(References({"x": b"1"}), path)
    with pytest.raises(ExistsError):
        write_json(References({"x": b"2"}), path)
    broken = References({"x": b"3"}, {"a": Chunks.ranges((1,), 0, [0], [1])}, ["u"])
    with pytest.raises(MetadataError, match="no document"):
        write_json(broken, path, overwrite=True)
    assert [one.name for one in tmp_path.iterdir()] == ["set.json"]
    assert read_json(path.read_bytes()).documents == {"x": b"1"}


def test_inline_bytes_that_look_like_json_are_not_text():
    raw = [b"1.50", b"{}", b"true", b"NaN", b" x", b"plain"]
    document = {"zarr_format": 2, "shape": [6], "chunks": [1], "dtype": "|u1", "order": "C"}
    text = json.dumps({**document, "fill_value": 0, "compressor": None, "filters": None}).encode()
    made = References({"a/.zarray": text}, {"a": Chunks.of_bytes((6,), dict(enumerate(raw)))})
    refs = json.loads(dumps(made, version=0))
    assert [refs[f"a/{i}"].startswith("base64:") for i in range(6)] == [True] * 5 + [False]


def test_common_folders_become_templates():
    urls = [f"https://example.org/some/folder/f{i}.nc" for i in range(20)] + ["s3://other/x.nc"]
    made = References(urls=urls, others={f"k{i}": (url, i, 1) for i, url in enumerate(urls)})
    text = json.loads(b"".join(pieces_of(made, templates=True)))
    assert text["templates"] == {"u": "https://example.org/some/folder"}
    assert text["refs"]["k3"] == ["{{u}}/f3.nc", 3, 1]
    theirs = fsspec.filesystem("reference", fo=text, remote_protocol="https", skip_instance_cache=True)
    assert theirs.references["k3"] == [urls[3], 3, 1]
    assert read_json(json.dumps(text).encode()).others == made.others


def test_many_rows_are_written_in_pieces():
    n = 600_000
    document = {"zarr_format": 2, "shape": [n], "chunks": [1], "dtype": "|u1", "order": "C"}
    text = json.dumps({**document, "fill_value": 0, "compressor": None, "filters": None}).encode()
    made = References({"a/.zarray": text}, {"a": Chunks.ranges((n,), 0, np.arange(n), 7)}, ["x.nc"])
    found = read_json(dumps(made)).arrays["a"]
    np.testing.assert_array_equal(found.offsets, np.arange(n))
    assert found.numbers is None
