"""The controller: commits that need no seat (FORMAT 8).

`owed` returns the next such commit, or nothing when a seat is needed or the run is over. The caller commits and asks
again, so that a process killed between two commits goes on where it stopped.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ledger.events import Event, RoundOpened, RunClosed, RunOpened, Signals, Validation
from ledger.events.decisions import Gate, SignalReading
from ledger.events.run import CloseReason, Signature
from ledger.events.verifications import ValidationFinding
from ledger.plain_json import converted
from ledger.state.amendments import absent_path
from ledger.state.book import Book
from ledger.state.decided import final_in_force, tested_by
from ledger.state.experiments import judgements_due
from ledger.state.state import State
from roles.protocol import Protocol, awaited_experiments, is_complete, next_lead
from rounds.protocols.plans import default_predictions
from rounds.protocols.schedule import (
    active_focus,
    authors,
    deliberation_is_validated,
    look_is_due,
    plan_row,
    possible_checks,
    stop_is_obeyed,
    synthesis_is_due,
)
from rounds.run.responses import responses
from rounds.run.verdicts import Verdicts


class Controller(msgspec.Struct, frozen=True):
    """The controller's rules over one protocol; `verdicts` computes validations and signals."""

    protocol: Protocol
    verdicts: Verdicts

    def owed(self, book: Book) -> tuple[Event, ...]:
        """Return the next commit that needs no seat; empty when nothing is owed."""
        state = book.state
        # An import is history of another system. It has no steps here, so nothing is ever owed to it.
        if state.finished or state.is_import:
            return ()
        # A failed validation holds everything else up until the cause is gone, for later verdicts
        # would rest on it.
        if state.faulty is not None:
            # The validation that held the run up is repeated once nothing is wrong anymore.
            last = book.of(Validation)[-1]
            return (self._validation(book, last.after),) if self.verdicts.check(book).ok else ()
        if state.held_up:
            return ()
        if not state.rounds:
            return self.verdicts.screenings(book) or (self._round_opened(book, 0),)
        # The order matters: results are judged before the protocol reads them, and a round ends
        # before the next begins.
        for debt in (judgements_due, self.protocol.owed, self._phase_end, self._round_end, self._next):
            # A round does not end while a program that it waits for has not been run: its results
            # belong to this round.
            if debt == self._round_end and awaited_experiments(self.protocol, state):
                return ()
            events = debt(book)
            if events:
                return events
        return ()

    def _phase_end(self, book: Book) -> tuple[Event, ...]:
        """Return the validation of a closed phase within a round, where the rules are asked after each phase."""
        state, round_ = book.state, book.state.round
        if not state.validates_phases:
            return ()
        groups = self.protocol.groups(state, round_)
        for phase in dict.fromkeys(group.phase for group in groups):
            if not all(is_complete(state, group) for group in groups if group.phase == phase):
                # Later phases cannot be complete before this one, so the search ends here.
                return ()
            done = (*state.checked.get(round_, ()), *state.validated.get(round_, ()))
            if phase not in done and phase != groups[-1].phase:
                return (self._validation(book, phase),)
        return ()

    def _round_end(self, book: Book) -> tuple[Event, ...]:
        """Return the events at a round's end: validation, then the look if due, then alarms and amendments."""
        state, round_ = book.state, book.state.round
        last = self._last_phase(state, round_)
        if last is None or last in state.validated.get(round_, ()):
            return ()
        # One commit for all of them, so a crash cannot leave a look without its alarms.
        validation = self._validation(book, last)
        events: list[Event] = [validation]
        if self.protocol.watched and last != "S":
            if look_is_due(state, round_):
                events.append(self._look(book, last))
            params = self.verdicts.params_hash(book, state.opening.stop.profile)
            # Alarms are referred to by seq in the amendments of the same commit, so the next
            # seq is computed here.
            events += responses(book, last, len(book.events) + len(events), params)
        if self.protocol.look is not None and last != "S":
            events += self.protocol.look(book, last)
        return tuple(events)

    def _next(self, book: Book) -> tuple[Event, ...]:
        """Return the opening of the next round, or the end."""
        state, round_ = book.state, book.state.round
        if self.protocol.watched and synthesis_is_due(state, round_):
            if "S" not in state.validated.get(round_, ()):
                return ()
            return (run_closed(book, "finished", _end_reason(state, round_)),)
        if not deliberation_is_validated(state, round_):
            return ()
        if self.protocol.after_round is not None:
            next_ = self.protocol.after_round(state)
            if next_ == "wait" or next_ == "steps":  # spelled out, so that type checkers narrow the type
                return ()
            if next_ != "next":
                return (run_closed(book, "finished", next_),)
        elif not self.protocol.watched and state.rounds[round_].plan_row + 1 == len(state.opening.plan):
            return () if self.protocol.needed(state) else (run_closed(book, "finished", "protocol_end"),)
        limit = state.limits.rounds
        if limit is not None and len(state.rounds) >= limit:
            if state.stopped_by is not None:
                # Already closed for this limit: without this a resumed run would be closed again and again.
                return ()
            return (run_closed(book, "stopped", "budget_rounds"),)
        return (self._round_opened(book, state.rounds[round_].plan_row + 1),)

    def _last_phase(self, state: State, round_: int) -> str | None:
        """Return the phase just closed when every step asked of seats so far is done, else None."""
        groups = self.protocol.groups(state, round_)
        if not all(is_complete(state, group) for group in groups):
            return None
        if groups:
            return groups[-1].phase
        # In a short protocol every step of a round can fall away with replies that were lost before.
        if self.protocol.watched:
            return None
        phases = plan_row(state, round_).phases
        return next((phase for phase in reversed(phases) if phase != "S"), phases[-1])

    def _validation(self, book: Book, after: str) -> Validation:
        report = self.verdicts.check(book)
        findings = converted(report.findings, tuple[ValidationFinding, ...], from_attributes=True)
        return Validation(
            round=book.state.round,
            phase=after,
            by="controller",
            after=after,
            through=len(book.events) - 1,
            ok=report.ok,
            # Findings beyond the maximum are not recorded; `moot check` computes all of them anew.
            findings=book.state.faults.kept(findings),
            rules=self.verdicts.rules_hash(),
        )

    def _look(self, book: Book, after: str) -> Signals:
        opened = book.state.opening
        report = self.verdicts.signals(book, opened.stop.profile)
        return Signals(
            round=book.state.round,
            phase=after,
            by="controller",
            profile=opened.stop.profile,
            params=self.verdicts.params_hash(book, opened.stop.profile),
            through=len(book.events) - 1,
            signals=converted(report.signals, tuple[SignalReading, ...], from_attributes=True),
            satisfied=report.satisfied,
            of=report.of,
            stop=report.stop,
            advice=report.advice,
            gates=converted(report.gates, tuple[Gate, ...], from_attributes=True),
        )

    def _round_opened(self, book: Book, plan_index: int) -> RoundOpened:
        state = book.state
        opened = state.opening
        row = opened.plan[plan_index]
        leads = [event.lead for event in state.rounds.values()]
        lead = next_lead(authors(state), leads, row.absent) if self.protocol.watched else None
        # An amended focus counts for every later round, the row's own only where nothing was amended.
        focus = active_focus(state) or row.focus or opened.question
        return RoundOpened(
            round=row.round,
            phase="A",
            by="controller",
            lead=lead,
            focus=focus,
            absent=row.absent,
            planned_stress=row.absent,
            applicable=possible_checks(state, row.absent)
            if self.protocol.watched and "E" in row.phases
            else (),
            predicted_signature=_predicted(opened, row.absent) if row.absent else None,
            plan_row=plan_index,
            cause=_plan_cause(state, row.round),
        )


def _predicted(opened: RunOpened, absent: str) -> tuple[Signature, ...]:
    """Return what is expected to be missing: from the opening, or the default where the absence was not planned."""
    planned = [entry for entry in opened.predict if entry.role == absent]
    signatures = planned or default_predictions((absent,))
    return converted(signatures, tuple[Signature, ...], from_attributes=True)


def _plan_cause(state: State, round_: int) -> int | None:
    """Return the amendment that changed who is absent from a round; None where the plan is unchanged."""
    path = absent_path(round_)
    changed = [event.seq for event in state.amendments if any(change.path == path for change in event.change)]
    return changed[-1] if changed else None


def run_closed(book: Book, end: Literal["finished", "stopped"], reason: CloseReason) -> RunClosed:
    """Return the closing of a run: its final decisions, what is left open, the quorum it had."""
    state = book.state
    pending = tuple(identity for identity, facts in state.claims.items() if facts.status == "pending")
    concerns = tuple(
        identity
        for identity in state.concerns
        if identity not in state.resolved and tested_by(state, identity) is None
    )
    return RunClosed(
        round=state.round,
        phase="close",
        by="controller",
        state=end,
        reason=reason,
        outcome=tuple(final_in_force(state)),
        open=(*pending, *concerns),
        quorum=state.quorum,
        through=len(book.events) - 1,
    )


def _end_reason(state: State, round_: int) -> CloseReason:
    """Return why S came: an obeyed look, else the end of the plan (FORMAT 9)."""
    # The obeyed look may belong to an earlier round than the synthesis, so all of them are searched.
    obeyed = stop_is_obeyed(state, round_) or any(stop_is_obeyed(state, look.round) for look in state.looks)
    if state.opening.stop.profile == "gates":
        # The gates of the last look say whether the run was ready or had to be handed over.
        ready = all(gate.ok for gate in state.looks[-1].gates) if obeyed else False
        return "ready" if ready else "hand_over" if obeyed else "not_ready"
    return "signals" if obeyed else "protocol_end"
