"""Values of variables in CDL: numbers through the kernel, everything else value by value, some megabytes at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from omnizarr.native import CdlRows
from omnizarr.nc.dump.constants import Writer, writer
from omnizarr.nc.dump.fills import equals, fill_of
from omnizarr.nc.dump.formats import c_format, formatted
from omnizarr.nc.dump.names import escaped
from omnizarr.nc.dump.options import Options
from omnizarr.nc.dump.output import Output
from omnizarr.nc.dump.regions import regions
from omnizarr.nc.dump.texts import quoted_row
from omnizarr.nc.dump.times import Bounds, time_axis
from omnizarr.nc.source import Source
from omnizarr.nc.tree import Var
from omnizarr.nc.types import CHAR, DOUBLE, FLOAT, NUMERIC, is_fixed

Texts: TypeAlias = Callable[[np.ndarray[Any, Any]], bytes]

_AT_ONCE = 1 << 17
"""How many values are made text at once: enough for all threads, and the text is not too long."""
_OBJECT = 256
"""Bytes that a value of no fixed size is taken to have."""


class ValuePrinter:
    """Prints values of variables."""

    def __init__(self, source: Source, out: Output, options: Options, bounds: Bounds) -> None:
        self._source = source
        self._out = out
        self._options = options
        self._bounds = bounds

    def print(self, var: Var, part: tuple[slice, ...] | None) -> None:
        """Print the values of a variable, or of part of it; nothing if there are none."""
        whole = tuple(slice(0, size, 1) for size in var.shape)
        shape = tuple(len(range(one.start, one.stop, one.step)) for one in part or whole)
        if 0 in shape:
            return
        out = self._out
        out.text("\n")
        if part is not None:
            words = ",".join(f"{one.start}:{one.stop}" + (f":{one.step}" if one.step > 1 else "") for one in part)
            out.margin(f" // {escaped(var.name)}[{words}]\n")
        out.margin(f" {escaped(var.name)}")
        if len(shape) > 1:
            out.text(" =\n  ")
            line = 2 + out.indent
        else:
            out.text(" = ")
            line = len(var.name.encode("utf-8", "surrogateescape")) + 4 + out.indent
        rows = self._rows(var, part or whole, line)
        texts = self._texts(var, rows, shape)
        chunks = var.storage.chunks if var.storage.kind == "chunked" else None
        itemsize = var.type.numpy.itemsize if is_fixed(var.type) else _OBJECT
        for key in regions(part or whole, itemsize, chunks):
            self._region(var, key, texts)
        out.line = rows.line

    def _region(self, var: Var, key: tuple[slice, ...], texts: Texts) -> None:
        """Print a region; a function of its own, so that it is forgotten before the next is read."""
        values = np.ascontiguousarray(self._source.read(var, key)).reshape(-1)
        for first in range(0, len(values), _AT_ONCE):
            self._out.write(texts(values[first : first + _AT_ONCE]))

    def _rows(self, var: Var, part: tuple[slice, ...], line: int) -> CdlRows:
        return CdlRows(
            [len(range(one.start, one.stop, one.step)) for one in part],
            [dim.unlimited for dim in var.dims],
            part=[(one.start, one.step) for one in part],
            width=self._out.width,
            indent=self._out.indent,
            line=line,
            name=escaped(var.name).encode("utf-8", "surrogateescape"),
            notes=self._options.notes,
            whole_rows=self._is_text(var),
        )

    def _is_text(self, var: Var) -> bool:
        return var.type == CHAR and c_format(var) in ("", "%s")

    def _texts(self, var: Var, rows: CdlRows, shape: tuple[int, ...]) -> Texts:
        """Return what makes text of the next values."""
        if self._is_text(var):
            return self._text_rows(rows, shape[-1] if shape else 1)
        form = "" if self._has_digits(var) else c_format(var)
        axis = time_axis(var, self._bounds) if self._options.times and var.type in NUMERIC else None
        fill = fill_of(var)
        if var.type in NUMERIC and axis is None and not form:
            raw = None if fill is None else np.asarray(fill, var.type.numpy).tobytes()
            digits = self._options.digits[var.type == DOUBLE]
            return lambda values: rows.numbers(values, raw, digits)
        if axis is not None:
            write: Writer = lambda value: axis.quoted(float(value), self._options.times)  # noqa: E731 - one of three
        elif form and (var.type in NUMERIC or var.type == CHAR):
            write = formatted(form, var.type)
        else:
            write = writer(var.type, self._options.digits)

        def tokens(values: np.ndarray[Any, Any]) -> bytes:
            if fill is None:
                return rows.tokens([write(value) for value in values])
            return rows.tokens([b"_" if equals(var.type, fill, value) else write(value) for value in values])

        return tokens

    def _has_digits(self, var: Var) -> bool:
        """Whether options say how many digits are printed, so that an attribute does not."""
        options = self._options
        return (var.type == FLOAT and options.float_digits is not None) or (
            var.type == DOUBLE and options.double_digits is not None
        )

    def _text_rows(self, rows: CdlRows, length: int) -> Texts:
        """Characters along the last dimension are a text; one that is read in parts is put together first."""
        held = bytearray()

        def texts(values: np.ndarray[Any, Any]) -> bytes:
            held.extend(values.tobytes())
            whole = len(held) // length * length
            lines = [quoted_row(bytes(held[at : at + length])) for at in range(0, whole, length)]
            del held[:whole]
            return rows.tokens(lines)

        return texts
