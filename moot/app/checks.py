"""Series of an experiment that were run after its ledger was finished: `checks/E-2-1.1.json`, `checks/E-2-1.2.json` …

A series is a hash chain that goes on where the ledger ended: its first line names the hash of the ledger's last line,
or that of the series before it. The verdict is not kept, it is computed from the runs and from what they wrote.

{"lines": ["{"prev":…", …], "hash": "<sha256 of the last line>", "wrote": {"<sha256>": "text"}, "wrote_bytes": {}}
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from ledger.events import ExperimentPlanned
from ledger.events.experiments import ExperimentRun
from ledger.events.ids import MENTION
from ledger.format.canonical import NotCanonical, decode, encode, line_hash
from ledger.format.chain import Head, seal
from ledger.plain_json import decoded
from ledger.state.book import Book
from ledger.state.experiments import TIMES_MAX, judge
from ledger.state.series import Slot, plan_of, slots
from ledger.store.disk import Disk, read_plain, refuse_link, writing
from moot.environment import now
from moot.view.experiments import CheckShown, where_text

CHECKS: Final = "checks"
FILE_BYTES_MAX: Final = 1 << 26
RUNS_MAX: Final = TIMES_MAX + 2  # the controls
_NAME: Final = re.compile(rf"{MENTION}\.([1-9][0-9]{{0,5}})\.json")


class CheckFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Content of a file under `checks/`. `wrote_bytes`: output that is not UTF-8, a character per byte."""

    lines: tuple[str, ...]
    hash: str
    wrote: dict[str, str]
    wrote_bytes: dict[str, str]

    def content(self) -> dict[str, bytes]:
        """Return what the programs wrote, by hash. Raises `UnicodeEncodeError`."""
        texts = {name: text.encode() for name, text in self.wrote.items()}
        return texts | {name: text.encode("latin-1") for name, text in self.wrote_bytes.items()}


class _BadCheck(Exception):
    """A file under `checks/` that no series wrote, or that was changed; the message says why."""


class _Series(NamedTuple):
    """A series with an intact chain and the outputs that its lines name."""

    runs: tuple[ExperimentRun, ...]
    wrote: Mapping[str, bytes]
    head: Head


def keep_series(
    path: Path, book: Book, experiment: str, runs: tuple[ExperimentRun, ...], wrote: Mapping[str, bytes]
) -> None:
    """Write a series beside a ledger, durably. Raises `WriteFailed`."""
    before = _files(path, experiment)
    number = max(before, default=0)
    start = _claimed_head(before[number]) if before else None
    # An unreadable predecessor must not block new work: the chain restarts at the ledger, and `checks_of` reports the
    # damaged file.
    start = start or Head(book.events[-1].seq, line_hash(encode(book.events[-1])))
    sealed = seal(runs, prev=start.hash, seq=start.seq + 1, at=now())
    texts: dict[str, str] = {}
    others: dict[str, str] = {}
    for name, content in wrote.items():
        try:
            texts[name] = content.decode()
        except UnicodeDecodeError:
            # Latin-1 maps each byte to one character, so any output survives JSON and comes back byte for byte.
            others[name] = content.decode("latin-1")
    kept = CheckFile(tuple(line.decode() for line in sealed.lines), sealed.head.hash, texts, others)
    directory, disk = path / CHECKS, Disk()
    with writing(directory):
        directory.mkdir(exist_ok=True)
        refuse_link(directory)
        content = msgspec.json.format(msgspec.json.encode(kept), indent=2) + b"\n"
        disk.replace(directory / f"{experiment}.{number + 1}.json", [content])
        # The file's name is durable only once its directory is synced, and `checks/` itself only once the run is.
        disk.settle(directory)
        disk.settle(path)


def checks_of(path: Path, book: Book, experiment: str) -> list[CheckShown]:
    """Return the series that were run beside a run, in order, with verdicts computed now.

    A damaged file stays in the list and carries its problem.
    """
    plan, files = plan_of(book, experiment), _files(path, experiment)
    # A misnamed file is listed, not skipped: renaming a series must not make an unwelcome verdict disappear.
    checks = [_bad(file, "its name is not one that moot gives") for file in _misnamed(path, experiment)]
    before: _Series | None = None
    for number, file in sorted(files.items()):
        try:
            series = _read(file, plan)
        except _BadCheck as error:
            checks.append(_bad(file, str(error)))
            before = None
            continue
        problem = (
            _broken_link(series, before, book) if number == 1 or before else _NO_BEFORE.format(number - 1)
        )
        checks.append(_check(file, series, plan, book, problem))
        before = series
    return checks


_NO_BEFORE: Final = "series {} before it is missing or damaged"


def _check(
    file: Path, series: _Series, plan: ExperimentPlanned, book: Book, problem: str | None
) -> CheckShown:
    repetitions = sum(run.control is None for run in series.runs)
    # A series may have been run with --times; one that a control ended has no repetitions.
    asked = msgspec.structs.replace(plan, k=repetitions or plan.k)
    verdict = judge(asked, series.runs, series.wrote.__getitem__)[1]
    return CheckShown(
        file=f"{CHECKS}/{file.name}",
        at=series.runs[-1].at,
        verdict=verdict,
        recorded=book.state.experiments[plan.id].verdict,
        repetitions=repetitions,
        where=where_text(series.runs[0]),
        problem=problem,
    )


def _bad(file: Path, problem: str) -> CheckShown:
    return CheckShown(
        file=f"{CHECKS}/{file.name}",
        at="",
        verdict=None,
        recorded=None,
        repetitions=0,
        where="",
        problem=problem,
    )


def _files(path: Path, experiment: str) -> dict[int, Path]:
    """Return number → file for every series of an experiment."""
    named = ((_NAME.fullmatch(file.name), file) for file in (path / CHECKS).glob(f"{experiment}.*.json"))
    return {int(match[1]): file for match, file in named if match}


def _misnamed(path: Path, experiment: str) -> Iterator[Path]:
    for file in sorted((path / CHECKS).glob(f"{experiment}.*")):
        if _NAME.fullmatch(file.name) is None:
            yield file


def _claimed_head(file: Path) -> Head | None:
    """Return where a file's chain claims to end; None where it cannot be read."""
    try:
        kept = decoded(read_plain(file, FILE_BYTES_MAX), CheckFile)
        return Head(decode(kept.lines[-1].encode()).seq, kept.hash)
    except (OSError, ValueError, RecursionError, NotCanonical, IndexError):
        return None


def _read(file: Path, plan: ExperimentPlanned) -> _Series:
    """Read a series and check its names, order, hashes and outputs. Raises `_BadCheck`."""
    try:
        kept = decoded(read_plain(file, FILE_BYTES_MAX), CheckFile)
        # One line above the limit is enough to see that there are too many, without decoding a hostile file whole.
        lines = [line.encode() for line in kept.lines[: RUNS_MAX + 1]]
        events = [decode(line) for line in lines]
        wrote = kept.content()
    except OSError as error:
        raise _BadCheck(error.strerror or str(error)) from None
    except (ValueError, NotCanonical) as error:
        raise _BadCheck(f"it is not what moot writes there: {error}") from None
    except RecursionError:
        raise _BadCheck("it is nested too deeply") from None
    runs = tuple(event for event in events if isinstance(event, ExperimentRun))
    if not runs or len(runs) != len(kept.lines) or len(runs) > RUNS_MAX:
        raise _BadCheck("it does not hold the runs of a series")
    # The hashes alone would also hold for a series copied over from another experiment.
    if {run.of for run in runs} != {plan.id}:
        raise _BadCheck(f"it is a series of {runs[0].of}: it was moved")
    hashes = [line_hash(line) for line in lines]
    # Dropping, adding or editing a run in the middle breaks the chain here.
    if [run.prev for run in runs[1:]] != hashes[:-1] or kept.hash != hashes[-1]:
        raise _BadCheck("a run does not have the hash that the next one names: it was changed")
    # An intact chain may still omit failed repetitions, so the runs must fill the slots from the first one on.
    if [Slot(run.control, run.n) for run in runs] != list(islice(slots(TIMES_MAX), len(runs))):
        raise _BadCheck("the runs are not those of a whole series, in order")
    for name, content in wrote.items():
        if sha256(content).hexdigest() != name:
            raise _BadCheck("what a program wrote does not have the hash that its run names: it was changed")
    for output in (output for run in runs for output in (run.stdout, run.stderr)):
        whole = wrote.get(output.kept)
        # A long output is kept in part (`kept` names the part, `sha256` the whole), so fewer bytes are in order here.
        if whole is None or len(whole) > output.bytes:
            raise _BadCheck("what a program wrote is missing")
        if len(whole) == output.bytes and output.kept != output.sha256:
            raise _BadCheck("an output and its hash contradict each other")
    return _Series(runs, wrote, Head(runs[-1].seq, hashes[-1]))


def _broken_link(series: _Series, before: _Series | None, book: Book) -> str | None:
    """Return why the first line of a series does not follow the ledger or the series before it; None if it does."""
    first = series.runs[0]
    if before is not None:
        # Number and hash both: a series that was removed from the middle leaves a gap.
        goes_on = (first.seq - 1, first.prev) == (before.head.seq, before.head.hash)
        return None if goes_on else "it does not go on from the series before it"
    # The ledger may have grown since (a finished run takes notes), so the link is looked up where it points.
    if first.seq <= len(book.events) and first.prev == line_hash(encode(book.events[first.seq - 1])):
        return None
    return "it was run beside another ledger: it was moved, or the ledger was rewritten"
