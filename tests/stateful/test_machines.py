"""A short run of each machine; `python -m tests.stateful` runs them for as long as one likes."""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.stateful.machines import MACHINES

SETTINGS = settings(
    max_examples=20, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck), print_blob=True
)


@pytest.mark.parametrize("name", MACHINES)
def test_machine(name):
    run_state_machine_as_test(MACHINES[name], settings=SETTINGS)
