"""Runs as rows: one table for each thing that a question about many runs is about. `moot query` puts them into DuckDB.

Every figure is one that the views and the Python API give, too; nothing is computed for the tables alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from ledger.events import Belief, Claim, Decision, ExperimentJudged, ExperimentPlanned, Verification
from ledger.plain_text import one_line
from ledger.state.book import Book
from ledger.state.decided import final_in_force, in_force
from moot.view.aftermath import became_told
from moot.view.outcome import outcome_of
from moot.view.seats import family_of

Row = dict[str, Any]
TEXT, WHOLE, SHARE, YES, INSTANT = "VARCHAR", "BIGINT", "DOUBLE", "BOOLEAN", "TIMESTAMP"
TABLES: Final[Mapping[str, Mapping[str, str]]] = {
    "runs": {
        "run": TEXT, "protocol": TEXT, "question": TEXT, "opened_at": INSTANT, "state": TEXT, "status": TEXT,
        "answer": TEXT, "rounds": WHOLE, "replies": WHOLE, "lost": WHOLE, "tokens_in": WHOLE, "tokens_out": WHOLE,
        "usd": SHARE, "unpriced": WHOLE, "became": TEXT, "brier": SHARE, "head": TEXT,
    },
    "events": {
        "run": TEXT, "seq": WHOLE, "kind": TEXT, "id": TEXT, "round": WHOLE, "phase": TEXT, "step": TEXT,
        "by": TEXT, "at": INSTANT,
    },
    "claims": {
        "run": TEXT, "id": TEXT, "round": WHOLE, "raised_by": TEXT, "status": TEXT, "moves": WHOLE, "about": TEXT,
        "how": TEXT, "supersedes": TEXT, "text": TEXT,
    },
    "verdicts": {
        "run": TEXT, "seq": WHOLE, "round": WHOLE, "by": TEXT, "check_name": TEXT, "result": TEXT, "claims": TEXT,
        "moved": WHOLE, "repeats": TEXT, "confidence": WHOLE,
    },
    "decisions": {
        "run": TEXT, "id": TEXT, "round": WHOLE, "type": TEXT, "made_by": TEXT, "name": TEXT, "confidence": WHOLE,
        "in_force": YES, "final": YES, "rests_on": WHOLE, "text": TEXT,
    },
    "beliefs": {
        "run": TEXT, "id": TEXT, "round": WHOLE, "role": TEXT, "option": TEXT, "points": SHARE, "derived": YES,
    },
    "calls": {
        "run": TEXT, "seq": WHOLE, "step": TEXT, "role": TEXT, "phase": TEXT, "round": WHOLE, "seat": TEXT,
        "provider": TEXT, "model": TEXT, "family": TEXT, "attempts": WHOLE, "tokens_in": WHOLE,
        "tokens_cached": WHOLE, "tokens_out": WHOLE, "usd": SHARE, "latency_ms": WHOLE, "simulated": TEXT,
    },
    "experiments": {
        "run": TEXT, "id": TEXT, "round": WHOLE, "claims": TEXT, "verdict": TEXT, "class": TEXT, "moved": WHOLE,
    },
}  # fmt: skip
"""Table → column → type of DuckDB. `run` is how the run is named below the directory that was asked about."""


def rows_of(run: str, book: Book, head: str) -> Iterator[tuple[str, Row]]:
    """Every row of one run with its table."""
    yield "runs", _run(run, book, head)
    state = book.state
    for event in book.events:
        yield "events", {
            "run": run, "seq": event.seq, "kind": event.kind, "id": getattr(event, "id", None), "round": event.round,
            "phase": event.phase, "step": event.step, "by": event.by, "at": event.at,
        }  # fmt: skip
        if event.call is not None:
            yield "calls", _call(run, event)
    for claim in book.of(Claim):
        if (facts := state.claims.get(claim.id or "")) is not None:
            yield "claims", {
                "run": run, "id": claim.id, "round": facts.round, "raised_by": facts.raised_by,
                "status": facts.status, "moves": len(facts.history), "about": ",".join(facts.about),
                "how": facts.how, "supersedes": facts.supersedes, "text": claim.text,
            }  # fmt: skip
    for one in book.of(Verification):
        yield "verdicts", {
            "run": run, "seq": one.seq, "round": one.round, "by": one.by, "check_name": one.check,
            "result": one.result, "claims": ",".join(one.claims_affected), "moved": len(one.claim_status_changes),
            "repeats": one.repeats, "confidence": one.confidence,
        }  # fmt: skip
    standing, final = set(in_force(state)), set(final_in_force(state))
    for decision in book.of(Decision):
        yield "decisions", {
            "run": run, "id": decision.id, "round": decision.round, "type": decision.type,
            "made_by": decision.made_by, "name": decision.name, "confidence": decision.confidence,
            "in_force": decision.id in standing, "final": decision.id in final, "rests_on": len(decision.cites),
            "text": decision.text,
        }  # fmt: skip
    for belief in book.of(Belief):
        for option, points in _points(belief):
            yield "beliefs", {
                "run": run, "id": belief.id, "round": belief.round, "role": belief.role, "option": option,
                "points": points, "derived": belief.derived,
            }  # fmt: skip
    judged = {one.of: one for one in book.of(ExperimentJudged)}
    for plan in book.of(ExperimentPlanned):
        verdict = judged.get(plan.id or "")
        yield "experiments", {
            "run": run, "id": plan.id, "round": plan.round, "claims": ",".join(plan.claims),
            "verdict": verdict.verdict if verdict else None, "class": verdict.class_ if verdict else None,
            "moved": len(verdict.changes) if verdict else 0,
        }  # fmt: skip


def _run(run: str, book: Book, head: str) -> Row:
    state, told = book.state, outcome_of(run, book)
    spend, became = state.spend, became_told(book)
    usd = None if spend.usd is None else float(spend.usd)
    return {
        "run": run, "protocol": state.opening.protocol, "question": one_line(state.opening.question),
        "opened_at": book.events[0].at, "state": state.life, "status": told.status, "answer": one_line(told.answer),
        "rounds": len(state.rounds), "replies": spend.calls, "lost": len(state.given_up), "tokens_in": spend.tokens_in,
        "tokens_out": spend.tokens_out, "usd": usd, "unpriced": spend.unpriced,
        "became": became[-1].fate if became else None, "brier": became[-1].brier if became else None, "head": head,
    }  # fmt: skip


def _call(run: str, event: Any) -> Row:
    call = event.call
    family = family_of(call.provider, call.model)
    return {
        "run": run, "seq": event.seq, "step": event.step, "role": event.by, "phase": event.phase,
        "round": event.round, "seat": call.seat, "provider": call.provider, "model": call.model,
        "family": None if family is None else family.name, "attempts": len(call.attempts),
        "tokens_in": call.tokens_in, "tokens_cached": call.tokens_cached, "tokens_out": call.tokens_out,
        "usd": None if call.cost_usd is None else float(Decimal(call.cost_usd)), "latency_ms": call.latency_ms,
        "simulated": call.simulated,
    }  # fmt: skip


def _points(belief: Belief) -> Iterator[tuple[str, float]]:
    yield from ((option, float(points)) for option, points in belief.points.items())
