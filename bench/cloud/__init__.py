"""The race on S3: reading, writing and opening, against zarr-python, tensorstore and icechunk."""
