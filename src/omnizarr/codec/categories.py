"""Text from a list of labels, stored as the labels' numbers: `categorize` of numcodecs.

Number 0 stands for the empty text, number i + 1 for label i. Codecs of numbers may follow. numcodecs stores any other
text as 0 and so loses it; here writing one that is not a label is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from omnizarr.codec.adapt import adapt
from omnizarr.codec.framing import join, split
from omnizarr.codec.options import Options
from omnizarr.codec.stage import Stage
from omnizarr.codec.steps import Lowered, Step
from omnizarr.errors import CodecError, CorruptError, MetadataError, UnsupportedError
from omnizarr.model.codec import Codec, kind_of
from omnizarr.model.jsonvalue import JSON

NAME = "numcodecs.categorize"
PLACEHOLDER = "categorize"


class Categories:
    """Labels and their numbers."""

    __slots__ = ("_codes", "_items", "_text", "astype")

    def __init__(self, labels: Sequence[str], text: np.dtype[np.generic] | None, astype: np.dtype[np.generic]) -> None:
        # As the data have them: UTF-8 where items vary in length (no type), else text or bytes.
        self._text = text
        items: list[Any] = ["", *labels] if text is not None and text.kind == "U" else [b"", *map(str.encode, labels)]
        self._items = items
        self._codes = {item: code for code, item in enumerate(items)}
        self.astype = astype

    def codes(self, items: Sequence[Any]) -> np.ndarray[Any, np.dtype[np.generic]]:
        """Return the number of each item.

        Raises:
            CodecError: If one is not a label.
        """
        known = self._codes
        try:
            return np.array([known[item] for item in items], self.astype)
        except KeyError as error:
            message = f"{error.args[0]!r} is not one of the labels"
            raise CodecError(message, codec=NAME, hint="Only labels, and the empty text, can be stored.") from None

    def items(self, codes: np.ndarray[Any, np.dtype[Any]]) -> list[Any]:
        """Return the item of each number.

        Raises:
            CorruptError: If a number has no label.
        """
        numbers = codes.reshape(-1)
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < len(self._items):
            raise CorruptError(f"a number has none of the {len(self._items) - 1} labels", codec=NAME)
        return [self._items[number] for number in numbers.tolist()]

    def encode(self, buf: np.ndarray[Any, np.dtype[Any]], /) -> np.ndarray[Any, np.dtype[np.generic]]:
        """Encode text of fixed length."""
        return self.codes(buf.reshape(-1).tolist()).reshape(buf.shape)

    def decode(self, buf: np.ndarray[Any, np.dtype[Any]], /) -> np.ndarray[Any, np.dtype[np.generic]]:
        """Decode to text of fixed length."""
        return np.array(self.items(buf), self._text).reshape(buf.shape)


def lower_categorize(codec: Codec, stage: Stage) -> Lowered:
    """Return the step of `categorize`; where items vary in length it is a placeholder that `fold` replaces.

    Raises:
        MetadataError: If an option does not suit it.
    """
    options = Options(codec.name, codec.configuration)
    labels = options.raw("labels")
    if not isinstance(labels, list | tuple) or not all(isinstance(label, str) for label in labels):
        raise options.wrong("labels", labels, "a list of texts")
    names = [str(label) for label in labels]
    astype = options.dtype("astype", np.dtype("u1"))
    if astype.kind not in "iu" or len(names) > np.iinfo(astype.str).max:
        raise options.wrong("astype", astype.str, f"an integer type for {len(names)} labels")
    _check_dtype(options, stage)
    if stage.vlen not in ("", "string") or (not stage.vlen and stage.dtype.kind not in "SU"):
        raise MetadataError(f"the codec holds text, not {stage.vlen or stage.dtype.str}", codec=codec.name)
    options.done()
    config: dict[str, JSON] = {
        "labels": list(names),
        "dtype": "|O" if stage.vlen else stage.dtype.str,
        "astype": astype.str,
    }
    if not stage.vlen:
        return adapt(codec.name, "array", Categories(names, stage.dtype, astype), stage)._replace(config=config)
    categories = Categories(names, None, astype)
    return Lowered(config, (PLACEHOLDER, {"codec": categories}), stage.to_array(astype, stage.shape))


def _check_dtype(options: Options, stage: Stage) -> None:
    given = options.raw("dtype")
    if given is None or (stage.vlen and given in ("|O", "O", "object")):
        return
    if stage.vlen or options.dtype("dtype", stage.dtype) != stage.dtype:
        reaches = "|O" if stage.vlen else stage.dtype.str
        raise options.wrong("dtype", given, f"{reaches!r}, the type that reaches the codec")


class Stream:
    """The step between framed text and the bytes that the codecs of numbers make of the labels' numbers."""

    __slots__ = ("_categories", "_codecs", "_count", "_swap")

    def __init__(self, categories: Categories, codecs: list[Any], count: int, swap: int) -> None:
        self._categories = categories
        self._codecs = codecs
        self._count = count
        self._swap = swap

    def encode(self, data: bytes | memoryview) -> bytes:
        """Encode framed text."""
        numbers: Any = self._categories.codes(split(data, self._count, NAME))
        for codec in self._codecs:
            numbers = codec.encode(numbers)
        return self._swapped(np.ascontiguousarray(numbers).tobytes())

    def decode(self, data: bytes | memoryview, size: int | None) -> bytes:
        """Decode to framed text."""
        del size  # nobody can know it
        numbers: Any = self._swapped(bytes(data))
        for codec in reversed(self._codecs):
            numbers = codec.decode(numbers)
        astype = self._categories.astype
        raw = np.frombuffer(numbers, np.uint8) if isinstance(numbers, bytes) else np.ascontiguousarray(numbers)
        raw = raw.reshape(-1).view(np.uint8)
        if raw.size != self._count * astype.itemsize:
            wanted = self._count * astype.itemsize
            raise CorruptError(f"{raw.size} bytes of numbers where {wanted} were expected", codec=NAME)
        return join(self._categories.items(raw.view(astype)))

    def _swapped(self, data: bytes) -> bytes:
        return np.frombuffer(data, f"u{self._swap}").byteswap().tobytes() if self._swap > 1 else data


def fold(steps: list[Step], codecs: list[Codec], stage: Stage) -> list[Step]:
    """Put the numbering of text, the codecs of numbers after it, and the making of bytes into one step.

    The kernel moves text of variable length as such up to the one step that makes bytes of it.

    Args:
        steps: The steps of a chain, one of which is the placeholder.
        codecs: Their codecs; up to the one that makes bytes, each has one step.
        stage: What enters the chain.

    Raises:
        UnsupportedError: If what makes bytes of the numbers is not the codec `bytes`.
    """
    at = next(i for i, step in enumerate(steps) if step[0] == PLACEHOLDER)
    end = next(i for i, codec in enumerate(codecs) if kind_of(codec.name) != "array")
    if codecs[end].name != "bytes":
        raise UnsupportedError("it cannot store the numbers of labels", codec=codecs[end].name)
    between = [_numcodecs(codec) for codec in codecs[at + 1 : end]]
    stream = Stream(steps[at][1]["codec"], between, prod(stage.shape), steps[end][1]["swap"])
    step = {"codec": stream, "name": NAME, "kind": "bytes", "encoded_size": None, "decoded_size": None}
    return [*steps[:at], ("vlen", {}), ("python", step), *steps[end + 1 :]]


def _numcodecs(codec: Codec) -> Any:  # noqa: ANN401 - numcodecs has no types
    identifier = codec.name.removeprefix("numcodecs.")
    try:
        return import_module("numcodecs.registry").get_codec({**codec.configuration, "id": identifier})
    except ImportError:
        hint = "pip install omnizarr[numcodecs]"
        raise UnsupportedError("after categorize it needs numcodecs", codec=codec.name, hint=hint) from None
    except (TypeError, ValueError) as error:
        raise UnsupportedError(f"it cannot follow categorize: {error}", codec=codec.name) from error
