"""Whose machine this looks like: Amazon's, Google's or Microsoft's, by what its firmware says of itself.

Only such a machine has a service at 169.254.169.254 that gives it credentials.
"""

from __future__ import annotations

from typing import Final

from omnizarr.store.url.settings import Surroundings, read_text

_MARKS: Final = {
    "amazon": (("class/dmi/id/sys_vendor", "Amazon EC2"), ("hypervisor/uuid", "ec2")),
    "google": (("class/dmi/id/product_name", "Google"),),
    "microsoft": (("class/dmi/id/chassis_asset_tag", "7783-7084-3265-9085-8269-3286-77"),),
}
"""Files below /sys, and what they begin with."""


def looks_like(whose: str, around: Surroundings) -> bool:
    """Whether the machine looks like one of amazon's, google's or microsoft's."""
    for name, start in _MARKS[whose]:
        try:
            text = read_text(f"{around.system}/{name}")
        except OSError:
            continue
        if text is not None and text.lower().startswith(start.lower()):
            return True
    return False
