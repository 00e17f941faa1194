"""What a key and a prefix may look like, in every store; the kernel has the same rules.

A key is one or more parts joined by "/". It never names anything but what lies below the root of its store, on any
system: no part is empty, "." or "..", and there is neither a NUL, nor a backslash, nor a drive letter.
"""

from __future__ import annotations

from omnizarr.errors import UnsafeError


def is_key(key: str) -> bool:
    """Whether a string is a key."""
    parts = key.split("/")
    if "" in parts or "." in parts or ".." in parts or "\\" in key or "\0" in key:
        return False
    return not _has_drive(key) and is_text(key)


def is_text(text: str) -> bool:
    """Whether UTF-8 can say a text, which half of a pair of surrogates cannot be said in."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_key(key: str) -> str:
    """Return the key, if it is one.

    Raises:
        UnsafeError: It is not.
    """
    if is_key(key):
        return key
    raise UnsafeError(f"not a key: {_reason(key)}", key=key)


def check_prefix(prefix: str) -> str:
    """Return a prefix that is empty or ends in "/", if it is empty or a key with or without a "/" at its end.

    So "a" finds what lies below "a/", and never "ab".

    Raises:
        UnsafeError: It is neither.
    """
    if not prefix:
        return prefix
    return check_key(prefix.removesuffix("/")) + "/"


def node_path(path: str) -> str:
    """Bring the path of a node, as people write it, to the form that keys begin with: no "/" at either end.

    Raises:
        UnsafeError: A part of the path is "." or "..", or it holds a NUL, a backslash or a drive letter.

    >>> node_path("/a//b/")
    'a/b'
    """
    parts = [part for part in path.split("/") if part]
    return check_key("/".join(parts)) if parts else ""


def clip(size: int, start: int, length: int | None) -> tuple[int, int]:
    """Turn a range as stores take it into the half-open span of a value's bytes that exists.

    A negative start counts from the end, and stops at the beginning; what lies beyond the end is left out.

    Raises:
        UnsafeError: The length is negative.

    >>> clip(10, -20, 4), clip(10, 8, None), clip(10, 99, 1)
    ((0, 4), (8, 10), (10, 10))
    """
    if length is not None and length < 0:
        raise UnsafeError(f"a range of {length} bytes")
    first = max(0, size + start) if start < 0 else min(start, size)
    return first, size if length is None else min(size, first + length)


def _has_drive(key: str) -> bool:
    return key[1:2] == ":" and key[0].isascii() and key[0].isalpha()


def _reason(key: str) -> str:
    if not key:
        return "it is empty"
    if "\0" in key or "\\" in key:
        return "it has a NUL or a backslash"
    if _has_drive(key):
        return "it begins with a drive letter"
    if not is_text(key):
        return "it is not valid Unicode"
    return "it has an empty, '.' or '..' part"
