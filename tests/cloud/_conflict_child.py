"""Runs in a process of its own: appends rows, adds to elements and counts in attributes until its time is up."""

from __future__ import annotations

import json
import sys
import time

import numpy as np

import omnizarr as oz


def main(url: str, options: str, number: str, seconds: str) -> None:
    keys = json.loads(options)
    group = oz.open_group(url, mode="r+", storage_options=keys)
    rows, sums = group["rows"], group["sums"]
    appended, added, end = 0, 0, time.monotonic() + float(seconds)
    me = int(number)
    while time.monotonic() < end:
        rows.append(np.full((2, 4), me + 1, "i4"))
        appended += 2
        part = slice(me * 5, me * 5 + 5)  # chunks of sixteen, shared by several writers
        sums[part] = sums[part] + 1
        added += 1
    print(json.dumps({"appended": appended, "added": added}))


if __name__ == "__main__":
    main(*sys.argv[1:])
