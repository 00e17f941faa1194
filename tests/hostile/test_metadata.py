"""Documents that are none, claim what cannot be, or contradict one another.

Each case ends in an error of Omnizarr or the right value, within a second and without more memory than the values take.
"""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("group", ["F16", "F17", "F18", "F19", "F20", "F21", "F22", "F23"])
def test_right_or_loud(flaws, group):
    count, found = flaws(group)
    assert count
    assert not found, "\n".join(found)
