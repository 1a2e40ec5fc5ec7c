"""What the store does, as acts that can be failed or cut at every call: each with the state that it starts from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from ledger.audit.verify import ProblemModel, VerifyReport, problems_of, verify
from ledger.events import STREAMS, Event, stream_of
from ledger.format.canonical import seal
from ledger.redaction.removal import redact
from ledger.store.blobs import hash_of
from ledger.store.lock import DriverLease
from ledger.store.store import RunStore, create_run
from tests.ledger import samples

Say = Callable[[str], None]
REPLY: Final = b"a reply " * 200


class Act(NamedTuple):
    """`prepare` makes the state, `do` acts on it and says every acknowledged commit's last event."""

    name: str
    prepare: Callable[[Path], object]
    do: Callable[[Path, Say], object]


def new_run(path: Path) -> RunStore:
    """A run of nine events."""
    run = create_run(path, samples.opening(), [samples.statement()], blobs=samples.BLOBS, at=samples.AT)
    with run.writer() as writer:
        writer.commit(samples.mixed(7, 2), at=samples.AT)
    return run


def with_whole_tail(path: Path) -> None:
    """A run behind whose head a whole commit stands, in all three streams."""
    _append_tail(new_run(path), cut=0)


def with_torn_tail(path: Path) -> None:
    """A run behind whose head most of a commit stands."""
    _append_tail(new_run(path), cut=100)


def _append_tail(run: RunStore, cut: int) -> None:
    head = run.head()
    sealed = seal(samples.mixed(4, 50), prev=head.hash, seq=head.seq + 1, at=samples.AT)
    lines = list(zip(sealed.events, sealed.lines, strict=True))
    for name in STREAMS:
        content = b"".join(line + b"\n" for event, line in lines if stream_of(event) == name)
        with (run.path / f"{name}.jsonl").open("ab") as file:
            file.write(content[: len(content) - cut] if name == "decisions" else content)


def with_older_files(path: Path) -> None:
    """A directory that is there, with a file of somebody and a stream that never held a commit."""
    path.mkdir()
    (path / "notes.txt").write_bytes(b"mine")
    (path / "claims.jsonl").write_bytes(b'{"prev":"torn')


def unexpected(report: VerifyReport) -> list[ProblemModel]:
    """Return what `verify` says of a run, but for the file of somebody."""
    return [problem for problem in report.problems if not problem.what.startswith("notes.txt ")]


def commit(path: Path, say: Say) -> None:
    """Two commits: events in all three streams with two blobs, and one event without."""
    with RunStore(path).writer() as writer:
        replies = (REPLY, b"another", b"\xff" * 9)
        blobs = {hash_of(one): one for one in replies}
        drafts = [*samples.naming(replies), *samples.mixed(5, 20)]
        _say(say, writer.commit(drafts, at=samples.AT, blobs=blobs))
        _say(say, writer.commit([samples.claim(900)], at=samples.AT))


def create(path: Path, say: Say) -> None:
    """A new run."""
    run = create_run(
        path,
        samples.opening(),
        [samples.statement()],
        blobs=samples.BLOBS,
        at=samples.AT,
        files={"deliberation.toml": b"x = 1\n"},
    )
    _say(say, run.events())


def read(path: Path, say: Say) -> None:
    """Reading in every way that there is."""
    run = RunStore(path)
    count = len(run.events()) + len(list(run.stream())) + len(list(run.lines())) + run.state().seq
    problems_of(run)
    assert verify(path).events <= count
    say("")


def remove(path: Path, say: Say) -> None:
    """A blob removed on the record."""
    events, *_ = redact(RunStore(path), [hash_of(samples.BLOCK)], "a name stood there", at=samples.AT)
    _say(say, events)


def drive(path: Path, say: Say) -> None:
    """A driver's lease, taken, renewed and given back."""
    with DriverLease(path) as lease:
        lease.beat()
    say("")


def _say(say: Say, events: tuple[Event, ...]) -> None:
    say(f"{events[-1].seq} {events[-1].id}")


ACTS: Final[tuple[Act, ...]] = (
    Act("commit", new_run, commit),
    Act("commit behind a whole tail", with_whole_tail, commit),
    Act("commit behind a torn tail", with_torn_tail, commit),
    Act("create", lambda path: path.parent.mkdir(), create),
    Act("create with the directories above it", lambda _: None, create),
    Act("create in a directory that is there", with_older_files, create),
    Act("read", with_torn_tail, read),
    Act("drive", new_run, drive),
    Act("redact", new_run, remove),
)
