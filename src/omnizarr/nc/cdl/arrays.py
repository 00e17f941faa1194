"""From lists of values to the values of variables, and to the lengths of unlimited dimensions."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from omnizarr.nc.cdl.constants import Const
from omnizarr.nc.cdl.errors import Text
from omnizarr.nc.cdl.lists import count
from omnizarr.nc.cdl.values import elements, elements_of, filler, padded, single_bytes
from omnizarr.nc.source import Values
from omnizarr.nc.tree import Dim, Var
from omnizarr.nc.types import CHAR

_MANY: Final = 1 << 26
"""Elements that a list may leave out, at most: what a text only claims is not allocated."""


class Filling:
    """The lists of values of one text, turned into the values of its variables."""

    def __init__(self, text: Text) -> None:
        self.text = text

    def measure(self, var: Var, items: list[Const]) -> None:
        """Let unlimited dimensions of a variable be as long as its values need."""
        first = _unlimited(var.dims, 0)
        if first == len(var.dims):
            return
        if first == 0:
            self._measure(var, 0, items)
            return
        for item in items:
            self._measure(var, first, self._inside(item))

    def _measure(self, var: Var, index: int, items: list[Const]) -> None:
        after = _unlimited(var.dims, index + 1)
        block = math.prod(dim.size for dim in var.dims[index + 1 : after])
        if after < len(var.dims):
            length = len(items)
            for item in items:
                self._measure(var, after, self._inside(item))
        elif var.type == CHAR:
            length = len(padded(self.text, items, _unit(var), b"\0"))
        else:
            length = count(items)
        dim = var.dims[index]
        dim.size = max(dim.size, -(-length // block) if block else 0)

    def fill(self, var: Var, items: list[Const], at: int) -> None:
        """Set the values of a variable, whose dimensions have their lengths now."""
        total, given = math.prod(var.shape), _given(items)
        if total - given > _MANY:
            raise self.text.error(at, f"{given} values for {var.name}, which has {total} elements")
        if var.type == CHAR:
            values = elements_of(CHAR, _fill_char(var), total).reshape(var.shape)
        else:
            fill = var.fill if "_FillValue" in var.attrs else filler(var.type)
            values = elements_of(var.type, fill, total).reshape(var.shape)
        if var.dims:
            self._fill(var, values, 0, items, at)
        else:
            self._place(var, values, items, at)
        var.handle = values

    def _fill(self, var: Var, values: Values, index: int, items: list[Const], at: int) -> None:
        after = _unlimited(var.dims, index + 1)
        if after == len(var.dims):
            self._place(var, values, items, at)
            return
        shape = values.shape[: after - index]
        room = math.prod(shape)
        for number, item in enumerate(items):
            if number >= room:
                self.text.warn(item.at, f"more values than {var.name} has room for; they are left out")
                return
            self._fill(var, values[np.unravel_index(number, shape)], after, self._inside(item), item.at)

    def _place(self, var: Var, values: Values, items: list[Const], at: int) -> None:
        """Set the first of some elements to what a list without braces says."""
        if var.type == CHAR:
            found = single_bytes(padded(self.text, items, _unit(var), _fill_char(var)))
        else:
            fill = var.fill if "_FillValue" in var.attrs else filler(var.type)
            found = elements(self.text, items, var.type, fill)
        if len(found) > values.size:
            self.text.warn(
                at, f"{len(found)} values for {var.name}, which has room for {values.size}; the last are left out"
            )
        values.reshape(-1)[: len(found)] = found[: values.size]

    def _inside(self, item: Const) -> list[Const]:
        if item.kind != "list":
            raise self.text.error(item.at, "values along an unlimited dimension that is not the first stand in braces")
        inside: list[Const] = item.value
        return inside


def _given(items: list[Const]) -> int:
    """Return the number of values in a list and in the braces in it."""
    return sum(_given(item.value) if item.kind == "list" else count([item]) for item in items)


def _unlimited(dims: tuple[Dim, ...], start: int) -> int:
    """Return which dimension from some on is the first without a limit; their number if there is none."""
    return next((index for index in range(start, len(dims)) if dims[index].unlimited), len(dims))


def _unit(var: Var) -> int:
    """Return how long texts are that follow each other: as long as the last dimension, unless it has no limit."""
    if len(var.dims) < 2 or var.dims[-1].unlimited:  # rows have two
        return 1
    return max(var.dims[-1].size, 1)


def _fill_char(var: Var) -> bytes:
    fill: bytes = var.fill
    return fill or b"\0"
