"""`python -m bench race`: run the race and rewrite the table in docs/performance.md."""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from bench import report
from bench.engines import LIMIT, PUBLIC
from bench.peers import Place
from bench.race import Pace, run
from bench.sizes import BY_NAME
from bench.workloads import all_workloads

_TOP = Path(__file__).parents[1]
_RESULTS = _TOP / "bench" / "results" / "race.json"
_PACE = Pace()
_PAGE = _TOP / "docs" / "performance.md"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="show the cells and the engines")
    table = commands.add_parser("report", help="write the table from saved results")
    race = commands.add_parser("race", help="run the race and write the table")
    for command in (table, race):
        command.add_argument("--results", type=Path, default=_RESULTS, help="file of results (default: %(default)s)")
        command.add_argument("--page", type=Path, default=_PAGE, help="page to write (default: %(default)s)")
    race.add_argument("-w", "--workload", action="append", default=[], help="only cells whose name contains this")
    race.add_argument("-e", "--engines", default=",".join((*PUBLIC, LIMIT)), help="comma-separated (default: all)")
    race.add_argument("--before", metavar="PYTHON", help="of an environment with another build, to compare with")
    race.add_argument("--scale", choices=BY_NAME, default="full", help="small: minutes, to see that all of it runs")
    race.add_argument("--root", type=Path, default=None, help="where files go (default: a folder in memory)")
    race.add_argument("--rounds", type=int, default=_PACE.rounds, help="samples of each engine, at least")
    race.add_argument("--max-rounds", type=int, default=_PACE.max_rounds, help="the same, at most, on a busy machine")
    race.add_argument("--cell-seconds", type=float, default=_PACE.cell_seconds, help="no further round after this")
    race.add_argument("--quiet", type=float, default=_PACE.quiet, help="cores that others may use")
    race.add_argument("--keep", action="store_true", help="leave the files")
    race.add_argument("--no-report", action="store_true", help="do not touch the page")
    return parser.parse_args()


def main() -> None:
    """Do what the command line says."""
    args = _arguments()
    if args.command == "list":
        print("\n".join(f"{cell.unit:5} {cell.name}" for cell in all_workloads(BY_NAME["full"])))
        print("engines:", ", ".join((*PUBLIC, LIMIT)))
        return
    if args.command == "race":
        sizes = BY_NAME[args.scale]
        cells = [
            cell
            for cell in all_workloads(sizes)
            if not args.workload or any(part in cell.name for part in args.workload)
        ]
        if not cells:
            raise SystemExit("no cell has such a name; see `python -m bench list`")
        place = Place(args.root or _default_root(), args.scale, sizes.nbytes)
        pace = Pace(args.rounds, max(args.rounds, args.max_rounds), args.cell_seconds, args.quiet)
        run(cells, args.engines.split(","), place, pace, args.results, before=args.before, keep=args.keep)
        if args.before:
            print(report.compared(args.results))
        if args.no_report:
            return
    report.write(args.results, args.page)
    print(f"wrote {args.page}")


def _default_root() -> Path:
    """A file system in memory where there is one: the race is about engines, not about disks."""
    memory = Path("/dev/shm")
    parent = memory if memory.is_dir() and os.access(memory, os.W_OK) else Path(tempfile.gettempdir())
    return Path(tempfile.mkdtemp(prefix="omnizarr-race-", dir=parent))


if __name__ == "__main__":
    main()
