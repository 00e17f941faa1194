"""What all commands share: help, errors and their cures, exit codes, JSON."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from omnizarr import errors
from omnizarr.cli import bar, cures
from omnizarr.cli import consolidate as some_command
from omnizarr.cli.main import COMMANDS, parser_of
from omnizarr.cli.output import Output, plain
from omnizarr.cli.overview import ACTIONS

THERE = [name for name in COMMANDS if name not in ACTIONS and importlib.util.find_spec(f"omnizarr.cli.{name}")]
THERE += [f"{name} {action}" for name, actions in ACTIONS.items() for action in actions]


def test_help_lists_every_command(command):
    ran = command("--help")
    assert ran.code == 0
    listed = re.findall(r"^  (\w+)  ", ran.out, re.MULTILINE)
    assert listed == list(COMMANDS)
    assert command() == ran
    assert command("help") == ran


@pytest.mark.parametrize("name", THERE)
def test_help_of_a_command_has_a_few_examples_that_can_be_typed(name, command):
    parser = parser_of(name)
    assert 3 <= len(parser.examples) <= 4  # one more where the work can be done on a cluster
    for typed, does in parser.examples:
        own = re.search(r"oz [^|>)]*", typed)
        assert own, typed
        assert does
        words = shlex.split(own[0])
        length = 1 + len(name.split())
        assert words[:length] == ["oz", *name.split()]
        parser.parse(words[length:])
    ran = command(*name.split(), "--help")
    assert ran.code == 0
    assert all(typed in ran.out for typed, _ in parser.examples)
    assert command("help", *name.split()).out == ran.out


def test_a_command_with_actions(command):
    ran = command("refs")
    assert ran.code == 0
    assert re.findall(r"^  (\w+)  ", ran.out, re.MULTILINE) == list(ACTIONS["refs"])
    assert command("refs", "--help") == command("help", "refs") == ran
    assert command("refs", "scn").err.endswith("did you mean 'oz refs scan'?\n")
    assert command("help", "refs", "xyzzy").code == 2


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("name", ["", *THERE])
def test_help_fits_the_terminal(name, columns, command, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    ran = command(*name.split(), "--help")
    head = ran.out.partition("examples:")[0]
    # Words and choices are not broken.
    long = [line for line in head.splitlines() if len(line) > min(columns, 100) and len(line.split()) > 4]
    assert not [line for line in long if "{" not in line and not line.strip().startswith("oz ")]


@pytest.mark.parametrize(
    ("typed", "meant"), [("tre", "tree"), ("cp", "copy"), ("valdate", "validate"), ("rename", "mv")]
)
def test_an_unknown_command_gets_the_nearest(typed, meant, command):
    ran = command(typed)
    assert ran == (2, "", f"oz: error: there is no command {typed!r}\n  did you mean 'oz {meant}'?\n")


def test_a_location_without_a_command(command, data):
    assert command("data.zarr").err.endswith("did you mean 'oz info data.zarr'?\n")


def test_an_unknown_command_like_no_other(command):
    assert command("xyzzy") == (2, "", "oz: error: there is no command 'xyzzy'\n  see oz --help\n")
    assert command("help", "xyzzy").code == 2


def test_version(command):
    ran = command("--version")
    assert ran.code == 0
    assert re.fullmatch(r"oz \d+\.\d+\.\d+.*\n", ran.out)


@pytest.mark.parametrize(
    "words", [["tree"], ["tree", "a", "b"], ["tree", "a", "--nope"], ["--nope"], ["tree", "a", "-L", "-1"]]
)
def test_wrong_words_end_with_2_and_two_lines(words, command):
    ran = command(*words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == 2
    assert "--help" in ran.err


def test_options_of_all_commands_may_stand_before_the_command(command, data):
    assert command("--json", "ls", "data.zarr") == command("ls", "data.zarr", "--json")
    assert command("--colour", "always", "ls", "data.zarr") == command("ls", "data.zarr", "--color=always")


def test_errors_are_two_lines_with_places_as_typed(command, data):
    ran = command("tree", "data.zarr/ocen")
    assert ran == (2, "", "oz: error: no array or group is there (data.zarr/ocen)\n  did you mean 'data.zarr/ocean'?\n")


def test_errors_as_json_stay_on_standard_error(command, data):
    ran = command("tree", "data.zarr/ocen", "--json")
    assert (ran.code, ran.out) == (2, "")
    told = json.loads(ran.err)["error"]
    assert told["kind"] == "not-found"
    assert told["hint"] == "did you mean 'data.zarr/ocean'?"
    assert json.loads(command("tree", "--json").err)["error"]["kind"] == "usage"


@pytest.mark.parametrize(
    ("hint", "options", "cure"),
    [
        (
            'pass overwrite=True or mode="w" to replace it, or mode="a" to open it',
            {"--overwrite"},
            "--overwrite replaces it",
        ),
        ("pass overwrite=True to replace it", set(), "'oz rm' erases it"),
        ('open it with mode="r+" to change it', set(), None),
        ("Open it with mode='r+' or 'a' to write.", set(), None),
        ("did you mean 'x'?\nmode=\"a\" creates what is missing", set(), "did you mean 'x'?"),
        ("Pass limits=Limits()._replace(max_chunk_bytes=...) if that much fits in memory.", set(), None),
        ("Write its data to a new array.", set(), "'oz convert' writes it in another format"),
        ("Pass fill_value=None, which leaves it undefined, or take another format.", set(), "take another format."),
        ("pip install omnizarr[ml]", set(), "pip install omnizarr[ml]"),
        ("did you mean '{here}/x'?", set(), "did you mean 'x'?"),
        (None, set(), None),
    ],
)
def test_cures_are_in_words_of_a_command_line(hint, options, cure):
    error = errors.StoreError("broken", hint=hint and hint.replace("{here}", str(Path.cwd())))
    assert cures.told(error, options).cure == cure


def test_errors_tell_what_and_where_in_one_line():
    error = errors.CorruptError("it does\nnot decode", path="file:///x%20y", key="c/0", codec="zstd")
    assert cures.told(error).text == "it does not decode (/x y, key 'c/0', codec 'zstd')"


def test_control_characters_in_names_reach_no_terminal():
    assert cures.told(errors.StoreError("a \x1b[31m name")).text == r"a \x1b[31m name"
    assert Output(colour="always").style("a\x1b]0;b", "bold") == "\x1b[1ma\\x1b]0;b\x1b[0m"


@pytest.mark.parametrize(
    ("raised", "code", "text"),
    [
        (errors.MissingDependencyError("it needs x", hint="pip install omnizarr[x]"), 2, "  pip install omnizarr[x]\n"),
        (PermissionError(13, "Permission denied", "file"), 2, "oz: error: Permission denied (file)\n"),
        (MemoryError(), 2, "oz: error: there is not enough memory for this\n"),
        (ZeroDivisionError("oh"), 2, "oz: error: unexpected ZeroDivisionError: oh\n  this is a bug of oz"),
    ],
)
def test_whatever_is_raised_is_told_without_a_traceback(raised, code, text, command, monkeypatch):
    def fail(*_: object) -> int:
        raise raised

    monkeypatch.setattr(some_command, "run", fail)
    ran = command("consolidate", "x")
    assert ran.code == code
    assert text in ran.err
    assert "Traceback" not in ran.err
    monkeypatch.setenv("OZ_TRACEBACK", "1")
    assert "Traceback" in command("consolidate", "x").err


@pytest.mark.parametrize(
    ("options", "expected"), [([], "oz: warning: a warning\noz: warning: another\n"), (["-q"], "")]
)
def test_warnings_are_one_line_each_and_told_once(options, expected, command, monkeypatch):
    def warn(*_: object) -> int:
        for text in ("a warning", "a\nwarning", "another"):
            warnings.warn(text, stacklevel=1)
        return 0

    monkeypatch.setattr(some_command, "run", warn)
    assert command("consolidate", "x", *options) == (0, "", expected)


def test_warnings_as_json(command, monkeypatch):
    monkeypatch.setattr(some_command, "run", lambda *_: warnings.warn("a warning", stacklevel=1) or 0)
    assert json.loads(command("consolidate", "x", "--json").err) == {"warning": "a warning"}


def test_json_has_no_values_of_its_own():
    assert plain({1: (float("inf"), 1j, b"\xff", {2})}) == {"1": ["Infinity", [0.0, 1.0], "\\xff", [2]]}


def test_progress_counts_from_where_the_work_goes_on():
    line = bar.describe("copying", "keys", (75, 100, 30_000_000), 10.0, (50, 20_000_000))
    assert line.endswith("75% 75/100 keys 1.0 MB/s 10 s left")
    assert bar.describe("listing", "", (5, None, 0), 1.0) == "listing 5"
    assert bar.describe("x", "", (1, 100_000, 0), 1.0).endswith("27:46 h left")


def test_help_imports_no_numpy():
    code = "import sys; from omnizarr.cli.main import main; main(['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert not loaded & {"numpy", "argparse", "json", "shutil", "pathlib", "omnizarr._native"}


def test_plain_trees_are_drawn_without_numpy(data):
    code = "import sys; from omnizarr.cli.main import main; main(['tree', 'data.zarr']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "numpy" not in done.stdout.splitlines()[-1].split()


def test_signals_end_the_process_as_shells_expect(shell, data):
    assert signal.SIGINT == 2
    ran = shell("cd data.zarr && oz tree . | true; echo ${PIPESTATUS[0]}")
    assert ran.out.strip() in ("0", "141")
    assert ran.err == ""


@pytest.mark.parametrize(
    ("words", "expected", "not_there"),
    [("cat", "LOCATION", "SELECTION"), ("tree -L x .", "'x' is not a number of levels", "_level")],
)
def test_wrong_words_are_told_without_names_of_functions(words, expected, not_there, command):
    done = command(*words.split())
    assert done.code == 2
    assert expected in done.err
    assert not_there not in done.err.splitlines()[0]
