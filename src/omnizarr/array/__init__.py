"""From a selection to elements: indices in NumPy's words, chunks and shards chosen by size, reading and writing."""
