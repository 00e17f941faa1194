"""Commands in a real terminal, and without any: width, colour, Ctrl-C, pipes that close early, no streams at all."""

from __future__ import annotations

import signal

import pytest

import omnizarr as oz

pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


@pytest.fixture
def wide(data):
    group = oz.open_group("data.zarr", "r+")
    group.create_array("with_quite_a_long_name/" + "x" * 60, shape=(10,) * 6, dtype="f8", dims=tuple("abcdef"))
    group["t"].attrs["comment"] = "word " * 60
    return data


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("words", [["tree", "--attrs"], ["ls", "-lR"], ["attrs"]])
def test_lines_fit_the_terminal(words, columns, terminal, wide, without_colour):
    name, *options = words
    ran = terminal(name, "data.zarr" + ("/t" if name == "attrs" else ""), *options, columns=columns)
    assert ran.code == 0
    lines = without_colour(ran.out).splitlines()
    assert all(len(line) <= columns for line in lines if "x" * 60 not in line)
    assert any("…" in line for line in lines) or columns == 200


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_help_fits_the_terminal(columns, terminal):
    ran = terminal("--help", columns=columns)
    assert ran.code == 0
    lines = ran.out.partition("examples:")[0].splitlines()
    assert max(map(len, lines)) <= columns
    # Wider terminals need fewer lines.
    assert len(lines) > 42 if columns == 40 else len(lines) < 42


def test_values_are_broken_at_the_width_of_the_terminal(terminal, data):
    oz.create_array("row.zarr", shape=(100,), dtype="i4", fill_value=12345)
    for columns in (40, 80, 200):
        lines = terminal("cat", "row.zarr", columns=columns).out.splitlines()
        assert columns - 8 < max(map(len, lines)) <= columns


@pytest.mark.parametrize(
    ("more", "options", "coloured"),
    [
        ({}, [], True),
        ({"NO_COLOR": "1"}, [], False),
        ({"TERM": "dumb"}, [], False),
        ({"NO_COLOR": "1"}, ["--colour", "always"], True),
        ({}, ["--colour=never"], False),
    ],
)
def test_colour_on_a_terminal(more, options, coloured, terminal, data):
    assert ("\x1b[" in terminal("tree", "data.zarr", *options, **more).out) is coloured


def test_colour_in_a_pipe(shell, data):
    assert "\x1b[" not in shell("oz tree data.zarr | cat").out
    assert "\x1b[" in shell("oz tree data.zarr | cat", CLICOLOR_FORCE="1").out
    assert "\x1b[" not in shell("oz tree nothing", NO_COLOR="1").err


def test_errors_are_red_on_a_terminal(terminal, data):
    ran = terminal("tree", "nothing")
    assert ran.code == 2
    assert ran.out == "oz: \x1b[31;1merror\x1b[0m: nothing is there (nothing)\n"


def test_ctrl_c_ends_by_the_signal_without_a_traceback(open_terminal, data):
    oz.create_array("long.zarr", shape=(40_000, 5_000), dtype="f8", chunks=(1000, 1000))
    running = open_terminal(["cat", "long.zarr", "-o", "long.csv"])
    running.wait_for("left")
    assert "reading " in running.seen
    running.type("\x03")
    ran = running.end()
    assert ran.code == -signal.SIGINT
    assert "Traceback" not in ran.out
    assert ran.out.endswith("\r\x1b[K")
    assert not list(data.glob("long.csv*"))


def test_no_bar_where_nobody_watches_or_wants_it(shell, terminal, data):
    oz.create_array("some.zarr", shape=(1500, 1000), dtype="f8", chunks=(100, 1000))
    assert shell("oz cat some.zarr -o some.csv").err == ""
    assert terminal("cat", "some.zarr", "-o", "some.csv", "-q").out == ""
    assert "\x1b" not in terminal("cat", "some.zarr", "-o", "some.csv", TERM="dumb").out


@pytest.mark.parametrize("line", ["oz cat long.zarr --full", "oz --help", "oz cat long.zarr --format npy", "oz ls -h"])
def test_a_pipe_that_closes_early_is_no_trouble(line, shell, data):
    oz.create_array("long.zarr", shape=(3000, 3000), dtype="i4", chunks=(100, 3000))
    ran = shell(f"{line} | head -c 10 | wc -c; echo ${{PIPESTATUS[0]}}")
    assert ran.err == ""
    assert ran.out.split()[0] == "10"
    assert ran.out.split()[1] in ("0", "141")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_are_closed_are_no_trouble(closed, shell, data):
    ran = shell(f"(oz tree data.zarr {closed}); echo $?")
    assert ran.out.splitlines()[-1] == "0"
    assert "Traceback" not in ran.err
    ran = shell(f"(oz tree nothing {closed}); echo $?")
    assert ran.out.splitlines()[-1] == "2"


def test_a_full_disk_is_told_of(shell, data):
    ran = shell("oz tree data.zarr > /dev/full; echo $?")
    assert ran.out == "2\n"
    assert ran.err == "oz: error: No space left on device\n"


def test_names_that_the_output_cannot_say_are_escaped(shell, data):
    oz.create_group("data.zarr/größe")
    ran = shell("oz ls data.zarr; oz tree data.zarr", PYTHONUTF8="0", PYTHONIOENCODING="ascii")
    assert (ran.code, ran.err) == (0, "")
    assert r"gr\xf6\xdfe" in ran.out
    assert "`-- " in ran.out


def test_rm_asks_on_a_terminal(open_terminal, data):
    for answer, code in (("n\n", 1), ("\n", 1), ("y\n", 0)):
        running = open_terminal(["rm", "data.zarr/t"])
        running.wait_for("[y/N]")
        running.type(answer)
        assert running.end().code == code
        assert ("t" in oz.open("data.zarr")) is (code == 1)


def test_npy_is_not_for_a_terminal(terminal, data):
    ran = terminal("cat", "data.zarr/t", "--format", "npy")
    assert ran.code == 2
    assert "-o FILE" in ran.out
