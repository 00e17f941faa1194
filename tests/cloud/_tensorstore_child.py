"""Runs in a process of its own, because tensorstore may end its process: reads one array on S3 and writes another."""

from __future__ import annotations

import json
import os
import resource
import sys

import numpy as np
import tensorstore as ts

MEMORY = 4 << 30


def main(text: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    given = json.loads(text)
    os.environ.update(AWS_ACCESS_KEY_ID=given["key"], AWS_SECRET_ACCESS_KEY=given["secret"])
    kvstore = {"driver": "s3", "bucket": "bucket", "endpoint": given["url"], "aws_region": "us-east-1"}
    for path, driver in given["read"]:
        array = ts.open({"driver": driver, "kvstore": {**kvstore, "path": path}}, open=True, read=True).result()
        np.testing.assert_array_equal(array.read().result(), np.load(given["values"]))
    metadata = {"shape": [30, 40], "data_type": "int32", "fill_value": 0}
    grid = {"name": "regular", "configuration": {"chunk_shape": [10, 40]}}
    spec = {"driver": "zarr3", "kvstore": {**kvstore, "path": given["write"]}}
    array = ts.open({**spec, "metadata": {**metadata, "chunk_grid": grid}}, create=True).result()
    array.write(np.load(given["values"])).result()


if __name__ == "__main__":
    main(sys.argv[1])
