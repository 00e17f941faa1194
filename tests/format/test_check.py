"""Checks that every document needs: the bounds themselves, and where errors point to."""

from __future__ import annotations

import pytest

from omnizarr.errors import LimitError, MetadataError, UnsafeError, UnsupportedError
from omnizarr.format import check
from omnizarr.format.codec_config import check_config, check_safe
from omnizarr.limits import Limits
from omnizarr.model.dtype import DType

LIMITS = Limits(max_dimensions=2, max_chunk_bytes=100)


def test_shapes_up_to_the_bound():
    assert check.shape([2**63 - 1], "k", LIMITS) == (2**63 - 1,)
    assert check.shape([2**62, 1], "k", LIMITS) == (2**62, 1)
    assert check.shape([0, 2**63 - 1], "k", LIMITS) == (0, 2**63 - 1)
    with pytest.raises(MetadataError, match=r"2\*\*63 elements or more") as caught:
        check.shape([2**62, 2], "k", LIMITS)
    assert (caught.value.pointer, caught.value.key) == ("/shape", "k")
    with pytest.raises(LimitError, match="3 dimensions; at most 2") as caught:
        check.shape([1, 1, 1], "k", LIMITS)
    assert caught.value.key == "k"


def test_chunks_up_to_the_bound():
    check.chunk_bytes((5, 5), DType.of("<i4"), "/x", "k", LIMITS)
    with pytest.raises(LimitError, match=r"104 bytes; at most 100 are read \(at /x\)") as caught:
        check.chunk_bytes((26,), DType.of("<i4"), "/x", "k", LIMITS)
    assert caught.value.key == "k"
    assert "max_chunk_bytes" in caught.value.hint


@pytest.mark.parametrize(
    ("call", "pointer"),
    [
        (lambda: check.sizes([1, -1], "/x", "k"), "/x/1"),
        (lambda: check.sizes([2**63], "/x", "k"), "/x/0"),
        (lambda: check.sizes([True], "/x", "k"), "/x/0"),
        (lambda: check.sizes([0], "/x", "k", 1), "/x/0"),
        (lambda: check.sizes(5, "/x", "k"), "/x"),
        (lambda: check.integer(4, "/x", "k", 1, 3), "/x"),
        (lambda: check.integer(0, "/x", "k", 1, 3), "/x"),
        (lambda: check.integer(True, "/x", "k", 0, 3), "/x"),
        (lambda: check.choice(["a"], "/x", "k", ("a", "b")), "/x"),
        (lambda: check.choice("c", "/x", "k", ("a", "b")), "/x"),
        (lambda: check.mapping([], "/x", "k"), "/x"),
        (lambda: check.chunk_shape([1], (1, 1), "/x", "k"), "/x"),
        (lambda: check.chunk_shape([1, 0], (0, 1), "/x", "k"), "/x/1"),
        (lambda: check.missing("f", "k"), "/"),
        (lambda: check_config("gzip", {"a/b": 1}, "/x", "k"), "/x/a~1b"),
        (lambda: check_config("gzip", {"level": 10}, "/x", "k"), "/x/level"),
        (lambda: check_config("lzma", {"preset": "x"}, "/x", "k"), "/x/preset"),
        (lambda: check_config("lzma", {"filters": 5}, "/x", "k"), "/x/filters"),
    ],
)
def test_errors_point_to_the_place(call, pointer):
    with pytest.raises(MetadataError) as caught:
        call()
    assert (caught.value.pointer, caught.value.key) == (pointer, "k")


def test_what_is_within_bounds():
    assert check.sizes([0, 2**63 - 1], "/x", "k") == (0, 2**63 - 1)
    assert check.integer(1, "/x", "k", 1, 3) == 1
    assert check.integer(3, "/x", "k", 1, 3) == 3
    assert check.chunk_shape([0, 1], (0, 1), "/x", "k") == (0, 1)
    check_config("gzip", {"level": -1}, "/x", "k")
    check_config("gzip", {"level": 9}, "/x", "k")
    check_config("lzma", {"preset": None, "filters": None}, "/x", "k")
    check_config("of others", {"a": 1}, "/x", "k")


def test_errors_of_codecs_name_them():
    for settings in ({"x": 1}, {"level": "5"}):
        with pytest.raises(MetadataError) as caught:
            check_config("gzip", settings, "/x", "k")
        assert caught.value.codec == "gzip"
    with pytest.raises(UnsafeError, match="would run code") as caught:
        check_safe("numcodecs.pickle", "/x", "k")
    assert (caught.value.codec, caught.value.key) == ("numcodecs.pickle", "k")
    assert "a machine that may be lost." in caught.value.hint
    check_safe("zstd", "/x", "k")


def test_types_that_are_not_known():
    with pytest.raises(UnsupportedError, match="'odd'") as caught:
        check.unknown_type("odd", "/x", "k")
    assert (caught.value.pointer, caught.value.key) == ("/x", "k")
