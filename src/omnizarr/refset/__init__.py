"""One reference set: its columns, the forms in which it is stored, and the store that it is to a reader.

`omnizarr.refs`, further up, makes such sets: it scans files and combines what it found.
"""
