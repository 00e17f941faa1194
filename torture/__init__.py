"""Writers that are killed, calls of the system that fail, power that goes: what is stored survives, or it is told here.

Run `make torture TIME=10m`, or a part of it: `python -m torture.kill --cycles 10000`, `python -m torture.each_call`,
`python -m torture.power`.
"""
