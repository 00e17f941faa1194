"""Definitions, values, names and reopening in any order: what is in the store is what a dataset in memory holds."""

from __future__ import annotations

import random

import numpy as np
import pytest

from omnizarr.nc.opening import create_source, open_source
from omnizarr.nc.source import MemorySource, counts
from omnizarr.nc.tree import Attr, Group, Storage
from omnizarr.nc.types import CHAR, DOUBLE, INT, STRING
from tests.nc.zarr.datasets import assert_same

STEPS = 45


class Run:
    """Does the same to a dataset in a place and to one in memory."""

    def __init__(self, seed, kind, where):
        self.random = random.Random(seed)
        self.where = where
        self.model = MemorySource()
        self.source = create_source(where, Group(), kind)
        self.count = 0

    def new_name(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    def pick(self):
        """Return any group, and its twin."""
        group = self.random.choice(list(self.model.root.walk()))
        return group, self.source.root.find_group(group.path)

    def dim(self):
        name, unlimited = self.new_name("d"), self.random.random() < 0.6
        size = 0 if unlimited else self.random.randrange(1, 4)
        for group in (pair := self.pick()):
            group.add_dim(name, size, unlimited=unlimited)
        self.source.changed(pair[1])

    def var(self):
        name, kind, pair = self.new_name("v"), self.random.choice([INT, DOUBLE, CHAR, STRING]), self.pick()
        near = [dim.path for group in pair[0].above() for dim in group.dims.values()]
        paths = [self.random.choice(near) for _ in range(self.random.randrange(4))] if near else []
        chunks = tuple(self.random.randrange(1, 4) for _ in paths)
        for group in pair:
            var = group.add_var(name, kind, tuple(group.find_dim(path) for path in paths), Storage(chunks=chunks))
        self.source.changed(var)
        self.source.changed(pair[1])

    def group(self):
        name, pair = self.new_name("g"), self.pick()
        for group in pair:
            new = group.add_group(name)
        self.source.changed(pair[1])
        self.source.changed(new)

    def attr(self):
        attr = self.random.choice(
            [Attr.of_text("dtype", "x"), Attr.of_text("a", "123"), Attr.of_values("a", INT, [1, 2]), None]
        )
        group, twin = self.pick()
        name = self.random.choice([None, *group.vars])
        for node in (group, twin):
            one = node if name is None else node.vars[name]
            if attr is None:
                one.attrs.pop("a", None)
            else:
                one.attrs[attr.name] = attr
        self.source.changed(one)

    def write(self):
        group, twin = self.pick()
        if not group.vars:
            return
        var = self.random.choice(list(group.vars.values()))
        key = []
        for dim in var.dims:
            size = dim.size + (self.random.randrange(4) if dim.unlimited else 0)
            start = self.random.randrange(size) if size else 0
            if self.random.random() < 0.7:
                key.append(slice(start, size, self.random.choice([1, 2])))
            else:
                key.append(np.arange(start, size))
        values = np.empty(counts(key), var.type.numpy)
        for index in np.ndindex(values.shape):
            number = self.random.randrange(100)
            values[index] = {CHAR: b"abc"[number % 3 :][:1], STRING: "é" * number}.get(var.type, number)
        self.model.write(var, key, values)
        self.source.write(twin.vars[var.name], key, values.copy())

    def rename(self):
        what, new, pair = self.random.choice(["dims", "vars", "groups"]), self.new_name("r"), self.pick()
        named = getattr(pair[0], what)
        if not named:
            return
        old = self.random.choice(list(named))
        for group in pair:
            nodes = getattr(group, what)
            items = [(new if name == old else name, node) for name, node in nodes.items()]
            nodes[old].name = new
            nodes.clear()
            nodes.update(items)
        self.source.changed(pair[1])
        if what != "dims":
            self.source.changed(nodes[new])

    def sync(self):
        self.source.sync()

    def reopen(self):
        self.source.close()
        reader = open_source(self.where)
        assert_same(self.model, reader)
        reader.close()
        self.source = open_source(self.where, "a")
        assert_same(self.model, self.source)

    def go(self):
        actions = [self.dim, self.dim, self.var, self.var, self.group, self.attr, self.rename, self.sync, self.reopen]
        actions += [self.write] * 6
        for _ in range(STEPS):
            self.random.choice(actions)()
        self.reopen()
        self.source.close()


@pytest.mark.parametrize("kind", ["nczarr", "nczarr3"])
@pytest.mark.parametrize("seed", range(15))
def test_random_operations(seed, kind, tmp_path):
    where = ({}, tmp_path / "a.zarr", tmp_path / "a.zip")[seed % 3]
    Run(seed, kind, where).go()
