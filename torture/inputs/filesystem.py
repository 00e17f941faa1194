"""F29 to F32 and F36, F37: keys, links, pipes, names and rights of a file system."""

from __future__ import annotations

import os
import socket
import unicodedata
from collections.abc import Callable
from pathlib import Path

from torture.inputs.case import FOUR, RAW, Case, Cases, Expect, Make, store, text, v2, v3

SECRET = b"not yours"

KEYS = (
    "../secret", "../secret/x", "a/../../secret/x", "..", ".", "./a", "a/.", "a/..", "/etc/passwd", "//etc/passwd", "a//b", "a/", "/",
    "a\\b", "..\\secret", "\\", "C:x", "C:/x", "c:\\x", "a\0b", "\0", "a/b\0", "../" * 40 + "etc/passwd", "a/../" * 100 + "../secret/x",
    "~/x", "\n/../../secret/x",
)  # fmt: skip


def keys() -> Cases:
    """F29: keys that lead out of the store, or are none."""
    base = _beside(store({"zarr.json": text(v3()), "c/0": RAW}))
    for key in KEYS:
        expect: Expect = "any" if key in ("C:x", "C:/x", "~/x", "a\\b") else "error"
        yield Case("F29", f"get-{key[:40]!r}", base, expect, act="get", path=key, writes=True)
        yield Case("F29", f"path-{key[:40]!r}", base, _path(key), FOUR, path=key, writes=True)
        consolidated = {
            "zarr_consolidated_format": 1,
            "metadata": {".zgroup": {"zarr_format": 2}, f"{key}/.zarray": v2()},
        }
        files = {".zgroup": text({"zarr_format": 2}), ".zmetadata": text(consolidated)}
        yield Case("F29", f"consolidated-{key[:40]!r}", _beside(store(files)), "any", act="tree", writes=True)
    for key in (
        "%2e%2e/secret/x",
        "%2e%2e%2fsecret%2fx",
        "..%2fsecret/x",
        "..;/secret/x",
        "\uff0e\uff0e/secret/x",
        "‥/secret/x",
    ):
        yield Case("F29", f"escaped-{key!r}", base, "any", act="get", path=key, writes=True)
        yield Case("F29", f"escaped-path-{key!r}", base, path=key, writes=True)
    for name in ("x" * 255, "x" * 256, "x" * 300, "x" * 5000, "é" * 200, "/".join(["x" * 200] * 30), "😀" * 50):
        yield Case("F29", f"long-{len(name)}-{name[0]}", base, path=name, writes=True)
        yield Case("F29", f"long-get-{len(name)}-{name[0]}", base, "any", act="get", path=name, writes=True)
    for name in (
        "é",
        unicodedata.normalize("NFD", "é"),
        "😀",
        "a b",
        "a%20b",
        "a?b",
        "a*b",
        "-rf",
        "$(id)",
        "a'b",
        'a"b',
        "a\tb",
        "\u202e",
        "\x7f",
    ):
        files = {f"{name}/zarr.json": text(v3()), f"{name}/c/0": RAW}
        yield Case("F29", f"odd-name-{name!r}", store(files), "either", FOUR, path=name)
    for separator in ("/../../", "\\", "\0", "//"):
        made = store(
            {
                "zarr.json": text(
                    v3(chunk_key_encoding={"name": "default", "configuration": {"separator": separator}})
                ),
                "c/0": RAW,
            }
        )
        yield Case("F29", f"separator-{separator!r}", _beside(made), writes=True)


def _path(key: str) -> Expect:
    # Slashes at the ends of a path, and a path of dots alone, may be taken for the root.
    return "either" if key.strip("/.\\") == "" or key.startswith("./") else "error"


def _beside(make: Make) -> Make:
    """Put something beside the store that nobody may read or change."""

    def made(folder: Path) -> None:
        (folder / "secret").mkdir()
        (folder / "secret/x").write_bytes(SECRET)
        (folder / "secret/zarr.json").write_bytes(text(v3()))
        (folder / "secret/c").mkdir()
        (folder / "secret/c/0").write_bytes(RAW)
        make(folder)

    return made


def links() -> Cases:
    """F30: what is no plain file where one should be."""
    for key in ("zarr.json", "c/0"):
        for name, make in (
            ("link-out", _linked(lambda folder: folder / "secret/c/0", key)),
            ("link-to-the-document-out", _linked(lambda folder: folder / "secret/zarr.json", key)),
            (
                "relative-link-out",
                _linked(lambda _, key=key: Path("../secret/x" if key == "zarr.json" else "../../secret/c/0"), key),
            ),
            ("link-to-etc", _linked(lambda _: Path("/etc/passwd"), key)),
            ("link-to-itself", _linked(lambda folder, key=key: folder / "store" / key, key)),
            ("link-to-zeros", _linked(lambda _: Path("/dev/zero"), key)),
            ("link-to-null", _linked(lambda _: Path("/dev/null"), key)),
            ("link-to-memory", _linked(lambda _: Path("/proc/self/mem"), key)),
            ("link-to-the-terminal", _linked(lambda _: Path("/dev/tty"), key)),
            ("pipe", _replaced(os.mkfifo, key)),
            ("socket", _replaced(_socket, key)),
            ("folder", _replaced(lambda path: path.mkdir(), key)),
        ):
            # A folder is no value; a link to nothing is nothing.
            expect: Expect = "any" if key == "c/0" and name == "folder" else "error"
            yield Case("F30", f"{key}-{name}", make, expect, writes=True)
    yield Case("F30", "c-link-out", _beside(_folder_link("c", "secret/c")), writes=True)
    nothing = _linked(lambda folder: folder / "store/nope", "c/0")
    yield Case("F30", "c/0-link-to-nothing", nothing, "any", writes=True)
    yield Case("F30", "hard-link", _hard, "either", FOUR, writes=True)
    yield Case("F30", "link-within", _within, "either", FOUR, writes=True)
    deep = Path("a/" * 200)
    yield Case(
        "F30",
        "deep-folders",
        store({f"{deep}/zarr.json": text(v3()), f"{deep}/c/0": RAW}),
        "either",
        FOUR,
        path=str(deep),
    )
    group = {"zarr.json": text({"zarr_format": 3, "node_type": "group"}), "a/zarr.json": text(v3()), "a/c/0": RAW}
    yield Case("F30", "folders-in-a-loop", _loop(store(group)), "any", act="tree", writes=True)
    yield Case("F30", "pipe-beside-nodes", _with_pipe(store(group)), "any", act="tree", writes=True)


def _whole(folder: Path) -> None:
    _beside(store({"zarr.json": text(v3()), "c/0": RAW}))(folder)


def _linked(target: Callable[[Path], Path], key: str) -> Make:
    def made(folder: Path) -> None:
        _whole(folder)
        (folder / "store" / key).unlink()
        (folder / "store" / key).symlink_to(target(folder))

    return made


def _replaced(make: Callable[[Path], object], key: str) -> Make:
    def made(folder: Path) -> None:
        _whole(folder)
        (folder / "store" / key).unlink()
        make(folder / "store" / key)

    return made


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(os.path.relpath(path))  # the whole path may be too long for a socket


def _folder_link(name: str, target: str) -> Make:
    def made(folder: Path) -> None:
        store({"zarr.json": text(v3())})(folder)
        (folder / "store" / name).symlink_to(folder / target)

    return made


def _hard(folder: Path) -> None:
    _whole(folder)
    (folder / "store/c/0").unlink()
    (folder / "store/c/0").hardlink_to(folder / "secret/c/0")


def _within(folder: Path) -> None:
    _whole(folder)
    (folder / "store/c/0").rename(folder / "store/c/1")
    (folder / "store/c/0").symlink_to("1")


def _loop(make: Make) -> Make:
    def made(folder: Path) -> None:
        make(folder)
        (folder / "store/again").symlink_to(folder / "store")

    return made


def _with_pipe(make: Make) -> Make:
    def made(folder: Path) -> None:
        make(folder)
        (folder / "store/b").mkdir()
        os.mkfifo(folder / "store/b/zarr.json")

    return made


def foreign() -> Cases:
    """F37: files that other programs leave behind, none of which is a node or a chunk."""
    group = {"zarr.json": text({"zarr_format": 3, "node_type": "group"}), "a/zarr.json": text(v3()), "a/c/0": RAW}
    for name in (".DS_Store", "Thumbs.db", "desktop.ini", "._a", ".nfs0001", "a.partial", "0.__lock", "core", "lost+found/x", ".git/config",
                 ".ipynb_checkpoints/x", "zarr.json~", ".zarr.json.swp", "#zarr.json#", "zarr.json.tmp", "__MACOSX/x", ".~lock.x#"):  # fmt: skip
        files = {**group, name: b"\xff" * 10, f"a/{name}": b"\xff" * 10, f"a/c/{name}": b"\xff" * 10}
        yield Case("F37", f"v3-{name}", store(files), "value", FOUR, path="a")
        # One array, and nothing else, is there.
        yield Case("F37", f"v3-{name}-as-a-tree", store(files), "value", FOUR[None], act="tree")
        old = {
            ".zgroup": text({"zarr_format": 2}),
            "a/.zarray": text(v2()),
            "a/0": RAW,
            name: b"\xff",
            f"a/{name}": b"\xff",
        }
        yield Case("F37", f"v2-{name}", store(old), "value", FOUR, path="a")
        yield Case("F37", f"v2-{name}-as-a-tree", store(old), "value", FOUR[None], act="tree")


def names() -> Cases:
    """F31: names that some systems take for others."""
    for one, two in (
        ("A", "a"),
        ("é", "e\u0301"),
        ("a", "a."),
        ("a", "a "),
        ("CON", "con"),
        ("ß", "ss"),
        ("\u0131", "i"),
        ("K", "\u212a"),
    ):
        files: dict[str, bytes] = {"zarr.json": text({"zarr_format": 3, "node_type": "group"})}
        for name, values in ((one, FOUR), (two, FOUR[::-1])):
            files |= {f"{name}/zarr.json": text(v3()), f"{name}/c/0": values.tobytes()}
        yield Case("F31", f"{one!r}-beside-{two!r}-first", store(files), "either", FOUR, path=one)
        yield Case("F31", f"{one!r}-beside-{two!r}-second", store(files), "either", FOUR[::-1], path=two)
    for name in ("CON", "PRN", "AUX", "NUL", "COM1", "LPT9", "con.txt", "a.", "a ", "a:b", "a|b", "a<b", "...", " "):
        files = {f"{name}/zarr.json": text(v3()), f"{name}/c/0": RAW}
        yield Case("F31", f"named-{name!r}", store(files), "either", FOUR, path=name)


def rights() -> Cases:
    """F32: what cannot be read is an error, not a missing chunk (where the rights of who runs this are limited)."""
    for key in ("zarr.json", "c/0", "c"):
        yield Case("F32", f"no-right-to-read-{key}", _without_rights(key), "any" if os.geteuid() == 0 else "error")


def _without_rights(key: str) -> Make:
    def made(folder: Path) -> None:
        _whole(folder)
        (folder / "store" / key).chmod(0)

    return made


def changing() -> Cases:
    """F36: what a writer that has no atomic replacement leaves for a moment: chunks that are empty or half there."""
    gzip3 = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "gzip", "configuration": {"level": 1}}]
    for size in range(len(RAW)):
        yield Case("F36", f"raw-chunk-of-{size}-bytes", store({"zarr.json": text(v3()), "c/0": RAW[:size]}))
    for size in (0, 1, 10, 18):
        yield Case(
            "F36",
            f"gzip-chunk-of-{size}-bytes",
            store({"zarr.json": text(v3(codecs=gzip3)), "c/0": (b"\x1f\x8b" + bytes(16))[:size]}),
        )
    yield Case("F36", "empty-document", store({"zarr.json": b"", "c/0": RAW}))
    yield Case("F36", "empty-v2-document", store({".zarray": b"", "0": RAW}))
    yield Case("F36", "no-document", store({"c/0": RAW}))
    yield Case("F36", "nothing", lambda folder: (folder / "store").mkdir())
    yield Case("F36", "no-folder", lambda _: None)
    yield Case(
        "F36", "shrunk", store({"zarr.json": text(v3(shape=[2])), "c/0": RAW, "c/1": RAW[:3]}), "value", FOUR[:2]
    )
