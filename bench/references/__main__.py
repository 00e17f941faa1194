"""`python -m bench.references [WORKLOAD ...]`: each contender takes turns, in a process of its own."""

from __future__ import annotations

import warnings

from bench.references import data
from bench.references.contenders import WORKLOADS
from bench.references.stage import report
from bench.turns import asked, chosen, race


def main() -> None:
    """Race, and print a table for each workload."""
    arguments = asked(__doc__, WORKLOADS, samples=5).parse_args()
    if arguments.child:
        warnings.simplefilter("ignore")
        task, contender = arguments.child
        report(WORKLOADS[task].contenders[contender]())
        return
    for name in arguments.workloads or WORKLOADS:
        workload = WORKLOADS[name]
        data.make(*workload.inputs)
        print(f"\n{name}: {workload.what}", flush=True)
        race("bench.references", name, chosen(arguments.only, workload.contenders), arguments.samples)


if __name__ == "__main__":
    main()
