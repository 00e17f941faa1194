"""`python -m bench.references [WORKLOAD ...]`: each contender takes turns, in a process of its own."""

from __future__ import annotations

import argparse
import sys
import warnings

from bench.references import data
from bench.references.contenders import WORKLOADS
from bench.references.stage import medians, report, run


def main() -> None:
    """Race, and print a table for each workload."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(WORKLOADS))
    parser.add_argument("--samples", type=int, default=5)
    parser.add_argument("--only", default="", help="contenders, separated by commas")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        warnings.simplefilter("ignore")
        workload, contender = arguments.child
        report(WORKLOADS[workload].contenders[contender]())
        return
    for name in arguments.workloads or WORKLOADS:
        _race(name, arguments.samples, [one for one in arguments.only.split(",") if one])


def _race(name: str, samples: int, only: list[str]) -> None:
    workload = WORKLOADS[name]
    data.make(*workload.inputs)
    print(f"\n{name}: {workload.what}", flush=True)
    found: dict[str, list[dict[str, float]]] = {}
    for _ in range(samples):
        for contender in workload.contenders:
            if only and contender not in only:
                continue
            figures = run(name, contender)
            if isinstance(figures, str):
                print(f"  {contender} failed: {figures}", file=sys.stderr, flush=True)
            else:
                found.setdefault(contender, []).append(figures)
    for contender, figures_of in found.items():
        told = "  ".join(f"{key} {value:.4g}" for key, value in medians(figures_of).items())
        print(f"  {contender:12} {told}", flush=True)


if __name__ == "__main__":
    main()
