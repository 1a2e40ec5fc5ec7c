"""Marks: every value has a shape, a word and a tone, so that no meaning depends on color alone.

How a claim was tested is worded here and nowhere else: its evidence level, and how often a program ran. An import keeps
no levels, so its claims name their reader instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple

from ledger.events import Verification
from ledger.events.envelope import EvidenceClass
from ledger.state.book import Book
from ledger.state.experiments import runs_of
from ledger.state.lifecycle import HistoryEntry

SHOWN_AS: Final[Mapping[str, str]] = {
    "measured": "measured",
    "reproduced": "ran",
    "ran": "ran",
    "calculated": "calculated",
    "quoted": "quoted",
    "argued": "argued",
    "conceded": "conceded",
    "said": "stated",
}
"""Evidence level → the word that people read instead of `confirmed`."""
MEANINGS: Final[Mapping[str, str]] = {
    **SHOWN_AS,
    "measured": "measured by a person",
    "quoted": "quoted from a document",
    "said": "stated, not tested",
    "untested": "decided on the way",
}
"""Evidence level → its words where there is more room."""
RAN: Final = frozenset({"reproduced", "ran", "measured"})


def shown_as(class_: str, times: int | None = None) -> str:
    """Return an evidence level in a word or two: `ran ×3`, `quoted`."""
    return f"{SHOWN_AS[class_]}{_often(class_, times)}"


def meaning(class_: str, times: int | None = None) -> str:
    """Return an evidence level where there is room for more: `ran ×3`, `quoted from a document`."""
    return f"{MEANINGS.get(class_, class_)}{_often(class_, times)}"


def _often(class_: str, times: int | None) -> str:
    """Return how often a program ran: ` ×3`; empty for other levels."""
    # Reproduced means at least three repetitions with the same result; the number may be unknown.
    if times is None:
        return " ×3 or more" if class_ == "reproduced" else ""
    return f" ×{times}" if class_ in RAN and times > 1 else ""


def times_run(book: Book, experiment: str) -> int:
    """Return the number of repetitions of an experiment, without its controls."""
    return sum(run.control is None for run in runs_of(book, experiment))


def times_of(book: Book, class_: EvidenceClass | None, refs: Iterable[str]) -> int | None:
    """Return how often the experiment ran that gave something its level; None for levels without runs."""
    if class_ not in RAN:
        return None
    state = book.state
    experiments: list[str] = []
    for ref in refs:
        # A reference may carry a section (`C-1-2#text`), which is not part of the id.
        identity = ref.partition("#")[0]
        moves = state.claims[identity].history if identity in state.claims else ()
        experiments += [identity, *(move.by for move in moves)]
    # Only experiments that reached this level count, or a failed attempt would add its runs.
    alike = (
        identity
        for identity in experiments
        if identity in state.experiments and state.experiments[identity].class_ == class_
    )
    return max((times_run(book, experiment) for experiment in alike), default=None)


def last_test(book: Book, claim: str) -> HistoryEntry | None:
    """Return the last move of a claim that counts and that a test made."""
    facts = book.state.claims.get(claim)  # an unlawful ledger may name claims that it does not have
    history = facts.history if facts is not None else []
    return next((entry for entry in reversed(history) if entry.counts and entry.to != "superseded"), None)


def how_tested(book: Book, entry: HistoryEntry) -> str:
    """Return how one move of a claim came about; empty for moves that no test made."""
    if entry.class_:
        # Quoted or argued moves come from verifications, which have no repetitions.
        times = times_run(book, entry.by) if entry.by in book.state.experiments else None
        return shown_as(entry.class_, times)
    test = book.by_id.get(entry.by)
    return f"read by {test.by}" if isinstance(test, Verification) else ""


def move_text(to: str, class_: str, how: str, by: str) -> str:
    """Return the words for a move that is given by its parts."""
    if not how:
        return f"{STATUSES[to].plain} by {by}"
    read = "" if class_ else f", {how}"
    return f"{status_with_level(to, class_, how)}{read} in {by}"


def status_with_level(status: str, class_: str | None, how: str) -> str:
    """Return `● ran ×3` for confirmed, `✗ refuted (quoted)`; the plain status where there is no level."""
    return status_mark(status, class_, how).plain


def status_mark(status: str, class_: str | None, how: str) -> Mark:
    """Return the mark of a status with the evidence level in its word."""
    mark = mark_of(STATUSES, status)
    # A pending or superseded claim has no test result that a level could describe.
    if not class_ or status in ("pending", "superseded"):
        return mark
    return mark._replace(word=how if status == "tested_confirmed" else f"{mark.word} ({how})")


def claim_mark(book: Book, claim: str) -> Mark:
    """Return the mark of a claim's status, with its evidence level where it has one."""
    entry, facts = last_test(book, claim), book.state.claims.get(claim)
    how = "" if entry is None else how_tested(book, entry)
    # An unlawful ledger may cite claims that it does not hold; the page must still render.
    return status_mark("no such claim" if facts is None else facts.status, entry.class_ if entry else "", how)


Tone = Literal["good", "bad", "warn", "open", "part", "seal", "faint", "plain"]
"""Meaning of a mark beyond its word: the terminal has a style for it, a page a class of this name."""


class Mark(NamedTuple):
    """The shape, word and tone in which a value is shown."""

    shape: str
    word: str
    tone: Tone

    @property
    def plain(self) -> str:
        """Return shape and word, for output without color."""
        return f"{self.shape} {self.word}"


RESULTS: Final[Mapping[str, Mark]] = {
    "BROKEN": Mark("✗", "BROKEN", "bad"),
    "ROBUST": Mark("✓", "ROBUST", "good"),
    "UNCLEAR": Mark("?", "UNCLEAR", "warn"),
    "NOT_APPLICABLE": Mark("–", "N/A", "faint"),
}
STATUSES: Final[Mapping[str, Mark]] = {
    "pending": Mark("○", "pending", "open"),
    "tested_confirmed": Mark("●", "confirmed", "good"),
    "tested_refuted": Mark("✗", "refuted", "bad"),
    "partially_refuted": Mark("◐", "partly refuted", "part"),
    "tested_unclear": Mark("?", "unclear", "warn"),
    "superseded": Mark("⇢", "superseded", "faint"),
}
DRIFT: Final[Mapping[str, Mark]] = {
    "PASS": Mark("✓", "PASS", "good"),
    "PARTIAL": Mark("◐", "PARTIAL", "warn"),
    "FAIL": Mark("✗", "FAIL", "bad"),
}
ADVICE: Final[Mapping[str, Mark]] = {
    "strong_stop": Mark("■", "stop: all that was asked for holds", "good"),
    "wrap_up": Mark("◧", "wrap up: one more round without new claims", "good"),
    "borderline": Mark("◇", "borderline: look at the signals that are missing", "warn"),
    "continue": Mark("▶", "continue", "open"),
    "escalate": Mark("▲", "escalate: not ready, and going on in this plan cannot make it so", "bad"),
}
ALARMS: Final[Mapping[str, Mark]] = {
    "CLEAR": Mark("✓", "clear", "good"),
    "WATCH": Mark("◇", "WATCH", "warn"),
    "ALARM": Mark("▲", "ALARM", "bad"),
    "INSUFFICIENT": Mark("–", "not told here", "faint"),
}
SEEN: Final[Mapping[str, Mark]] = {
    "yes": Mark("✗", "seen", "bad"),
    "no": Mark("✓", "not seen", "good"),
    "unsure": Mark("?", "unsure", "warn"),
}
HOLDS: Final = Mark("✓", "holds", "good")
FAILS: Final = Mark("✗", "does not hold", "warn")
SEALED: Final = Mark("▣", "sealed", "seal")
DEGRADED: Final = Mark("▲", "DEGRADED", "bad")
AT_RISK: Final = Mark("▲", "AT RISK", "bad")
IN_FORCE: Final = Mark("●", "in force", "good")
OPEN: Final = Mark("○", "open", "warn")
RESOLVED: Final = Mark("✓", "resolved", "good")
VALID: Final = Mark("✓", "ok", "good")
INVALID: Final = Mark("✗", "NOT OK", "bad")
CLOSED: Final = Mark("✓", "closed", "good")
THINKING: Final = Mark("…", "thinking", "open")
AGAINST: Final = Mark("▲", "against", "bad")
AGREES: Final = Mark("✓", "agrees", "good")
PARTLY: Final = Mark("◐", "partly", "part")
ASKS: Final = Mark("?", "asks", "warn")
NEUTRAL: Final = Mark("·", "", "plain")
CHALLENGES: Final[Mapping[str, Mark]] = {
    "concede": AGREES,
    "partial": PARTLY,
    "question": ASKS,
}
RESPONSES: Final[Mapping[str, Mark]] = {
    "defend": Mark("◆", "defends", "warn"),
    "concede": Mark("✓", "concedes", "good"),
    "revise": Mark("↻", "revises", "good"),
    "answer": Mark("↩", "answers", "open"),
    "fix": Mark("✓", "fixes", "good"),
    "justify": Mark("◆", "justifies", "warn"),
}
DISPOSED: Final[Mapping[str, Tone]] = {
    "accepted": "good",
    "conceded": "good",
    "fixed": "good",
    "addressed": "good",
    "resolved": "good",
    "rejected": "bad",
    "deflected": "bad",
    "escalated": "warn",
}
VOTES: Final[Mapping[str, Mark]] = {
    "ACT": Mark("✓", "ACT", "good"),
    "WARN": Mark("◇", "WARN", "warn"),
    "REFUSE": Mark("✗", "REFUSE", "bad"),
    "VETO": Mark("■", "VETO", "bad"),
}
STANDINGS: Final[Mapping[str, Tone]] = {
    "UPHELD": "good",
    "SURVIVE": "good",
    "PARTIALLY_UPHELD": "part",
    "REFUTED": "bad",
    "COLLAPSE": "bad",
}


def mark_of(table: Mapping[str, Mark], value: str) -> Mark:
    """Return the mark of a value; a value that a newer version added shows its own name."""
    # A ledger of a newer moot may hold values that this table lacks, and it must still render.
    return table.get(value) or Mark("·", value, "plain")
