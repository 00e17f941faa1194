"""Copying nodes byte for byte."""
