"""Run bad inputs against readers: `python -m torture.inputs --readers omnizarr zarr-python`."""

from __future__ import annotations

import argparse
import collections
import sys

from torture.inputs.groups import FAMILIES
from torture.inputs.readers import NAMES
from torture.inputs.running import run

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m torture.inputs", description=__doc__)
    parser.add_argument("--readers", nargs="+", choices=NAMES, default=["omnizarr"])
    parser.add_argument("--groups", nargs="+", default=list(FAMILIES))
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the readers")
    parser.add_argument("--show", type=int, default=20, help="most cases that are shown of each verdict and group")
    given = parser.parse_args()
    for reader in given.readers:
        results = run(reader, given.groups, given.python)
        print(reader, len(results), "cases", dict(collections.Counter(result.verdict for result in results)))
        shown: collections.Counter[tuple[str, str]] = collections.Counter()
        for result in results:
            shown[result.group, result.verdict] += 1
            if result.verdict not in ("ok", "not run") and shown[result.group, result.verdict] <= given.show:
                print(f"  {result.verdict:8} {result.case}: {result.said}")
