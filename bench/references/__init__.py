"""The race of reference sets: opening, combining, scanning and reading, against kerchunk, VirtualiZarr and fsspec."""
