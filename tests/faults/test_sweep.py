"""Every operation of more than thirty scenarios fails in turn: the error says where, and nothing is lost."""

import errno

import pytest

from omnizarr.store.fault import Fault
from tests.faults.judging import run
from tests.faults.scenarios import SCENARIOS


@pytest.mark.parametrize("name", SCENARIOS)
def test_writes_that_fail(name):
    assert run(SCENARIOS[name], Fault(kind="write", errno=errno.ENOSPC))
    # A lost answer, and a store that is gone from then on: what a process that is killed leaves behind.
    run(SCENARIOS[name], Fault(kind="write", when="after", times=None))


@pytest.mark.parametrize("name", [name for name in SCENARIOS if "version 2" not in name])
def test_reads_that_fail(name):
    run(SCENARIOS[name], Fault(kind="read", errno=errno.EIO))
