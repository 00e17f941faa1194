"""Inputs that fuzzing has found are kept, and found again."""

from pathlib import Path

from fuzz import corpus


def inputs(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def made(folder: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def test_what_is_packed_is_unpacked(tmp_path: Path) -> None:
    files = {"zstd/b": b"", "zstd/a": bytes(range(256)), "zip/c": b"PK"}
    assert corpus.pack(made(tmp_path / "in", files), tmp_path / "kept") == 3
    corpus.unpack(tmp_path / "out", tmp_path / "kept")
    assert inputs(tmp_path / "out") == files


def test_targets_that_did_not_run_keep_theirs(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    corpus.pack(made(tmp_path / "one", {"zstd/a": b"1", "zstd/b": b"2", "zip/c": b"3"}), kept)
    corpus.pack(made(tmp_path / "two", {"zstd/d": b"4"}), kept)
    corpus.unpack(tmp_path / "out", kept)
    assert inputs(tmp_path / "out") == {"zstd/d": b"4", "zip/c": b"3"}


def test_the_same_inputs_make_the_same_file(tmp_path: Path) -> None:
    files = {"a/x": b"1", "a/y": b"2"}
    corpus.pack(made(tmp_path / "one", files), tmp_path / "first")
    corpus.pack(made(tmp_path / "two", dict(reversed(files.items()))), tmp_path / "second")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_there_is_nothing_before_the_first_run(tmp_path: Path) -> None:
    corpus.unpack(tmp_path / "out", tmp_path / "kept")
    assert not inputs(tmp_path)
