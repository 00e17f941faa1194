"""What the result of combining sets is, before any chunk is moved: its groups, its variables, and what goes where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from omnizarr.errors import MetadataError, UnsupportedError, warn
from omnizarr.model.array import ArrayMeta
from omnizarr.model.grid import RegularGrid
from omnizarr.model.group import GroupMeta
from omnizarr.model.jsonvalue import JSON
from omnizarr.refs.combining.calendars import is_time
from omnizarr.refs.combining.comparing import compare
from omnizarr.refs.combining.conflicts import MEANING, Conflicts, decoding, listed, merged_attributes
from omnizarr.refs.combining.embedding import embedded
from omnizarr.refs.combining.inputs import Input, formats_of
from omnizarr.refs.combining.lines import coordinate_path, line_of
from omnizarr.refs.combining.options import Options
from omnizarr.refs.combining.order import KEEP, Line
from omnizarr.refs.combining.reading import Wanted
from omnizarr.refs.combining.recoding import recoded
from omnizarr.refs.combining.selectors import Selector
from omnizarr.refs.combining.undefined import with_one_fill
from omnizarr.refs.combining.variables import Layout, Member, Variable
from omnizarr.refs.translating import as_v3

_COMPANIONS = ("coordinates", "bounds", "climatology", "grid_mapping", "ancillary_variables", "cell_measures")
_HINT = (
    'compat="override" and identical=[…] take the first set\'s variable where it is not concatenated, '
    'keep="first" or "last" one of several sets at the same place. Chunks, codecs and numbers of another meaning '
    "cannot be mixed in one variable: combine such files apart."
)


@dataclass(slots=True)
class Plan:
    """The result of combining sets, without its chunks."""

    groups: dict[str, GroupMeta] = field(default_factory=dict[str, GroupMeta])
    variables: dict[str, Variable] = field(default_factory=dict[str, Variable])
    lines: list[Line] = field(default_factory=list[Line])


def plan(inputs: Sequence[Input], concat: Mapping[str, Selector], options: Options) -> Plan:
    """Find out what the result is.

    Raises:
        MetadataError: If the sets do not fit together: one error for all that does not fit.
    """
    made = Plan(lines=[line_of(dim, selector, inputs, options) for dim, selector in concat.items()])
    planner = _Planner(inputs, made.lines, options)
    made.groups = planner.groups()
    made.variables = planner.variables()
    planner.conflicts.check(_HINT)
    planner.tell_holes()
    formats = {one.meta.format for one in made.variables.values()} | {one.format for one in made.groups.values()}
    uneven = any(not isinstance(one.meta.grid, RegularGrid) for one in made.variables.values())
    if uneven or len(formats) > 1:  # one format for all: other readers look for one
        for one in made.variables.values():
            one.meta = as_v3(one.meta)
        made.groups = {path: GroupMeta(group.attributes) for path, group in made.groups.items()}
    return made


class _Planner:
    def __init__(self, inputs: Sequence[Input], lines: Sequence[Line], options: Options) -> None:
        self.inputs = inputs
        self.lines = lines
        self.options = options
        self.conflicts = Conflicts()
        self.names = [one.name for one in inputs]
        self._holes: dict[str, int] = {}
        self._owners: dict[str, str] = {}
        self._coordinates = {coordinate_path(line.dim, inputs) or line.dim: line for line in lines}

    def groups(self) -> dict[str, GroupMeta]:
        """Return the groups of all sets."""
        found: dict[str, list[int]] = {}
        for number, one in enumerate(self.inputs):
            for path in one.groups:
                found.setdefault(path, []).append(number)
        made: dict[str, GroupMeta] = {}
        for path, numbers in found.items():
            metas = [self.inputs[number].groups[path] for number in numbers]
            attributes = merged_attributes(
                [meta.attributes for meta in metas],
                self.options.attributes,
                self.conflicts,
                path,
                [self.names[number] for number in numbers],
            )
            extra = {name: value for name, value in metas[0].extra.items() if name != "consolidated_metadata"}
            made[path] = GroupMeta(attributes, metas[0].format, extra)
        return made

    def variables(self) -> dict[str, Variable]:
        """Return the variables of all sets, those that are coordinates first as in the files."""
        found: dict[str, list[Member]] = {}
        for number, one in enumerate(self.inputs):
            for path, meta in one.arrays.items():
                found.setdefault(path, []).append(Member(number, meta))
        made: dict[str, Variable] = {}
        beside = self._companions()
        for path, given in found.items():
            members = with_one_fill(path, given, self.inputs)
            if path in self._coordinates and self._coordinates[path].values is not None:
                made[path] = self._coordinate(path, members, self._coordinates[path])
            else:
                variable = self._variable(path, members, beside)
                if variable is not None:
                    made[path] = variable
        for path, line in self._coordinates.items():
            if path not in made and line.values is not None:
                made[path] = self._coordinate(path, [], line)
        return made

    def tell_holes(self) -> None:
        """Say which variables have places that no set has."""
        if not self._holes or self.options.missing == "fill":
            return
        told = ", ".join(f"{path} ({number} places)" for path, number in self._holes.items())
        message = f"no set has some places along {[line.dim for line in self.lines]} of: {told}"
        if self.options.missing == "error":
            raise MetadataError(message, hint='missing="fill" takes the fill value there.')
        warn(f"{message}; they are filled with the fill value.")

    def _companions(self) -> set[str]:
        """Find variables that describe others: they are not data, and no dimension is added to them."""
        found: set[str] = set()
        seen: set[int] = set()
        for one in self.inputs:
            for path, meta in one.arrays.items():
                if id(meta) in seen:
                    continue
                seen.add(id(meta))
                group = path.rpartition("/")[0]
                for word in _COMPANIONS:
                    value = meta.attributes.get(word)
                    for name in value.replace(":", " ").split() if isinstance(value, str) else ():
                        other = f"{group}/{name}" if group else name
                        found.add(other)
                        if word in ("bounds", "climatology"):
                            self._owners[other] = path
        return found

    def _variable(self, path: str, members: list[Member], beside: set[str]) -> Variable | None:
        name = path.rpartition("/")[2]
        identical = path in self.options.identical or name in self.options.identical
        dims = members[0].meta.dims or ()
        data = not (identical or path in beside or dims == (name,))
        lines = [line for line in self.lines if (line.dim in dims and not identical) or (line.new and data)]
        if not identical and not self._alike(path, members):
            return None
        recoded = self._recoded(path, members, lines)
        if recoded is not None:
            return recoded
        layout = Layout(path, members, lines)
        if not layout.groups:
            return None
        if not identical:
            self._twice(path, layout, complete=len(lines) == len(self.lines))
        blocks = layout.blocks(self.names, self.conflicts)
        if blocks is None:
            return None
        if layout.holes:
            self._holes[path] = layout.holes
        try:
            variable = layout.variable(blocks, self.names, cut=self.options.cut)
        except UnsupportedError as error:
            error.path = path
            raise
        variable.meta = variable.meta._replace(attributes=self._attributes(path, members, variable.meta.attributes))
        return variable

    def _twice(self, path: str, layout: Layout, *, complete: bool) -> None:
        """Deal with inputs that have the same place: of data only one counts, others must be the same."""
        for members in layout.groups.values():
            if len(members) < 2:
                continue
            if not complete or not self.lines:
                if self.options.compat == "identical":
                    wanted = [Wanted(self.inputs[member.source], path) for member in members]
                    compare(wanted, self.options, self.conflicts)
            elif self.options.keep == "error":
                names = [self.names[member.source] for member in members]
                self.conflicts.note(path, f"{listed(names)} have the same place along the dimensions", KEEP)
            elif self.options.keep == "last":
                members.reverse()

    def _alike(self, path: str, members: list[Member]) -> bool:
        """Compare what decoding and the meaning of numbers depend on."""
        distinct = {id(member.meta): member.meta for member in members}
        if len(distinct) == 1:
            return True
        kinds = {number: decoding(meta) for number, meta in distinct.items()}
        fine = True
        files = [self.names[member.source] for member in members]
        for what in next(iter(kinds.values())):
            if len({kind[what] for kind in kinds.values()}) > 1:
                fine = self.conflicts.compare(path, what, [kinds[id(m.meta)][what] for m in members], files) and fine
        for what in MEANING:
            values = {number: meta.attributes.get(what) for number, meta in distinct.items()}
            if len(set(map(repr, values.values()))) > 1 and not self._harmless(what, distinct):
                fine = self.conflicts.compare(path, what, [values[id(m.meta)] for m in members], files) and fine
        return fine

    def _harmless(self, what: str, distinct: Mapping[int, ArrayMeta]) -> bool:
        if what not in ("units", "calendar"):
            return False
        times = [is_time(meta.attributes.get("units")) for meta in distinct.values()]
        return all(times) or (not any(times) and self.options.attributes == "override")

    def _attributes(self, path: str, members: list[Member], first: Mapping[str, JSON]) -> dict[str, JSON]:
        distinct = {id(member.meta): member for member in members}
        if len(distinct) == 1:
            return dict(first)
        some = [member.meta.attributes for member in distinct.values()]
        files = [self.names[member.source] for member in distinct.values()]
        merged = merged_attributes(some, self.options.attributes, self.conflicts, path, files)
        merged.pop("_ARRAY_DIMENSIONS", None)
        return merged

    def _recoded(self, path: str, members: list[Member], lines: Sequence[Line]) -> Variable | None:
        """Bring times that files count in different units into one, and embed them; None if there is no need."""
        if not lines:
            return None
        target: Mapping[str, JSON] | None = None
        said: list[Mapping[str, JSON]] = [{}] * len(self.inputs)
        for member in members:
            said[member.source] = member.meta.attributes
        if len({repr((one.get("units"), one.get("calendar"))) for one in said if one}) < 2:
            owner = self._owners.get(path)
            line = self._coordinates.get(owner or "")
            # Bounds have the units of what they are the bounds of.
            if owner is None or line is None or not line.attributes or is_time(members[0].meta.attributes.get("units")):
                return None
            target = line.attributes
            for member in members:
                said[member.source] = self.inputs[member.source].arrays[owner].attributes
        layout = Layout(path, members, lines)
        return recoded(layout, self.inputs, said, target, self.options) if layout.groups else None

    def _coordinate(self, path: str, members: list[Member], line: Line) -> Variable:
        """Make the coordinate of a dimension, embedded in the result."""
        values = line.values
        assert values is not None  # noqa: S101 - whoever calls has looked
        found = {id(member.meta): member for member in members}.values()
        # Units that are brought into one are no conflict.
        some = [{k: v for k, v in one.meta.attributes.items() if k not in (line.attributes or ())} for one in found]
        files = [self.names[one.source] for one in found]
        attributes = merged_attributes(some, self.options.attributes, self.conflicts, path, files) if some else {}
        attributes.pop("_ARRAY_DIMENSIONS", None)
        attributes |= line.attributes or {}
        return embedded(values, (line.dim,), attributes, members[0].meta if members else None, self._format())

    def _format(self) -> str:
        return next((form for one in self.inputs for form in formats_of(one)), "zarr2")
