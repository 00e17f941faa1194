"""The race: Omnizarr, its peers and the raw limit on the same data, interleaved.

`python -m bench race` runs it, `python -m bench list` shows what it would run. Each engine lives in a worker process of
its own; the master asks them in turn, so that a slow minute of the machine hits all of them alike.
"""
