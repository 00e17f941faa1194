"""From the text of a template to a tree of what is allowed in one, by the parser of jinja2."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from omnizarr.errors import LimitError, MetadataError, MissingDependencyError, UnsafeError

if TYPE_CHECKING:
    from jinja2 import nodes

Tree: TypeAlias = str | int | float | bool | tuple[Any, ...]
"""A constant, or a tuple of a kind and what belongs to it; see `rust/py/src/refs_formula.rs`."""

Name: TypeAlias = Callable[[str], "Tree"]
Call: TypeAlias = Callable[[str, tuple["Tree", ...], dict[str, "Tree"]], "Tree"]

_MOST_LETTERS: Final = 8192
_MOST_NODES: Final = 2000
_MOST_LEVELS: Final = 60
_MOST_DIGITS: Final = 18

_BINARY: Final = {
    "Add": "add",
    "Sub": "sub",
    "Mul": "mul",
    "Div": "div",
    "FloorDiv": "floordiv",
    "Mod": "mod",
    "Pow": "pow",
}
_COMPARE: Final = frozenset(("eq", "ne", "lt", "lteq", "gt", "gteq"))


@cache
def _parser() -> Any:  # noqa: ANN401 - an Environment, where jinja2 is installed
    try:
        import jinja2  # noqa: PLC0415 - an extra, which few sets need
    except ImportError:
        raise MissingDependencyError(
            "the templates of this set have expressions, for which jinja2 is needed",
            hint="pip install 'omnizarr[refs]'",
        ) from None
    return jinja2.Environment(keep_trailing_newline=True, autoescape=False)  # noqa: S701 - it only parses


class Reader:
    """Turns the text of one template into a tree.

    Args:
        key: What the text belongs to, for messages.
        name: Gives the tree that a name stands for.
        call: Gives the tree that a call of a template stands for.
    """

    def __init__(self, key: str, name: Name, call: Call) -> None:
        self._key = key
        self._name = name
        self._call = call
        self._left = _MOST_NODES

    def read(self, text: str) -> Tree:
        """Return the tree of a text.

        Raises:
            MetadataError: If it is no template.
            UnsafeError: If it has anything but names, numbers, text, arithmetic, comparison and calls of templates.
            LimitError: If it is too long or nested too deep.
        """
        if len(text) > _MOST_LETTERS:
            raise LimitError(f"a template has {len(text)} letters; {_MOST_LETTERS} are allowed", key=self._key)
        parser = _parser()
        try:
            found: nodes.Template = parser.parse(text)
        except RecursionError:
            raise LimitError("a template is nested too deep", key=self._key) from None
        except (ValueError, OverflowError) as error:  # a number of thousands of digits
            raise LimitError(f"a template cannot be parsed: {error}", key=self._key) from None
        except _syntax_error() as error:
            message = f"{_start(text)!r} is no template: {error}"
            raise MetadataError(message, key=self._key) from None
        parts: list[Tree] = []
        for output in found.body:
            if type(output).__name__ != "Output":
                raise self._refused(output)
            parts += [self._part(part) for part in output.iter_child_nodes()]
        return parts[0] if len(parts) == 1 else ("join", *parts)

    def _refused(self, node: nodes.Node) -> UnsafeError:
        return UnsafeError(
            f"a template has {_what(type(node).__name__)}, which is not allowed",
            key=self._key,
            hint="Templates may have names, numbers, text, arithmetic, comparison and calls of templates.",
        )

    def _part(self, node: nodes.Node) -> Tree:
        # Parsers hand on text around expressions as nodes of their own.
        if type(node).__name__ == "TemplateData":
            return str(getattr(node, "data", ""))
        return self._tree(node, _MOST_LEVELS)

    def _tree(self, node: nodes.Node, levels: int) -> Tree:
        self._left -= 1
        if levels == 0 or self._left < 0:
            raise LimitError("a template is nested too deep, or has too many parts", key=self._key)
        make = getattr(self, f"_of_{type(node).__name__.lower()}", None)
        if make is not None:
            tree: Tree = make(node, levels - 1)
            return tree
        name = _BINARY.get(type(node).__name__)
        if name is None:
            raise self._refused(node)
        left: nodes.Node = getattr(node, "left")  # noqa: B009 - all of these have one, which their base does not say
        right: nodes.Node = getattr(node, "right")  # noqa: B009 - as above
        if name == "mod" and type(left).__name__ == "Const" and isinstance(getattr(left, "value", None), str):
            values = right.iter_child_nodes() if type(right).__name__ == "Tuple" else (right,)
            return ("format", self._tree(left, levels - 1), *(self._tree(one, levels - 1) for one in values))
        return (name, self._tree(left, levels - 1), self._tree(right, levels - 1))

    def _of_const(self, node: nodes.Const, levels: int) -> Tree:
        del levels
        value: object = node.value
        if isinstance(value, bool) or (isinstance(value, int) and abs(value) < 10**_MOST_DIGITS):
            return value
        if isinstance(value, (str, float)):
            return value
        if isinstance(value, int):
            raise LimitError("a template has a number of too many digits", key=self._key)
        raise self._refused(node)

    def _of_templatedata(self, node: nodes.TemplateData, levels: int) -> Tree:
        del levels
        return node.data

    def _of_name(self, node: nodes.Name, levels: int) -> Tree:
        del levels
        return self._name(node.name)

    def _of_neg(self, node: nodes.Neg, levels: int) -> Tree:
        return ("neg", self._tree(node.node, levels))

    def _of_pos(self, node: nodes.Pos, levels: int) -> Tree:
        return self._tree(node.node, levels)

    def _of_not(self, node: nodes.Not, levels: int) -> Tree:
        return ("not", self._tree(node.node, levels))

    def _of_condexpr(self, node: nodes.CondExpr, levels: int) -> Tree:
        otherwise: Tree = "" if node.expr2 is None else self._tree(node.expr2, levels)
        return ("if", self._tree(node.test, levels), self._tree(node.expr1, levels), otherwise)

    def _of_concat(self, node: nodes.Concat, levels: int) -> Tree:
        return ("join", *(self._tree(one, levels) for one in node.nodes))

    def _of_compare(self, node: nodes.Compare, levels: int) -> Tree:
        left = self._tree(node.expr, levels)
        found: Tree | None = None
        for operand in node.ops:
            if operand.op not in _COMPARE:
                raise self._refused(operand)
            right = self._tree(operand.expr, levels)
            one: Tree = (operand.op, left, right)
            found = one if found is None else ("if", found, one, False)
            left = right
        return False if found is None else found

    def _of_filter(self, node: nodes.Filter, levels: int) -> Tree:
        """Take `"%03d"|format(i)`, which many sets have; it is what `"%03d" % i` is."""
        plain = node.name == "format" and not node.kwargs and node.dyn_args is None and node.dyn_kwargs is None
        if not plain or node.node is None:
            raise self._refused(node)
        pattern = self._tree(node.node, levels)
        if not isinstance(pattern, str):
            raise self._refused(node)
        return ("format", pattern, *(self._tree(one, levels) for one in node.args))

    def _of_call(self, node: nodes.Call, levels: int) -> Tree:
        if type(node.node).__name__ != "Name" or node.dyn_args is not None or node.dyn_kwargs is not None:
            raise self._refused(node)
        given = tuple(self._tree(one, levels) for one in node.args)
        named = {one.key: self._tree(one.value, levels) for one in node.kwargs}
        name = str(getattr(node.node, "name", ""))
        return self._call(name, given, named)


def _syntax_error() -> type[Exception]:
    import jinja2  # noqa: PLC0415 - as above

    return jinja2.TemplateError


def _start(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "…"


def _what(name: str) -> str:
    words = {"Getattr": "an attribute", "Getitem": "a subscript", "Filter": "a filter", "For": "a loop"}
    return words.get(name, f"a part of the kind {name}")
