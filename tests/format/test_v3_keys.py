"""Chunk key encodings in v3 documents."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnizarr.errors import MetadataError, UnsupportedError
from omnizarr.format.v3_keys import parse_keys, render_keys
from omnizarr.model.codec import Codec
from omnizarr.model.keys import Keys, affix_keys, default_keys, suffix_keys, v2_keys


def parsed(name: str, **configuration: Any) -> Keys:
    return parse_keys(Codec(name, configuration), "zarr.json")


@pytest.mark.parametrize(
    ("name", "configuration", "keys", "names"),
    [
        ("default", {}, default_keys(), ("c/1/23/45", "c")),
        ("default", {"separator": "."}, default_keys("."), ("c.1.23.45", "c")),
        # Version 2 has no "c" in front, and a separator of its own.
        ("v2", {}, v2_keys(), ("1.23.45", "0")),
        ("v2", {"separator": "/"}, v2_keys("/"), ("1/23/45", "0")),
        ("zarrs.default_suffix", {"suffix": ".tiff"}, suffix_keys("/", ".tiff"), ("c/1/23/45.tiff", "c.tiff")),
        ("zarrs.default_suffix", {"suffix": ".t", "separator": "."}, suffix_keys(".", ".t"), ("c.1.23.45.t", "c.t")),
        ("omnizarr.affix", {"prefix": "x"}, affix_keys("x"), ("x.1.23.45", "x")),
        ("omnizarr.affix", {"suffix": "y", "separator": "-"}, affix_keys("", "-", "y"), ("1-23-45-y", "y")),
        ("omnizarr.affix", {"prefix": "a/b", "separator": "/"}, affix_keys("a/b", "/"), ("a/b/1/23/45", "a/b")),
    ],
)
def test_encodings(name, configuration, keys, names):
    found = parsed(name, **configuration)
    assert found == keys
    assert (found.key((1, 23, 45)), found.key(())) == names
    assert found.parse(names[0], 3) == (1, 23, 45)
    rendered = render_keys(found)
    assert rendered["name"] == name  # type: ignore[index, call-overload]  # an object
    assert parse_keys(Codec(name, rendered["configuration"]), "zarr.json") == found  # type: ignore[index, call-overload, arg-type]


def test_the_rule_of_the_first_draft():
    # Empty prefix and suffix add no separator, which is what every reader calls "v2".
    assert affix_keys().key((1, 23, 45)) == "1.23.45"
    assert affix_keys() == v2_keys()
    assert parsed("omnizarr.affix") == v2_keys()
    assert render_keys(affix_keys()) == {"name": "v2", "configuration": {"separator": "."}}
    assert affix_keys("p", "/", "s").key((1, 2)) == "p/1/2/s"


@given(
    st.text("ab/._-x", max_size=4),
    st.text("/._-x", min_size=1, max_size=3),
    st.text("ab/._-x", max_size=4),
    st.lists(st.lists(st.integers(0, 120), min_size=2, max_size=2), min_size=1, max_size=8),
)
def test_accepted_keys_are_unique_and_read_back(prefix, separator, suffix, indices):
    try:
        keys = parsed("omnizarr.affix", prefix=prefix, separator=separator, suffix=suffix)
    except MetadataError:
        return
    assert parsed_again(keys) == keys
    for index in indices:
        assert keys.parse(keys.key(tuple(index)), 2) == tuple(index)
    assert len({keys.key(tuple(index)) for index in indices}) == len({tuple(index) for index in indices})


def parsed_again(keys: Keys) -> Keys:
    document: Any = render_keys(keys)
    return parse_keys(Codec(document["name"], document["configuration"]), "zarr.json")


@pytest.mark.parametrize(
    "configuration",
    [
        {"separator": ""},
        {"separator": "0"},
        {"separator": ".1."},
        {"separator": "٣"},
        {"separator": 1},
        {"separator": None},
        {"separator": "//"},
        {"separator": "/../"},
        {"separator": "\\"},
        {"prefix": ".."},
        {"prefix": "..", "separator": "/"},
        {"prefix": "a/../..", "separator": "/"},
        {"prefix": "/abs", "separator": "/"},
        {"prefix": "/", "separator": "/"},
        {"prefix": "c:", "separator": "/"},
        {"prefix": "nul\0"},
        {"prefix": ["c"]},
        {"suffix": "/", "separator": "/"},
        {"suffix": "..", "separator": "/"},
        {"suffix": 3},
        {"prefix": "zarr.json", "separator": "/"},
        {"suffix": ".zattrs", "separator": "/"},
        {"prefix": "ZARR.JSON", "separator": "/"},
        {"prefix": "zarr", "suffix": "x", "other": 1},
    ],
)
def test_keys_that_could_collide_or_escape_are_refused(configuration):
    with pytest.raises(MetadataError):
        parsed("omnizarr.affix", **configuration)


@pytest.mark.parametrize("configuration", [{}, {"suffix": 1}, {"suffix": ".x", "separator": "-"}, {"suffix": "/.."}])
def test_suffixes_that_are_refused(configuration):
    with pytest.raises(MetadataError):
        parsed("zarrs.default_suffix", **configuration)


@pytest.mark.parametrize("name", ["prefix", "suffix", "fanout", "template", "other"])
def test_other_encodings_are_refused_by_name(name):
    with pytest.raises(UnsupportedError, match=name):
        parsed(name)


@pytest.mark.parametrize(
    "keys", [Keys("c", "/", "", "c0"), Keys("", "/", "", "0", reversed=True), Keys("c", ".", "", "c")]
)
def test_keys_without_an_encoding_are_not_written(keys):
    with pytest.raises(UnsupportedError, match="no encoding"):
        render_keys(keys)
