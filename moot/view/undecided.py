"""Forecasts of an undecided run: how many were given, and who leads once they may be read."""

from __future__ import annotations

from ledger.plain_text import counted
from ledger.state.book import Book
from moot.view.agreement import leader_told, pools_without
from moot.view.judgements import named, options_of
from moot.view.memo import has_beliefs, how_likely, standing_now

NOTHING_YET = "Nothing is decided yet."


def not_decided_yet(book: Book) -> str:
    """Return the text shown in place of an answer."""
    leader = _leader(book)
    if leader is None:
        return NOTHING_YET
    return named(book, f"Nothing is decided yet. The group forecast puts {leader} first.")


def forecasts_told(book: Book) -> str:
    """Return how sure the roles are without a decision, by their sealed forecasts."""
    # Derived forecasts and redraws come from the same roles, so counting them would count a role twice.
    sealed = [belief for belief in book.state.beliefs.values() if not belief.derived]
    if not sealed:
        return "No forecast has been given."
    if _leader(book) is None:
        return f"{counted(len(sealed), 'sealed forecast')} so far; the step is still open."
    if has_beliefs(book):
        return named(book, how_likely(book))
    first = pools_without(book)[0]
    return f"Round {first.round}: mean of {len(pools_without(book))} forecasts."


def _leader(book: Book) -> str | None:
    """Return the option that leads the group forecast; None while forecasts are sealed."""
    state = book.state
    if has_beliefs(book):
        from rounds.protocols.crux import standing

        # Naming a leader while others still answer would break the seal.
        if not (state.looks or standing.numbers_end(state) is not None):
            return None
        now = standing_now(book)
        leader = None if now.leader is None else standing.option_ids(state)[now.leader]
    else:
        pools = pools_without(book)
        leader = pools[0].leader if pools else None
    return None if leader is None else leader_told(leader, bool(options_of(book)))
