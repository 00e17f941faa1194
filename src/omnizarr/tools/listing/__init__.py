"""Listing the nodes of a hierarchy from their documents: at a glance where all are plain, else by the model."""
