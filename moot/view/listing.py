"""Runs in a list: what each was asked, what it answers, and where it stands."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ledger.events import Decision
from ledger.plain_text import counted, one_line
from ledger.result import Result
from ledger.state.book import Book
from ledger.state.decided import final_in_force
from ledger.store.failures import LedgerError
from ledger.store.store import RunStore
from moot.view.outcome import outcome_of
from moot.view.questions import SHOWN
from moot.view.text import WIDTH, joined
from moot.view.words import round_in
from roles.outcome_status import OutcomeStatus
from roles.protocol import UNLAWFUL


class ListedRun(Result, frozen=True, kw_only=True):
    """A run. `status` and `answer` are those of its outcome; `decision` is the first final one in force, null while
    there is none, `by_person` whether it is an override and `person` who made it, null without a name, `finals` how
    many there are; `questions` wait for a person, no more than its outcome names.

    A run that cannot be read has `problem`, why, and else null; its other texts are empty.
    """

    run: str
    path: str
    question: str = ""
    protocol: str = ""
    state: str
    status: OutcomeStatus | None = None
    answer: str = ""
    decision: str | None = None
    by_person: bool = False
    person: str | None = None
    finals: int = 0
    questions: int = 0
    round: int = 0
    rounds: int = 0
    replies: int = 0
    at: str = ""
    problem: str | None = None


class RunList(Result, frozen=True):
    """Runs, the last committed first; `more` are not listed."""

    runs: list[ListedRun]
    more: int


def list_of(runs: Path, paths: Iterable[Path], more: int) -> RunList:
    """Return the runs at `paths`, named relative to `runs`."""
    return RunList(runs=[_listed(path, runs) for path in paths], more=more)


def _listed(path: Path, runs: Path) -> ListedRun:
    # Runs outside the directory keep their full path, so that the printed command finds them.
    name = str(path.relative_to(runs)) if path.is_relative_to(runs) else str(path)
    try:
        book = RunStore(path).book()
        outcome = outcome_of(name, book)
    # One damaged run must not hide the others, so it becomes a line of the list.
    except LedgerError as error:
        return ListedRun(run=name, path=str(path), state="unreadable", problem=one_line(error.what))
    except UNLAWFUL:  # lawful line by line, and no run all the same
        return ListedRun(run=name, path=str(path), state="unreadable", problem=f"see `moot check {path}`")
    state = book.state
    finals = final_in_force(state)
    return ListedRun.from_parts(
        outcome,
        state.opening,
        run=name,
        path=str(path),
        state="imported" if state.opening.origin.type == "import" else state.life,
        decision=finals[0] if finals else None,
        by_person=bool(finals) and state.decisions[finals[0]].type == "override",
        person=_person(book, finals),
        finals=len(finals),
        questions=len(outcome.needs_you),
        round=state.round,
        rounds=len(state.opening.plan),
        replies=len(state.answered),
        at=book.events[-1].at,
        problem=None,
    )


def _person(book: Book, finals: list[str]) -> str | None:
    """Return the name of the person who decided in place of the seats; None where no name was given."""
    first = book.by_id.get(finals[0]) if finals else None
    # Only an override is a person's decision; others name roles or rules.
    return first.name if isinstance(first, Decision) and first.type == "override" else None


def list_text(listing: RunList, width: int = WIDTH) -> str:
    """Return what `moot list` prints: three lines per run, its answer in the second."""
    lines: list[str] = []
    for run in listing.runs:
        if run.problem is not None:
            lines += [_headed(run.run, f"unreadable: {run.problem}", width), ""]
            continue
        where = (
            f", {round_in(run.protocol, run.round, run.rounds)}"
            if run.state not in ("finished", "imported")
            else ""
        )
        # The outcome lists at most this many questions, so reaching the limit means "or more".
        more = " or more" if run.questions == SHOWN else ""
        asks = f", {run.questions}{more} for you to answer" if run.questions else ""
        replies = counted(run.replies, "reply")
        lines += [
            _headed(run.run, run.question, width),
            f"  {_cut(run.answer, width - 2)}",
            f"  {run.state}{where}, {run.protocol}, {replies}, {run.at[:10]}{_decided(run)}{asks}",
            "",
        ]
    if listing.runs:
        lines.append(f"{listing.runs[0].run} whole: moot status {listing.runs[0].run}")
    if listing.more:
        lines.append(f"{listing.more} older ones: moot list --all")
    return joined(lines or ["no runs here: start one with `moot run`"])


def _headed(name: str, text: str, width: int) -> str:
    return f"{name}   {_cut(text, max(10, width - len(name) - 3))}"


def _decided(run: ListedRun) -> str:
    if run.decision is None:
        return ""
    more = f" and {run.finals - 1} more" if run.finals > 1 else ""
    by = f" by {run.person or 'a person'}" if run.by_person else ""
    return f", {run.decision}{more}{by}"


def _cut(text: str, most: int) -> str:
    """Return the beginning of a text in one line; `moot status` has the whole."""
    line = one_line(text)
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
