"""Hierarchies: two handles make, change, move and remove nodes; what is there is what a dict of paths says."""

from __future__ import annotations

import copy

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

import omnizarr as oz
from omnizarr.errors import ExistsError, NotFoundError, OmnizarrError
from tests.stateful.places import KINDS, Place, actors, attempted, faults

PATHS = ["a", "a/x", "a/x/deep", "b", "b/y", "c"]
paths = st.sampled_from(PATHS)
attributes = st.dictionaries(st.sampled_from(["k", "m"]), st.integers(0, 9) | st.text(max_size=3), max_size=2)


def below(path: str, other: str) -> bool:
    return other == path or other.startswith(path + "/")


class HierarchyMachine(RuleBasedStateMachine):
    """Two handles of one root group."""

    @initialize(kind=st.sampled_from(KINDS), fmt=st.sampled_from(["zarr3", "zarr2"]), consolidated=st.booleans())
    def start(self, kind: str, fmt: str, consolidated: bool) -> None:
        self.place = Place(kind)
        root = oz.create_group(self.place.store(), format=fmt)
        if consolidated:
            root.consolidate()
        self.model: dict[str, dict] = {}
        self.next = 0
        self.groups = [self.handle(), self.handle()]

    def handle(self, store=None):
        return oz.open_group(self.place.store() if store is None else store, mode="r+")

    def teardown(self) -> None:
        if hasattr(self, "place"):
            self.place.close()

    def state(self, *, consolidated: bool = False) -> dict[str, dict]:
        root = oz.open_group(self.place.store(), mode="r", consolidated=None if consolidated else False)
        found = {}
        for path, node in root.members(None):
            values = node[...].tolist() if isinstance(node, oz.Array) else None
            found[path] = {"attrs": node.attrs.asdict(), "values": values}
        return found

    def check(self) -> None:
        assert self.state() == self.model

    def node(self, path: str, values, attrs) -> dict[str, dict]:
        """What is new when a node is made: it, and the groups above."""
        parts = path.split("/")
        above = {"/".join(parts[:i]): {"attrs": {}, "values": None} for i in range(1, len(parts))}
        made = {one: node for one, node in above.items() if one not in self.model}
        return {**made, path: {"attrs": dict(attrs), "values": values}}

    def can_make(self, path: str) -> bool:
        parts = path.split("/")
        above = ["/".join(parts[:i]) for i in range(1, len(parts))]
        return path not in self.model and not any(self.model.get(one, {}).get("values") is not None for one in above)

    def creating(self, group, path: str, values, attrs):
        if values is None:
            return lambda: group().create_group(path, attrs=attrs)
        return lambda: group().create_array(path, data=values, chunks=2, attrs=attrs)

    @rule(actor=actors, path=paths, array=st.booleans(), attrs=attributes)
    def create(self, actor: int, path: str, array: bool, attrs: dict) -> None:
        self.next += 1
        values = [self.next, self.next + 1, self.next + 2] if array else None
        error = attempted(self.creating(lambda: self.groups[actor], path, values, attrs), OmnizarrError)
        if self.can_make(path):
            assert error is None
            self.model |= self.node(path, values, attrs)
        else:
            assert error is not None
        self.check()

    @rule(actor=actors, path=paths)
    def delete(self, actor: int, path: str) -> None:
        error = attempted(lambda: self.groups[actor].__delitem__(path), NotFoundError)
        assert (error is None) == (path in self.model)
        self.model = {one: node for one, node in self.model.items() if not below(path, one)}
        self.check()

    @rule(actor=actors, path=paths, attrs=attributes)
    def change_attributes(self, actor: int, path: str, attrs: dict) -> None:
        if path in self.model:
            self.groups[actor][path].attrs.update(attrs)
            self.model[path]["attrs"].update(attrs)
            self.check()

    @rule(actor=actors, path=paths)
    def write(self, actor: int, path: str) -> None:
        if self.model.get(path, {}).get("values") is not None:
            self.next += 1
            self.groups[actor][path][1] = self.next
            self.model[path]["values"][1] = self.next
            self.check()

    @rule(actor=actors, source=paths, to=paths, moving=st.booleans())
    def move_or_copy(self, actor: int, source: str, to: str, moving: bool) -> None:
        group = self.groups[actor]
        act = group.move if moving else group.copy
        error = attempted(lambda: act(source, to), OmnizarrError)
        if source not in self.model or below(source, to) or not self.can_make(to):
            assert error is not None
        else:
            assert error is None
            old = copy.deepcopy({one: node for one, node in self.model.items() if below(source, one)})
            if moving:
                self.model = {one: node for one, node in self.model.items() if not below(source, one)}
            made = self.node(to, None, {})
            self.model |= made | {to + one[len(source) :]: node for one, node in old.items()}
        self.check()

    @rule(actor=actors)
    def consolidate(self, actor: int) -> None:
        self.groups[actor].consolidate()
        assert self.state(consolidated=True) == self.model

    @rule(path=paths, array=st.booleans(), attrs=attributes, fault=faults)
    def create_fails(self, path: str, array: bool, attrs: dict, fault) -> None:
        """A process that stops while it makes a node: what was there is whole, and what is new is of this call."""
        if not self.can_make(path):
            return
        self.next += 1
        values = [self.next, self.next + 1, self.next + 2] if array else None
        failing = self.place.failing(fault)
        error = attempted(self.creating(lambda: self.handle(failing), path, values, attrs), OmnizarrError)
        assert (error is not None) == bool(failing.fired)
        assert error is None or error.key
        found = self.state()
        new = self.node(path, values, attrs)
        for one, node in found.items():
            if one in self.model:
                assert node == self.model[one]
            elif one != path or not array:
                assert node == new[one]
            else:
                assert all(value in (0, wanted) for value, wanted in zip(node["values"], values, strict=True))
        assert self.model.keys() <= found.keys()
        self.model = found

    @rule(path=paths, fault=faults)
    def delete_fails(self, path: str, fault) -> None:
        """A process that stops while it removes a node: all else is whole, and the store can be read."""
        failing = self.place.failing(fault)
        if path not in self.model:
            return
        error = attempted(lambda: self.handle(failing).__delitem__(path), OmnizarrError)
        found = self.state()
        for one, node in self.model.items():
            assert below(path, one) or found[one] == node
        assert error is not None or path not in found
        assert found.keys() <= self.model.keys()
        # What is half removed is removed, so that nothing more is to be known of it.
        if error is not None:
            attempted(lambda: self.handle().__delitem__(path), NotFoundError)
        self.model = {one: node for one, node in self.model.items() if not below(path, one)}
        self.check()

    @rule(actor=actors)
    def drop(self, actor: int) -> None:
        self.groups[actor] = self.handle()

    @rule(actor=actors, path=paths)
    def look(self, actor: int, path: str) -> None:
        group = self.groups[actor]
        group.refresh()
        assert (path in group) == (path in self.model)
        error = attempted(lambda: group.create_group(path), ExistsError) if path in self.model else None
        assert (error is not None) == (path in self.model)
