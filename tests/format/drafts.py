"""Documents of the drafts of Zarr v3, for the tests of them."""

import json

URI = "https://purl.org/zarr/spec/protocol/core/3.0"
ENTRY = {"zarr_format": URI, "metadata_encoding": URI, "metadata_key_suffix": ".json", "extensions": []}
ARRAY = {
    "shape": [3, 4],
    "data_type": "<i4",
    "chunk_grid": {"type": "regular", "chunk_shape": [2, 4], "separator": "/"},
    "chunk_memory_layout": "C",
    "fill_value": None,
    "extensions": [],
    "attributes": {"units": "m"},
}


def document(**changes):
    return json.dumps({**ARRAY, **changes}).encode()
