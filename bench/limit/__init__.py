"""The raw limit: a small C kernel and the samples taken with it."""
