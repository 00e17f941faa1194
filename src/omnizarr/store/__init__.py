"""Bytes under keys; knows nothing of Zarr.

`protocol` says what a store is and `keys` what a key is. Stores: `file`, `memory`, and `mapping` for any dictionary.
Around another store: `wrap` (reading only, a part as a whole), `observe` (counting, delay), `fault` (failures on cue).
`resolve` finds the store that a path, a URI or an object stands for.
"""
