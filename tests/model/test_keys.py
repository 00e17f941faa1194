"""Chunk keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from omnizarr.model.keys import Keys, default_keys, v2_keys

TEMPLATES = [default_keys(), default_keys("."), v2_keys(), v2_keys("/"), Keys("", ".", ".blosc", "0.blosc")]


@pytest.mark.parametrize(
    ("keys", "index", "key"),
    [
        (default_keys(), (1, 20), "c/1/20"),
        (default_keys(), (), "c"),
        (default_keys("."), (0,), "c.0"),
        (v2_keys(), (1, 20), "1.20"),
        (v2_keys("/"), (1, 20), "1/20"),
        (v2_keys(), (), "0"),
        (Keys("", ".", ".blosc", ".blosc"), (0, 0), "0.0.blosc"),
        (Keys("", "/", "", "0", reversed=True), (1, 20, 3), "3/20/1"),
        (v2_keys(), (2**63 - 1, 0), "9223372036854775807.0"),
    ],
)
def test_keys(keys, index, key):
    assert keys.key(index) == key
    assert keys.parse(key, len(index)) == index


@given(st.sampled_from(TEMPLATES), st.lists(st.integers(0, 2**63 - 1), max_size=5))
def test_parsing_inverts_forming(keys, index):
    assert keys.parse(keys.key(tuple(index)), len(index)) == tuple(index)


@pytest.mark.parametrize(
    "key",
    [
        *("", "c", "c/", "c/1", "c/1/2/3", "c/01/2", "c/+1/2", "c/-1/2", "c/1/2 ", "c/1//2", "c1/2", "d/1/2", "1/2"),
        *("c/1/2.partial", "c/१/2", "c/1.2", "c/1/²", "zarr.json", "c/1/99999999999999999999", "C/1/2"),
    ],
)
def test_other_keys_are_no_chunks(key):
    assert default_keys().parse(key, 2) is None


def test_without_the_number_of_dimensions():
    assert default_keys().parse("c") == ()
    assert default_keys().parse("c/1/2/3") == (1, 2, 3)
    assert v2_keys().parse("0") == (0,)
    assert v2_keys().parse(".zarray") is None


def test_what_ends_otherwise_is_no_chunk():
    keys = Keys("", ".", ".blosc", ".blosc")
    assert keys.parse("0.0.blosc", 2) == (0, 0)
    assert keys.parse("0.0xxxxxx", 2) is None
    assert keys.parse(".blosc", 1) is None
