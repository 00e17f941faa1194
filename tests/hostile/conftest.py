"""Run the bad inputs of a group, in a child process of their own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from torture.inputs.running import Result, run

FAULTLESS = ("ok", "not run", "slow")
"""What is no fault here: how long something takes says as much about the machine as about the case."""


@pytest.fixture
def flaws() -> Callable[[str], tuple[int, list[str]]]:
    """A function that runs the cases of a group: how many there are, and what is wrong with which of them."""

    def run_group(group: str) -> tuple[int, list[str]]:
        results: list[Result] = run("omnizarr", [group])
        found = {one.case: one for one in results if one.verdict not in FAULTLESS}
        # The peak of a process moves a little from run to run: what is too much is too much each time.
        for _ in range(2):
            if any(one.verdict == "memory" for one in found.values()):
                again = {one.case: one for one in run("omnizarr", [group])}
                found = {case: again[case] for case in found if again[case].verdict not in FAULTLESS}
        return len(results), [f"{one.case}: {one.verdict}: {one.said}" for one in found.values()]

    return run_group
