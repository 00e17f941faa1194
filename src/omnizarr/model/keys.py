"""The names of an array's chunks in the store, below the array's own path."""

from __future__ import annotations

from typing import NamedTuple

_MOST_DIGITS = len(str(2**63))


class Keys(NamedTuple):
    """A template of chunk keys: a prefix, the indices joined by the separator, and a suffix.

    >>> Keys("c/", "/", "", "c").key((1, 20)), Keys("", ".", ".blosc", "0").key((1, 20)), Keys("", ".", "", "0").key(())
    ('c/1/20', '1.20.blosc', '0')
    """

    prefix: str
    """What stands before the first index, with nothing between."""

    separator: str

    suffix: str
    """Follows the last index with nothing between."""

    scalar: str
    """The whole key of the only chunk of an array without dimensions."""

    reversed: bool = False
    """Whether the index of the last dimension comes first, as in N5."""

    def key(self, index: tuple[int, ...]) -> str:
        """Form the key of the chunk at a place in the grid."""
        if not index:
            return self.scalar
        joined = self.separator.join(map(str, index[::-1] if self.reversed else index))
        return f"{self.prefix}{joined}{self.suffix}"

    def parse(self, key: str, ndim: int | None = None) -> tuple[int, ...] | None:
        """Find the place in the grid that a key stands for, or None if no chunk has that key.

        Args:
            key: The key below the array's path.
            ndim: The number of dimensions. Without it `0` is read as the first chunk of one dimension, although an
                array without dimensions may use the same key.
        """
        if key == self.scalar and (ndim == 0 or (ndim is None and self.prefix)):
            return ()
        start = self.prefix
        if not key.startswith(start) or not key.endswith(self.suffix) or len(key) < len(start) + len(self.suffix):
            return None
        parts = key[len(start) : len(key) - len(self.suffix)].split(self.separator)
        if (ndim is not None and ndim != len(parts)) or not all(map(_is_index, parts)):
            return None
        return tuple(map(int, reversed(parts) if self.reversed else parts))


def _is_index(text: str) -> bool:
    # One spelling for each number: no sign, no leading zero, no digits of other scripts, nothing past 2**63.
    return text.isascii() and text.isdigit() and (text[0] != "0" or text == "0") and len(text) <= _MOST_DIGITS


def default_keys(separator: str = "/") -> Keys:
    """Make the keys of Zarr v3's `default` encoding: `c/0/0`."""
    return Keys("c" + separator, separator, "", "c")


def v2_keys(separator: str = ".") -> Keys:
    """Make the keys of Zarr v2, and of v3's encoding of that name: `0.0`."""
    return Keys("", separator, "", "0")


def suffix_keys(separator: str = "/", suffix: str = "") -> Keys:
    """Make the keys of the encoding `zarrs.default_suffix`: `c/0/0.tiff`."""
    return Keys("c" + separator, separator, suffix, "c" + suffix)


def affix_keys(prefix: str = "", separator: str = ".", suffix: str = "") -> Keys:
    """Make the keys of the first v3 draft: prefix, indices and suffix, joined by the separator.

    An empty prefix or suffix adds no separator. The key of an array without dimensions is what is left, or `0`.

    >>> affix_keys("chunk", "-", "raw").key((1, 23)), affix_keys().key((1, 23)), affix_keys("c", "/").key(())
    ('chunk-1-23-raw', '1.23', 'c')
    """
    before = prefix + separator if prefix else ""
    behind = separator + suffix if suffix else ""
    return Keys(before, separator, behind, separator.join(filter(None, (prefix, suffix))) or "0")
