"""The pickled metadata of zarr 0.3.0, read without unpickling.

The opcodes are told apart by `pickletools`, which runs nothing; what they would build is built here, from a short list
of plain values. A dtype, a NumPy scalar, a complex number and bytes are all that such a document can name.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from importlib import import_module
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from omnizarr.errors import LimitError, MetadataError, UnsafeError
from omnizarr.model.jsonvalue import JSON

_MOST_BYTES: Final = 1 << 16
_MOST_DEPTH: Final = 16


class _Mark:
    """Where a list of arguments begins on the stack."""


class _Name(NamedTuple):
    """A function that the document calls, from the list below."""

    path: str


class _Dtype(NamedTuple):
    """A NumPy dtype in the making."""

    text: str
    state: tuple[Any, ...] = ()


_MARK: Final = _Mark()

_ALLOWED: Final = {
    **dict.fromkeys(("numpy dtype",), "dtype"),
    **dict.fromkeys(("numpy.core.multiarray scalar", "numpy._core.multiarray scalar"), "scalar"),
    **dict.fromkeys(("_codecs encode",), "encode"),
    **dict.fromkeys(("__builtin__ complex", "builtins complex"), "complex"),
}


def is_pickle(data: bytes) -> bool:
    """Whether a `__zmeta__` is a pickle: it starts with a mark, a dictionary, or the number of the protocol."""
    return data[:1] in (b"(", b"}", b"\x80")


def load_pickle(data: bytes, key: str) -> dict[str, JSON]:
    """Read the dictionary of a pickle, its values as JSON would have them; dtypes become strings and lists as in v2.

    Raises:
        MetadataError: It is not a pickled dictionary, or is cut off.
        UnsafeError: It names something that metadata has no use for.
        LimitError: It is longer than any metadata.
    """
    if len(data) > _MOST_BYTES:
        raise LimitError(f"the pickled document has {len(data)} bytes; at most {_MOST_BYTES} are read", key=key)
    try:
        return _as_json(_Machine(key).run(data), key)
    except (UnsafeError, MetadataError):
        raise
    except (ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise MetadataError(f"the pickled document is broken: {error}", key=key) from error


def _as_json(value: object, key: str) -> dict[str, JSON]:
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise MetadataError("the pickled document does not hold the fields of an array", key=key)
    return {name: _plain(item, key, 0) for name, item in value.items()}


class _Machine:
    """The stack and memory that the opcodes work on."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}

    def run(self, data: bytes) -> object:
        for opcode, argument, _ in import_module("pickletools").genops(data):
            name: str = opcode.name
            if name == "STOP":
                return self.stack.pop()
            if name in _PUSHED:
                self.stack.append(argument)
            elif name in _CONSTANTS:
                self.stack.append(_CONSTANTS[name])
            elif name in _ACTIONS:
                _ACTIONS[name](self, argument)
            elif name not in ("PROTO", "FRAME"):
                raise UnsafeError(f"the pickled document uses {name}, which metadata has no use for", key=self.key)
        raise ValueError("it has no end")

    def name(self, argument: str) -> None:
        allowed = _ALLOWED.get(argument)
        if allowed is None:
            raise UnsafeError(f"the pickled document names {argument.replace(' ', '.')!r}", key=self.key)
        self.stack.append(_Name(allowed))

    def until_mark(self) -> list[Any]:
        for at in range(len(self.stack) - 1, -1, -1):
            if self.stack[at] is _MARK:
                items = self.stack[at + 1 :]
                del self.stack[at:]
                return items
        raise ValueError("a mark is missing")

    def last(self, count: int) -> tuple[Any, ...]:
        if len(self.stack) < count:
            raise ValueError("the stack is empty")
        items = tuple(self.stack[len(self.stack) - count :])
        del self.stack[len(self.stack) - count :]
        return items

    def put(self, place: int) -> None:
        self.memo[place] = self.stack[-1]

    def new_dict(self, pairs: list[Any]) -> None:
        self.stack.append({})
        self.set_items(pairs)

    def set_items(self, pairs: list[Any]) -> None:
        target = self.stack[-1]
        if type(target) is not dict:
            raise ValueError("items are set in something that is no dictionary")
        target.update(zip(pairs[0::2], pairs[1::2], strict=True))

    def reduce(self) -> None:
        function, arguments = self.last(2)
        if not isinstance(function, _Name):
            raise TypeError("something that is no function is called")
        self.stack.append(_CALLS[function.path](*arguments))

    def build(self) -> None:
        target, state = self.last(2)
        if not isinstance(target, _Dtype):
            raise TypeError("a state is set in something that has none")
        self.stack.append(target._replace(state=tuple(state)))
        # Whoever stored the type under a number before it had its state means the same object.
        for place, value in self.memo.items():
            if value is target:
                self.memo[place] = self.stack[-1]


_PUSHED: Final = frozenset(
    (
        *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
        *("STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE"),
        *("BINBYTES", "SHORT_BINBYTES"),
    )
)
_CONSTANTS: Final[dict[str, Any]] = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "MARK": _MARK, "EMPTY_TUPLE": ()}
_ACTIONS: Final[dict[str, Callable[[_Machine, Any], None]]] = {
    "EMPTY_DICT": lambda machine, _: machine.stack.append({}),
    "EMPTY_LIST": lambda machine, _: machine.stack.append([]),
    "DICT": lambda machine, _: machine.new_dict(machine.until_mark()),
    "LIST": lambda machine, _: machine.stack.append(machine.until_mark()),
    "TUPLE": lambda machine, _: machine.stack.append(tuple(machine.until_mark())),
    "TUPLE1": lambda machine, _: machine.stack.append(machine.last(1)),
    "TUPLE2": lambda machine, _: machine.stack.append(machine.last(2)),
    "TUPLE3": lambda machine, _: machine.stack.append(machine.last(3)),
    "SETITEM": lambda machine, _: machine.set_items(list(machine.last(2))),
    "SETITEMS": lambda machine, _: machine.set_items(machine.until_mark()),
    "PUT": lambda machine, place: machine.put(place),
    "BINPUT": lambda machine, place: machine.put(place),
    "LONG_BINPUT": lambda machine, place: machine.put(place),
    "GET": lambda machine, place: machine.stack.append(machine.memo[place]),
    "BINGET": lambda machine, place: machine.stack.append(machine.memo[place]),
    "LONG_BINGET": lambda machine, place: machine.stack.append(machine.memo[place]),
    "GLOBAL": lambda machine, name: machine.name(name),
    "REDUCE": lambda machine, _: machine.reduce(),
    "BUILD": lambda machine, _: machine.build(),
}


def _dtype(text: object, *_: object) -> _Dtype:
    if isinstance(text, bytes):
        text = text.decode("ascii")
    if not isinstance(text, str):
        raise TypeError("a dtype is made from its name")
    return _Dtype(text)


def _scalar(dtype: object, data: object = b"") -> object:
    raw = data.encode("latin-1") if isinstance(data, str) else data
    if not isinstance(dtype, _Dtype) or not isinstance(raw, bytes):
        raise TypeError("a scalar is made from a dtype and bytes")
    made = _type_string(dtype, 0)
    if _size(made) != len(raw):
        raise ValueError("a scalar does not fit its type")
    if isinstance(made, list):
        return np.void(raw)  # its bytes are what v2 writes of such a fill value
    exact = np.dtype(made)
    if exact.hasobject:
        raise ValueError("a scalar is an object")
    return np.frombuffer(raw, exact)[0]


def _encode(text: object, encoding: object = "latin1") -> bytes:
    if not isinstance(text, str) or encoding not in ("latin1", "latin-1"):
        raise TypeError("bytes are made from text in Latin-1")
    return text.encode("latin-1")


_CALLS: Final[dict[str, Callable[..., object]]] = {
    "dtype": _dtype,
    "scalar": _scalar,
    "encode": _encode,
    "complex": lambda *parts: complex(*(float(part) for part in parts[:2])),
}


def _type_string(dtype: _Dtype, depth: int) -> Any:  # noqa: ANN401 - a string or a list
    """Write a dtype as v2 does; the state is (version, byte order, base and shape, names, fields, …)."""
    if depth > _MOST_DEPTH:
        raise ValueError("types are nested too deep")
    text, state = dtype
    if not state:
        return text
    order, names, fields = state[1], state[3], state[4]
    order = order.decode("ascii") if isinstance(order, bytes) else order
    if names:
        return _fields([(_text(name), *fields[name][:2]) for name in names], state[5], depth)
    size = int(text[1:]) if text[1:].isdigit() else np.dtype(text).itemsize
    if text[:1] == "U" and len(state) > 5 and state[5] not in (-1, None):
        size = state[5] // 4
    elif text[:1] in ("S", "V") and len(state) > 5 and state[5] not in (-1, None):
        size = state[5]
    unit = _unit(state[8]) if text[:1] in ("M", "m") and len(state) > 8 else ""
    return f"{order if order in ('<', '>', '|') else '<'}{text[:1]}{size}{unit}"


def _fields(fields: list[tuple[str, _Dtype, int]], size: int, depth: int) -> list[Any]:
    """Write the fields of a structure in the order in which they lie, and the gaps between them as v2 does."""
    made: list[Any] = []
    end = 0
    for name, dtype, start in sorted(fields, key=lambda field: field[2]):
        if start < end:
            raise ValueError("the fields of a type overlap")
        if start > end:
            made.append(["", f"|V{start - end}"])
        inner = dtype.state[2] if len(dtype.state) > 2 else None
        if inner is None:
            made.append([name, _type_string(dtype, depth + 1)])
        else:  # a field that is an array: its type, and its shape
            made.append([name, _type_string(inner[0], depth + 1), list(inner[1])])
        end = start + _size(made[-1:])
    if size > end:
        made.append(["", f"|V{size - end}"])
    return made


def _size(made: Any) -> int:  # noqa: ANN401 - as above
    """Return the bytes of an element of a type that v2 spells so."""
    if isinstance(made, list):
        total: int = sum(_size(kind) * prod(shape[0] if shape else ()) for _, kind, *shape in made)
        return total
    return int(np.dtype(made).itemsize)


def _unit(state: object) -> str:
    # (metadata, (unit, count, …))
    if not isinstance(state, tuple) or len(state) < 2 or not isinstance(state[1], tuple):
        return ""
    unit, count = _text(state[1][0]), int(state[1][1])
    return "" if unit == "generic" else f"[{count if count != 1 else ''}{unit}]"


def _text(value: object) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _plain(value: object, key: str, depth: int) -> JSON:
    if depth > _MOST_DEPTH:
        raise MetadataError("the pickled document is nested too deep", key=key)
    if isinstance(value, _Dtype):
        made: JSON = _type_string(value, 0)
        return made
    if isinstance(value, np.void):
        return b64encode(value.tobytes()).decode("ascii")
    if isinstance(value, np.generic) and value.dtype.char == "g":
        near = float(value)
        if near != value and value == value:  # noqa: PLR0124 - a NaN is one in every precision
            raise MetadataError(f"the fill value {value!s:.40} is a long double, which no document can hold", key=key)
        value = near
    if isinstance(value, np.generic):
        value = value.item() if value.dtype.kind not in "mM" else int(value.astype("i8"))
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, complex):
        return [value.real, value.imag]
    if isinstance(value, tuple | list):
        return [_plain(item, key, depth + 1) for item in value]
    raise MetadataError(f"the pickled document holds a {type(value).__name__}", key=key)
