"""The process of one engine: reads requests as lines of JSON, answers each with one line."""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from bench import engines, machine
from bench.context import Context
from bench.engines.base import Unsupported
from bench.limit.build import Unavailable
from bench.limit.samples import LimitSamples
from bench.samples import Samples
from bench.sizes import BY_NAME
from bench.workloads import Workload, all_workloads

Answer = dict[str, Any]


class Worker:
    """Answers for one engine."""

    def __init__(self, name: str, root: Path, scale: str) -> None:
        sizes = BY_NAME[scale]
        self._cells = {cell.name: cell for cell in all_workloads(sizes)}
        self._engine = None if name == engines.LIMIT else engines.load(name)
        self._context = Context(root, name, sizes, own_format=self._engine is not None and self._engine.own_format)
        self._samples: Samples | LimitSamples = (
            LimitSamples(self._context) if self._engine is None else Samples(self._engine, self._context)
        )

    def hello(self) -> Answer:
        """Who this is."""
        if isinstance(self._samples, LimitSamples):
            return {"version": self._samples.version(), "memory": self._samples.memory_speed(), "own_format": False}
        assert self._engine is not None
        return {"version": self._engine.version(), "own_format": self._engine.own_format}

    def answer(self, request: dict[str, Any]) -> Answer:
        """Do what the master asks."""
        cell = self._cells[request["cell"]]
        match request["do"]:
            case "run":
                self._context.verify = request["verify"]
                with machine.watch() as load:
                    seconds = self._samples.take(cell)
                return {"seconds": seconds, "own": load.own, "foreign": load.foreign}
            case "prepare":
                self._prepare(cell)
            case "program":
                return {"program": self._program(cell)}
            case "forget":
                self._samples.forget()
        return {}

    def _prepare(self, cell: Workload) -> None:
        if isinstance(self._samples, LimitSamples):
            raise Unsupported
        if cell.run == "group_list":
            self._samples.prepare_group(cell.options["version"], consolidated=cell.options["consolidated"])
        elif cell.layout is not None:
            self._samples.prepare(cell.layout)

    def _program(self, cell: Workload) -> str:
        assert cell.layout is not None
        if isinstance(self._samples, LimitSamples):
            return self._samples.cold(cell.layout)
        assert self._engine is not None
        return self._engine.cold(self._context.base(cell.layout), cell.layout)


def main() -> None:
    """`python -m bench.worker ENGINE ROOT SCALE`."""
    name, root, scale = sys.argv[1:]
    # Answers have the standard output to themselves; what a library prints goes to the log.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(answer: Answer) -> None:
        print(json.dumps(answer), file=answers, flush=True)

    try:
        worker = Worker(name, Path(root), scale)
        say(worker.hello())
    except (ImportError, Unsupported, Unavailable) as error:
        say({"failed": str(error) or type(error).__name__})
        return
    for line in sys.stdin:
        try:
            say(worker.answer(json.loads(line)))
        except Unsupported as error:
            say({"unsupported": str(error) or "not offered"})
        except Exception as error:  # noqa: BLE001 - whatever a peer raises becomes its cell, not the end of the race
            traceback.print_exc()
            say({"failed": f"{type(error).__name__}: {error}"[:300]})


if __name__ == "__main__":
    main()
