"""`python -m fuzz.corpus unpack|pack FOLDER`: inputs that reached something new, kept from one run to the next.

Without them every run would have to find again what those before it had found, and many short runs would not be worth
one long one. They are in corpus.tar.xz beside this file, in folders named after the targets; libFuzzer has left out all
that reach nothing that others do not.
"""

from __future__ import annotations

import io
import sys
import tarfile
from pathlib import Path

FILE = Path(__file__).with_name("corpus.tar.xz")


def unpack(folder: Path, file: Path = FILE) -> None:
    """Write all inputs into a folder."""
    for name, data in _read(file).items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)


def pack(folder: Path, file: Path = FILE) -> int:
    """Keep what is in a folder, and the inputs of targets that it has nothing of; return how many there are now.

    The same inputs make the same file: it has neither dates nor an order of its own.
    """
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    renewed = {_target(name) for name in found}
    found.update({name: data for name, data in _read(file).items() if _target(name) not in renewed})
    with tarfile.open(file, "w:xz") as archive:
        for name in sorted(found):
            entry = tarfile.TarInfo(name)
            entry.size = len(found[name])
            archive.addfile(entry, io.BytesIO(found[name]))
    return len(found)


def _target(name: str) -> str:
    return name.partition("/")[0]


def _read(file: Path) -> dict[str, bytes]:
    if not file.exists():
        return {}
    with tarfile.open(file) as archive:
        parts = ((entry.name, archive.extractfile(entry)) for entry in archive)
        return {name: part.read() for name, part in parts if part is not None}


def main(arguments: list[str]) -> None:
    """Unpack or pack."""
    match arguments:
        case ["unpack", folder]:
            unpack(Path(folder))
        case ["pack", folder]:
            print(f"{pack(Path(folder)):,} inputs in {FILE.name}")
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
