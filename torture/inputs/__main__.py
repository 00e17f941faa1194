"""Run bad inputs against readers: `python -m torture.inputs --readers omnizarr zarr-python`."""

from __future__ import annotations

import argparse
import collections
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from torture.inputs.groups import FAMILIES
from torture.inputs.readers import NAMES
from torture.inputs.running import ROOT, Result, run
from torture.inputs.table import table

PAGE = """# Bad inputs

{cases} bad inputs in {groups} groups, made of raw bytes and JSON alone, so that every reader can be given the same ones.
A cell counts what went wrong: a value that is not what is stored (or the fill value in place of an error), a crash (a
process that ends, a panic), a hang of more than five seconds, memory beyond what the values take and 2 MiB, and good
input that was refused (for peers that is also what they do not have). What ends in an error or in the right value is
not counted. Made by `python -m torture.inputs --readers {readers} --write FILE`.

"""


def main() -> None:
    """Run, and show what is not as it should be."""
    parser = argparse.ArgumentParser(prog="python -m torture.inputs", description=__doc__)
    parser.add_argument("--readers", nargs="+", choices=NAMES, default=["omnizarr"])
    parser.add_argument("--groups", nargs="+", default=list(FAMILIES))
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the peers")
    parser.add_argument("--show", type=int, default=20, help="most cases that are shown of each verdict and group")
    parser.add_argument(
        "--keep", type=Path, help="a folder for the results, from which they are taken if they are there"
    )
    parser.add_argument("--write", type=Path, help="a file for the table")
    given = parser.parse_args()
    found: dict[str, list[Result]] = {}
    for reader in given.readers:
        python = sys.executable if reader == "omnizarr" else given.python
        results = _results(reader, given.groups, python, given.keep)
        print(reader, len(results), "cases", dict(collections.Counter(result.verdict for result in results)))
        _show(results, given.show)
        found[_version(reader, python)] = results
    if given.write:
        one = next(iter(found.values()))
        groups = len({result.group for result in one})
        page = PAGE.format(cases=f"{len(one):,}", groups=groups, readers=" ".join(given.readers))
        given.write.write_text(page + table(found), encoding="utf-8")


def _results(reader: str, groups: Sequence[str], python: str, keep: Path | None) -> list[Result]:
    results: list[Result] = []
    for group in groups:
        file = keep / f"{reader}-{group}.json" if keep else None
        if file and file.exists():
            results += [Result(*one) for one in json.loads(file.read_text())]
            continue
        some = run(reader, [group], python)
        if file:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(some))
        results += some
    return results


def _show(results: Sequence[Result], most: int) -> None:
    shown: collections.Counter[tuple[str, str]] = collections.Counter()
    for result in results:
        shown[result.group, result.verdict] += 1
        if result.verdict not in ("ok", "not run") and shown[result.group, result.verdict] <= most:
            print(f"  {result.verdict:8} {result.case}: {result.said}")


def _version(reader: str, python: str) -> str:
    command = [python, "-c", f"from torture.inputs.readers import version; print(version({reader!r}))"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
