"""Keys, links, pipes and names that lead out of a store, or are not what they seem.

Each case ends in an error of Omnizarr or the right value, within a second and without more memory than the values take.
"""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("group", ["F29", "F30", "F31", "F32", "F36", "F37"])
def test_right_or_loud(flaws, group):
    count, found = flaws(group)
    assert count
    assert not found, "\n".join(found)
