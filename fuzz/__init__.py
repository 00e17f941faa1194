"""Fuzzing: the kernel's targets by cargo-fuzz, and those of the package, which are in Python."""
