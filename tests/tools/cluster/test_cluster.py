"""Tools on a cluster do what they do alone, also when a worker is killed."""

import os
import signal

import numpy as np
import pytest

import omnizarr as oz
from omnizarr.cli.main import main
from omnizarr.errors import OmnizarrError, StoreError, UnsupportedError
from omnizarr.tools.cluster import checking, crew, keys, moving
from omnizarr.tools.cluster.crew import Crew
from omnizarr.tools.cluster.moving import plan_for
from omnizarr.tools.convert import journal

distributed = pytest.importorskip("distributed")

VALUES = np.arange(128 * 256 * 128, dtype="f4").reshape(128, 256, 128)
MEMORY = 3_000_000


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, memory_limit="1GB", dashboard_address=":0", silence_logs=50
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture
def source(tmp_path):
    group = oz.create_group(tmp_path / "a.zarr", attrs={"title": "test"})
    group.create_array("t", data=VALUES, chunks=(1, 256, 128), dims=("time", "y", "x"))
    group.create_array("time", data=np.arange(128), chunks=(10,), dims=("time",))
    return tmp_path / "a.zarr"


class Killer:
    """Progress that kills a worker half-way."""

    def __init__(self, client):
        self.client, self.told, self.killed = client, [], None

    def __call__(self, done, total, nbytes):
        self.told.append((done, total, nbytes))
        if self.killed is None and len(self.told) == 3:
            self.killed = next(iter(self.client.run(os.getpid).values()))
            os.kill(self.killed, signal.SIGKILL)


def options():
    return {"chunks": {"time": -1, "y": 8, "x": 8}, "memory": MEMORY}


def no_rest(folder):
    return [
        name for _, _, names in os.walk(folder) for name in names if "omnizarr" in name or name.endswith("partial")
    ] == []


def test_rechunking_survives_a_killed_worker(source, tmp_path, client):
    with Crew(client) as crew:
        old = oz.open_array(source / "t").metadata
        new = oz.create_array({}, shape=VALUES.shape, dtype="f4", chunks=(128, 8, 8)).metadata
        plan = plan_for(crew, old, new, MEMORY)
    assert len(plan.stages) == 2
    assert plan.peak <= MEMORY
    killer = Killer(client)
    done = oz.convert(source, tmp_path / "b.zarr", cluster=client, progress=killer, **options())
    assert killer.killed is not None
    assert (done.written, done.resumed) == (True, False)
    assert killer.told[-1][0] == killer.told[-1][1] == plan.total + 1  # and the coordinate
    array = oz.open_array(tmp_path / "b.zarr" / "t")
    assert array.chunks == (128, 8, 8)
    np.testing.assert_array_equal(array[...], VALUES)
    assert no_rest(tmp_path / "b.zarr")


def test_a_conversion_that_was_stopped_goes_on(source, tmp_path, client, monkeypatch):
    monkeypatch.setattr(journal, "_EVERY", 0.0)

    class StoppedError(Exception):
        pass

    def stop(done, total, _):
        if done >= total // 2:
            raise StoppedError

    with pytest.raises(StoppedError):
        oz.convert(source, tmp_path / "b.zarr", cluster=client, progress=stop, **options())
    told = []
    done = oz.convert(source, tmp_path / "b.zarr", cluster=client, progress=lambda *now: told.append(now), **options())
    assert done.resumed
    assert told[0][0] > told[0][1] // 2 - 2
    np.testing.assert_array_equal(oz.open_array(tmp_path / "b.zarr" / "t")[...], VALUES)
    assert no_rest(tmp_path / "b.zarr")


def test_a_dry_run_tells_the_plan(source, tmp_path, client):
    done = oz.convert(source, tmp_path / "b.zarr", cluster=client, dry_run=True, **options())
    notes = next(node.notes for node in done.nodes if node.path == "t")
    assert [note.partition(":")[0] for note in notes[1:]] == ["pass 1 of 2", "between them", "pass 2 of 2"]
    assert not (tmp_path / "b.zarr").exists()


def test_copies_survive_a_killed_worker_and_verify(source, tmp_path, client):
    killer = Killer(client)
    done = oz.copy(source, tmp_path / "b.zarr", cluster=client, verify=True, progress=killer)
    assert killer.killed is not None
    assert (done.verified, done.different) == (True, ())
    np.testing.assert_array_equal(oz.open_array(tmp_path / "b.zarr" / "t")[...], VALUES)
    assert no_rest(tmp_path / "b.zarr")


def test_checks_say_what_they_say_alone(source, client):
    (source / "t" / "c" / "5" / "0" / "0").write_bytes(b"nonsense")
    (source / "t" / "c" / "7" / "0" / "0").write_bytes(b"")
    alone = oz.validate(source, decode=True)
    assert len(alone.findings) == 2
    assert oz.validate(source, decode=True, cluster=client) == alone


def test_checks_list_chunks_anew(tmp_path, client):
    array = oz.create_array(tmp_path / "a", shape=400, dtype="i4", chunks=10)
    array[:200] = 1
    assert oz.validate(tmp_path / "a", cluster=client).findings == ()
    array[200:300] = 2
    assert oz.validate(tmp_path / "a", cluster=client).findings == ()
    # As many as before, but others.
    (tmp_path / "a" / "c" / "0").unlink()
    (tmp_path / "a" / "c" / "30").write_bytes(b"nonsense")
    alone = oz.validate(tmp_path / "a", decode=True)
    assert len(alone.findings) == 1
    assert oz.validate(tmp_path / "a", decode=True, cluster=client) == alone


def test_checks_need_workers_that_see_the_store(tmp_path, client, monkeypatch):
    oz.create_array(tmp_path / "a", data=np.arange(10))
    monkeypatch.setattr(crew, "_sees", lambda _store, _key: False)
    # One that another test has killed may not be back yet.
    with pytest.raises(StoreError, match=r"([12]) of \1 workers do not see"):
        oz.validate(tmp_path / "a", cluster=client)


@pytest.mark.parametrize(
    "piece",
    [
        moving._Piece(b"hush", 3),
        keys._Batch(b"hush", ("a", "b"), "copy"),
        checking._Range(b"hush", 0, 5, True, 9),
    ],
)
def test_pieces_of_work_do_not_show_what_they_carry(piece):
    assert "hush" not in repr(piece)


def test_stores_that_workers_do_not_see_are_refused(source, tmp_path, client):
    for target in ({}, tmp_path / "b.zip"):
        with pytest.raises(StoreError, match="cannot get at"):
            oz.copy(source, target, cluster=client)
    store = {}
    oz.create_array(store, data=VALUES)
    with pytest.raises(StoreError, match="cannot get at"):
        oz.convert(store, tmp_path / "c.zarr", cluster=client, chunks=7)
    with pytest.raises(UnsupportedError, match="cluster"):
        oz.copy(source, tmp_path / "b.nc", cluster=client)


def test_errors_of_workers_come_back(source, tmp_path, client):
    (source / "t" / "c" / "5" / "0" / "0").write_bytes(b"nonsense")
    with pytest.raises(OmnizarrError, match="blosc"):
        oz.convert(source, tmp_path / "b.zarr", cluster=client, **options())


def test_files_are_scanned_and_combined(tmp_path, client, cluster, capsys):
    netcdf = pytest.importorskip("netCDF4")
    names = []
    for day in range(20):
        names.append(str(tmp_path / f"day{day:02}.nc"))
        with netcdf.Dataset(names[-1], "w") as file:
            file.createDimension("time", None)
            file.createDimension("x", 300)
            file.createVariable("time", "f8", ("time",))[:] = [day]
            file.createVariable("v", "f4", ("time", "x"))[:] = np.full((1, 300), day)
    alone = oz.refs.combine(names, concat="time", workers=1)
    there = oz.refs.combine(names, concat="time", cluster=client)
    oz.refs.write(alone, tmp_path / "alone.json")
    oz.refs.write(there, tmp_path / "there.json")
    assert (tmp_path / "alone.json").read_bytes() == (tmp_path / "there.json").read_bytes()
    assert (
        main(
            [
                "refs",
                "combine",
                *names,
                "-d",
                "time",
                "-o",
                str(tmp_path / "c.parq"),
                "--cluster",
                cluster.scheduler_address,
            ]
        )
        == 0
    )
    assert oz.open(tmp_path / "c.parq")["v"][:, 0].tolist() == list(range(20))
    (tmp_path / "day03.nc").write_bytes(b"nonsense")
    with pytest.raises(oz.refs.ScanError, match="day03"):
        oz.refs.scan(names, cluster=client)
