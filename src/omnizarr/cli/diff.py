"""`oz diff`: compare structure, attributes and values."""

from __future__ import annotations

from argparse import ArgumentTypeError, BooleanOptionalAction, Namespace

from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser

SAME, DIFFERENT, TROUBLE = 0, 1, 2


def configure(parser: Parser) -> None:
    """Say what the command takes."""
    parser.description = (
        "Compare structure, attributes and values of two arrays or hierarchies, of any dialect and in any store. "
        "The exit code is 0 if they are the same, 1 if they differ, 2 if something could not be read."
    )
    add = parser.add_argument
    add("a", metavar="A", help="an array or group")
    add("b", metavar="B", help="what to compare it with; tolerances refer to its values")
    add("--rtol", type=_tolerance, default=0.0, metavar="X", help="let |a - b| <= atol + X * |b| pass")
    add("--atol", type=_tolerance, default=0.0, metavar="X", help="let |a - b| <= X + rtol * |b| pass")
    add("--equal-nan", action=BooleanOptionalAction, default=True, help="whether NaN equals NaN (it does by default)")
    add("--bits", action="store_true", help="only equal bits are equal: 0.0 is not -0.0, and the bits of NaN count")
    add("--encoding", action="store_true", help="compare format, chunks, codecs and fill bits, too")
    add("--no-attrs", dest="attrs", action="store_false", help="do not compare attributes")
    add("--no-values", dest="values", action="store_false", help="do not compare values")
    add("--include", action="append", default=[], metavar="PATTERN", help="look only at nodes like 'temp*'")
    add("--exclude", action="append", default=[], metavar="PATTERN", help="leave out nodes like '*_bounds'")
    add("--brief", action="store_true", help="stop at the first difference, and only say whether there is one")
    parser.set_examples(
        (
            ("oz diff old.zarr new.zarr", "everything but how it is stored"),
            ("oz diff old.zarr/t new.zarr/t --rtol 1e-5", "one array, with a tolerance"),
            ("oz diff a.zarr b.zip --include 'temp*' --brief", "only some arrays, and only yes or no"),
        )
    )


def run(arguments: Namespace, out: Output) -> int:
    """Do it."""
    # Imported when the command runs: its help needs no NumPy.
    from omnizarr.cli.diff_text import as_json, print_difference  # noqa: PLC0415 - see above
    from omnizarr.tools.diff import diff  # noqa: PLC0415 - see above

    with out.progress("comparing", "regions") as bar:
        found = diff(
            arguments.a,
            arguments.b,
            rtol=arguments.rtol,
            atol=arguments.atol,
            equal_nan=arguments.equal_nan,
            bits=arguments.bits,
            encoding=arguments.encoding,
            attrs=arguments.attrs,
            values=arguments.values,
            include=arguments.include,
            exclude=arguments.exclude,
            brief=arguments.brief,
            progress=bar,
        )
    if out.as_json:
        out.json(as_json(found))
    else:
        print_difference(found, (arguments.a, arguments.b), out, brief=arguments.brief)
    if found.problems:
        return TROUBLE
    return SAME if found.same else DIFFERENT


def _tolerance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not value >= 0:
        raise ArgumentTypeError(f"{text!r} is not a number of 0 or more")
    return value
