"""`oz conformance`: print an array as the public conformance tests ask for it.

https://github.com/Bisaloo/zarr-conformance-tests runs `$ZARR_CLI --array_path=PATH`.
"""

from __future__ import annotations

import json
from argparse import Namespace

from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser


def configure(parser: Parser) -> None:
    """Say what the command takes."""
    parser.description = (
        "Read a whole array and print its elements in C order, one a line, each in JSON as Zarr v3 writes fill values. "
        "The exit code is 0 if all of it could be read."
    )
    parser.add_argument("--array_path", required=True, metavar="LOCATION", help="an array")
    parser.set_examples(
        (
            ("oz conformance --array_path=data.zarr/t", "all elements of an array"),
            ("oz conformance --array_path=data.zarr/t --json", "the same as one JSON list, with shape and type"),
            ("oz conformance --array_path=old.zip", "an array in an archive"),
        )
    )


def run(arguments: Namespace, out: Output) -> int:
    """Do it."""
    # Imported when the command runs: its help needs no NumPy.
    from omnizarr.api import open_array  # noqa: PLC0415 - see above
    from omnizarr.tools.values.elements import elements_as_json  # noqa: PLC0415 - see above

    with open_array(arguments.array_path, mode="r") as array:
        if out.as_json:
            texts = "".join(elements_as_json(array)).removesuffix("\n")
            elements = [json.loads(text) for text in texts.split("\n")] if texts else []
            out.json({"shape": array.shape, "data_type": array.metadata.dtype.name, "elements": elements})
            return 0
        for text in elements_as_json(array):
            out.line(text.removesuffix("\n"))
    return 0
