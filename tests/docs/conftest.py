"""Plays a page of the documentation: its Python snippets and its shell transcripts, in order, in one folder.

    ```python                     runs; a ```text fence that follows at once is what it prints
    ```console                    each line `$ …` runs in bash; the lines below it are what it prints

Standard output and standard error are mixed as they come. `...` alone on a line stands for any lines. `oz` is this
very package, `python` this very interpreter. The folder that a page is played in reads `/home/me` in what is printed,
and how long something took, which is printed from a second on, is left out.
Fences of one page share the folder; the commands of one fence also share the shell, so that `$ echo $?` tells how the
command before it ended.

With OMNIZARR_RECORD=1 (`make transcripts`) what transcripts print is written into the pages instead of being compared.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import omnizarr
from tests.cloud.servers.fault_server import fault_server

FENCE = re.compile(
    r"^( *)```(?:python\n(.*?)^\1```$(?:\n+^\1```text\n(.*?)^\1```$)?|console\n(.*?)^\1```$)", re.MULTILINE | re.DOTALL
)
HOME = "/home/me"
TOOK = re.compile(r" in \d+ s, [\d.]+ \w+/s")
RECORDING = bool(os.environ.get("OMNIZARR_RECORD"))
_MARK = "--8<-- oz --8<--"


class Fence(NamedTuple):
    """A fence of a page: Python with what it prints, or a transcript."""

    line: int
    indent: str
    code: str
    prints: str | None
    span: tuple[int, int]
    """Where the code of a transcript is in the page."""


class Step(NamedTuple):
    """A command of a transcript, the lines after the first with `> ` in front; and what it prints."""

    typed: list[str]
    prints: list[str]

    @property
    def command(self) -> str:
        return "\n".join(line.removeprefix("$ ").removeprefix("> ") for line in self.typed)


def fences(text: str) -> Iterator[tuple[str, Fence]]:
    """Yield the kind and the content of each fence that can be played."""
    for match in FENCE.finditer(text):
        indent = match[1]
        group = 2 if match[2] is not None else 4
        body = "".join(line.removeprefix(indent) for line in match[group].splitlines(keepends=True))
        line = text.count("\n", 0, match.start()) + 2
        yield ("python" if group == 2 else "console"), Fence(line, indent, body, match[3], match.span(group))


def steps(code: str) -> list[Step]:
    """Return the commands of a transcript."""
    found: list[Step] = []
    for line in code.splitlines():
        if line.startswith("$ "):
            found.append(Step([line], []))
        elif line.startswith("> ") and found and not found[-1].prints and found[-1].typed[-1].endswith("\\"):
            found[-1].typed.append(line)
        elif found:
            found[-1].prints.append(line)
        elif line.strip():
            raise ValueError(f"a transcript begins with a command, not with {line!r}")
    return [step._replace(prints=_tidy(step.prints)) for step in found]


def matches(expected: list[str], printed: list[str]) -> bool:
    """Whether lines are the expected ones, where `...` stands for any."""
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line) + "\n" for line in expected)
    return re.fullmatch(pattern, "".join(line + "\n" for line in printed)) is not None


def _tidy(lines: list[str]) -> list[str]:
    """Return lines without what nobody sees: spaces at their ends, empty ones after the last."""
    tidy = [line.rstrip() for line in lines]
    while tidy and not tidy[-1]:
        tidy.pop()
    return tidy


class Player:
    """Plays pages in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "page"
        self.folder.mkdir()
        self._bin = folder / "bin"
        self._bin.mkdir()
        for name, words in {"oz": "-P -m omnizarr", "python": "-P"}.items():
            script = self._bin / name
            script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n', encoding="utf-8")
            script.chmod(0o755)

    def play(self, page: Path) -> None:
        """Run every fence of a page and compare what it prints, or write that into the page."""
        text = page.read_text(encoding="utf-8")
        names: dict[str, object] = {"__name__": "__main__"}
        parts, at = [], 0
        for kind, fence in fences(text):
            if kind == "python":
                self._python(page, fence, names)
            else:
                parts += [text[at : fence.span[0]], self._transcript(page, fence)]
                at = fence.span[1]
        new = "".join([*parts, text[at:]])
        if RECORDING and new != text:
            page.write_text(new, encoding="utf-8")

    def _python(self, page: Path, fence: Fence, names: dict[str, object]) -> None:
        # Blank lines in front make tracebacks point at the line of the page.
        program = compile("\n" * (fence.line - 1) + fence.code, str(page), "exec")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(program, names)
        if fence.prints is not None:
            assert printed.getvalue().split() == fence.prints.split(), f"{page.name}:{fence.line} prints something else"

    def _transcript(self, page: Path, fence: Fence) -> str:
        if shutil.which("bash") is None:
            pytest.skip("transcripts run in bash")
        wanted = steps(fence.code)
        lines: list[str] = []
        for step, printed in zip(wanted, self._run([step.command for step in wanted]), strict=True):
            same = matches(step.prints, printed)
            if not RECORDING:
                shown = "\n".join([*step.typed, *printed])
                assert same, f"{page.name}, transcript at line {fence.line}: this command now prints:\n{shown}"
            lines += [*step.typed, *(step.prints if same else printed)]
        return "".join(f"{fence.indent}{line}".rstrip() + "\n" for line in lines)

    def _run(self, commands: list[str]) -> list[list[str]]:
        """Run commands in one shell, and return the lines that each prints."""
        script = "exec 2>&1\n" + "".join(
            f"{command}\n{{ oz_=$?; }} 2>/dev/null; printf '%s\\n' '{_MARK}'; (exit $oz_)\n" for command in commands
        )
        done = subprocess.run(
            ["bash", "-c", script],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            cwd=self.folder,
            env=self._environment(),
            check=False,
        )
        text = done.stdout.decode().replace(f"{self.folder.resolve()}", HOME).replace(f"{self.folder}", HOME)
        text = TOOK.sub("", text)
        blocks = re.split(rf"(?:^|(?<=\n)|(?<=.)){re.escape(_MARK)}\n", text)
        assert len(blocks) == len(commands) + 1, f"the shell gave up:\n{text}"
        return [_tidy(block.splitlines()) for block in blocks[:-1]]

    def _environment(self) -> dict[str, str]:
        unwanted = ("COLUMNS", "LINES", "NO_COLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "OZ_TRACEBACK")
        kept = {name: value for name, value in os.environ.items() if name not in unwanted}
        package = Path(omnizarr.__file__).parents[1]
        return {
            **kept,
            "PATH": f"{self._bin}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(package),
            "PYTHONUTF8": "1",
            "LC_ALL": "C.UTF-8",
            "TERM": "dumb",
        }


@pytest.fixture
def player(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Player]:
    """What plays pages, in a folder of its own; the page about object stores gets one, with an empty bucket."""
    made = Player(tmp_path)
    monkeypatch.chdir(made.folder)
    with contextlib.ExitStack() as stack:
        if getattr(request.node, "callspec", None) and request.node.callspec.id.endswith("how-to/cloud.md"):
            server = stack.enter_context(fault_server())
            server.bucket("weather")
            settings = {"ENDPOINT_URL": server.url, "ACCESS_KEY_ID": server.key, "SECRET_ACCESS_KEY": server.secret}
            for name, value in settings.items():
                monkeypatch.setenv(f"AWS_{name}", value)
            monkeypatch.setenv("HOME", str(tmp_path))
        yield made
