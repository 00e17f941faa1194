"""Combining sets: many files as one dataset, without moving their data."""
