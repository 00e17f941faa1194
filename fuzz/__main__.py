"""`python -m fuzz --seconds 60`: run every target in Python for a time, and say what came of it."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from fuzz import hours
from fuzz.driver import keep, run
from fuzz.targets import TARGETS

_FINDINGS = Path("build/fuzz/findings")


def main() -> int:
    """Run the targets; return how many findings there are."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60, help="for each target (default: 60)")
    parser.add_argument("--seed", type=int, help="for the same inputs again (default: another one each time)")
    parser.add_argument("--target", action="append", help="only this target; may be given more than once")
    parser.add_argument("--count", action="store_true", help="add to hours.toml; who has done least comes first")
    parser.add_argument("inputs", nargs="*", type=Path, help="files to try instead")
    args = parser.parse_args()
    seed = int.from_bytes(os.urandom(4)) if args.seed is None else args.seed
    chosen = [target for target in TARGETS if not args.target or target.name in args.target]
    if args.count:
        order = hours.in_order("python", [target.name for target in chosen])
        chosen.sort(key=lambda target: order.index(target.name))
    found = 0
    for target in chosen:
        if args.inputs:
            for path in args.inputs:
                target.run(path.read_bytes())
            continue
        result = run(target, seconds=args.seconds, seed=seed)
        count = len(result.findings)
        print(f"{target.name:30} {result.inputs:9,} inputs in {result.seconds:5.0f} s, {count} findings", flush=True)
        for place, finding in result.findings.items():
            print(f"  {place}: {keep(_FINDINGS, target, finding)}\n{finding.error}")
        if args.count and not count:
            hours.add("python", target.name, result.work, result.inputs)
        found += count
    print(f"seed {seed}")
    return min(found, 100)


if __name__ == "__main__":
    sys.exit(main())
