"""Two locations, node by node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from typing import NamedTuple

from omnizarr.errors import NotFoundError, OmnizarrError
from omnizarr.hierarchy.array import Array
from omnizarr.store.protocol import place_name
from omnizarr.tools.diff.onesided import Found, guess_renames, one_sided
from omnizarr.tools.diff.regions import count_regions, region_shape
from omnizarr.tools.diff.result import Difference, NodeDifference, Problem, Side, ValueDifference
from omnizarr.tools.diff.structure import attributes_of, changes
from omnizarr.tools.diff.typed import Rules, attribute_changes
from omnizarr.tools.diff.values import UnreadableError, common_shape, compare_values
from omnizarr.tools.nodes import Node, nodes_of, open_at
from omnizarr.tools.patterns import patterns_of, wanted
from omnizarr.tools.progress import Progress, silent


class _What(NamedTuple):
    """What is looked at."""

    rules: Rules
    encoding: bool
    attrs: bool
    values: bool
    brief: bool


def diff(
    a: object,
    b: object,
    *,
    rtol: float = 0.0,
    atol: float = 0.0,
    equal_nan: bool = True,
    bits: bool = False,
    encoding: bool = False,
    attrs: bool = True,
    values: bool = True,
    include: str | Iterable[str] = (),
    exclude: str | Iterable[str] = (),
    brief: bool = False,
    progress: Progress | None = None,
) -> Difference:
    """Say how two locations differ: arrays or hierarchies, of any dialect and in any store.

    Compared are what nodes there are, their kind, shape, element type, names of dimensions and fill value, their
    attributes with the types that these have, and their values. How values are stored (format, chunks, codecs, byte
    order) does not count unless `encoding` is set; nor does whether a fill value is undefined or zero, which read the
    same.

    Numbers are equal if `a == b`, or if `|a - b| <= atol + rtol * |b|` where b is finite: `b` is the reference, as in
    `numpy.isclose`. The differences of integers are exact, all other arithmetic has double precision at least. Times,
    text, bytes, booleans and objects have no tolerance. Numbers of different types are compared by their values. Where
    the lengths of dimensions differ, the part that both have is compared. Values are read in regions of a few chunks,
    so that memory does not grow with the arrays.

    Args:
        a: A location, as for `omnizarr.open`, or a handle.
        b: The other, to which `a` is compared.
        rtol: The difference between numbers that is let pass, relative to b.
        atol: The same, absolute.
        equal_nan: Whether NaN equals NaN, and a time that is none another.
        bits: Whether only equal bits are equal values: then 0.0 is not -0.0, and the bits of NaN count.
        encoding: Whether to compare how nodes are stored, too.
        attrs: Whether to compare attributes.
        values: Whether to compare values.
        include: Patterns of paths to look at, as in a shell; all if there are none. One that matches a group matches
            all that lies below it, one without a slash also matches names at any depth.
        exclude: Patterns of paths to leave out.
        brief: Whether to stop at the first difference.
        progress: Called now and then with the regions done, the regions in all, and the bytes compared.

    Returns:
        All that differs; its `same` is true if nothing does. What cannot be read is listed in `problems`.

    Raises:
        NotFoundError: Nothing is at one of the locations, or the patterns leave nothing.
        ShapeError: A tolerance is negative, or given together with `bits`.

    >>> import omnizarr as oz
    >>> a = oz.create_array({}, shape=(3, 4), dtype="f4", dims=("time", "x"), attrs={"units": "K"})
    >>> b = oz.create_array({}, shape=(3, 4), dtype="f4", dims=("time", "x"), attrs={"units": "m"}, format="zarr2")
    >>> b[1, 2:] = 0.5
    >>> found = oz.diff(a, b)
    >>> found.same, found.nodes[0].attributes[0]
    (False, AttributeChange(name='units', change='changed', a='K', b='m'))
    >>> found.nodes[0].values.differing, found.nodes[0].values.box
    (2, ((1, 2), (2, 4)))
    """
    rules = Rules(rtol, atol, equal_nan, bits)
    rules.check()
    what = _What(rules, encoding, attrs, values, brief)
    include, exclude = patterns_of(include, "include"), patterns_of(exclude, "exclude")
    keep = wanted(include, exclude)
    with ExitStack() as opened:
        roots = [_opened(where, opened) for where in (a, b)]
        sides = [{path: node for path, node in nodes_of(root) if keep(path)} for root in roots]
        named = [place_name(root.store, root.path) for root in roots]
        if not any(sides):
            # Nothing compared is not "the same": the pattern is most likely mistyped.
            patterns = ", ".join(map(repr, (*include, *exclude)))
            raise NotFoundError(f"the patterns leave no node to compare: {patterns}", hint="'oz ls -R' lists the names")
        return _compared(named, sides[0], sides[1], what, progress or silent)


def _opened(where: object, opened: ExitStack) -> Node:
    node = open_at(where)
    if node is not where:
        opened.callback(node.close)
    return node


class _Comparison:
    """What was found so far in nodes that are in both."""

    def __init__(self, what: _What, pairs: Iterable[tuple[str, Found, Found]], progress: Progress) -> None:
        self.nodes: list[NodeDifference] = []
        self.problems: list[Problem] = []
        self.nbytes = 0
        self._what = what
        self._progress = progress
        self._done = 0
        self._total = sum(_regions_of(one, other) for _, one, other in pairs) if what.values else 0

    def add(self, path: str, a: Found, b: Found) -> None:
        """Compare two nodes."""
        if isinstance(a, OmnizarrError) or isinstance(b, OmnizarrError):
            self.problems += _problems(path, a, b)
            return
        what = self._what
        found = NodeDifference(path, changes(a, b, what.rules, encoding=what.encoding))
        if what.attrs:
            found = found._replace(attributes=attribute_changes(attributes_of(a), attributes_of(b), what.rules))
        different = bool(found.changes or found.attributes)
        if what.values and isinstance(a, Array) and isinstance(b, Array) and not (different and what.brief):
            values = self._values(path, a, b)
            found = found._replace(values=values)
        if different or found.values is not None:
            self.nodes.append(found)

    def _values(self, path: str, a: Array, b: Array) -> ValueDifference | None:
        try:
            return compare_values(a, b, self._what.rules, brief=self._what.brief, step=self._step)
        except UnreadableError as error:
            self.problems.append(_problem(path, error.side, error.cause))
            return None

    def _step(self, nbytes: int, regions: int) -> None:
        self._done += regions
        self.nbytes += nbytes
        self._progress(self._done, self._total, self.nbytes)


def _compared(
    named: list[str], a: Mapping[str, Found], b: Mapping[str, Found], what: _What, progress: Progress
) -> Difference:
    gone, new = one_sided(a, b), one_sided(b, a)
    pairs = [(path, node, b[path]) for path, node in a.items() if path in b]
    run = _Comparison(what, pairs, progress)
    stopped = False
    for path, one, other in pairs:
        stopped = what.brief and bool(gone or new or run.nodes)
        if stopped:
            break
        run.add(path, one, other)
    for path in a.keys() ^ b.keys():
        run.problems += _problems(path, a.get(path), b.get(path))
    return Difference(
        named[0],
        named[1],
        tuple(run.nodes),
        gone,
        new,
        guess_renames(gone, new, a, b),
        tuple(sorted(run.problems)),
        len(pairs),
        run.nbytes,
        stopped,
    )


def _regions_of(a: Found, b: Found) -> int:
    if not isinstance(a, Array) or not isinstance(b, Array):
        return 0
    shape = common_shape(a, b)
    return 0 if shape is None else count_regions(shape, region_shape(a.metadata, b.metadata, shape))


def _problems(path: str, a: Found | None, b: Found | None) -> list[Problem]:
    found = [_problem(path, "a", a)] if isinstance(a, OmnizarrError) else []
    return [*found, _problem(path, "b", b)] if isinstance(b, OmnizarrError) else found


def _problem(path: str, side: Side, error: OmnizarrError) -> Problem:
    return Problem(path, side, str(error).partition("\n")[0])
