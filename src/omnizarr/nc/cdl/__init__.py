"""CDL, the language of datasets as text: reading and printing it."""
