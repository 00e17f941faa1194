"""Changing nodes of a hierarchy: their attributes, names and places, or that they are there."""
