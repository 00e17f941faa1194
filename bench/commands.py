"""`python -m bench.commands`: how long the commands of `oz` take on a hierarchy of many arrays, and zarr-python's tree.

Whole processes are measured, from start to end, and the same calls in a process that runs already. All take turns, and
the best of each counts, so that a busy moment hits all alike. The arrays are zarr-python's own, in groups of a hundred,
each with attributes of its own, so that no two documents are the same.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Final

from bench import machine

BEGIN: Final = "<!-- commands: begin, written by `python -m bench.commands` -->"
END: Final = "<!-- commands: end -->"

_PAGE: Final = Path(__file__).parents[1] / "docs" / "performance.md"
_IN_A_GROUP: Final = 100
_STORES: Final = {
    "v3": (3, False),
    "v3 consolidated": (3, True),
    "v2": (2, False),
    "v2 consolidated": (2, True),
}
_OZ: Final = (sys.executable, "-m", "omnizarr")
# By default zarr-python draws no more than 500 nodes.
_PEER_TREE: Final = "import sys, zarr; print(zarr.open_group(sys.argv[1], mode='r').tree(max_nodes=10**9))"
_PEER_MEMBERS: Final = (
    "import sys, zarr\n"
    "for path, node in zarr.open_group(sys.argv[1], mode='r').members(max_depth=None):\n"
    "    print(path, getattr(node, 'shape', ''), getattr(node, 'dtype', ''))"
)
_HEAD: Final = (
    "| hierarchy | zarr-python's tree | `oz tree` | ratio | `oz info` | ratio | in a process: zarr-python | "
    "`Group.tree` | ratio |"
)
# What runs in a process of its own again and again: {0} is the call.
_LOOP: Final = """
import sys, time
where, best = sys.argv[1], 1e9
def call():
    {0}
for _ in range(int(sys.argv[2])):
    start = time.perf_counter()
    call()
    best = min(best, time.perf_counter() - start)
print(best)
"""


@dataclass(slots=True)
class Cell:
    """Something that is measured."""

    name: str
    sample: Callable[[], float]
    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    def measure(self) -> None:
        """Take a sample of both the time on the clock and that of the processor."""
        with machine.watch(children=True) as load:
            self.seconds.append(self.sample())
        self.processor.append(load.own)

    @property
    def best(self) -> float:
        """The shortest time."""
        return min(self.seconds)


def make(where: Path, version: int, consolidated: bool, arrays: int) -> None:
    """Write the hierarchy."""
    import zarr

    root = zarr.create_group(where, zarr_format=version)
    group = root
    for i in range(arrays):
        if i % _IN_A_GROUP == 0:
            group = root.create_group(f"group{i // _IN_A_GROUP:03}", attributes={"number": i})
        name = f"array{i % _IN_A_GROUP:03}"
        attributes = {"units": "K", "long_name": f"quantity number {i}"}
        group.create_array(name, shape=(100, 20 + i), chunks=(10, 20), dtype="f4", attributes=attributes)
    if consolidated:
        zarr.consolidate_metadata(where, zarr_format=version)


def process(*words: str) -> float:
    """Run a program, and return how long that took."""
    start = perf_counter()
    done = subprocess.run(words, capture_output=True, check=False)
    seconds = perf_counter() - start
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} failed:\n{done.stderr.decode()}")
    return seconds


def inside(call: str, where: Path, times: int) -> float:
    """Run a call in a process of its own several times, and return the best."""
    words = (sys.executable, "-c", _LOOP.format(call.replace("\n", "\n    ")), str(where), str(times))
    done = subprocess.run(words, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"{call} failed:\n{done.stderr.decode()}")
    return float(done.stdout)


def cells_of(where: Path, peer: str) -> list[Cell]:
    """Return what is measured on one hierarchy: the peer first."""
    call = peer.removeprefix("import sys, zarr; ").replace("sys.argv[1]", "where").replace("print", "str")
    if "\n" in call:
        call = "list(zarr.open_group(where, mode='r').members(max_depth=None))"
    return [
        Cell("zarr-python", lambda: process(sys.executable, "-c", peer, str(where))),
        Cell("oz tree", lambda: process(*_OZ, "tree", str(where))),
        Cell("oz info", lambda: process(*_OZ, "info", str(where))),
        Cell("zarr-python, in a process", lambda: inside(f"import zarr; {call}", where, 2)),
        Cell("Group.tree, in a process", lambda: inside("import omnizarr; str(omnizarr.open(where).tree())", where, 5)),
    ]


def small_cells(where: Path) -> list[Cell]:
    """Return what is measured on one small array, and on nothing."""
    return [
        Cell("python -c pass", lambda: process(sys.executable, "-c", "pass")),
        Cell("python -c 'import numpy'", lambda: process(sys.executable, "-c", "import numpy")),
        Cell("oz --help", lambda: process(*_OZ, "--help")),
        Cell("oz info, a small array", lambda: process(*_OZ, "info", str(where))),
        Cell("python -c 'import zarr'", lambda: process(sys.executable, "-c", "import zarr")),
    ]


def measure(cells: list[Cell], rounds: int) -> None:
    """Take samples in turns."""
    for _ in range(rounds):
        for cell in cells:
            cell.measure()


def report(found: dict[str, list[Cell]], small: list[Cell], arrays: int, load: machine.Load) -> str:
    """Return the section of the page."""
    from importlib.metadata import version

    facts = machine.describe()
    lines = [
        f"A hierarchy of {arrays:,} arrays in {arrays // _IN_A_GROUP} groups, files warm.",
        f"Python {facts['python']}, zarr-python {version('zarr')}, {facts['cores']} cores of {facts['processor']}.",
        f"Whole processes, in ms, the best of {len(small[0].seconds) // 2}.",
        f"Others used {load.foreign:.1f} cores meanwhile.",
        "",
        _HEAD,
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, (peer, tree, info, peer_inside, tree_inside) in found.items():
        times = (peer, tree, info, peer_inside, tree_inside)
        texts = [f"{cell.best * 1000:.0f}" for cell in times]
        ratios = [
            f"{one.best / other.best:.1f}" for one, other in ((peer, tree), (peer, info), (peer_inside, tree_inside))
        ]
        lines.append(
            f"| {name} | {texts[0]} | {texts[1]} | {ratios[0]} | {texts[2]} | {ratios[1]} | "
            f"{texts[3]} | {texts[4]} | {ratios[2]} |"
        )
    lines += ["", "| start | ms |", "|---|--:|"]
    lines += [
        f"| {f'`{cell.name}`' if ',' not in cell.name else cell.name} | {cell.best * 1000:.0f} |" for cell in small
    ]
    return "\n".join(lines)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.commands", description=__doc__)
    parser.add_argument("--arrays", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--root", type=Path, default=None, help="where files go (default: a folder in memory)")
    parser.add_argument("--write", action="store_true", help="write the section of docs/performance.md")
    return parser.parse_args()


def main() -> None:
    """Do what the command line says."""
    args = _arguments()
    try:
        import rich  # noqa: F401 - zarr-python's tree needs it

        peer = _PEER_TREE
    except ImportError:
        print("rich is not installed, so zarr-python lists members instead of drawing a tree", file=sys.stderr)
        peer = _PEER_MEMBERS
    shm = Path("/dev/shm")
    root = Path(tempfile.mkdtemp(dir=args.root or (shm if os.access(shm, os.W_OK) else None)))
    try:
        found: dict[str, list[Cell]] = {}
        with machine.watch(children=True) as load:
            for name, (version, consolidated) in _STORES.items():
                where = root / f"{name.replace(' ', '-')}.zarr"
                make(where, version, consolidated, args.arrays)
                found[name] = cells_of(where, peer)
                measure(found[name], args.rounds)
            small = small_cells(root / "v3.zarr" / "group000" / "array000")
            measure(small, 2 * args.rounds)
        text = report(found, small, args.arrays, load)
    finally:
        shutil.rmtree(root)
    print(text)
    print("\nTime of the processor, in ms:")
    for name, cells in (*found.items(), ("start", small)):
        told = ", ".join(f"{cell.name} {min(cell.processor) * 1000:.0f}" for cell in cells)
        print(f"- {name}: {told}")
    if args.write:
        page = _PAGE.read_text(encoding="utf-8")
        before, rest = page.split(BEGIN)
        _PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
