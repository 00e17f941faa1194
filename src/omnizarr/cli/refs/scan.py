"""`oz refs scan`: find the chunks of files, and write a reference set of each."""

from __future__ import annotations

import os
from argparse import Namespace

from omnizarr import refs
from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser
from omnizarr.cli.refs.combine import scan_settings
from omnizarr.cli.refs.words import add_scan, add_target, counted, figures, form_options, plural, scan_options
from omnizarr.errors import MetadataError, NodeTypeError


def configure(parser: Parser) -> None:
    """Say what the action takes."""
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="netCDF, HDF5, GRIB, TIFF, FITS, Zarr, or a reference set; also a URL"
    )
    add_target(parser)
    add_scan(parser)
    parser.set_examples(
        (
            ("oz refs scan day1.nc -o day1.json", "one file"),
            ("oz refs scan day*.nc -o sets --form json.zst", "a set of each, in a folder"),
            ("oz refs scan /data/*.nc -o sets --cluster tcp://head:8786", "on the workers of a Dask cluster"),
            ("oz refs scan model.h5 -o model.parq --only 't*' --inline 0", "some variables, nothing in the set itself"),
        )
    )


def run(arguments: Namespace, out: Output) -> int:
    """Do it."""
    options, form = scan_options(arguments), form_options(arguments)
    if len(arguments.files) == 1:
        found = refs.scan(
            arguments.files[0],
            **{name: options[name] for name in ("inline", "group", "only", "skip", "format", "cache", "on_error")},
        )
        refs.write(found, arguments.output, **form)
        return _tell(out, [(arguments.files[0], arguments.output, found)])
    if os.path.isfile(arguments.output):  # noqa: PTH113 - pathlib takes long to import
        raise NodeTypeError(f"{arguments.output} is a file; the sets of several files go into a folder")
    targets = _targets(arguments.files, arguments.output, form["form"] or "json")
    with out.progress("scanning", "files") as bar:
        results = refs.scan_all(
            arguments.files,
            scan_settings(arguments)["scan"],
            workers=options["workers"],
            cluster=options["cluster"],
            cache=options["cache"],
            progress=lambda done, total: bar(done, total, 0),
        )
    good = refs.checked(results, options["on_error"])
    names = [one.where for one in results if one.references is not None]
    os.makedirs(arguments.output, exist_ok=True)  # noqa: PTH103 - as above
    written = []
    for where, found in zip(names, good, strict=True):
        refs.write(found, targets[where], **form)
        written.append((where, targets[where], found))
    return _tell(out, written)


def _targets(files: list[str], folder: str, form: str) -> dict[str, str]:
    """Return where the set of each file goes: two files of one name would be one set."""
    if folder.endswith((".json", ".json.gz", ".json.zst", ".parq", ".parquet")):
        raise MetadataError(
            f"{len(files)} files are a set each, in a folder, and {folder} is the name of one set",
            hint="'oz refs combine' makes one set of several files.",
        )
    ending = "parq" if form == "parquet" else form
    targets = {file: f"{folder}/{os.path.basename(file.rstrip('/'))}.{ending}" for file in files}  # noqa: PTH119
    owners: dict[str, str] = {}
    for file, target in targets.items():
        if owners.setdefault(target, file) != file:
            raise MetadataError(
                f"{owners[target]} and {file} have the same name, and both sets would be {target}",
                hint="Scan them into different folders.",
            )
    return targets


def _tell(out: Output, written: list[tuple[str, str, refs.References]]) -> int:
    told = [(where, target, refs.summary(found)) for where, target, found in written]
    if out.as_json:
        out.json(
            [{"file": where, "set": target, "arrays": len(one.arrays), **figures(one)} for where, target, one in told]
        )
    else:
        out.lines(f"{target}: {plural(len(one.arrays), 'array')}, {counted(one)}" for _, target, one in told)
    return 0
