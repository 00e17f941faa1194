"""`python -m bench.cloud [WORKLOAD ...]`: each contender takes turns, in a process of its own."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import warnings

from bench.cloud import data
from bench.cloud.contenders import CONTENDERS, Icechunk
from bench.cloud.server import Server, serving
from bench.cloud.workloads import WORKLOADS, Workload
from bench.references.stage import Figures, report
from bench.turns import asked, chosen, race

MODULE = "bench.cloud"


def main() -> None:
    """Race, and print a table for each workload."""
    parser = asked(__doc__, WORKLOADS, samples=3)
    parser.add_argument("--icechunk", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.child:
        workload, contender = arguments.child
        report(WORKLOADS[workload].work(CONTENDERS[contender]()))
    elif arguments.icechunk:
        _icechunk(arguments.icechunk)
    else:
        names = arguments.workloads or list(WORKLOADS)
        only = chosen(arguments.only, CONTENDERS)
        with serving() as server:
            os.environ["OZ_BENCH_S3"] = server.url
            _prepare(server, {WORKLOADS[name].data for name in names} - {""}, only)
            for name in names:
                _race(server, name, arguments.samples, only)


def _prepare(server: Server, names: set[str], only: list[str]) -> None:
    for name in sorted(names):
        data.prepare(server, name)
        if "icechunk" in only:
            subprocess.run([sys.executable, "-m", MODULE, "--icechunk", name], check=True)


def _icechunk(name: str) -> None:
    contender = Icechunk()
    data.prepare_icechunk(contender.store(name, read_only=False), name)
    contender.session.commit("written")
    os._exit(0)  # it may crash while Python ends


def _race(server: Server, name: str, samples: int, only: list[str]) -> None:
    workload = WORKLOADS[name]
    print(f"\n{name}: {workload.what}", flush=True)

    def ready() -> None:
        server.delay(workload.delay)

    taking_part = [one for one in only if one not in workload.without]
    _compare(workload, race(MODULE, name, taking_part, samples, ready))


def _compare(workload: Workload, found: dict[str, Figures]) -> None:
    peers = {who: one[workload.figure] for who, one in found.items() if who not in {"omnizarr", *workload.apart}}
    if peers and "omnizarr" in found:
        best = min(peers, key=lambda who: peers[who])
        ratio = peers[best] / found["omnizarr"][workload.figure]
        goal = f", goal {workload.goal}" if workload.goal else ""
        print(f"  omnizarr is {ratio:.2f} times as good as {best}{goal}", flush=True)


if __name__ == "__main__":
    main()
