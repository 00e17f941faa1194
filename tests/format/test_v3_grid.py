"""Chunk grids in v3 documents."""

from __future__ import annotations

import json
from typing import Any

import pytest

from omnizarr.errors import LimitError, MetadataError, NodeTypeError, UnsupportedError
from omnizarr.format import v2, v3
from omnizarr.limits import Limits
from omnizarr.model.grid import RectilinearGrid, RegularGrid

INT32 = [{"name": "bytes", "configuration": {"endian": "little"}}]


def document(grid: object, shape: tuple[int, ...], codecs: object = INT32) -> dict[str, Any]:
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(shape),
        "data_type": "int32",
        "chunk_grid": grid,
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0,
        "codecs": codecs,
    }


def rectilinear(*shapes: object) -> dict[str, Any]:
    return {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": list(shapes)}}


def sharded(*chunk: int) -> list[Any]:
    configuration = {
        "chunk_shape": list(chunk),
        "codecs": INT32,
        "index_codecs": [*INT32, {"name": "crc32c"}],
        "index_location": "end",
    }
    return [{"name": "sharding_indexed", "configuration": configuration}]


def test_the_example_of_the_registry():
    grid = rectilinear(4, [1, 2, 3], [[4, 2]], [[1, 3], 3], [4, 4, 4])
    meta = v3.parse_array(document(grid, (6, 6, 6, 6, 6)), "zarr.json")
    # Pairs are a length and a count, in this order.
    assert meta.chunks == (4, (1, 2, 3), (4, 4), (1, 1, 1, 3), (4, 4))
    assert meta.grid == RectilinearGrid((4, ((1, 1), (2, 1), (3, 1)), ((4, 2),), ((1, 3), (3, 1)), ((4, 3),)))
    assert v3.render_array(meta)["chunk_grid"] == rectilinear(4, [1, 2, 3], [[4, 2]], [[1, 3], 3], [[4, 3]])


@pytest.mark.parametrize(
    ("grid", "shape", "expected"),
    [
        ({"name": "regular", "configuration": {"chunk_shape": [4]}}, (10,), RegularGrid((4,))),
        ({"name": "zarrs.regular_bounded", "configuration": {"chunk_shape": [4]}}, (10,), RectilinearGrid((4,), True)),
        (rectilinear([5, 5]), (7,), RectilinearGrid((((5, 2),),))),
        (rectilinear([]), (0,), RectilinearGrid(((),))),
        (rectilinear(), (), RectilinearGrid(())),
        (rectilinear([[1, 2**62], 2**62]), (2**63 - 1,), RectilinearGrid((((1, 2**62), (2**62, 1)),))),
    ],
)
def test_grids_through_documents(grid, shape, expected):
    wide = Limits()._replace(max_chunk_bytes=2**70)
    meta = v3.parse_array(document(grid, shape), "zarr.json", wide)
    assert meta.grid == expected
    rendered = json.loads(json.dumps(v3.render_array(meta)))
    assert v3.parse_array(rendered, "zarr.json", wide) == meta
    assert rendered["chunk_grid"]["name"] == grid["name"]


def test_the_grid_of_zep_3():
    grid = {"name": "rectangular", "configuration": {"chunk_shape": [[5, 5, 5, 15, 15, 20, 35], 10]}}
    meta = v3.parse_array(document(grid, (100, 100)), "zarr.json")
    assert meta.chunks == ((5, 5, 5, 15, 15, 20, 35), 10)
    assert v3.render_array(meta)["chunk_grid"] == rectilinear([[5, 3], [15, 2], 20, 35], 10)


@pytest.mark.parametrize(
    ("grid", "shape", "pointer"),
    [
        (rectilinear([3, 3]), (7,), "/chunk_shapes/0"),
        (rectilinear(), (7,), "/chunk_shapes"),
        (rectilinear(4, 4), (7,), "/chunk_shapes"),
        (rectilinear(0), (7,), "/chunk_shapes/0"),
        (rectilinear(0), (0,), "/chunk_shapes/0"),
        (rectilinear([3, 0, 4]), (7,), "/chunk_shapes/0/1"),
        (rectilinear([3, -3, 10]), (7,), "/chunk_shapes/0/1"),
        (rectilinear([3.5, 4]), (7,), "/chunk_shapes/0/0"),
        (rectilinear([True, 7]), (7,), "/chunk_shapes/0/0"),
        (rectilinear([[7, 0]]), (7,), "/chunk_shapes/0/0/1"),
        (rectilinear([[0, 7]]), (7,), "/chunk_shapes/0/0/0"),
        (rectilinear([[7]]), (7,), "/chunk_shapes/0/0"),
        (rectilinear([[7, 1, 1]]), (7,), "/chunk_shapes/0/0"),
        (rectilinear([[[7, 1], 1]]), (7,), "/chunk_shapes/0/0/0"),
        (rectilinear([2**63]), (7,), "/chunk_shapes/0/0"),
        (rectilinear("7"), (7,), "/chunk_shapes/0"),
        (rectilinear(None), (7,), "/chunk_shapes/0"),
        ({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": 7}}, (7,), "/chunk_shapes"),
        ({"name": "rectilinear", "configuration": {"chunk_shapes": [7]}}, (7,), "/configuration"),
        ({"name": "rectilinear"}, (7,), "/configuration"),
        ({"name": "rectangular", "configuration": {"chunk_shapes": [7]}}, (7,), "/configuration"),
        ({"name": "zarrs.regular_bounded", "configuration": {"chunk_shape": [0]}}, (7,), "/chunk_shape/0"),
        ({**rectilinear(4), "must_understand": False}, (7,), "/must_understand"),
    ],
)
def test_grids_that_break_the_rules(grid, shape, pointer):
    with pytest.raises(MetadataError) as caught:
        v3.parse_array(document(grid, shape), "zarr.json")
    assert caught.value.pointer is not None
    assert caught.value.pointer.endswith(pointer)


def test_other_grids_are_refused_by_name():
    with pytest.raises(UnsupportedError, match="hexagonal"):
        v3.parse_array(document({"name": "hexagonal"}, (7,)), "zarr.json")
    kind = {"name": "rectilinear", "configuration": {"kind": "linked", "chunk_shapes": [7]}}
    with pytest.raises(UnsupportedError, match="linked"):
        v3.parse_array(document(kind, (7,)), "zarr.json")


def test_chunks_in_shards_divide_every_shard():
    grid = rectilinear([8, 4, 12], [[6, 2]])
    assert v3.parse_array(document(grid, (20, 10), sharded(4, 3)), "zarr.json").chunks == (4, 3)
    for bad, pointer in ((sharded(8, 3), "/0"), (sharded(4, 4), "/1")):
        with pytest.raises(MetadataError) as caught:
            v3.parse_array(document(grid, (20, 10), bad), "zarr.json")
        assert str(caught.value.pointer).endswith(f"/chunk_shape{pointer}")
    with pytest.raises(MetadataError) as caught:
        v3.parse_array(document(rectilinear([4, 4, 2]), (8,), sharded(4)), "zarr.json")
    assert "multiples of [2]" in str(caught.value)


def test_shards_that_end_with_the_array_are_divided_too():
    bounded = {"name": "zarrs.regular_bounded", "configuration": {"chunk_shape": [8]}}
    assert v3.parse_array(document(bounded, (12,), sharded(4)), "zarr.json").chunks == (4,)
    with pytest.raises(MetadataError, match="cannot cut a shard"):
        v3.parse_array(document(bounded, (13,), sharded(4)), "zarr.json")


def test_the_largest_chunk_counts_for_the_limit():
    limits = Limits()._replace(max_chunk_bytes=100)
    assert v3.parse_array(document(rectilinear([25, 1]), (26,)), "zarr.json", limits)
    with pytest.raises(LimitError):
        v3.parse_array(document(rectilinear([1, 26]), (26,)), "zarr.json", limits)


def test_siblings_are_read_whole_where_the_grid_depends_on_the_shape():
    known = v3.parse_array(document(rectilinear([3, 4]), (7,)), "zarr.json")
    assert v3.parse_sibling(known, {"shape": [8]}, "zarr.json", Limits()) is None


@pytest.mark.parametrize("grid", [RectilinearGrid((((3, 1), (4, 1)),)), RectilinearGrid((4,), clipped=True)])
def test_v2_has_no_such_grids(grid):
    meta = v3.parse_array(document(rectilinear([3, 4]), (7,)), "zarr.json")._replace(grid=grid, format="zarr2")
    with pytest.raises(UnsupportedError, match="one shape"):
        v2.render_array(meta)


def test_uneven_chunks_that_end_with_the_array_cannot_be_written():
    meta = v3.parse_array(document(rectilinear([3, 4]), (7,)), "zarr.json")
    with pytest.raises(UnsupportedError):
        v3.render_array(meta._replace(grid=RectilinearGrid((((3, 1), (4, 1)),), clipped=True)))


def padded(held: list[Any], stored: list[Any]) -> dict[str, Any]:
    return {"name": "omnizarr.padded", "configuration": {"chunk_shapes": held, "stored_shapes": stored}}


def test_chunks_that_are_stored_longer_than_what_they_hold():
    grid = padded([[2, 1, 2], 3], [[[2, 3]], 3])
    meta = v3.parse_array(document(grid, (5, 6)), "zarr.json")
    assert meta.grid == RectilinearGrid((((2, 1), (1, 1), (2, 1)), 3), stored=(((2, 3),), 3))
    assert v3.render_array(meta)["chunk_grid"] == grid
    same = v3.parse_array(document(padded([[2, 3]], [[2, 3]]), (5,)), "zarr.json")
    assert same.grid == RectilinearGrid((((2, 1), (3, 1)),))


@pytest.mark.parametrize(
    ("held", "stored", "pointer"),
    [
        ([[2, 3]], [[2, 2, 2]], "/stored_shapes/0"),
        ([[2, 3]], [[5]], "/stored_shapes/0"),
        ([[2, 3]], [[3, 2]], "/stored_shapes/0"),
        ([[2, 3]], [3], "/stored_shapes/0"),
        ([5], [6], "/stored_shapes/0"),
        ([5], [[5]], "/stored_shapes/0"),
        ([[2, 3]], [[2]], "/stored_shapes/0"),
        ([[2, 2]], [[2, 3]], "/chunk_shapes/0"),
        ([[2, 3]], 5, "/stored_shapes"),
        ([[2, 3]], [], "/stored_shapes"),
    ],
)
def test_lengths_as_stored_that_do_not_fit(held, stored, pointer):
    with pytest.raises(MetadataError) as caught:
        v3.parse_array(document(padded(held, stored), (5,)), "zarr.json")
    assert caught.value.key == "zarr.json"
    assert caught.value.pointer == f"/chunk_grid/configuration{pointer}"


def test_siblings_of_no_length_are_read_whole():
    regular = {"name": "regular", "configuration": {"chunk_shape": [3]}}
    known = v3.parse_array(document(regular, (7,)), "zarr.json")
    assert v3.parse_sibling(known, {"shape": [8]}, "zarr.json", Limits()) == known._replace(shape=(8,))
    assert v3.parse_sibling(known, {"shape": [0]}, "zarr.json", Limits()) is None
    assert v3.parse_sibling(known, {"shape": [8, 8]}, "zarr.json", Limits()) is None
    assert v3.parse_sibling(known._replace(shape=(0,)), {"shape": [8]}, "zarr.json", Limits()) is None


def test_nodes_of_the_other_kind():
    with pytest.raises(NodeTypeError) as caught:
        v3.parse_group(document(rectilinear(4), (7,)), "a/zarr.json")
    assert (caught.value.message, caught.value.key) == ("this is an array, not a group", "a/zarr.json")
    with pytest.raises(NodeTypeError) as caught:
        v3.parse_array({"zarr_format": 3, "node_type": "group"}, "a/zarr.json")
    assert (caught.value.message, caught.value.key) == ("this is a group, not an array", "a/zarr.json")
