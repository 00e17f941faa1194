"""What fuzz targets have done adds up over runs."""

from pathlib import Path

from fuzz import hours
from fuzz.targets import TARGETS


def test_runs_add_up(tmp_path: Path) -> None:
    file = tmp_path / "hours.toml"
    hours.add("python", "documents of v3", 1.25, 100, file)
    hours.add("libfuzzer", "zstd", 3000.0, 7, file)
    hours.add("libfuzzer", "zstd", 601.5, 8, file)
    assert hours.read(file) == {
        ("python", "documents of v3"): hours.Sum(1.2, 100),
        ("libfuzzer", "zstd"): hours.Sum(3601.5, 15),
    }
    assert hours.table(file).endswith("115 inputs; 1 of 2 targets have run an hour")


def test_who_has_done_least_comes_first(tmp_path: Path) -> None:
    file = tmp_path / "hours.toml"
    hours.add("python", "b", 1, 1, file)
    hours.add("python", "a", 2, 1, file)
    assert hours.in_order("python", ["a", "b", "c"], file) == ["c", "b", "a"]


def test_only_targets_of_now_are_kept() -> None:
    names = {target.name for target in TARGETS}
    assert {name for engine, name in hours.read() if engine == "python"} <= names
