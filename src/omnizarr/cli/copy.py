"""`oz copy`: copy nodes from store to store, byte for byte."""

from __future__ import annotations

import time
from argparse import Namespace

from omnizarr.cli.output import Output
from omnizarr.cli.parser import Parser
from omnizarr.sizes import human_bytes
from omnizarr.tools.copy.copy import Copied, copy


def configure(parser: Parser) -> None:
    """Say what the command takes."""
    parser.add_argument("source", metavar="SOURCE", help="an array or group: a path, URI or zip archive")
    parser.add_argument(
        "target", metavar="TARGET", help="where the copy goes; a name that ends in .zip makes an archive"
    )
    parser.add_argument("--path", help="the node within the source")
    parser.add_argument("--target-path", metavar="PATH", help="where the copy goes within the target")
    for word, does in (("include", "copy only nodes"), ("exclude", "leave out nodes")):
        parser.add_argument(
            f"--{word}",
            metavar="PATTERN",
            action="append",
            default=[],
            help=f"{does} of such names or paths (temp*, model/*/t), with all below them; can be given again",
        )
    parser.add_argument("--overwrite", action="store_true", help="replace the array or group that is there")
    parser.add_argument("--verify", action="store_true", help="compare all bytes afterwards")
    parser.add_argument("-n", "--dry-run", action="store_true", help="only say what would be copied")
    parser.add_argument("--no-resume", action="store_true", help="do not go on with a copy that was stopped")
    parser.set_examples(
        (
            ("oz copy data.zarr data.zip", "pack a hierarchy into an archive"),
            ("oz copy data.zarr new.zarr --include 'temp*' --verify", "a part of it, and look whether it is right"),
            ("oz copy big.zarr backup.zarr", "typed again after it was stopped: goes on where it was"),
        )
    )


def run(arguments: Namespace, out: Output) -> int:
    """Do it; the exit code is 1 if the bytes turn out to differ."""
    began = time.monotonic()
    with out.progress("counting" if arguments.dry_run else "copying", "keys") as bar:
        done = copy(
            arguments.source,
            arguments.target,
            path=arguments.path,
            target_path=arguments.target_path,
            include=arguments.include,
            exclude=arguments.exclude,
            overwrite=arguments.overwrite,
            verify=arguments.verify,
            dry_run=arguments.dry_run,
            resume=not arguments.no_resume,
            progress=bar,
        )
    if out.as_json:
        out.json(done)
    else:
        _print(done, out, time.monotonic() - began)
    return 1 if done.different else 0


def _print(done: Copied, out: Output, seconds: float) -> None:
    size = human_bytes(done.nbytes)
    if done.dry_run:
        out.line(f"would copy {done.keys} keys, {size}, to {done.target}")
    else:
        rate = f" in {seconds:.0f} s, {human_bytes(done.nbytes / seconds)}/s" if seconds >= 1 else ""
        kept = f"; {done.kept} were there already" if done.kept else ""
        out.line(f"copied {done.copied} keys, {size}{rate}, to {done.target}{kept}")
    if done.left_out:
        out.line(
            f"left out {len(done.left_out)} nodes: {', '.join(done.left_out[:6])}{', …' * (len(done.left_out) > 6)}"
        )
    if done.verified:
        out.line("all bytes are equal")
    for key in done.different:
        out.line(f"{out.style('differs', 'red')}: {key}")
