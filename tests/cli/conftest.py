"""Commands run in this process, in another, and in a terminal of a size."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import omnizarr
import omnizarr as oz
from omnizarr.cli.main import main

COMMAND = [sys.executable, "-P", "-m", "omnizarr"]
_UNWANTED = ("COLUMNS", "LINES", "NO_COLOR", "CLICOLOR_FORCE", "OZ_TRACEBACK", "PYTHONUNBUFFERED")


class Ran(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str = ""


def environment(**more: str) -> dict[str, str]:
    """What a command is started with."""
    kept = {name: value for name, value in os.environ.items() if name not in _UNWANTED}
    package = str(Path(omnizarr.__file__).parents[1])
    return {**kept, "PYTHONPATH": package, "PYTHONUTF8": "1", "TERM": "xterm-256color", **more}


def _take_the_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    # A shell starts jobs in the background with this signal ignored, and their children inherit that.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Terminal:
    """A command in a terminal: what it prints is read, keys can be typed."""

    def __init__(self, words: list[str], columns: int = 80, **more: str) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self._process = subprocess.Popen(
            [*COMMAND, *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env=environment(**more),
            start_new_session=True,
            preexec_fn=_take_the_terminal,  # noqa: PLW1509 - so that Ctrl-C reaches it
        )
        os.close(slave)
        self.seen = ""

    def wait_for(self, text: str, seconds: float = 60) -> None:
        """Read until a text has been printed."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            assert time.monotonic() < end, f"{text!r} never came; all that came: {self.seen!r}"
            assert self._read(1), f"it ended before {text!r}; all that came: {self.seen!r}"

    def type(self, keys: str) -> None:
        """Type keys."""
        os.write(self._master, keys.encode())

    def end(self) -> Ran:
        """Read to the end."""
        while self._read(60):
            pass
        code = self._process.wait(60)
        os.close(self._master)
        return Ran(code, self.seen.replace("\r\n", "\n"))

    def _read(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self._master, 1 << 16)
        except OSError:  # the other end is closed
            return False
        self.seen += data.decode(errors="replace")
        return bool(data)


@pytest.fixture
def terminal():
    """Run a command in a terminal to its end."""

    def run(*words: str, columns: int = 80, **more: str) -> Ran:
        return Terminal(list(words), columns, **more).end()

    return run


@pytest.fixture
def open_terminal():
    """Start a command in a terminal."""
    return Terminal


@pytest.fixture
def shell(tmp_path):
    """Run a line of bash, in which `oz` is this package; colour and width as without a terminal."""
    folder = tmp_path / "bin-of-oz"
    folder.mkdir()
    script = folder / "oz"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m omnizarr "$@"\n')
    script.chmod(0o755)

    def run(line: str, **more: str) -> Ran:
        env = environment(PATH=f"{folder}{os.pathsep}{os.environ['PATH']}", **more)
        done = subprocess.run(["bash", "-c", line], capture_output=True, env=env, stdin=subprocess.DEVNULL, timeout=120)
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def command(capsys, monkeypatch):
    """Run a command in this process."""
    for name in _UNWANTED:
        monkeypatch.delenv(name, raising=False)

    def run(*words: object) -> Ran:
        try:
            code = main([str(word) for word in words])
        except SystemExit as end:
            code = int(end.code or 0)
        return Ran(code, *capsys.readouterr())

    return run


@pytest.fixture
def data(tmp_path, monkeypatch):
    """A folder with a small hierarchy, `data.zarr`, which is the current one."""
    monkeypatch.chdir(tmp_path)
    group = oz.create_group("data.zarr", attrs={"title": "trial"})
    values = np.arange(24, dtype="f4").reshape(2, 3, 4) / 10
    group.create_array("t", data=values, dims=("time", "lat", "lon"), attrs={"units": "K", "levels": [1, 2]})
    group.create_array("ocean/salt", data=np.arange(6), chunks=(2,))
    return tmp_path


def without_colour(text: str) -> str:
    """Text as it looks."""
    return re.sub(r"\x1b\[[0-9;]*[mK]", "", text)


@pytest.fixture(name="without_colour")
def _without_colour():
    return without_colour
