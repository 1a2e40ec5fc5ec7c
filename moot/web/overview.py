"""What every page of a run shows first, and the first page: why it stopped, its decisions, what they rest on."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from ledger.events import Decision, Ruling
from ledger.state.decided import final_in_force, outcome
from ledger.store.store import read_driver
from moot.run_view import RunView
from moot.view.claims import DecisionTold, tell_decision
from moot.view.events import words_of
from moot.view.experiments import experiments_of
from moot.view.grounds import sources_of
from moot.view.judgements import scores_of
from moot.view.labels import Label, calls_of, labels_told
from moot.view.seats import answered_by, costs_of, one_family_told, seats_told
from moot.view.stop_checks import why_it_stopped
from moot.web.rounds import round_lines, round_shown

DECISIONS_SHOWN: Final = 8
SHORT_ROUNDS: Final = 3
SHORT_EVENTS: Final = 120


def heading(view: RunView) -> dict[str, Any]:
    """Return what every page of a run and its report show."""
    state = view.book.state
    return {
        "view": view,
        "book": view.book,
        "state": state,
        "opened": state.opening,
        "closing": state.closing,
        "labels": labels_shown(view),
        "standing": standing_of(view),
        "why": why_it_stopped(state),
        "seq": state.seq,
        "isolation": isolation_of(view),
    }


def standing_of(view: RunView) -> str:
    """Return `finished`, `stopped`, `imported`, `running` while a process drives it, else `waiting`."""
    state = view.book.state
    if state.finished:
        return "finished"
    if state.is_import:
        return "imported"
    if state.stopped_by is not None:
        return "stopped"
    # A driver holds a lock while it lives, so a crashed one counts as gone.
    return "running" if view.path is not None and read_driver(view.path) is not None else "waiting"


def labels_shown(view: RunView) -> tuple[Label, ...]:
    """Return the labels of a run, the gravest first; the last counts replies from seats that were not isolated."""
    labels, calls = labels_told(view.book), calls_of(view.book.events)
    if not calls.trusted:
        return labels
    text = (
        f"{calls.trusted} of {calls.all} replies came from seats that could have read more than their brief; "
        "the ledger proves what each brief contained, not what else was known"
    )
    return (*labels, Label("UNVERIFIED", text))


def isolation_of(view: RunView) -> str:
    """Return how far the seats were isolated, in words that claim no more than the ledger proves."""
    calls = calls_of(view.book.events)
    if not calls.all:
        return ""
    text = f"{calls.enforced} of {calls.all} replies came from seats that got the brief and nothing else (enforced)"
    if calls.trusted:
        text += f"; {calls.trusted} from seats that could have read more (trusted, unverified)"
    if calls.continued:
        text += f"; {calls.continued} in a continued context"
    return text + "."


def overview(view: RunView) -> dict[str, Any]:
    """Return what a run's first page shows besides its heading and its outcome."""
    book, state = view.book, view.book.state
    seats, opened = seats_told(book), state.opening
    question, _, more = opened.question.strip().partition("\n")
    final, rounds = final_in_force(state), sorted(state.rounds)
    # Without a final decision the latest round decision comes first: it is the closest to an answer.
    listed = outcome(state) if final else outcome(state)[::-1]
    # A short run is read on one page; a click for each of two rounds would only be in the way.
    is_short = 0 < len(rounds) <= SHORT_ROUNDS and state.seq <= SHORT_EVENTS
    return {
        "question": question,
        "more_question": more.strip(),
        "answered_by": answered_by(seats) if not state.is_import else "an import does not say",
        "one_family": one_family_told(seats),
        "decided": [_decision(view, identity) for identity in listed[:DECISIONS_SHOWN]],
        "overturned": [
            _decision(view, identity)
            for identity, facts in state.decisions.items()
            if facts.type == "final" and facts.overturned_by is not None
        ],
        # Decisions that are shown without a final one must not look like the answer.
        "undecided": bool(listed) and not final,
        "hidden_decisions": max(0, len(listed) - DECISIONS_SHOWN),
        "rulings": [words_of(event, book) for event in book.of(Ruling)],
        "scores": scores_of(book),
        "rounds": round_lines(state),
        "shown_rounds": [round_shown(view, number) for number in rounds if is_short],
        "claims": Counter(claim.status for claim in state.claims.values()),
        "costs": costs_of(book),
        "experiments": experiments_of(view.path.name if view.path else view.name, book),
    }


def _decision(view: RunView, identity: str) -> DecisionTold:
    event = view.book.by_id[identity]
    assert isinstance(event, Decision), "only decisions are decided"
    return tell_decision(view.book, event, sources_of(view.book).sections, 1)
