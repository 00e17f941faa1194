"""The example of the format's own description, and what it says that it means."""

from __future__ import annotations

from typing import Any

VERSION_1: dict[str, Any] = {
    "version": 1,
    "templates": {"u": "server.domain/path", "f": "{{c}}"},
    "gen": [
        {
            "key": "gen_key{{i}}",
            "url": "http://{{u}}_{{i}}",
            "offset": "{{(i + 1) * 1000}}",
            "length": "1000",
            "dimensions": {"i": {"stop": 5}},
        }
    ],
    "refs": {
        "key0": "data",
        "key1": ["http://target_url", 10000, 100],
        "key2": ["http://{{u}}", 10000, 100],
        "key3": ["http://{{f(c='text')}}", 10000, 100],
    },
}
VERSION_0: dict[str, Any] = {
    "key0": "data",
    "key1": ["http://target_url", 10000, 100],
    "key2": ["http://server.domain/path", 10000, 100],
    "key3": ["http://text", 10000, 100],
    **{f"gen_key{i}": [f"http://server.domain/path_{i}", (i + 1) * 1000, 1000] for i in range(5)},
}
