"""`oz dump`: print a dataset as CDL, as ncdump does."""

from __future__ import annotations

import sys
from argparse import SUPPRESS, Namespace
from typing import TYPE_CHECKING

from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser, UsageError

if TYPE_CHECKING:
    from omnizarr.nc.dump.options import Notes
    from omnizarr.nc.dump.run import Form

_SHORTEST = 10
_MOST_DIGITS = 20


def configure(parser: Parser) -> None:
    """Say what the command takes."""
    parser.conflict_handler = "resolve"  # -h is ncdump's, --help ours
    parser.add_argument("where", metavar="LOCATION", help="a dataset: Zarr of any kind, or a netCDF file")
    letters = parser.add_argument_group("ncdump's letters")
    letters.add_argument("-h", dest="header", action="store_true", help="only the header, no values")
    letters.add_argument("-c", dest="coordinates", action="store_true", help="values of coordinate variables only")
    letters.add_argument(
        "-v",
        dest="variables",
        metavar="VAR[,...]",
        action="append",
        default=[],
        help="values of these variables only, or of a part: 'temp[0:2,:]'",
    )
    letters.add_argument(
        "-g", dest="groups", metavar="GROUP[,...]", action="append", default=[], help="values of these groups only"
    )
    letters.add_argument("-s", dest="special", action="store_true", help="tell how things are stored, as attributes")
    letters.add_argument("-F", dest="filters", action="store_true", help="with -s: all filters as one attribute")
    letters.add_argument("-k", dest="kind", action="store_true", help="print only the kind of dataset")
    letters.add_argument("-t", dest="times", action="store_const", const=" ", default="", help="times as dates")
    letters.add_argument("-i", dest="times", action="store_const", const="T", help="the same, with T before the hour")
    letters.add_argument("-p", dest="precision", metavar="N[,N]", help="significant digits of floats and doubles")
    letters.add_argument("-l", dest="width", metavar="LENGTH", type=int, default=80, help="the longest line (80)")
    letters.add_argument("-n", dest="name", metavar="NAME", help="the name on the first line")
    letters.add_argument("-b", dest="brief", metavar="c|f", help="indices of each row, as C or Fortran counts")
    letters.add_argument("-f", dest="full", metavar="c|f", help="indices of each value, as C or Fortran counts")
    letters.add_argument("-x", dest="ncml", action="store_true", help="the header as NcML, which is XML")
    for word, more in (("-w", {"action": "store_true"}), ("-L", {}), ("-X", {})):  # of ncdump's, without a meaning here
        letters.add_argument(word, help=SUPPRESS, **more)  # type: ignore[arg-type]
    parser.set_examples(
        (
            ("oz dump -h data.zarr", "what is in it"),
            ("oz dump -v 'temp[0,:,:]',time -t data.nc", "some values, times as dates"),
            ("oz dump data.zarr | ncgen -4 -o data.nc", "into a netCDF file"),
        )
    )


def run(arguments: Namespace, out: Output) -> int:
    """Do it."""
    from omnizarr.nc.dump.run import Options, dump  # noqa: PLC0415 - usage errors need none of it
    from omnizarr.nc.dump.selecting import split_names  # noqa: PLC0415 - as above

    floats, doubles = _digits(arguments.precision)
    if arguments.width < _SHORTEST:
        raise UsageError("oz dump", f"lines of {arguments.width} characters are too short", f"-l {_SHORTEST} or more")
    options = Options(
        name=arguments.name,
        data="none" if arguments.header else "coordinates" if arguments.coordinates else "all",
        variables=tuple(name for text in arguments.variables for name in split_names(text)),
        groups=tuple(name for text in arguments.groups for name in text.split(",")),
        special=arguments.special,
        filters=arguments.filters,
        times=arguments.times,
        float_digits=floats,
        double_digits=doubles,
        width=arguments.width,
        notes=_notes(arguments),
    )
    form: Form = "kind" if arguments.kind else "json" if out.as_json else "ncml" if arguments.ncml else "cdl"
    out.clear()
    sys.stdout.flush()
    dump(arguments.where, sys.stdout.buffer, options, form)
    sys.stdout.buffer.flush()
    return 0


def _digits(text: str | None) -> tuple[int | None, int | None]:
    if text is None:
        return None, None
    words = text.split(",")
    try:
        numbers = [int(word) if word else None for word in words]
    except ValueError:
        numbers = []
    if not 1 <= len(numbers) <= 2 or not all(one is None or 1 <= one <= _MOST_DIGITS for one in numbers):
        raise UsageError("oz dump", f"-p {text} is no number of digits", f"1 to {_MOST_DIGITS}, as -p 9 or -p 9,17")
    return numbers[0], numbers[1] if len(numbers) > 1 else None


def _notes(arguments: Namespace) -> Notes:
    for letter, what, given in (("-f", "values", arguments.full), ("-b", "rows", arguments.brief)):
        if given is None:
            continue
        language = given[:1].lower()
        if language not in ("c", "f"):
            raise UsageError("oz dump", f"{letter} {given}: c for C or f for Fortran is wanted")
        notes: Notes = f"{what} {language}"  # type: ignore[assignment]
        return notes
    return ""
