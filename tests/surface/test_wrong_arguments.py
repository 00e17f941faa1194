"""Wrong arguments: each is refused by an error of the tree that names the argument and says what to do."""

from __future__ import annotations

import pickle
import re
import sys
import zipfile
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import omnizarr as oz
from omnizarr import errors
from omnizarr.errors import LimitError, MetadataError, NodeTypeError, OmnizarrError, SelectionError, ShapeError
from omnizarr.limits import DEFAULT_LIMITS, Limits

DOORS: dict[str, Callable[..., object]] = {
    "open": lambda **given: oz.open(filled(), **given),
    "open_array": lambda **given: oz.open_array(filled(), **given),
    "open_group": lambda **given: oz.open_group(filled(), **given),
    "create_array": lambda **given: oz.create_array({}, shape=3, **given),
    "create_group": lambda **given: oz.create_group({}, **given),
    "consolidate": lambda **given: oz.consolidate(filled(), **given),
    "detect": lambda **given: oz.detect(filled(), **given),
    "validate": lambda **given: oz.validate(filled(), **given),
    "info": lambda **given: oz.info(filled(), **given),
    "copy": lambda **given: oz.copy(filled(), {}, **given),
}


def filled() -> dict[str, bytes]:
    store: dict[str, bytes] = {}
    group = oz.create_group(store)
    group.create_array("a", data=np.arange(4, dtype="i4"))
    group.create_array("inner/b", shape=2)
    return store


def made(**given: Any) -> oz.Array:
    return oz.create_array({}, **{"shape": (4, 6), "dtype": "i4", **given})


def refused(call: Callable[[], object], kind: type[OmnizarrError], says: str) -> OmnizarrError:
    """Check the error of a call: its kind, what it says, and that it has a cure and can be sent to another process."""
    with pytest.raises(OmnizarrError, match=says) as caught:
        call()
    error = caught.value
    assert type(error) is kind
    assert error.hint
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    return error


@pytest.mark.parametrize(
    ("door", "given"),
    [(door, given) for door in DOORS for given in (Path("a"), b"a", 5, ["a"])]
    # Of the others, the tools read an empty path as none.
    + [(door, given) for door in list(DOORS)[:7] for given in (0, [], False, b"", 0.0)],
)
def test_paths_are_text(door, given):
    error = refused(lambda: DOORS[door](path=given), NodeTypeError, "the path of a node is text, not ")
    assert isinstance(error, TypeError)
    assert repr(given) in error.message
    assert (error.hint == "Pass 'a'.") == isinstance(given, Path)


@pytest.mark.parametrize("door", ["open", "open_group", "create_array", "create_group", "validate", "info", "copy"])
@pytest.mark.parametrize(
    ("given", "kind", "says"),
    [
        *(
            (given, NodeTypeError, "limits are a Limits")
            for given in (3, None, {"max_chunk_bytes": 9}, tuple(Limits()))
        ),
        (Limits(max_dimensions=1.5), NodeTypeError, "^max_dimensions is .* not 1.5 of type float"),  # type: ignore[arg-type]
        (Limits(max_dimensions=-1), LimitError, "^max_dimensions is -1"),
    ],
)
def test_limits_are_checked_at_the_door(door, given, kind, says):
    refused(lambda: DOORS[door](limits=given), kind, says)


@pytest.mark.parametrize("name", Limits._fields[:-1])
@pytest.mark.parametrize(
    ("given", "kind"),
    [
        *((given, NodeTypeError) for given in (1.5, 1e6, "9", None)),
        *((given, LimitError) for given in (-1, 2**64)),
        pytest.param(10**5000, LimitError, id="digits"),
    ],
)
def test_every_limit_is_checked(name, given, kind):
    refused(lambda: oz.open({}, limits=Limits()._replace(**{name: given})), kind, f"^{name} is ")


@pytest.mark.parametrize("given", ["/data", 3])
def test_limits_allow_a_sequence(given):
    refused(lambda: oz.open({}, limits=Limits(allow=given)), NodeTypeError, "^allow is ")


def test_limits_that_are_right_are_taken():
    most = Limits(*(2**64 - 1 for _ in Limits._fields[:-1]))
    for limits in (
        DEFAULT_LIMITS,
        Limits(),
        most,
        Limits(max_chunk_bytes=np.int64(1 << 20), max_dimensions=np.uint8(9)),
    ):
        found = oz.open_array(filled(), path="a", limits=limits, cache_bytes=np.int64(1 << 20))
        assert found[...].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("door", ["open", "open_array", "open_group", "create_array"])
@pytest.mark.parametrize(
    ("given", "kind"),
    [
        *((given, NodeTypeError) for given in (1e6, "10MB", None, 0.0)),
        *((given, LimitError) for given in (-1, 2**64)),
    ],
)
def test_the_size_of_a_cache_is_checked_before_the_first_read(door, given, kind):
    refused(lambda: DOORS[door](cache_bytes=given), kind, "^cache_bytes is ")


def test_a_refused_cache_leaves_an_archive_as_it_was(tmp_path):
    place = tmp_path / "a.zip"
    oz.create_group(place).close()
    with pytest.raises(NodeTypeError):
        oz.create_array(place, path="a", shape=3, cache_bytes="10MB")
    oz.create_array(place, path="a", shape=3).close()
    assert zipfile.is_zipfile(place)
    assert oz.open(place, path="a").shape == (3,)


STORES: dict[str, Callable[[Path], Any]] = {
    "files": lambda place: oz.FileStore(place / "files"),
    "memory": lambda _: oz.MemoryStore(),
    "mapping": lambda _: oz.MemoryStore({}),
}


@pytest.mark.parametrize("name", STORES)
@pytest.mark.parametrize("key", [3, None, b"k"])
def test_keys_are_text(tmp_path, name, key):
    store = STORES[name](tmp_path)
    for call in (store.get, store.size, store.exists, store.erase, lambda key: store.get_range(key, 0, 1)):
        refused(lambda call=call: call(key), NodeTypeError, re.escape(f"a key is text, not {key!r}"))


@pytest.mark.parametrize("name", STORES)
def test_ranges_are_whole_numbers_of_any_size(tmp_path, name):
    store = STORES[name](tmp_path)
    store.put("k", b"0123456789")
    assert store.get_range("k", 10**30, 5) == b""
    assert store.get_range("k", -(10**30), 5) == b"01234"
    assert store.get_range("k", 8, 10**30) == b"89"
    assert store.get_range("k", -(2**63)) == b"0123456789"
    assert store.get_range("none", 10**30, 5) is None
    for given in (("x", 5), (1.5, 5), (None, 5)):
        refused(lambda given=given: store.get_range("k", *given), NodeTypeError, "^start is a whole number")
    refused(lambda: store.get_range("k", 2, "x"), NodeTypeError, "^length is a whole number")
    with pytest.raises(errors.UnsafeError):
        store.get_range("k", 2, -1)


class Failing(dict[str, bytes]):
    def __getitem__(self, key: str) -> bytes:
        raise TypeError("of the mapping")


def test_an_error_of_the_mapping_itself_stays_as_it_is():
    with pytest.raises(TypeError, match="of the mapping") as caught:
        oz.MemoryStore(Failing(k=b"0123")).get_range("k", 1, 2)
    assert not isinstance(caught.value, OmnizarrError)


CALLS: dict[str, tuple[Callable[[], object], type[OmnizarrError], str]] = {
    "dims": (lambda: made(dims=3), ShapeError, "dims is 3"),
    "dims of no dimension": (lambda: made(dims=np.array("x")), ShapeError, "dims is "),
    "update": (lambda: made().attrs.update(3), MetadataError, "not 3 of type int"),
    "update with text": (lambda: made().attrs.update("ab"), MetadataError, "not 'ab' of type str"),
    "members": (lambda: oz.create_group({}).members("a"), NodeTypeError, "max_depth .* not 'a' of type str"),
    "members below": (lambda: oz.open_group(filled()).members(1.5), NodeTypeError, "max_depth .* not 1.5"),
    "tree": (lambda: oz.create_group({}).tree("a"), NodeTypeError, "^depth .* not 'a' of type str"),
    "range": (lambda: made()[range(2**40)], LimitError, r"range\(0, 1099511627776\)"),
    "orthogonal range": (lambda: made().oindex[range(2**40)], LimitError, "range"),
    "FileStore": (lambda: oz.FileStore(3), NodeTypeError, "not 3 of type int"),  # type: ignore[arg-type]
    "repair": (lambda: oz.validate({}, repair=None), SelectionError, "^repair is None"),
    "select": (lambda: oz.validate({}, select=5), SelectionError, "^select is 5"),
    "select of numbers": (lambda: oz.validate({}, select=[5]), SelectionError, r"^select is \[5\]"),
    "select of nothing": (lambda: oz.validate({}, select=0), SelectionError, "^select is 0"),
    "ignore": (lambda: oz.validate({}, ignore="OZ1"), SelectionError, "^ignore is 'OZ1'"),
    "allow": (lambda: oz.open(filled(), allow=3), NodeTypeError, "^allow is .* not 3"),
}


@pytest.mark.parametrize("name", CALLS)
def test_wrong_arguments(name):
    refused(*CALLS[name])


@pytest.mark.parametrize("group", [Path("g"), 3, 0, b"g"])
@pytest.mark.parametrize("given", [{}, {"mode": "w"}, {"format": "nczarr"}])
def test_the_group_of_a_dataset_is_text(tmp_path, group, given):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("omnizarr.interop.xarray")
    data: Any = xarray.Dataset({"v": ("x", [1, 2])})
    error = refused(
        lambda: data.oz.to_omnizarr(tmp_path / "d", group=group, **given), NodeTypeError, "^group, the path"
    )
    assert repr(group) in error.message
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize("make", [np.array, lambda one: np.array(one, "u2"), lambda one: array("q", one)])
def test_chunks_and_shards_may_be_arrays(make):
    found = made(chunks=make([2, 3]), shards=make([4, 6]))
    assert (found.chunks, found.shards) == ((2, 3), (4, 6))
    assert made(chunks=make([2, 3])).chunks == (2, 3)
    assert made(shards=make([2, 3])).shards == (2, 3)
    assert made(dtype=("i4", (2,)), chunks=make([2, 3])).chunks == (2, 3, 2)


def test_arrays_of_other_than_lengths_are_refused():
    assert made(chunks=np.array(2)).chunks == (2, 2)
    assert made(shape=(3, 4), chunks=np.array([[1, 2], [2, 2]])).metadata.grid.edges == (((1, 1), (2, 1)), ((2, 2),))
    for given in (np.array([2.0, 3.0]), np.array([2, 0]), np.array([2])):
        with pytest.raises(ShapeError, match="chunks"):
            made(chunks=given)


def from_below(levels: int, call: Callable[[], object]) -> object:
    """Call something from so many frames below."""
    return from_below(levels - 1, call) if levels else call()


@pytest.mark.parametrize(("head", "tail", "step"), [(b"[", b"]", 0), (b'{"x":', b"}", "x")])
def test_attributes_are_read_as_deep_as_the_limits_say(head, tail, step):
    depth = 500
    store: dict[str, bytes] = {}
    oz.create_group(store, attrs={"a": "here"})
    deep = {key: value.replace(b'"here"', head * depth + b"1" + tail * depth) for key, value in store.items()}
    group = oz.open_group(deep, limits=Limits(max_document_depth=depth + 9))
    # Little of the stack is left, as versions of Python use it up at different rates.
    found: Any = from_below(sys.getrecursionlimit() - depth, lambda: group.attrs["a"])
    for _ in range(depth):
        found = found[step]
    assert found == 1


def test_attributes_that_come_out_are_copies():
    group = oz.create_group({}, attrs={"a": [{"b": [1, {"c": 2}]}, 3]})
    found: Any = group.attrs["a"]
    found[0]["b"][1]["c"] = found[1] = 4
    found[0]["b"].append(5)
    assert group.attrs["a"] == [{"b": [1, {"c": 2}]}, 3]
