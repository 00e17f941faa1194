"""Which part of a value is the array's shape, and which is inside its elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from omnizarr.array.objects import as_objects, boxed, packed, unpacked
from omnizarr.errors import CorruptError, ShapeError
from omnizarr.model.dtype import JSON_OBJECTS


@pytest.mark.parametrize(
    ("value", "ndim", "shape"),
    [
        ("text", 1, ()),
        (None, 2, ()),
        ([1, 2], 0, ()),
        ([1, 2], 1, (2,)),
        ((1, 2), 1, (2,)),
        ([[1, 2], [3, 4]], 1, (2,)),
        ([[1, 2], [3, 4]], 2, (2, 2)),
        ([[1, 2], [3]], 2, (2,)),
        ([[1, 2], 3], 2, (2,)),
        ([[[1], [2]]], 2, (1, 2)),
        ([], 1, (0,)),
        ([], 2, (0,)),
        ([[], []], 2, (2, 0)),
        ({"a": 1}, 1, ()),
        (np.arange(6).reshape(2, 3), 1, (2,)),
        (np.arange(6).reshape(2, 3), 2, (2, 3)),
        (np.array(["a", "b"], object), 1, (2,)),
        (np.array(["a", "b"], object), 2, (2,)),
        (np.array(["a", "b"], object), 0, ()),
        (np.array("a", object), 1, ()),
        (np.array("a", object), 0, ()),
    ],
    ids=repr,
)
def test_shapes(value: Any, ndim: int, shape: tuple[int, ...]) -> None:
    assert as_objects(value, ndim).shape == shape
    assert as_objects(value, ndim).dtype == object


@pytest.mark.parametrize("value", [[1, 2], np.arange(3), None, "x", ()], ids=repr)
def test_boxes(value: Any) -> None:
    assert boxed(value).shape == ()
    assert boxed(value)[()] is value


def test_errors() -> None:
    with pytest.raises(ShapeError, match="json"):
        packed(boxed(object()), JSON_OBJECTS, "a")
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ShapeError, match="json"):
        packed(boxed(deep), JSON_OBJECTS, "a")
    with pytest.raises(CorruptError):
        unpacked(boxed(b"{"), JSON_OBJECTS, "a")
    with pytest.raises(CorruptError):
        unpacked(boxed(b"[" * 100_000), JSON_OBJECTS, "a")
