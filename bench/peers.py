"""The master's side of the workers: start them, ask them, and start fresh processes in their place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from bench import machine
from bench.workloads import Workload

_TOP = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Sample:
    """One measurement, and whether the machine was quiet meanwhile."""

    seconds: float
    own: float
    foreign: float


@dataclass(frozen=True, slots=True)
class NoSample:
    """Why there is none: the engine has no such feature, or it failed."""

    reason: str
    failed: bool


@dataclass(frozen=True, slots=True)
class Place:
    """Where the race is held."""

    root: Path
    scale: str
    nbytes: int


class Peer:
    """One engine in a process of its own."""

    def __init__(self, name: str, place: Place, python: str = sys.executable) -> None:
        self.name = name
        self._place = place
        self._python = python
        self._start()

    def _start(self) -> None:
        log = (self._place.root / f"{self.name}.log").open("a")
        self._process = subprocess.Popen(
            [self._python, "-W", "ignore", "-m", "bench.worker", self.name, str(self._place.root), self._place.scale],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            cwd=_TOP,
        )
        log.close()
        hello = self._answer()
        self.problem: str | None = hello.get("failed")
        self.version: str = hello.get("version", "")
        self.own_format: bool = hello.get("own_format", False)
        self.memory: dict[str, float] = hello.get("memory", {})

    def ask(self, do: str, cell: Workload, **more: object) -> dict[str, Any]:
        """Send a request and wait for the answer; a worker that died is started again for the next one."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, "cell": cell.name, **more}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self._answer()
        if self._process.poll() is not None:
            self._start()
        return answer

    def sample(self, cell: Workload, *, verify: bool) -> Sample | NoSample:
        """One sample of a cell."""
        if cell.run == "cold":
            answer = self._cold(cell)
        elif cell.run == "peak":
            answer = self._peak(cell)
        else:
            answer = self.ask("run", cell, verify=verify)
        if "unsupported" in answer:
            return NoSample(answer["unsupported"], failed=False)
        if "failed" in answer:
            return NoSample(answer["failed"], failed=True)
        return Sample(answer["seconds"], answer["own"], answer["foreign"])

    def close(self) -> None:
        """Let the worker end."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if line:
            answer: dict[str, Any] = json.loads(line)
            return answer
        self._process.wait()
        return {"failed": f"the worker died with {self._process.returncode}; see {self.name}.log"}

    def _cold(self, cell: Workload) -> dict[str, Any]:
        answer = self.ask("program", cell)
        if "program" not in answer:
            return answer
        command = [self._python, "-W", "ignore", "-c", answer["program"]]
        with machine.watch(children=True) as load:
            start = perf_counter()
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=self._place.root)
            seconds = perf_counter() - start
        if done.returncode:
            return {"failed": done.stderr.strip()[-300:]}
        return {"seconds": seconds, "own": load.own, "foreign": load.foreign}

    def _peak(self, cell: Workload) -> dict[str, Any]:
        where = [str(self._place.root), self._place.scale]
        command = [self._python, "-W", "ignore", "-m", "bench.peak", self.name, *where, cell.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=_TOP, env=dict(os.environ))
        if done.returncode:
            unsupported = "Unsupported" in done.stderr.strip().rpartition("\n")[2]
            return {"unsupported" if unsupported else "failed": done.stderr.strip()[-300:]}
        # Memory is not time: a busy machine does not change it.
        return {"seconds": json.loads(done.stdout)["bytes"] / self._place.nbytes, "own": 0.0, "foreign": 0.0}
