"""Bad inputs in 46 groups, made of raw bytes and JSON alone, so that every reader of Zarr can be given them.

    python -m torture.inputs --readers omnizarr zarr-python tensorstore

Each case makes a store in a folder, and says what is to be read from it and what may come of that: an error, the right
value, or either. No reader may crash, hang, or use much more memory than the values take.
"""
