"""`python -m tests.stateful --steps 1000000`: run the machines until they have made so many steps together."""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from tests.stateful.machines import MACHINES

_DONE: Counter[str] = Counter()


def _counted(name: str, machine: type[RuleBasedStateMachine]) -> type[RuleBasedStateMachine]:
    """Return a machine that counts its steps."""

    def check_invariants(self: RuleBasedStateMachine, *args: Any, **options: Any) -> None:
        _DONE[name] += 1
        super(counted, self).check_invariants(*args, **options)

    counted = type(machine.__name__, (machine,), {"check_invariants": check_invariants})
    return counted


def main() -> int:
    """Run the machines in turn; return 1 if one of them has found something."""
    parser = argparse.ArgumentParser(prog="python -m tests.stateful", description=__doc__)
    parser.add_argument("--steps", type=int, default=10_000, help="of all machines together (default: 10,000)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time as well")
    parser.add_argument("--machine", action="append", choices=sorted(MACHINES), help="only this one")
    args = parser.parse_args()
    chosen = {name: MACHINES[name] for name in args.machine or MACHINES}
    options = settings(
        max_examples=25, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck), database=None,
        phases=(Phase.generate, Phase.shrink), print_blob=True,
    )  # fmt: skip
    start, found = time.monotonic(), 0
    while _DONE.total() < args.steps and time.monotonic() - start < args.seconds and not found:
        for name, machine in chosen.items():
            try:
                run_state_machine_as_test(_counted(name, machine), settings=options)
            except Exception:  # noqa: BLE001 - whatever a machine has found
                traceback.print_exc()
                found += 1
        counts = ", ".join(f"{name} {count:,}" for name, count in _DONE.items())
        print(f"{_DONE.total():,} steps in {time.monotonic() - start:.0f} s: {counts}", flush=True)
    return min(found, 1)


if __name__ == "__main__":
    sys.exit(main())
