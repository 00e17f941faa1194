"""Shards whose index lies, overlaps, is damaged or too deep.

Each case ends in an error of Omnizarr or the right value, within a second and without more memory than the values take.
"""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("group", ["F11", "F12", "F13", "F14"])
def test_right_or_loud(flaws, group):
    count, found = flaws(group)
    assert count
    assert not found, "\n".join(found)
