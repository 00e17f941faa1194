"""What Omnizarr is put through besides its tests: writers that are killed, calls that fail, power that goes, bad input.

Run `make torture TIME=10m`, or a part of it: `python -m torture.kill --cycles 10000`, `python -m torture.each_call`,
`python -m torture.power`, `python -m torture.inputs`.
"""
