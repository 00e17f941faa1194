"""A short run of each torture: writers are killed, and meet; calls of the system fail; the power goes."""

import os
import random

import pytest

from torture import kill, peer, writers
from torture.calls import can_follow
from torture.each_call import Blow, sweep
from torture.every import NAMES, all_named, fresh, look
from torture.power import replay
from torture.scenario import Violation
from torture.writers import at_once, one_shard, place_of, unaligned

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork"),
    # The child of a process with threads takes one step and is gone.
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),
]
followed = pytest.mark.skipif(not can_follow(), reason="needs Linux on x86-64 and a C compiler")


@pytest.fixture(scope="module")
def peer_process():
    yield
    peer.end()


@pytest.mark.parametrize("name", NAMES)
def test_killed_writers_leave_what_is_old_or_new(name, tmp_path, peer_process):
    runner = kill.Runner(all_named(name)[0], tmp_path / "work", random.Random(name), peer_share=0.2)
    for _ in range(6):
        runner.cycle()


@followed
@pytest.mark.parametrize("name", NAMES)
def test_a_writer_stops_at_each_call(name, tmp_path):
    struck = list(sweep(all_named(name)[0], tmp_path, ["kill"]))
    assert [at for _, at, what in struck if what] != []


@followed
@pytest.mark.parametrize("name", NAMES)
def test_each_call_fails(name, tmp_path):
    errors = random.Random(name).sample(["ENOSPC", "EIO", "EDQUOT", "EMFILE", "EACCES", "EROFS"], 1)
    assert list(sweep(all_named(name)[0], tmp_path, [*errors, "short"], every=3))


@followed
@pytest.mark.parametrize("name", ["erase", "attributes"])
def test_each_call_of_a_durable_writer_fails(name, tmp_path):
    assert list(sweep(all_named(name, durable=True)[0], tmp_path, ["ENOSPC"]))


@followed
@pytest.mark.parametrize("name", [one.name for one in all_named(None) if one.can_be_durable])
def test_power_goes_after_each_call(name, tmp_path):
    durable = all_named(name, durable=True)[0]
    assert list(replay(durable, tmp_path, random.Random(name), steps=min(2, durable.kinds), chances=1, most=2))


@followed
@pytest.mark.parametrize("name", ["overwrite", "write new chunks"])
def test_what_is_not_durable_is_found_to_be_lost(name, tmp_path):
    with pytest.raises(Violation):
        list(replay(all_named(name)[0], tmp_path, random.Random(1), steps=1))


@pytest.mark.parametrize("name", ["overwrite", "resize", "zip"])
def test_the_looks_see_what_is_wrong(name, tmp_path):
    one = all_named(name)[0]
    fresh(one, tmp_path / "work")
    look(one, tmp_path / "work", 0, exact=True)
    with pytest.raises(Violation):
        look(one, tmp_path / "work", 4, exact=True)


def test_a_violation_tells_how_to_see_it_again(tmp_path, capsys, monkeypatch):
    def torn(self):
        raise Violation("a chunk is torn")

    monkeypatch.setattr(kill.Runner, "cycle", torn)
    assert kill.main(["--cycles", "3", "--seed", "7", "--only", "shard", "--folder", str(tmp_path)]) == 1
    printed = capsys.readouterr().out
    assert "python -m torture.kill --seed 7 --cycles 3 --only 'shard'" in printed
    assert "a chunk is torn" in printed


def test_blows_have_errors_of_the_system():
    assert Blow("ENOSPC").error > 0
    assert Blow("kill").error == Blow("short").error == 0


@pytest.mark.parametrize("kind", writers.PLACES)
def test_writers_that_meet_lose_nothing(kind, tmp_path):
    with place_of(kind, str(tmp_path)) as place:
        assert one_shard(place, 8, 12) == 96
        assert unaligned(place, 24, 2) == 48


def test_what_writers_lose_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(writers, "at_once", lambda count, work: at_once(count - 1, work))
    with place_of("file", str(tmp_path)) as place:
        with pytest.raises(Violation, match="the sums are"):
            one_shard(place, 3, 2)
        with pytest.raises(Violation, match="lost in round 0 of 7"):
            unaligned(place, 8, 1)


def test_the_error_of_a_writer_is_told(tmp_path):
    def fail(number):
        raise ValueError("no")

    with pytest.raises(Violation, match="writer 0: ValueError: no"):
        at_once(1, fail)
