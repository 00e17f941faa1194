"""Run the bad inputs of a group, in a child process of their own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from torture.inputs.running import Result, run

FAULTLESS = ("ok", "not run")


@pytest.fixture
def flaws() -> Callable[[str], tuple[int, list[str]]]:
    """A function that runs the cases of a group: how many there are, and what is wrong with which of them."""

    def run_group(group: str) -> tuple[int, list[str]]:
        results: list[Result] = run("omnizarr", [group])
        return len(results), [
            f"{one.case}: {one.verdict}: {one.said}" for one in results if one.verdict not in FAULTLESS
        ]

    return run_group
