"""Names and one-clause summaries of deliberated events, for lines, cards and transcripts."""

from __future__ import annotations

from typing import assert_never

from ledger.events import (
    Agenda,
    Belief,
    ExperimentJudged,
    ExperimentPlanned,
    ExperimentRun,
    Frame,
    Memo,
)

Deliberated = Belief | Frame | Agenda | Memo | ExperimentPlanned | ExperimentRun | ExperimentJudged


def clause(event: Deliberated) -> tuple[str, str]:
    """Return the name of an event and its summary."""
    match event:
        case Belief():
            points = ", ".join(f"{option} {points}" for option, points in event.points.items())
            return ("derived belief" if event.derived else "belief"), f"{event.role}: {points}"
        case Frame():
            return "frame", (event.why or "ill-posed") if event.ill_posed else "well-posed"
        case Agenda():
            new_options = f", {len(event.options)} options made" if event.options else ""
            return "agenda", (", ".join(event.cruxes) or "no crux") + new_options
        case Memo():
            answer = " ".join(sentence.text for sentence in event.sentences if sentence.field == "answer")
            return "memo", f"{event.answers}: {answer}" if event.answers else answer
        case ExperimentPlanned():
            return "experiment", f"{event.question} ({', '.join(event.claims)}, {event.k} times)"
        case ExperimentRun():
            control = f", control that {event.control.replace('_', ' ')}" if event.control else ""
            ended = "ended at a limit" if event.signal is None else f"signal {event.signal}"
            ended = ended if event.exit is None else f"exit {event.exit}"
            return "run", f"{event.of} number {event.n}{control}: {ended} after {event.ms} ms"
        case ExperimentJudged():
            moved = "".join(f", {change.claim_id} {change.to}" for change in event.changes)
            class_note = f" ({event.class_})" if event.class_ else ""
            return "judged", f"{event.of} {event.verdict}{class_note}{moved}"
        case _:
            # A new kind begins here: the log and the transcript leave to this function what they show no other way.
            assert_never(event)
