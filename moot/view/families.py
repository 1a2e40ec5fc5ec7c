"""Agreement between model families: by sealed forecasts, by votes, by members' decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from ledger.events import Decision
from ledger.plain_text import counted
from ledger.state.book import Book
from moot.view.banners import calls_of
from moot.view.judged import majority, option_of, ruling_of, votes_of
from moot.view.seats import family_of

UNNAMED: Final = "an unnamed family"


def families_told(book: Book) -> str:
    """Return `families agree: claude (3) and gpt (2) all put O-2 first`, or how they differ.

    Empty where only one family answered, or where the families did not choose between the same things.
    """
    families = families_of_roles(book)
    chosen: dict[str, Counter[str]] = {}
    for role, choice in choices(book).items():
        if role in families:
            chosen.setdefault(families[role], Counter())[choice] += 1
    # Agreement within one family says nothing, since its models share their blind spots.
    if len(chosen) < 2:
        return ""
    # A forecast ranks all options, whereas a vote or a decision chooses one.
    verb = "put" if book.state.beliefs else "chose"
    after = " first" if book.state.beliefs else ""
    everything = {choice for counts in chosen.values() for choice in counts}
    if len(everything) == 1:
        who = " and ".join(f"{family} ({counts.total()})" for family, counts in sorted(chosen.items()))
        return f"families agree: {who} all {verb} {everything.pop()}{after}"
    each = [f"{family} {verb} {_spread(counts)}{after}" for family, counts in sorted(chosen.items())]
    return f"families differ: {', '.join(each)}"


def _spread(counts: Counter[str]) -> str:
    """Return `O-2`, or `O-2 (2 seats) and O-1 (1 seat)`."""
    if len(counts) == 1:
        return next(iter(counts))
    return " and ".join(f"{choice} ({counted(number, 'seat')})" for choice, number in counts.most_common())


def families_of_roles(book: Book) -> dict[str, str]:
    """Return the family that answered for each role, without roles that several families answered for."""
    families: dict[str, set[str]] = {}
    for respondent in calls_of(book.events).answered:
        family = family_of(respondent.provider, respondent.model)
        families.setdefault(respondent.role, set()).add(family.name if family else UNNAMED)
    # A role whose seat changed families mid-run cannot be counted for either.
    return {role: next(iter(names)) for role, names in families.items() if len(names) == 1}


def _first(points: Mapping[str, int]) -> str:
    """Return the option with the most points; the first of them on a tie."""
    return max(points, key=lambda option: points[option])


def choices(book: Book) -> Mapping[str, str]:
    """Return each role's choice: the option that it puts first, its vote, or the option that its decision names."""
    state, ruling = book.state, ruling_of(book)
    if state.beliefs:
        # Only the last forecasts count: earlier ones were given before the tests.
        latest = state.beliefs_at(state.round)
        return {role: _first(facts.points) for role, facts in latest.items()}
    if ruling is not None:
        # A lost vote was filled in by the controller and is no family's opinion.
        return {vote.by: vote.decision for vote in votes_of(book, ruling) if not vote.fallback}
    if majority(book) is not None:
        decided = [
            decision
            for decision in book.of(Decision)
            if decision.made_by == "resolver" and decision.type == "round"
        ]
        return {
            decision.by: option for decision in decided if (option := option_of(book, decision)) is not None
        }
    return {}
