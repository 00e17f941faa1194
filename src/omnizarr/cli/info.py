"""`oz info`: say what is there, how it is stored, and what is odd about it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

from omnizarr.cli.output import Output, plain
from omnizarr.cli.parser import Parser
from omnizarr.late import LateModule
from omnizarr.sizes import human_bytes

if TYPE_CHECKING:
    from omnizarr.cli import explain_text
    from omnizarr.tools.census import Census
    from omnizarr.tools.info import info
    from omnizarr.tools.info import quick as info_quick
    from omnizarr.tools.info.remark import Remark
    from omnizarr.tools.info.result import ArrayInfo, GroupInfo, Info
else:
    explain_text = LateModule("omnizarr.cli.explain_text")
    info = LateModule("omnizarr.tools.info.info")
    info_quick = LateModule("omnizarr.tools.info.quick")

_Row: TypeAlias = tuple[str, str]


def configure(parser: Parser) -> None:
    """Say what the command takes."""
    parser.add_argument("where", metavar="LOCATION", help="an array or group")
    parser.add_argument("-k", "--kind", action="store_true", help="print one word, the format: zarr3, zarr2, n5 …")
    parser.add_argument("-a", "--attrs", action="store_true", help="show the attributes, too")
    parser.add_argument(
        "-s", "--stored", action="store_true", help="count stored chunks and bytes of all arrays below a group"
    )
    parser.add_argument("-c", "--cells", action="store_true", help="count the inner chunks of shards")
    parser.add_argument(
        "-d", "--decode", action="store_true", help="decode every chunk of an array: count all-fill ones, find damage"
    )
    parser.add_argument(
        "--explain", action="store_true", help="say how the location is understood, with reasons; nothing is opened"
    )
    parser.add_argument("--format", help="look for this format alone, where there are documents of several")
    parser.set_examples(
        (
            ("oz info data.zarr/t", "an array: shape, type, chunks, codecs, sizes"),
            ("oz info -k data.zarr", "the format in one word, as ncdump -k"),
            ("oz info --explain 's3://bucket/x#mode=zarr'", "what a URL means: bucket, key, region, profile, modes"),
        )
    )


def run(arguments: Namespace, out: Output) -> int:
    """Do it."""
    if arguments.explain:
        explain_text.show(arguments.where, out)
        return 0
    found = _found(arguments, out)
    if arguments.kind:
        if out.as_json:
            out.json({"format": found.format})
        else:
            out.line(found.format)
    elif out.as_json:
        out.json(found)
    else:
        _print(found, out, attrs=arguments.attrs)
    return 0


def _found(arguments: Namespace, out: Output) -> Info:
    wanted = arguments.stored or arguments.cells or arguments.decode
    quick = None if wanted or arguments.format else info_quick.quick_info(arguments.where)
    if quick is not None:
        return quick
    with out.progress("looking", "chunks") as bar:
        return info.info(
            arguments.where,
            format=arguments.format,
            stored=False if arguments.kind else wanted or None,
            cells=(arguments.cells or None) if not arguments.kind else False,
            decode=arguments.decode and not arguments.kind,
            progress=bar,
        )


def _print(found: Info, out: Output, *, attrs: bool) -> None:
    rows = [
        (found.kind, found.name),
        ("store", f"{found.uri} ({found.store})"),
        ("format", f"{found.what.removesuffix(' ' + found.kind)} ({found.format}): {found.reason}"),
    ]
    if found.array is not None:
        rows += _array_rows(found.array)
    if found.group is not None:
        rows += _group_rows(found.group)
    if found.conventions:
        rows.append(("conventions", ", ".join(found.conventions)))
    rows.append(("attributes", str(len(found.attributes))))
    width = max(len(name) for name, _ in rows)
    for name, text in rows:
        out.line(f"{out.style(f'{name:{width}}', 'cyan')}  {out.style(text)}")
    if attrs and found.attributes:
        _print_attributes(found, out)
    if found.remarks:
        _print_remarks(found.remarks, out)


def _array_rows(array: ArrayInfo) -> Iterator[_Row]:
    yield "shape", _shape_text(array)
    yield "type", array.dtype
    yield "chunks", f"{_lengths(array.chunks)} of {human_bytes(array.chunk_nbytes)}, {array.nchunks} in all"
    if array.shards is not None and array.shard_nbytes is not None:
        yield "shards", f"{_lengths(array.shards)} of {human_bytes(array.shard_nbytes)}"
    yield "codecs", array.codecs
    yield "fill value", "undefined" if array.fill_value is None else str(plain(array.fill_value))
    yield "order", array.order
    yield "first key", array.first_key
    yield "size", human_bytes(array.nbytes)
    if array.census is not None:
        yield from _census_rows(array, array.census)


def _census_rows(array: ArrayInfo, count: Census) -> Iterator[_Row]:
    ratio = "" if array.ratio is None else f", ratio {array.ratio:.1f}"
    yield "stored", f"{human_bytes(count.nbytes)}{ratio}"
    what = "shards" if array.shards is not None else "chunks"
    yield "present", f"{count.present} of {count.chunks} {what}{_percent(count.present, count.chunks)}"
    if count.cells is not None and count.cells_present is not None:
        inner = _percent(count.cells_present, count.cells)
        yield "inner", f"{count.cells_present} of {count.cells} inner chunks{inner}"
    if count.filled is not None:
        yield "all fill", f"{count.filled} of the chunks that are present"
        yield "damaged", str(count.nfaults)


def _group_rows(group: GroupInfo) -> Iterator[_Row]:
    yield "holds", f"{_number(group.arrays, 'array')}, {_number(group.groups, 'group')}"
    yield "size", human_bytes(group.nbytes)
    if group.nbytes_stored is not None and group.chunks is not None and group.present is not None:
        yield "stored", human_bytes(group.nbytes_stored)
        yield "present", f"{group.present} of {group.chunks} keys of chunks{_percent(group.present, group.chunks)}"
    yield "consolidated", group.consolidated


def _shape_text(array: ArrayInfo) -> str:
    if not array.dims or not any(array.dims):
        return str(array.shape)
    named = (f"{name}: {size}" if name else str(size) for name, size in zip(array.dims, array.shape, strict=True))
    return f"({', '.join(named)})"


def _lengths(lengths: tuple[int | tuple[int, ...], ...]) -> str:
    parts = [
        str(one) if isinstance(one, int) or len(one) <= 6 else f"({', '.join(map(str, one[:5]))}, …)" for one in lengths
    ]
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def _percent(part: int, whole: int) -> str:
    return f" ({100 * part / whole:.0f} %)" if whole else ""


def _number(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _print_attributes(found: Info, out: Output) -> None:
    import json  # noqa: PLC0415 - needed by few calls

    out.line()
    for name, value in found.attributes.items():
        out.line(f"{out.style(name, 'cyan')} = {out.style(json.dumps(plain(value), ensure_ascii=False))}")


def _print_remarks(remarks: tuple[Remark, ...], out: Output) -> None:
    out.line()
    for remark in remarks:
        out.line(f"{out.style(remark.id, 'yellow')}: {out.style(remark.message)}")
