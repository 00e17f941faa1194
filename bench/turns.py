"""What races of contenders in processes of their own share: the command line, taking turns, and the table."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable

from bench.references.stage import Figures, medians, run


def asked(about: str | None, workloads: Iterable[str], samples: int) -> argparse.ArgumentParser:
    """Return what understands the command line of a race.

    Args:
        about: What the race is.
        workloads: Their names.
        samples: How often each contender runs, if nothing is said.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(workloads))
    parser.add_argument("--samples", type=int, default=samples)
    parser.add_argument("--only", default="", help="contenders, separated by commas")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    return parser


def chosen(only: str, contenders: Iterable[str]) -> list[str]:
    """Return the contenders that are asked for, by default all.

    >>> chosen("b,", ["a", "b"]), chosen("", ["a", "b"])
    (['b'], ['a', 'b'])
    """
    named = [one for one in only.split(",") if one]
    return [one for one in contenders if not named or one in named]


def race(
    module: str, workload: str, contenders: Iterable[str], samples: int, ready: Callable[[], None] | None = None
) -> dict[str, Figures]:
    """Let contenders take turns, and print and return the medians of each.

    Args:
        module: What runs a contender as its child.
        workload: What they do.
        contenders: Their names.
        samples: How many turns there are.
        ready: What is done before each run.
    """
    names = list(contenders)
    samples_of: dict[str, list[Figures]] = {}
    for _ in range(samples):
        for contender in names:
            if ready is not None:
                ready()
            figures = run(workload, contender, module)
            if isinstance(figures, str):
                print(f"  {contender} failed: {figures}", file=sys.stderr, flush=True)
            else:
                samples_of.setdefault(contender, []).append(figures)
    found = {contender: medians(figures) for contender, figures in samples_of.items()}
    for contender, figures in found.items():
        told = "  ".join(f"{key} {value:.4g}" for key, value in figures.items())
        print(f"  {contender:12} {told}", flush=True)
    return found
