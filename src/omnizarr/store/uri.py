"""Paths, keys and `file:` URIs, each into the other, for POSIX and Windows on any system.

https://zarr-specs.readthedocs.io/en/latest/v3/stores/filesystem/ says how keys become paths and what the canonical URI
of a directory is, https://www.rfc-editor.org/rfc/rfc8089 how a `file:` URI is read.
"""

from __future__ import annotations

import os
import re
from typing import Literal

from omnizarr.errors import UnsafeError
from omnizarr.store.keys import check_key

Flavour = Literal["posix", "windows"]
NATIVE: Flavour = "windows" if os.name == "nt" else "posix"

_PLAIN = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")

# Strings, not compiled patterns: opening a plain path uses none of them, and compiling takes longer than importing.
_ESCAPE = rb"%([0-9A-Fa-f]{2})?"
_DRIVE = r"(?s)/*([A-Za-z])[:|](/.*)?\Z"
_HOST = r"[A-Za-z0-9_-][A-Za-z0-9._-]*\Z"
_RESERVED = r"(?i)(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9¹²³])\s*(?:\.|\Z)"
_FORBIDDEN = r'[<>:"|?*\x00-\x1f]|[. ]\Z'


def scheme(text: str) -> str | None:
    """Return the scheme of a URI, in lower case, or None if the text is a path.

    >>> scheme("s3://bucket/x"), scheme("file:/x"), scheme("c:/x"), scheme("run:1.zarr")
    ('s3', 'file', None, None)
    """
    name, colon, rest = text.partition(":")
    name = name.lower()
    if name == "file":
        return name if colon else None
    # One letter is a drive; without "//" (or the "::" of a chain of file systems) it is a name with a colon in it.
    if len(name) < 2 or not rest.startswith(("//", ":")) or not name[0].isalpha():
        return None
    return name if name.isascii() and all(letter.isalnum() or letter in "+.-" for letter in name) else None


def quote(text: str) -> str:
    """Escape everything but letters, digits, `-._~` and `/`, as a path within a URI wants it."""
    raw = text.encode("utf-8", "surrogateescape")
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in raw)


def path_to_uri(path: str, flavour: Flavour = NATIVE) -> str:
    r"""Return the canonical URI of an absolute path.

    Raises:
        UnsafeError: The path is relative, or names a device.

    >>> path_to_uri("/my data", "posix"), path_to_uri("c:\\my data", "windows")
    ('file:///my%20data', 'file:///c:/my%20data')
    """
    if "\0" in path:
        raise UnsafeError(f"the path {path!r} holds a NUL")
    if flavour == "posix":
        if not path.startswith("/"):
            raise UnsafeError(f"the path {path!r} is relative, so it has no URI")
        return "file://" + quote(_normal(path))
    root, rest = _split_windows(path)
    inside = quote(_normal(rest))
    return "file:" + root + (inside if inside != "/" or root.startswith("///") else "")


def uri_to_path(uri: str, flavour: Flavour = NATIVE) -> str:
    r"""Return the path that a `file:` URI stands for.

    `file:/x`, `file:///x` and `file://localhost/x` are one; on Windows a host makes a network path.

    Raises:
        UnsafeError: Not a `file:` URI, or one with a query, a fragment, a relative path, or another host.

    >>> uri_to_path("file:///my%20data", "posix"), uri_to_path("file:///c:/my%20data", "windows")
    ('/my data', 'c:\\my data')
    """
    if uri[:5].lower() != "file:":
        raise UnsafeError(f"{uri!r} is not a file: URI")
    if "?" in uri or "#" in uri:
        raise UnsafeError(f"{uri!r} has a query or a fragment", hint="Write %3F for ? and %23 for # in a name.")
    rest, host = uri[5:], ""
    if rest.startswith("//"):
        host, slash, rest = rest[2:].partition("/")
        rest = slash + rest
    if host.lower() == "localhost":
        host = ""
    return _posix_path(uri, host, rest) if flavour == "posix" else _windows_path(uri, host, rest)


def key_to_path(root: str, key: str, flavour: Flavour = NATIVE) -> str:
    r"""Return the path of a key below a base directory.

    Raises:
        UnsafeError: Not a key, or on Windows one that the system would take for something else.

    >>> key_to_path("/data", "foo/bar", "posix"), key_to_path("C:\\data", "foo/bar", "windows")
    ('/data/foo/bar', 'C:\\data\\foo\\bar')
    """
    check_key(key)
    if flavour == "posix":
        return root.rstrip("/") + "/" + key
    for part in key.split("/"):
        if re.search(_FORBIDDEN, part) or re.match(_RESERVED, part):
            raise UnsafeError(f"{part!r} cannot be the name of a file on Windows", key=key)
    return root.rstrip("\\/") + "\\" + key.replace("/", "\\")


def path_to_key(root: str, path: str, flavour: Flavour = NATIVE) -> str:
    r"""Return the key of a path below a base directory.

    Raises:
        UnsafeError: The path is not below the directory.

    >>> path_to_key("/data", "/data/foo/bar", "posix"), path_to_key("C:\\data", "C:\\data\\foo\\bar", "windows")
    ('foo/bar', 'foo/bar')
    """
    base, parts = _parts(root, flavour), _parts(path, flavour)
    # Windows does not tell upper from lower case; what is compared are names that the system itself gave.
    fold = str.lower if flavour == "windows" else str
    if [fold(part) for part in parts[: len(base)]] != [fold(part) for part in base] or len(parts) == len(base):
        raise UnsafeError(f"the path {path!r} is not below {root!r}")
    return check_key("/".join(parts[len(base) :]))


def _parts(path: str, flavour: Flavour) -> list[str]:
    text = path.replace("\\", "/") if flavour == "windows" else path
    return text.rstrip("/").split("/")


def _posix_path(uri: str, host: str, rest: str) -> str:
    if host:
        raise UnsafeError(
            f"{uri!r} names the host {host!r}, and this system reaches only its own files",
            hint=f"A file: URI has three slashes before the path: file:///{host}{rest}.",
        )
    if not rest.startswith("/"):
        raise UnsafeError(f"{uri!r} holds a relative path", hint=f"Give the path itself: {rest!r}.")
    return _normal(_unquote(uri, rest, "/\0"))


def _windows_path(uri: str, host: str, rest: str) -> str:
    if "\\" in rest or "\\" in host:
        raise UnsafeError(f"{uri!r} has a backslash", hint="Separate the parts of a URI by /.")
    path = _unquote(uri, rest, "/\\\0")
    drive = re.match(_DRIVE, path)
    if drive and not host:
        return (drive[1] + ":" + _normal(drive[2] or "/")).replace("/", "\\")
    if path.startswith("//") and not host:
        host, _, path = path.lstrip("/").partition("/")
    share, _, inside = path.lstrip("/").partition("/")
    if not re.match(_HOST, host) or not share:
        raise UnsafeError(
            f"{uri!r} has neither a drive nor a host with a share", hint="Write file:///c:/data or file://host/share."
        )
    return f"\\\\{host}\\{share}" + _normal(inside).rstrip("/").replace("/", "\\")


def _split_windows(path: str) -> tuple[str, str]:
    """Split an absolute Windows path into what a URI has up to the drive or share, and the rest with "/" in it."""
    text = path.replace("\\", "/")
    if text.startswith("//?/"):
        text = "//" + text[8:] if text[4:8].upper() == "UNC/" else text[4:]
    if (drive := re.match(_DRIVE, text)) and text[1:2] == ":" and drive[2]:
        return f"///{drive[1]}:", drive[2]
    host, _, rest = text[2:].partition("/")
    share, _, inside = rest.partition("/")
    if not text.startswith("//") or not re.match(_HOST, host) or not share:
        raise UnsafeError(f"{path!r} is not an absolute path with a drive, or with a host and a share")
    return f"//{host}/{quote(share)}", inside


def _normal(path: str) -> str:
    """Resolve empty, "." and ".." parts of an absolute path, and drop a "/" at its end."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def _unquote(uri: str, text: str, separators: str) -> str:
    """Resolve the escapes; those that would hide a separator or a NUL are refused."""

    def character(found: re.Match[bytes]) -> bytes:
        if not found[1]:
            raise UnsafeError(f"{uri!r} has a % without two hexadecimal digits", hint="Write %25 for %.")
        number = int(found[1], 16)
        if chr(number) in separators:
            raise UnsafeError(f"{uri!r} hides a separator or a NUL in the escape {found[0].decode()}")
        return bytes((number,))

    raw = re.sub(_ESCAPE, character, text.encode("utf-8", "surrogateescape"))
    return raw.decode("utf-8", "surrogateescape")
