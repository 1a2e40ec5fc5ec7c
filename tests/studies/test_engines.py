"""Studies on processes and on Ray: the same heads, whatever is killed on the way; and waiting that is shared."""

from __future__ import annotations

import gzip
import io
import os
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.app.runs import Run
from moot.errors import MootError
from moot.studies import playing
from moot.studies.conduct import StudyState, conduct, standing_of
from moot.studies.definition import Study, read_study
from moot.studies.playing import RETURNED, SHARED, Engine, JobEnd, LocalEngine, RayEngine
from tests.protocols.playing import played as played_run
from tests.studies.scripted import conducted, heads, replies, taped

ITEMS = ("one", "two", "three")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Five arms of recordings over one item, twice."""
    return taped(tmp_path_factory.mktemp("taped"), ITEMS[:1], "repetitions = 2")


@pytest.fixture(scope="module")
def conducted_here(study: Study) -> StudyState:
    """The study as this process plays it."""
    return conducted(study)


@pytest.fixture(scope="module")
def expected(conducted_here: StudyState) -> dict[str, bytes]:
    """The heads that this process plays to."""
    return heads(conducted_here)


@pytest.fixture(scope="module")
def ray_is_here() -> Iterator[None]:
    """One Ray for all tests of this file; skipped where it cannot be started."""
    ray = pytest.importorskip("ray")
    try:
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
    except Exception as error:  # whatever keeps Ray from starting here is a reason to skip, not a failure  # noqa: BLE001
        pytest.skip(f"Ray cannot be started here: {error}")
    yield
    ray.shutdown()


def copied(study: Study, place: Path) -> Study:
    """The same study, not begun, somewhere else."""
    place.mkdir(parents=True)
    (place / "study.toml").write_bytes((study.folder / "study.toml").read_bytes())
    return read_study(str(place))


def told(_: object, end: JobEnd) -> None:
    """Nothing may fail."""
    assert end.state == "finished", end


def played(study: Study, engine: Engine, store: str = SHARED) -> StudyState:
    """The study on an engine."""
    with engine:
        return conduct(study, engine, told, store=store)


def test_processes_play_to_the_same_heads(study: Study, expected: dict[str, bytes], tmp_path: Path) -> None:
    assert heads(played(copied(study, tmp_path / "s"), LocalEngine(2))) == expected


@pytest.mark.slow
def test_runs_that_come_back_as_archives_are_the_same(
    study: Study, expected: dict[str, bytes], tmp_path: Path
) -> None:
    found = played(copied(study, tmp_path / "s"), LocalEngine(2), RETURNED)
    assert heads(found) == expected


@pytest.mark.slow
def test_runs_that_are_put_into_a_store_are_the_same(
    study: Study, expected: dict[str, bytes], tmp_path: Path
) -> None:
    (tmp_path / "store").mkdir()
    found = played(copied(study, tmp_path / "s"), LocalEngine(2), f"file://{tmp_path}/store")
    assert heads(found) == expected
    assert len(list((tmp_path / "store").glob("*.tar.gz"))) == len(expected)


@pytest.mark.slow
@pytest.mark.usefixtures("ray_is_here")
def test_ray_plays_to_the_same_heads(study: Study, expected: dict[str, bytes], tmp_path: Path) -> None:
    assert heads(played(copied(study, tmp_path / "s"), RayEngine(4))) == expected
    assert heads(played(copied(study, tmp_path / "r"), RayEngine(4), RETURNED)) == expected


@pytest.mark.slow
def test_a_process_that_is_killed_loses_nothing(
    study: Study, conducted_here: StudyState, tmp_path: Path
) -> None:
    engine, killed = LocalEngine(2), False

    def kill(_: object, end: JobEnd) -> None:
        nonlocal killed
        assert end.state == "finished"
        if not killed:
            killed = True
            victim = next(iter(engine.processes))
            os.kill(victim, signal.SIGKILL)

    with engine:
        found = conduct(copied(study, tmp_path / "s"), engine, kill)
    assert killed
    # A broken pool ends its other processes with SIGTERM: a run that one of them drives is stopped, and goes on.
    assert replies(found) == replies(conducted_here)


@pytest.mark.slow
@pytest.mark.usefixtures("ray_is_here")
def test_an_actor_that_is_killed_loses_nothing(
    study: Study, expected: dict[str, bytes], tmp_path: Path
) -> None:
    import ray

    engine, killed = RayEngine(2), False

    def kill(_: object, end: JobEnd) -> None:
        nonlocal killed
        assert end.state == "finished"
        if not killed:
            killed = True
            os.kill(ray.get(engine._actors[0].process.remote()), signal.SIGKILL)

    with engine:
        found = conduct(copied(study, tmp_path / "s"), engine, kill)
    assert killed
    assert heads(found) == expected


def begun(study: Study, *more: str) -> subprocess.Popen[bytes]:
    """The command in a process group of its own."""
    words = [sys.executable, "-m", "moot", "study", "run", str(study.folder), "--quiet", "--yes", *more]
    return subprocess.Popen(words, start_new_session=True)


def killed_once(study: Study, after: int, *more: str) -> None:
    """Begin the command, and kill it with all its processes once `after` runs came out."""
    process = begun(study, *more)
    while len(list((study.folder / "ends").glob("*.json"))) < after and process.poll() is None:
        time.sleep(0.02)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.mark.slow
def test_a_study_that_is_killed_goes_on(study: Study, expected: dict[str, bytes], tmp_path: Path) -> None:
    again = copied(study, tmp_path / "s")
    for after in (3, 11, 19):
        killed_once(again, after, "--workers", "2")
    assert begun(again, "--workers", "2").wait() == 0
    found = standing_of(again)
    assert heads(found) == expected
    assert len(found.ends) == len(found.jobs)


@pytest.mark.campaign
@pytest.mark.parametrize("engine", ["local", "ray"])
def test_a_thousand_runs_killed_three_times(tmp_path: Path, engine: str) -> None:
    """`pytest -s -m campaign tests/studies/test_engines.py -k thousand`"""
    study = taped(tmp_path, [f"item{n}" for n in range(10)], "repetitions = 20")
    began = time.monotonic()
    for after in (100, 400, 800):
        killed_once(study, after, "--engine", engine, "--workers", "2")
        subprocess.run(
            ["pkill", "-9", "-f", "raylet|gcs_server"], check=False
        )  # what a killed Ray left behind
    assert begun(study, "--engine", engine, "--workers", "2").wait() == 0
    found = standing_of(study)
    assert len(found.ends) == len(found.jobs) == 1_000
    assert {end.state for end in found.ends.values()} == {"finished"}
    print(f"\n{engine}: 1000 runs, killed three times, {time.monotonic() - began:.1f} s")
    other = conducted(copied(study, tmp_path / "here"))
    assert heads(found) == heads(other)


WAIT_SECONDS = 30.0


@pytest.mark.campaign
@pytest.mark.parametrize("workers", [8, 16, 32, 64])
def test_waiting_is_shared(tmp_path: Path, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """`pytest -s -m campaign tests/studies/test_engines.py -k waiting_is_shared`: seats that only wait, on a local Ray.

    The wall time from before Ray starts is at most 1.15 × total waiting / workers.
    """
    waves = 3
    monkeypatch.setenv("MOOT_TAPE_DELAY_SECONDS", str(WAIT_SECONDS))
    items = [f"item{n}" for n in range(workers)]
    study = taped(tmp_path, items, f"repetitions = {waves}", arms=1)
    began = time.monotonic()
    assert begun(study, "--engine", "ray", "--workers", str(workers)).wait() == 0
    wall = time.monotonic() - began
    ratio = wall / (WAIT_SECONDS * waves)
    print(
        f"\n{workers} workers, {workers * waves} runs of {WAIT_SECONDS:g} s: {wall:.1f} s, ratio {ratio:.3f}"
    )
    assert ratio <= 1.15


def _tar(*entries: tarfile.TarInfo) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for entry in entries:
            archive.addfile(entry, io.BytesIO(bytes(entry.size)))
    return content.getvalue()


def _entry(name: str, kind: bytes = tarfile.REGTYPE, size: int = 0, link: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.size, entry.linkname = kind, size, link
    return entry


@pytest.mark.parametrize(
    "archive",
    [
        b"",
        b"no archive",
        gzip.compress(b"no tar" * 1_000),
        _tar(_entry("head", size=2_000))[:-20],
        _tar(_entry("head", size=3 << 20)),
        _tar(_entry("../out")),
        _tar(_entry("head", tarfile.SYMTYPE, link="/etc/passwd")),
        _tar(_entry("head"), _entry("again", tarfile.LNKTYPE, link="head")),
        _tar(_entry("pipe", tarfile.FIFOTYPE)),
        _tar(_entry("device", tarfile.CHRTYPE)),
        _tar(_entry("x" * 4_000)),
        _tar(_entry("head"), _entry("head/under")),
    ],
    # gzip writes the time, and the names of tests must be the same in every process.
    ids=[f"archive {n}" for n in range(12)],
)
def test_an_archive_that_no_worker_packed_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, archive: bytes
) -> None:
    """A store can hold anything: it ended with a traceback, or would have filled the disk."""
    monkeypatch.setattr(playing, "ARCHIVE_BYTES_MAX", 1 << 20)
    with pytest.raises(MootError, match="cannot be unpacked") as refused:
        playing.unpacked(archive, tmp_path / "runs" / "a")
    assert refused.value.exit_code == 3
    assert list((tmp_path / "runs").iterdir()) == []


def test_an_archive_is_unpacked_as_it_was_packed(tmp_path: Path) -> None:
    run = played_run("crux")
    playing.unpacked(playing.packed(run), tmp_path / "run")
    assert {path.name for path in run.iterdir()} - {path.name for path in (tmp_path / "run").iterdir()} <= {
        "lock",
        "driver",
    }
    assert Run(tmp_path / "run").head == Run(run).head
