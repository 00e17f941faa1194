"""Random datasets as plain values, the same for a number in every run.

A group is a dict of name, dims (name, size, unlimited), attrs (name, code of the type, value), vars and groups. A
variable is a dict of name, type, dims (full paths), attrs, values (None if never written) and storage. Text is bytes,
strings are lists of `str`, numbers arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np

CHAR, STRING, FLOAT, DOUBLE = 2, 12, 5, 6
DTYPES = {1: "i1", 2: "S1", 3: "i2", 4: "i4", 5: "f4", 6: "f8", 7: "u1", 8: "u2", 9: "u4", 10: "i8", 11: "u8"}
NAMES = ["x", "y", "lat", "a.b", "x y", "größe", "温度", "_u", "t-1", "2m", "B", "b", "n+1", "temp"]
TEXTS = [
    "", "plain", "123", "-5", "1.5", "1e10", "true", "null", "NaN", "[1,2]", '{"a": 1}', '"abc"', "a\nb", "tab\tx\r",
    'say "hi"', "back\\slash", "Größe 25 °C", "温度", "2020-01-01", " lead", "trail ", " 12 ", "'q'", "{not json", "[1",
    "\\u00e9", "x" * 200, "</a>", "a/b", "0x10", "+5", ".5", "1.", "Infinity", "-", "\\", "é" * 5, "[]", "{}",
]  # fmt: skip


class Maker:
    """Makes one dataset."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng([2026, seed])

    def dataset(self) -> dict[str, Any]:
        return self._group("", "", [], depth=0)

    def _group(self, name: str, path: str, above: list[tuple[str, int]], depth: int) -> dict[str, Any]:
        names = iter(self._names(len(NAMES)))
        dims = []
        for _ in range(self._upto(3)):
            unlimited = self._chance(0.3)
            dims.append((next(names), int(self.rng.integers(0 if unlimited else 1, 6)), unlimited))
        visible = [*above, *((f"{path}/{one}", size) for one, size, _ in dims)]
        taken = [one for one, _, _ in dims if self._chance(0.4)]  # coordinate variables
        variables = [self._var(one, visible, f"{path}/{one}") for one in taken]
        variables += [self._var(next(names), visible, "") for _ in range(self._upto(3))]
        groups = []
        if depth < 3:
            for _ in range(self._upto(2) if depth else self._upto(3)):
                inner = next(names)
                groups.append(self._group(inner, f"{path}/{inner}", visible, depth + 1))
        return {"name": name, "dims": dims, "attrs": self._attrs(), "vars": variables, "groups": groups}

    def _var(self, name: str, visible: list[tuple[str, int]], coordinate: str) -> dict[str, Any]:
        kind = int(self.rng.integers(1, 13))
        sizes = dict(visible)
        rank = min(len(visible), self._upto(3))
        dims = (
            [coordinate]
            if coordinate
            else [visible[i][0] for i in self.rng.integers(0, len(visible), rank)]
            if visible
            else []
        )
        shape = tuple(sizes[one] for one in dims)
        attrs = [one for one in self._attrs() if one[0] != "_FillValue"]
        if self._chance(0.3):
            attrs.insert(0, ("_FillValue", kind, self._fill(kind)))
        values = None if self._chance(0.15) else self._values(kind, shape)
        storage = self._storage(kind, shape)
        return {"name": name, "type": kind, "dims": dims, "attrs": attrs, "values": values, "storage": storage}

    def _storage(self, kind: int, shape: tuple[int, ...]) -> dict[str, Any]:
        found: dict[str, Any] = {
            "chunks": None, "endian": "", "shuffle": False, "deflate": 0, "filters": [], "fletcher32": False,
        }  # fmt: skip
        if shape and self._chance(0.5):
            found["chunks"] = [int(self.rng.integers(1, max(size, 1) + 1)) for size in shape]
        if kind not in (CHAR, STRING) and self._chance(0.3):
            found["endian"] = str(self.rng.choice(["little", "big"]))
        if shape and self._chance(0.4):
            found["deflate"] = int(self.rng.integers(1, 10))
            found["shuffle"] = kind not in (CHAR, STRING) and self._chance(0.5)
            found["fletcher32"] = self._chance(0.3)
        elif shape and self._chance(0.2):
            found["filters"] = [[(307, (9,)), (32015, (5,))][self._upto(1)]]
        return found

    def _attrs(self) -> list[tuple[str, int, Any]]:
        return [(name, *self._attr()) for name in self._names(self._upto(4))]

    def _attr(self) -> tuple[int, Any]:
        kind = int(self.rng.integers(1, 13))
        if kind == CHAR:
            return kind, self._text().encode()
        if kind == STRING:
            return kind, [self._text() for _ in range(1 + self._upto(2))]
        return kind, self._numbers(kind, self._upto(3))

    def _fill(self, kind: int) -> Any:
        if kind == CHAR:
            return b"z"
        if kind == STRING:
            return ["none"]
        return self._numbers(kind, 1)

    def _values(self, kind: int, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        size = int(np.prod(shape, dtype=int))
        if kind == CHAR:
            return self.rng.integers(1, 256, size).astype("u1").view("S1").reshape(shape)
        if kind == STRING:
            texts = np.empty(size, object)
            texts[:] = [self._text()[:40] for _ in range(size)]
            return texts.reshape(shape)
        return self._numbers(kind, size).reshape(shape)

    def _numbers(self, kind: int, size: int) -> np.ndarray[Any, Any]:
        dtype = np.dtype(DTYPES[kind])
        raw = np.frombuffer(self.rng.bytes(size * dtype.itemsize), dtype).copy()
        if dtype.kind == "f":
            raw = self.rng.normal(0, 1e3, size).astype(dtype)
            special = [
                np.nan,
                np.inf,
                -np.inf,
                -0.0,
                np.finfo(dtype).max,
                np.finfo(dtype).tiny,
                0.1,
                9.969209968386869e36,
            ]
        else:
            special = [np.iinfo(dtype).min, np.iinfo(dtype).max, 0, 1]
        for index in range(size):
            if self._chance(0.3):
                raw[index] = special[int(self.rng.integers(len(special)))]
        return raw

    def _text(self) -> str:
        return TEXTS[int(self.rng.integers(len(TEXTS)))]

    def _names(self, count: int) -> list[str]:
        return [NAMES[i] for i in self.rng.permutation(len(NAMES))[:count]]

    def _upto(self, most: int) -> int:
        return int(self.rng.integers(0, most + 1))

    def _chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)


def make(seed: int) -> dict[str, Any]:
    """Return the dataset of a number."""
    return Maker(seed).dataset()
