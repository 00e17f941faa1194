"""Chunks that are cut, changed, swollen, or encoded by what nobody knows.

Each case ends in an error of Omnizarr or the right value, within a second and without more memory than the values take.
"""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("group", ["F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10"])
def test_right_or_loud(flaws, group):
    count, found = flaws(group)
    assert count
    assert not found, "\n".join(found)
