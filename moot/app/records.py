"""A directory of decision records: numbered, one for a decision, superseded where a later one takes its place.

    docs/decisions/0007-one-jsonl-journal.md        front matter: status, date, and by `moot-` where it comes from

A record that a person changed is never written over. `checked_records` says when what one rests on has changed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Final

import orjson

from ledger.audit.verify import verify
from ledger.format.chain import Head
from ledger.plain_text import shortened
from ledger.state.decided import fallen_under, final_in_force, outcome, replacement
from ledger.store.disk import read_plain
from ledger.store.failures import LedgerError
from moot.app.documents import read_text, write_document
from moot.app.run import Run
from moot.errors import NO, MootError, usage
from moot.view.adr import adr, opened_hash
from moot.view.record_front import KEYS, followed, ids_of, joined_again, parted, value_of
from moot.view.records import RecordCheck, RecordFinding
from rounds.run.aftermath import became_of

NUMBERED: Final = re.compile(r"(\d{4})-.+\.md")
SLUG_MAX: Final = 50
DOCUMENT_BYTES_MAX: Final = 1 << 24


@dataclass(frozen=True, slots=True)
class Record:
    """A record that moot wrote: its file, the lines of its front matter by key, and what follows them."""

    file: Path
    front: Mapping[str, str]
    body: str

    @property
    def number(self) -> str:
        """Its four digits."""
        return self.file.name[:4]

    @property
    def decisions(self) -> list[str]:
        """The final decisions that it records."""
        return list(ids_of(self.front))

    @property
    def head(self) -> Head:
        """The run's last event when it was written. Raises `ValueError`."""
        seq, _, hash_ = self.front["moot-head"].partition(" ")
        return Head(int(seq), hash_)

    @property
    def is_superseded(self) -> bool:
        """Whether a later record took its place."""
        return self.said("status").startswith("superseded")

    @property
    def is_as_written(self) -> bool:
        """Whether its text is what moot wrote."""
        return self.front.get("moot-text") == _hash(self.body)

    def said(self, key: str) -> str:
        """A value as a word."""
        return value_of(self.front, key)

    def text(self) -> str:
        """The whole file."""
        return joined_again(self.front, self.body)


def put_record(run: Run, directory: Path, supersedes: int | None = None) -> Path:
    """Write the record of `run` into `directory`, under its number if it has one there, else the next; where it is.

    It supersedes a record of the same run whose decision was overturned, of the run that it started from where the
    question is the same, and the one numbered `supersedes`.
    Raises `MootError` (exit code 1) when somebody changed what would be written over.
    """
    decisions = outcome(run.state)
    if not decisions or not (run.state.finished or final_in_force(run.state)):
        raise usage("this run has no final decision", "finish it first: `moot status`", str(run.path))
    directory.mkdir(parents=True, exist_ok=True)
    known = list(records_in(directory))
    opened = opened_hash(run.book, run.head)
    ours = [one for one in known if one.front["moot-opened"] == opened and not one.is_superseded]
    same = next((one for one in ours if one.decisions == decisions), None)
    before = [one for one in ours if one is not same]
    earlier = {one.opened for one in followed(run.book)}
    answered_before = [one for one in known if one.front["moot-opened"] in earlier and not one.is_superseded]
    before += [one for one in answered_before if _asks_the_same(run, one, directory)]
    before += [one for one in known if supersedes is not None and one.number == f"{supersedes:04d}"]
    if supersedes is not None and not any(int(one.number) == supersedes for one in before):
        fix = f"records here: {', '.join(one.file.name for one in known) or 'none'}"
        raise usage(f"no record {supersedes:04d} of moot in {directory}", fix, "--supersedes")
    where = os.path.relpath(run.path.resolve(), directory.resolve())
    front, body = parted(adr(run.book, run.head, run=where))
    names = [one.file.name for one in before]
    if same is not None:
        file = same.file
        if not same.is_as_written:
            what = f"{file.name} was changed by hand; nothing was written"
            fix = "move your changes elsewhere and delete the file, or write to another directory"
            raise MootError("changed_by_hand", what, str(directory), fix, NO)
        names = list(dict.fromkeys((*filter(None, same.said("moot-supersedes").split(", ")), *names)))
    else:
        file = directory / f"{_next_number(directory):04d}-{_slug(run)}.md"
    if names:
        front["moot-supersedes"] = orjson.dumps(", ".join(names)).decode()
        body += "".join(f"\nSupersedes [{name[:4]}]({name}).\n" for name in names)
    front["moot-text"] = _hash(body)
    write_document(file, joined_again(front, body).encode())
    for one in before:
        said = orjson.dumps(f"superseded by [{file.name[:4]}]({file.name})").decode()
        write_document(one.file, replace(one, front={**one.front, "status": said}).text().encode())
    return file


def _asks_the_same(run: Run, record: Record, directory: Path) -> bool:
    """Whether a run asks again what the run of a record asked: then its answer takes the other's place."""
    try:
        asked = Run(directory / record.said("moot-run")).state.opening.question
    except LedgerError:
        return False
    return asked.split() == run.state.opening.question.split()


def records_in(directory: Path) -> Iterator[Record]:
    """Records that moot wrote there, by number. Others are nobody's here."""
    for file in sorted(directory.iterdir()):
        if not NUMBERED.fullmatch(file.name) or not file.is_file():
            continue
        front, body = parted(read_text(file))
        if front.keys() >= KEYS:
            yield Record(file, front, body)


def checked_records(directory: Path, documents: Path) -> RecordCheck:
    """What has changed of what the records rest on; `documents` is where the files are that runs were given."""
    if not directory.is_dir():
        raise usage(f"no directory {directory}", "name where the records are", "--adr-check")
    known = list(records_in(directory))
    standing = [one for one in known if not one.is_superseded]
    findings = [
        RecordFinding(file=one.file.name, what=what, mend=mend)
        for one in standing
        for what, mend in _changes(one, directory, documents)
    ]
    return RecordCheck(
        directory=str(directory),
        ok=not findings,
        records=len(standing),
        superseded=len(known) - len(standing),
        findings=findings,
    )


def _changes(record: Record, directory: Path, documents: Path) -> Iterator[tuple[str, str]]:
    """What changed, and what to do."""
    path = Path(os.path.normpath(directory / record.said("moot-run")))
    try:
        head = record.head
    except ValueError:
        yield "its front matter was damaged: moot-head", "write it again: moot report RUN --adr --out DIR"
        return
    try:
        run = Run(path)
        book = run.book
    except LedgerError as error:
        yield f"its run cannot be read: {error}", f"put the run back at {path}"
        return
    if opened_hash(book, run.head) != record.front["moot-opened"]:
        yield f"another run stands at {path}", "put the run back, or write a record of the new one"
        return
    if not verify(path, [head]).ok:
        yield "its run is not what it was: the recorded head is not in its chain", f"moot verify {path}"
        return
    again = f"moot report {path} --adr --out {directory}"
    for name in record.decisions:
        if name not in book.state.decisions:
            yield f"{name} is not in its run", f"moot decisions {path}"
            continue
        if (now := replacement(book.state, name)) != name:
            yield f"{name} was overturned by {now}", again
        for fallen in fallen_under(book.state, name):
            if fallen not in fallen_under(book.state, name, head.seq):
                yield f"{name} rests on {fallen.id}, which is {fallen.status} now", f"moot why {path} {name}"
        said = became_of(book).get(name)
        if said is not None and said.fate in ("failed", "mixed") and said.seq > head.seq:
            yield (
                f"{name} was said to have {_fate(said.fate)}: {shortened(said.text, 120)}",
                f"moot outcome {path}",
            )
    for given in book.state.opening.context:
        file = documents / given.name
        if file.is_file() and _hash_of(file) != given.sha256:
            yield f"{given.name} is not what the run was given", "deliberate again on what it says now"


def _fate(fate: str) -> str:
    return "failed" if fate == "failed" else "held in part"


def _hash_of(file: Path) -> str:
    return sha256(read_plain(file, DOCUMENT_BYTES_MAX)).hexdigest()


def _next_number(directory: Path) -> int:
    """After the highest there, whoever wrote it."""
    numbers = (NUMBERED.fullmatch(file.name) for file in directory.iterdir())
    return 1 + max((int(found[1]) for found in numbers if found), default=0)


def _slug(run: Run) -> str:
    words = re.findall(r"[a-z0-9]+", run.outcome.answer.lower())
    slug = ""
    for word in words:
        if len(slug) + len(word) >= SLUG_MAX:
            break
        slug += f"-{word}" if slug else word
    return slug or "decision"


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()
