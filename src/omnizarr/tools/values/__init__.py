"""Values of an array in forms that other programs read: text, tables, NumPy's files and JSON; a block at a time."""
