"""Appends its own number to a folder, again where others were quicker; run by a test, several at the same time."""

import sys

import numpy as np
import xarray as xr

import omnizarr.interop.xarray  # noqa: F401 - the accessor
from omnizarr.errors import ConflictError


def main(where: str, number: int, times: int) -> None:
    """Append so many times, and say how often others came between."""
    values = np.full((3, 40), float(number))
    part = xr.Dataset({"a": (("t", "x"), values), "b": (("t", "x"), values)}, coords={"t": np.full(3, number)})
    late = 0
    print("ready", flush=True)
    sys.stdin.readline()
    for _ in range(times):
        while True:
            try:
                part.oz.to_omnizarr(where, append_dim="t", consolidated=False)
                break
            except ConflictError:
                late += 1
    print(late)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
