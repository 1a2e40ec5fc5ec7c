"""Two runs side by side: where they diverge, shared claims and decisions, signals, cost."""

from __future__ import annotations

from dataclasses import dataclass

import moot
from ledger.compare.diff import Matched, Similar
from ledger.events import Claim, Decision, RunOpened
from ledger.state.book import Book
from ledger.state.decided import standing
from moot.web.followed import Followed
from rounds.analysis.compare import RunDiff

SHOWN = 80


@dataclass(frozen=True, slots=True)
class Side:
    """A claim or decision in one or both runs: ids, words, and its status in each."""

    a: str | None
    b: str | None
    text: str
    status_a: str
    status_b: str
    how: str


@dataclass(frozen=True, slots=True)
class Compared:
    """Claims or decisions side by side; lists are cut, `counts` are not."""

    noun: str
    changed: tuple[Side, ...]
    similar: tuple[Side, ...]
    only_a: tuple[Side, ...]
    only_b: tuple[Side, ...]
    matched: int
    counts: tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class ComparePage:
    """The page. `fork` says in words how one run is a fork of the other."""

    diff: RunDiff
    opened_a: RunOpened
    opened_b: RunOpened
    fork: str | None
    groups: tuple[Compared, ...]


def compare_page(a: Followed, b: Followed) -> ComparePage:
    """Return the result of `moot diff`, with the words of what differs."""
    comparison = moot.diff(a.path, b.path)
    return ComparePage(
        diff=comparison,
        opened_a=a.state.opening,
        opened_b=b.state.opening,
        fork=_fork(a, b),
        groups=(
            _compared("claims", comparison, a.book(), b.book()),
            _compared("decisions", comparison, a.book(), b.book()),
        ),
    )


def _fork(a: Followed, b: Followed) -> str | None:
    # Either run may be the fork, because the person chooses the order of the two.
    for run, other, names in ((a, b, ("a", "b")), (b, a, ("b", "a"))):
        origin = run.state.opening.origin
        if origin.type != "fork":
            continue
        # An origin is the path as it was when the fork was made: only the last part survives a move of the directory.
        if origin.of and origin.of.rstrip("/").rpartition("/")[2] == other.path.resolve().name:
            return f"{names[0]} is a fork of {names[1]} after event {origin.seq}"
    return None


def _compared(noun: str, comparison: RunDiff, a: Book, b: Book) -> Compared:
    differences = comparison.claims if noun == "claims" else comparison.decisions
    return Compared(
        noun=noun,
        changed=tuple(_pair(row, a) for row in differences.changed[:SHOWN]),
        similar=tuple(_similar(row, a, b) for row in differences.similar[:SHOWN]),
        only_a=tuple(_single(row, a, first=True) for row in differences.only_a[:SHOWN]),
        only_b=tuple(_single(row, b, first=False) for row in differences.only_b[:SHOWN]),
        matched=len(differences.matched),
        counts=(
            len(differences.changed), len(differences.similar), len(differences.only_a), len(differences.only_b)
        ),
    )  # fmt: skip


def _pair(pair: Matched, book: Book) -> Side:
    return Side(pair.a, pair.b, _text(book, pair.a), pair.status_a, pair.status_b, pair.how)


def _similar(pair: Similar, a: Book, b: Book) -> Side:
    return Side(
        pair.a,
        pair.b,
        _text(a, pair.a),
        _status(a, pair.a),
        _status(b, pair.b),
        f"similar {pair.similarity:.2f}",
    )


def _single(identity: str, book: Book, *, first: bool) -> Side:
    status = _status(book, identity)
    sides = (identity, None, status, "") if first else (None, identity, "", status)
    return Side(sides[0], sides[1], _text(book, identity), sides[2], sides[3], "only in one")


def _text(book: Book, identity: str) -> str:
    event = book.by_id.get(identity)
    return event.text if isinstance(event, Claim | Decision) else ""


def _status(book: Book, identity: str) -> str:
    facts = book.state.claims.get(identity)
    if facts is not None:
        return facts.status
    return standing(book.state, identity) if identity in book.state.decisions else ""
