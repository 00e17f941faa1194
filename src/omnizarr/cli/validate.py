"""`oz validate`: check documents, keys and chunks against the specifications, and repair them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING, Final

from omnizarr.cli.cluster import add_cluster
from omnizarr.cli.output import Output, Style
from omnizarr.cli.parser import Parser
from omnizarr.sizes import human_bytes

if TYPE_CHECKING:
    from omnizarr.tools.validate import ArrayCensus, Finding, Report

_STYLES: Final[dict[str, Style]] = {"error": "red", "warning": "yellow", "note": "cyan"}

_REPAIRS: Final = frozenset(("safe", "all", "zarr3", "zarr2"))


def configure(parser: Parser) -> None:
    """Say what the command takes."""
    parser.add_argument("where", metavar="LOCATION", nargs="?", help="an array or group")
    parser.add_argument("--decode", action="store_true", help="decode every chunk, too")
    parser.add_argument(
        "--repair",
        nargs="?",
        const="safe",
        default=None,
        metavar="WHAT",
        help="mend what can be: `safe` (the default) loses and guesses nothing, `all` also erases chunks without bytes "
        "and the like, `zarr3` or `zarr2` keeps the documents of that format where both are there; write --repair=WHAT",
    )
    parser.add_argument("--select", metavar="RULES", help="only these rules: ids, their beginnings or names, by commas")
    parser.add_argument("--ignore", metavar="RULES", help="all rules but these")
    parser.add_argument("--strict", action="store_true", help="warnings count as errors")
    add_cluster(parser)
    parser.add_argument("--sarif", action="store_true", help="print a SARIF 2.1.0 log instead of text")
    parser.add_argument("--rules", action="store_true", help="list all rules and end")
    parser.set_examples(
        (
            ("oz validate data.zarr", "documents, keys, sizes of chunks, indexes of shards"),
            ("oz validate data.zarr --decode", "every chunk, too"),
            ("oz validate data.zarr --decode --cluster local:4", "by four workers of a Dask cluster"),
            ("oz validate data.zarr --repair", "mend what can be mended without a loss"),
        )
    )


def run(arguments: Namespace, out: Output) -> int:
    """Do it."""
    if arguments.rules:
        _print_rules(out)
        return 0
    where, repair = arguments.where, arguments.repair
    if where is None and repair is not None and not _REPAIRS.issuperset(repair.split(",")):
        where, repair = repair, "safe"  # `oz validate --repair data.zarr`
    if where is None:
        from omnizarr.errors import SelectionError  # noqa: PLC0415 - as for all that is imported in functions here

        raise SelectionError("no location is given", hint="see oz validate --help")
    # Imported here: help needs none of it.
    from omnizarr.tools.validate import validate  # noqa: PLC0415 - as above

    with out.progress("checking", "chunks") as bar:
        report = validate(
            where,
            decode=arguments.decode,
            repair=repair or False,
            select=_words(arguments.select),
            ignore=_words(arguments.ignore),
            progress=bar,
            cluster=arguments.cluster,
        )
    if arguments.sarif:
        from omnizarr.tools.validate.sarif import to_sarif  # noqa: PLC0415 - as above

        out.json(to_sarif(report))
    elif out.as_json:
        out.json(_plain(report))
    else:
        _print(report, out)
    return 0 if report.ok and not (arguments.strict and report.counts["warning"]) else 1


def _words(text: str | None) -> list[str] | None:
    return None if text is None else [word for word in text.split(",") if word.strip()]


def _print(report: Report, out: Output) -> None:
    for line in report.repaired:
        out.line(f"{out.style('repaired', 'green')} {line}")
    for path, findings in groupby(report.findings, key=lambda one: one.path):
        out.line(out.style(f"/{path}", "bold"))
        for finding in findings:
            _print_finding(finding, out)
    counts = report.counts
    parts = [_count(counts[kind], kind) for kind in ("error", "warning", "note") if counts[kind]]
    what = ", ".join(parts) or "nothing wrong"
    style: Style = "red" if counts["error"] else "yellow" if counts["warning"] else "green"
    seen = f"in {_count(report.nodes, 'node')}, {_count(report.keys, 'key')}"
    out.line(f"{out.style(what, style, 'bold')} {seen}{_offer(report)}")
    if report.census:
        out.line(_census(report.census, decoded=report.decoded))


def _offer(report: Report) -> str:
    from omnizarr.tools.validate.rules import RULES  # noqa: PLC0415 - as above

    sorts = [RULES[one.rule].repair for one in report.findings if one.repairable]
    safe, more = sorts.count("safe"), sorts.count("all")
    offers = [f"--repair mends {safe}"] if safe else []
    if more:
        offers.append(f"--repair=all {'' if safe else 'mends '}{safe + more}")
    return f"; {', '.join(offers)}" if offers else ""


def _print_finding(finding: Finding, out: Output) -> None:
    level = out.style(f"{finding.severity:7}", _STYLES[finding.severity])
    place = " ".join(part for part in (finding.key, finding.pointer) if part)
    where = f" {out.style(f'[{place}]', 'dim')}" if place else ""
    out.line(f"  {level} {out.style(finding.rule, 'bold')} {out.style(finding.message)}{where}")
    if finding.hint:
        out.line(f"          {out.style(finding.hint, 'dim')}")


def _census(census: Iterable[ArrayCensus], *, decoded: bool) -> str:
    rows = list(census)
    present, chunks = sum(one.present for one in rows), sum(one.chunks for one in rows)
    size = human_bytes(sum(one.nbytes for one in rows))
    fill = f", {sum(one.fill or 0 for one in rows)} of them all fill value" if decoded else ""
    return f"{present} of {_count(chunks, 'chunk')} stored{fill}, {size} in {_count(len(rows), 'array')}"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _plain(report: Report) -> dict[str, object]:
    findings = []
    for one in report.findings:
        fields = {name: value for name, value in one._asdict().items() if name != "cures"}
        findings.append({**fields, "name": one.name, "repairable": one.repairable})
    census = [{**one._asdict(), "missing": one.missing} for one in report.census]
    made = {**report._asdict(), "findings": findings, "census": census, "counts": report.counts, "ok": report.ok}
    return dict(made)


def _print_rules(out: Output) -> None:
    from omnizarr.tools.validate.rules import RULES  # noqa: PLC0415 - as above

    if out.as_json:
        out.json([{**rule._asdict(), "clause": rule.clause._asdict()} for rule in RULES.values()])
        return
    width = max(len(rule.name) for rule in RULES.values())
    for rule in RULES.values():
        level = out.style(f"{rule.severity:7}", _STYLES[rule.severity])
        out.line(f"{out.style(rule.id, 'bold')} {level} {rule.repair or '-':6} {rule.name:{width}} {rule.summary}")
