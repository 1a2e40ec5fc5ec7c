"""Runs in a list: what each was asked, what it answers, and where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ledger.events import Decision, Event
from ledger.plain_text import one_line
from ledger.result import Result
from ledger.state.decided import final_in_force
from ledger.state.fold import fold
from ledger.state.state import State
from ledger.store.failures import LedgerError, refuse_unopened
from ledger.store.store import RunStore
from moot.view.text import WIDTH, joined


class ListedRun(Result, frozen=True):
    """A run. `answer`: the text of the first final decision in force, `decision` its id, `by_person` whether it is an
    override; null while there is none. `finals`: how many there are. `problem`: why it cannot be read, else null."""

    run: str
    path: str
    question: str
    protocol: str
    state: str
    answer: str | None
    decision: str | None
    by_person: bool
    finals: int
    round: int
    rounds: int
    replies: int
    at: str
    problem: str | None


class RunList(Result, frozen=True):
    """Runs, the last committed first; `more` are not listed."""

    runs: list[ListedRun]
    more: int


def list_of(runs: Path, paths: Iterable[Path], more: int) -> RunList:
    """The runs at `paths`, named as seen from `runs`."""
    return RunList(runs=[_listed(path, runs) for path in paths], more=more)


def _listed(path: Path, runs: Path) -> ListedRun:
    name = str(path.relative_to(runs)) if path.is_relative_to(runs) else str(path)
    texts: dict[str, str] = {}
    last: list[Event] = []
    try:
        state = fold(_seen(RunStore(path).stream(), texts, last))
        refuse_unopened(state, path)
    except LedgerError as error:
        return _unreadable(name, path, one_line(error.what))
    finals = final_in_force(state)
    answer = finals[0] if finals else None
    return ListedRun(
        run=name,
        path=str(path),
        question=state.opening.question,
        protocol=state.opening.protocol,
        state=_life(state),
        answer=None if answer is None else texts[answer],
        decision=answer,
        by_person=answer is not None and state.decisions[answer].type == "override",
        finals=len(finals),
        round=state.round,
        rounds=len(state.opening.plan),
        replies=len(state.answered),
        at=last[-1].at,
        problem=None,
    )


def _unreadable(name: str, path: Path, problem: str) -> ListedRun:
    return ListedRun(name, str(path), "", "", "unreadable", None, None, False, 0, 0, 0, 0, "", problem)


def _seen(events: Iterator[Event], texts: dict[str, str], last: list[Event]) -> Iterator[Event]:
    """The events, with the texts of decisions and the last event kept."""
    for event in events:
        if isinstance(event, Decision):
            texts[event.id or ""] = event.text
        last[:] = [event]
        yield event


def _life(state: State) -> str:
    return "imported" if state.opening.origin.type == "import" else state.life


def list_text(found: RunList) -> str:
    """What `moot list` prints: a run in two or three lines, its answer first."""
    lines: list[str] = []
    for run in found.runs:
        if run.problem is not None:
            lines += [f"{run.run}   unreadable: {_cut(run.problem, WIDTH - len(run.run) - 15)}", ""]
            continue
        where = f"round {run.round} of {run.rounds}, " if run.state not in ("finished", "imported") else ""
        lines.append(f"{run.run}   {run.state}, {where}{run.protocol}, {run.replies} replies, {run.at[:10]}")
        lines.append(f"  asked   {_cut(run.question)}")
        if run.answer is not None:
            more = f" and {run.finals - 1} more" if run.finals > 1 else ""
            who = ", by a person" if run.by_person else ""
            lines.append(f"  answer  {_cut(run.answer)}   ({run.decision}{who}{more})")
        elif run.state in ("finished", "imported"):
            lines.append("  answer  none: nothing final was decided")
        lines.append("")
    if found.more:
        lines.append(f"{found.more} older ones: moot list --all")
    if not found.runs:
        lines.append("no runs here: start one with `moot run`")
    return joined(lines)


def _cut(text: str, most: int = WIDTH - 10) -> str:
    """The beginning of a text in one line; `moot decisions` has the whole."""
    line = one_line(text)
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
