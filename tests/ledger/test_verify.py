"""Verify: an intact run is intact, and whatever was changed is reported.

Of `ledger/audit/problems.py`.
"""

from __future__ import annotations

import random
from itertools import chain
from pathlib import Path

import msgspec
import pytest

from ledger.audit.verify import VerifyReport, verify
from ledger.events import STREAMS
from ledger.format.canonical import Head, encode, line_hash
from ledger.store.blobs import blob_line, hash_of, tombstone
from ledger.store.failures import Damaged, NotARun
from ledger.store.store import RunStore
from ledger.store.streams import head_bytes
from tests.blob_lines import change, lose, write_lines
from tests.ledger import samples, tampering


def acknowledged(run: RunStore) -> int:
    return (run.path / "blobs.jsonl").stat().st_size


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> RunStore:
    return tampering.build(tmp_path_factory.mktemp("verify") / "run")


@pytest.fixture
def run(tmp_path: Path) -> RunStore:
    return tampering.build(tmp_path / "run", events=30)


def changed(run: RunStore, files: dict[str, bytes]) -> VerifyReport:
    """The report while some files have other bytes."""
    before = {name: (run.path / name).read_bytes() for name in files}
    try:
        for name, content in files.items():
            (run.path / name).write_bytes(content)
        return verify(run.path)
    finally:
        for name, content in before.items():
            (run.path / name).write_bytes(content)


def test_an_intact_run(intact: RunStore) -> None:
    report = verify(intact.path)
    head = intact.head()
    assert report.model_dump() == {
        "run": str(intact.path),
        "ok": True,
        "damaged": False,
        "events": 300,
        "head": {"seq": 299, "hash": head.hash},
        "problems": [],
        "quarantined": [],
        "checkpoints": [],
    }
    assert report.exit_code == 0


def test_what_is_no_run_is_no_damage(tmp_path: Path) -> None:
    with pytest.raises(NotARun):
        verify(tmp_path)


@pytest.mark.parametrize("name", tampering.FILES)
def test_a_slice_of_all_tampering_is_reported(intact: RunStore, name: str) -> None:
    content = (intact.path / name).read_bytes()
    chance = random.Random(name)
    size = len(content)
    flips = tampering.byte_flips(content, chance.sample(range(size), min(size, 40)))
    cuts = tampering.truncations(content, [0, size // 2, *range(max(1, size - 60), size, 7), size - 1])
    changes = list(tampering.line_changes(content))
    for what, other in chain(flips, cuts, chance.sample(changes, min(len(changes), 40))):
        report = changed(intact, {name: other})
        assert report.damaged, what
        assert report.problems, what
        assert report.exit_code == 3
    assert verify(intact.path).ok


def test_a_slice_of_all_moved_lines_is_reported(intact: RunStore) -> None:
    contents = {f"{stream}.jsonl": (intact.path / f"{stream}.jsonl").read_bytes() for stream in STREAMS}
    for what, files in random.Random(4).sample(list(tampering.moved_lines(contents)), 60):
        assert changed(intact, files).damaged, what


@pytest.mark.parametrize("name", [f"{stream}.jsonl" for stream in STREAMS])
def test_a_missing_stream_is_damage(run: RunStore, name: str) -> None:
    (run.path / name).unlink()
    report = verify(run.path)
    assert report.damaged
    assert any(problem.stream and problem.stream + ".jsonl" == name for problem in report.problems)


def test_a_missing_head_is_damage(run: RunStore) -> None:
    (run.path / "head").unlink()
    report = verify(run.path)
    assert report.damaged
    assert report.head is None


def test_damage_is_named_with_event_stream_and_line(run: RunStore) -> None:
    path = run.path / "claims.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    seq = run.events()[[event.kind for event in run.events()].index("claim")].seq
    number = next(n for n, line in enumerate(lines) if f'"seq":{seq},'.encode() in line)
    lines[number] = lines[number].replace(b"found", b"fOund")
    report = changed(run, {"claims.jsonl": b"".join(lines)})
    assert [problem.seq for problem in report.problems] == [seq + 1]
    assert f"event {seq}" in report.problems[0].what
    two_deleted = b"".join(lines[:2] + lines[3:5] + lines[6:])
    report = changed(run, {"claims.jsonl": two_deleted})
    assert len([problem for problem in report.problems if "missing" in problem.what]) == 2


def test_a_reader_names_stream_and_line_where_the_chain_breaks(run: RunStore) -> None:
    path = run.path / "verifications.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:4], lines[4].replace(b'"prev":"', b'"prev":"0', 1), *lines[5:]]))
    with pytest.raises(Damaged) as caught:
        RunStore(run.path).book()
    (problem,) = caught.value.problems
    assert (problem.stream, problem.line) == ("verifications", 5)
    assert "verifications.jsonl:5" in caught.value.what
    assert caught.value.where == str(run.path)


def test_every_blob_referred_to_is_needed_with_its_bytes(run: RunStore) -> None:
    whole = [line for _, line in run.blobs.lines()]
    for name, content in samples.BLOBS.items():
        lose(run.path, name)
        report = verify(run.path)
        assert report.damaged, content
        assert any("missing" in problem.what for problem in report.problems)
        write_lines(run.path, whole)
        change(run.path, name, lambda content: content + b" ")
        report = verify(run.path)
        assert report.damaged, content
        assert any("changed" in problem.what for problem in report.problems)
        write_lines(run.path, whole)
    assert verify(run.path).ok


def test_a_blob_that_no_event_names_is_said_and_no_damage(run: RunStore) -> None:
    lines = [line for _, line in run.blobs.lines()]
    write_lines(run.path, [*lines, blob_line(b"anything")])
    report = verify(run.path)
    assert report.ok
    assert [problem.what for problem in report.problems] == [
        f"blobs.jsonl:{len(lines) + 1}: no event names blob {hash_of(b'anything')}"
    ]


def test_every_change_of_the_lines_of_blobs_is_damage(run: RunStore) -> None:
    lines = [line for _, line in run.blobs.lines()]
    whole = b"".join(lines)
    for number, line in enumerate(lines):
        others = lines[:number] + lines[number + 1 :]
        changes = {
            "doubled": [*lines[: number + 1], *lines[number:]],
            "cut": [*lines[:number], line[:-5], *lines[number + 1 :]],
            "blanked": [*lines[:number], tombstone(line), *lines[number + 1 :]],
            "spaced": [*lines[:number], line.replace(b'","', b'", "', 1), *lines[number + 1 :]],
            "not canonical": [*lines[:number], line.replace(b"e", b"\\u0065"), *lines[number + 1 :]],
        }
        if number:
            changes["moved"] = [line, *others]
        for what, changed_lines in changes.items():
            write_lines(run.path, changed_lines)
            assert verify(run.path).damaged, f"line {number} {what}"
    for size in range(0, len(whole), 97):
        write_lines(run.path, lines)
        (run.path / "blobs.jsonl").write_bytes(whole[:size])
        assert verify(run.path).damaged, f"cut at {size}"
    (run.path / "blobs.jsonl").unlink()
    assert verify(run.path).damaged


def test_a_blob_beyond_the_acknowledged_length_is_no_part_of_the_run(run: RunStore) -> None:
    with run.path.joinpath("blobs.jsonl").open("ab") as file:
        file.write(blob_line(b"smuggled"))
    report = verify(run.path)
    assert report.ok
    assert ["beyond head" in problem.what for problem in report.problems] == [True]
    assert run.blobs.read(hash_of(b"smuggled")) is None
    with run.path.joinpath("blobs.jsonl").open("ab") as file:
        file.write(blob_line(samples.REPLY))
    assert verify(run.path).damaged, "an acknowledged blob stands again beyond the head"
    with run.writer() as writer:
        (name,) = writer.recovered.quarantined
    assert name.startswith("blobs.")
    assert (verify(run.path).ok, verify(run.path).problems) == (True, [])


def test_an_entry_that_is_no_part_of_a_run_is_named(run: RunStore) -> None:
    (run.path / "votes.jsonl").write_bytes(b"{}\n")
    (run.path / "blobs").mkdir()
    report = verify(run.path)
    assert report.ok
    assert [problem.what for problem in report.problems] == [
        "blobs is no part of the run",
        "votes.jsonl is no part of the run",
    ]


def test_what_is_beyond_the_head_is_noted_and_no_damage(run: RunStore) -> None:
    with (run.path / "claims.jsonl").open("ab") as file:
        file.write(b'{"prev":"')
    report = verify(run.path)
    assert report.ok
    assert [(problem.stream, problem.seq) for problem in report.problems] == [("claims", None)]
    with run.writer() as writer:
        (name,) = writer.recovered.quarantined
    report = verify(run.path)
    assert (report.ok, report.problems, report.quarantined) == (True, [], [name])


def test_a_line_of_another_ledger_beyond_the_head_is_damage(run: RunStore) -> None:
    stranger = msgspec.structs.replace(samples.claim(1), prev="a" * 64, seq=30, at=samples.AT)
    with (run.path / "claims.jsonl").open("ab") as file:
        file.write(encode(stranger) + b"\n")
    assert verify(run.path).damaged


def test_an_event_in_the_wrong_stream_is_damage_though_the_chain_holds(run: RunStore) -> None:
    head = run.head()
    event = msgspec.structs.replace(samples.claim(77), prev=head.hash, seq=30, at=samples.AT)
    line = encode(event)
    with (run.path / "decisions.jsonl").open("ab") as file:
        file.write(line + b"\n")
    (run.path / "head").write_bytes(head_bytes(Head(30, line_hash(line)), acknowledged(run)))
    report = verify(run.path)
    assert report.damaged
    assert "belongs to claims" in report.problems[0].what
    with pytest.raises(Damaged) as caught:
        RunStore(run.path).events()
    (problem,) = caught.value.problems
    lines = (run.path / "decisions.jsonl").read_bytes().count(b"\n")
    assert (problem.stream, problem.line) == ("decisions", lines)


def test_a_head_inside_a_commit_is_damage(run: RunStore) -> None:
    first = next(event for event in run.events()[2:] if event.rest)
    following = run.events()[first.seq + 1]
    report = changed(run, {"head": head_bytes(Head(first.seq, following.prev), acknowledged(run))})
    assert report.damaged


def test_checkpoints_must_be_prefixes(run: RunStore) -> None:
    events = run.events()
    early = Head(9, events[10].prev)
    good = verify(run.path, [early, run.head()])
    assert (good.ok, good.exit_code, [mark.holds for mark in good.checkpoints]) == (True, 0, [True, True])
    bad = verify(run.path, [early, Head(9, "b" * 64), Head(99, "c" * 64)])
    assert (bad.ok, bad.damaged, bad.exit_code) == (False, False, 1)
    assert [mark.holds for mark in bad.checkpoints] == [True, False, False]
