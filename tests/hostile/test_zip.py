"""Archives whose names, sizes and directories lie, or whose end is missing.

Each case ends in an error of Omnizarr or the right value, within a second and without more memory than the values take.
"""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("group", ["F38", "F39"])
def test_right_or_loud(flaws, group):
    count, found = flaws(group)
    assert count
    assert not found, "\n".join(found)
