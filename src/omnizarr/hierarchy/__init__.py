"""Groups and arrays: what users hold in their hands."""
