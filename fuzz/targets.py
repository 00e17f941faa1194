"""All targets in Python."""

from fuzz import texts, trees

TARGETS = [*trees.TARGETS, *texts.TARGETS]
