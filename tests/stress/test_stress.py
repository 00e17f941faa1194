"""Forks, threads and signals: no hang, no torn chunk, nothing lost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCENARIOS = Path(__file__).with_name("scenarios.py")
FULL = os.environ.get("CI") == "true"


def run(scenario: str, root: Path, count: int, timeout: int) -> str:
    command = [sys.executable, str(SCENARIOS), scenario, str(root), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.timeout(900)
def test_children_of_a_busy_process_can_read_and_write(tmp_path: Path) -> None:
    count = 10_000 if FULL else 300
    assert run("fork", tmp_path, count, 850) == f"forks {count} failed 0"


@pytest.mark.timeout(300)
def test_threads_never_lose_each_others_writes(tmp_path: Path) -> None:
    assert run("threads", tmp_path, 64, 250) == "threads 64 lost 0 failures 0"


@pytest.mark.timeout(300)
def test_interrupts_stop_calls_and_tear_nothing(tmp_path: Path) -> None:
    count = 200 if FULL else 30
    assert run("interrupts", tmp_path, count, 250) == f"interrupts {count} torn 0 rests 0 slow 0"
