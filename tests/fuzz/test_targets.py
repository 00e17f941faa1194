"""A short run of every target in Python: whatever is raised is an error of Omnizarr's own."""

import pytest

from fuzz.driver import run
from fuzz.targets import TARGETS

SECONDS = 1.0


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_target(target):
    result = run(target, seconds=SECONDS, most=3000, seed=len(target.name))
    assert result.inputs >= len(target.seeds())
    assert not result.findings, "\n".join(finding.error for finding in result.findings.values())
