"""Making reference sets: scanning files, combining what was found, and what else is done to whole sets."""
