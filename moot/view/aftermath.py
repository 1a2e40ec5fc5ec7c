"""What became of a run's decisions, and how sure the run was of them (AD-6)."""

from __future__ import annotations

from typing import Literal

from ledger.events import Decision
from ledger.result import Result
from ledger.state.book import Book
from ledger.state.decided import replacement
from moot.view.judged import option_of
from moot.view.memo import has_beliefs
from rounds.run.aftermath import Fate, FateSaid, became_of


class Became(Result, frozen=True):
    """What a person said later of one decision. `overruled_by`: the decision that has stood in its place since, null
    while it is in force. `points`: how likely the run called it, of 100, null where it gave no
    number; `brier`: (points / 100 − came true)², 0 best and 1 worst, null where nothing can be scored."""

    decision: str
    fate: Fate
    text: str
    by: str | None
    on: str
    points: float | None
    brier: float | None
    overruled_by: str | None


def became_told(book: Book) -> list[Became]:
    """Return the latest statement about each decision that has one."""
    return [_became(book, statement) for statement in became_of(book).values()]


def _became(book: Book, statement: FateSaid) -> Became:
    points = points_of(book, statement.decision)
    # Only clear results are scored: a mixed or unknown result has no truth value to score against.
    true = {"held": 1.0, "failed": 0.0}.get(statement.fate)
    # A statement may name a decision that a hostile or partial ledger does not have.
    known = statement.decision in book.state.decisions
    now = replacement(book.state, statement.decision) if known else statement.decision
    # The Brier score is 0 for a sure hit and 1 for a sure miss.
    brier = None if points is None or true is None else round((points / 100 - true) ** 2, 4)
    return Became(
        decision=statement.decision,
        fate=statement.fate,
        text=" ".join(statement.text.split()),
        by=statement.name,
        on=statement.at[:10],
        points=points,
        brier=brier,
        overruled_by=None if now == statement.decision else now,
    )


def points_of(book: Book, identity: str) -> float | None:
    """Return the group forecast, of 100 points, of the option that a decision names; None without forecasts."""
    decision = book.by_id.get(identity)
    # A person's decision is not what the group forecast, so its points would score the wrong thing.
    if not has_beliefs(book) or not isinstance(decision, Decision) or decision.by != "controller":
        return None
    # An override took this decision out of force, and the forecasts may have moved on since.
    if replacement(book.state, identity) != identity:
        return None
    # Few runs have forecasts, and every verb shows the outcome, so their arithmetic loads late.
    from detectors.forecasts.report import rounded
    from moot.view.memo import standing_now
    from rounds.protocols.crux import standing

    now = standing_now(book)
    if now.group is None or now.leader is None:
        return None
    options = standing.option_ids(book.state)
    # A decision that names no option answers with the leader of the group forecast.
    named = option_of(book, decision) or options[now.leader]
    return rounded(now.group.points(options.index(named))) if named in options else None


WORDS: dict[Fate, Literal["It held", "It failed", "Held in part", "Not known"]] = {
    "held": "It held",
    "failed": "It failed",
    "mixed": "Held in part",
    "unknown": "Not known",
}


def became_line(became: Became) -> str:
    """Return one line: `It failed: we lost a file. (D-1-1, Ada, 2026-11-23; it was called 83 of 100 likely, …)`."""
    scored = "" if became.points is None else f"; it was called {became.points:g} of 100 likely"
    scored += "" if became.brier is None else f", Brier score {became.brier:.2f}"
    who = f"{became.by}, " if became.by else ""
    since = f", since overruled by {became.overruled_by}" if became.overruled_by else ""
    return f"{WORDS[became.fate]}: {became.text} ({became.decision}{since}, {who}{became.on}{scored})"
