"""A disk that loses power: what was synced is there, and of everything else any part may be.

It is fed with the calls that calls.c has recorded. Names live in folders, bytes in files; `fsync` of a file keeps its
bytes, `fsync` of a folder keeps its names. A rename within a folder is one change. A file that was made without a name
is gone unless it gets one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, TypeAlias

Keep: TypeAlias = Callable[[object], bool]
"""Whether a change that was not synced has reached the disk."""


class Call(NamedTuple):
    """A call that was recorded."""

    op: str
    path: str
    other: str
    offset: int
    data: bytes


class Write:
    """Bytes at a place of a file, or a new length."""

    def __init__(self, offset: int, data: bytes | None) -> None:
        self.offset = offset
        self.data = data

    def apply(self, content: bytearray) -> None:
        """Change the content of a file."""
        missing = self.offset - len(content)
        if missing > 0:
            content.extend(bytes(missing))
        if self.data is None:
            del content[self.offset :]
        else:
            content[self.offset : self.offset + len(self.data)] = self.data


class Names:
    """Names that go and names that come, at once."""

    def __init__(self, gone: str | None, name: str | None, node: Node | None) -> None:
        self.gone = gone
        self.name = name
        self.node = node

    def apply(self, entries: dict[str, Node]) -> None:
        """Change the names in a folder."""
        if self.gone is not None:
            entries.pop(self.gone, None)
        if self.name is not None and self.node is not None:
            entries[self.name] = self.node


class File:
    """Bytes that are on the disk, and changes that may be."""

    def __init__(self, content: bytes = b"") -> None:
        self.content = bytearray(content)
        self.pending: list[Write] = []

    def sync(self) -> None:
        """Bring all changes to the disk."""
        for one in self.pending:
            one.apply(self.content)
        self.pending = []


class Folder:
    """Names as programs see them, names that are on the disk, and changes that may be."""

    def __init__(self) -> None:
        self.seen: dict[str, Node] = {}
        self.entries: dict[str, Node] = {}
        self.pending: list[Names] = []

    def change(self, change: Names) -> None:
        """Change names."""
        change.apply(self.seen)
        self.pending.append(change)

    def sync(self) -> None:
        """Bring all changes to the disk."""
        for one in self.pending:
            one.apply(self.entries)
        self.pending = []


Node: TypeAlias = File | Folder


class Disk:
    """What lies below a folder, and what becomes of it."""

    def __init__(self, top: Path) -> None:
        self.top = str(top)
        self.root = _loaded(top)
        self._nameless: dict[str, File] = {}

    def feed(self, call: Call) -> None:
        """Do what a call did."""
        path = call.path.removesuffix(" (deleted)")
        if not path.startswith(self.top + "/") and path != self.top:
            return
        unnamed = path.removesuffix(" (deleted)/")
        if call.op in "wts":
            self._change(path, call)
        elif call.op == "l" and unnamed in self._nameless:
            target, new = self._above(call.other)
            target.change(Names(None, new, self._nameless.pop(unnamed)))
        elif call.op != "n":
            self._rename(path, call)

    def _change(self, path: str, call: Call) -> None:
        """Change the content of a file, or sync it."""
        node = self._find(path)
        if node is None and call.op == "w" and call.offset == 0:
            node = self._nameless[path] = File()  # an earlier one of the same number never got a name
        node = node or self._nameless.get(path)
        if node is not None and call.op == "s":
            node.sync()
        elif isinstance(node, File):  # one that has lost its name is not there after a loss of power
            node.pending.append(Write(call.offset, call.data if call.op == "w" else None))

    def _rename(self, path: str, call: Call) -> None:
        """Change the names in a folder."""
        folder, name = self._above(path)
        if call.op == "o" and name not in folder.seen:
            folder.change(Names(None, name, File()))
        elif call.op == "m":
            folder.change(Names(None, name, Folder()))
        elif call.op in "ud":
            folder.change(Names(name, None, None))
        elif call.op in "rl":
            target, new = self._above(call.other)
            node = folder.seen[name]
            gone = name if call.op == "r" else None
            if target is folder:
                folder.change(Names(gone, new, node))
            else:
                target.change(Names(None, new, node))
                folder.change(Names(gone, None, None))

    def pending(self) -> Iterator[object]:
        """Go through all changes that are not on the disk for sure."""
        todo: list[Node] = [self.root]
        known: set[int] = set()
        while todo:
            node = todo.pop()
            if id(node) in known:
                continue
            known.add(id(node))
            yield from node.pending
            if isinstance(node, Folder):
                todo += [*node.seen.values(), *node.entries.values()]
                todo += [one.node for one in node.pending if one.node is not None]

    def write(self, target: Path, keep: Keep) -> None:
        """Write what is there after a loss of power into a new folder."""
        _write(self.root, target, keep)

    def _find(self, path: str) -> Node | None:
        node: Node | None = self.root
        for part in _parts(path[len(self.top) :]):
            node = node.seen.get(part) if isinstance(node, Folder) else None
        return node

    def _above(self, path: str) -> tuple[Folder, str]:
        *_, name = _parts(path)
        folder = self._find(path.rstrip("/").rpartition("/")[0])
        if not isinstance(folder, Folder):
            raise TypeError(f"no folder for {path}")
        return folder, name


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part not in ("", ".")]


def _loaded(path: Path) -> Folder:
    folder = Folder()
    for one in path.iterdir():
        folder.entries[one.name] = _loaded(one) if one.is_dir() else File(one.read_bytes())
    folder.seen = dict(folder.entries)
    return folder


def _write(node: Node, target: Path, keep: Keep) -> None:
    if isinstance(node, File):
        content = bytearray(node.content)
        for write in filter(keep, node.pending):
            write.apply(content)
        target.write_bytes(content)
        return
    target.mkdir()
    entries = dict(node.entries)
    for change in filter(keep, node.pending):
        change.apply(entries)
    for name, one in entries.items():
        _write(one, target / name, keep)


def read_log(path: Path) -> Iterator[Call]:
    """Go through the calls of a log."""
    with path.open("rb") as file:
        while line := file.readline():
            op, name, other, offset, size = line.decode().rstrip("\n").split("\t")
            yield Call(op, name, other, int(offset), file.read(int(size)))
