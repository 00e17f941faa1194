"""Dialects: pure functions from documents to the model and back."""
