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

REASON: Final = 120
"""Maximum characters of the reason of a judgement next to its mark."""
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
LEVELS: Final[Mapping[str, str]] = {
    "measured": "A person measured it and handed in the result.",
    "reproduced": "A program was run at least three times, each time with the same result.",
    "ran": "A program was run, fewer than three times.",
    "calculated": "An expression was evaluated over numbers that the run holds.",
    "quoted": "The exact words of a document support it, and code checked that they are there.",
    "argued": "Another role argued about it; no test was made.",
    "conceded": "The other side granted it.",
    "said": "A role stated it, and nothing tested it.",
}
"""Evidence level → its meaning in a sentence."""
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
    """The shape, word and tone in which a value is shown, and what the word means, for `moot explain`."""

    shape: str
    word: str
    tone: Tone
    meaning: str = ""

    @property
    def plain(self) -> str:
        """Return shape and word, for output without color."""
        return f"{self.shape} {self.word}"


RESULTS: Final[Mapping[str, Mark]] = {
    "BROKEN": Mark("✗", "BROKEN", "bad", "The check found that what it looked at does not hold."),
    "ROBUST": Mark("✓", "ROBUST", "good", "The check looked for a fault and found none."),
    "UNCLEAR": Mark("?", "UNCLEAR", "warn", "The check could not tell."),
    "NOT_APPLICABLE": Mark("–", "N/A", "faint", "The check does not apply to this round."),
}
STATUSES: Final[Mapping[str, Mark]] = {
    "pending": Mark("○", "pending", "open", "The claim was not tested yet."),
    "tested_confirmed": Mark("●", "confirmed", "good", "A test supports the claim, and none contradicts it."),
    "tested_refuted": Mark("✗", "refuted", "bad", "A test contradicts the claim."),
    "partially_refuted": Mark("◐", "partly refuted", "part", "A test contradicts a part of the claim."),
    "tested_unclear": Mark("?", "unclear", "warn", "The claim was tested, and the test did not settle it."),
    "superseded": Mark("⇢", "superseded", "faint", "Another claim replaced this one."),
}
DRIFT: Final[Mapping[str, Mark]] = {
    "PASS": Mark("✓", "PASS", "good", "The drift check found that the run still serves its goals."),
    "PARTIAL": Mark("◐", "PARTIAL", "warn", "The drift check found that the run serves its goals in part."),
    "FAIL": Mark("✗", "FAIL", "bad", "The drift check found that the run has left its goals."),
}
ADVICE: Final[Mapping[str, Mark]] = {
    "strong_stop": Mark("■", "stop: all that was asked for holds", "good"),
    "wrap_up": Mark("◧", "wrap up: one more round without new claims", "good"),
    "borderline": Mark("◇", "borderline: look at the signals that are missing", "warn"),
    "continue": Mark("▶", "continue", "open", "The stop checks do not hold yet, so the run goes on."),
    "escalate": Mark("▲", "escalate: not ready, and going on in this plan cannot make it so", "bad"),
}
ALARMS: Final[Mapping[str, Mark]] = {
    "CLEAR": Mark("✓", "clear", "good", "The failure mode was looked for and not seen."),
    "WATCH": Mark("◇", "WATCH", "warn", "The failure mode may be starting; the evidence is below the alarm."),
    "ALARM": Mark("▲", "ALARM", "bad", "The failure mode was detected. `moot ack` closes it with a reason."),
    "INSUFFICIENT": Mark(
        "–", "not told here", "faint", "The run has too little data to measure this failure mode."
    ),
}
SEEN: Final[Mapping[str, Mark]] = {
    "yes": Mark("✗", "seen", "bad", "A role says afterwards that it saw this failure mode."),
    "no": Mark("✓", "not seen", "good", "A role says afterwards that it did not see this failure mode."),
    "unsure": Mark("?", "unsure", "warn", "A role cannot say whether it saw this failure mode."),
}
HOLDS: Final = Mark(
    "✓", "holds", "good", "A stop check or signal is met, or a test found that the claim is true."
)
FAILS: Final = Mark("✗", "does not hold", "warn", "A stop check or signal is not met.")
SEALED: Final = Mark("▣", "sealed", "seal", "Given and kept hidden until the others have answered too.")
DEGRADED: Final = Mark(
    "▲", "DEGRADED", "bad", "Replies were lost: the run goes on or ended without some steps."
)
AT_RISK: Final = Mark(
    "▲", "AT RISK", "bad", "A claim that the decision rests on was refuted or replaced since."
)
IN_FORCE: Final = Mark("●", "in force", "good", "No later decision replaced this one.")
OPEN: Final = Mark("○", "open", "warn", "Neither answered nor settled yet.")
RESOLVED: Final = Mark("✓", "resolved", "good", "A decision, an answer or a test settled it.")
VALID: Final = Mark("✓", "ok", "good", "No rule of the ledger is broken.")
INVALID: Final = Mark("✗", "NOT OK", "bad", "A rule of the ledger is broken. `moot check` lists where.")
CLOSED: Final = Mark("✓", "closed", "good", "A person closed the alarm, with a reason.")
THINKING: Final = Mark("…", "thinking", "open", "The step was asked, and its seat has not replied yet.")
AGAINST: Final = Mark("▲", "against", "bad", "A role attacks what another role wrote.")
AGREES: Final = Mark("✓", "agrees", "good", "A role grants the point of another role.")
PARTLY: Final = Mark("◐", "partly", "part", "A role grants a part of the point of another role.")
ASKS: Final = Mark("?", "asks", "warn", "A role questions another role.")
NEUTRAL: Final = Mark("·", "", "plain")
CHALLENGES: Final[Mapping[str, Mark]] = {
    "concede": AGREES,
    "partial": PARTLY,
    "question": ASKS,
}
RESPONSES: Final[Mapping[str, Mark]] = {
    "defend": Mark("◆", "defends", "warn", "The author keeps the text against the challenge."),
    "concede": Mark("✓", "concedes", "good", "The author grants the challenge."),
    "revise": Mark("↻", "revises", "good", "The author changes the text because of the challenge."),
    "answer": Mark("↩", "answers", "open", "The author answers the question."),
    "fix": Mark("✓", "fixes", "good", "The author corrects what the challenge found."),
    "justify": Mark("◆", "justifies", "warn", "The author keeps the text and says why."),
}
DISPOSED: Final[Mapping[str, Mark]] = {
    "accepted": Mark("◆", "accepted", "good", "The objection was taken up, and the text changed."),
    "conceded": Mark("◆", "conceded", "good", "The author granted the objection."),
    "fixed": Mark("◆", "fixed", "good", "What the objection found was corrected."),
    "addressed": Mark("◆", "addressed", "good", "The answer met the objection."),
    "resolved": Mark("◆", "resolved", "good", "The objection is settled."),
    "defended": Mark("◆", "defended", "warn", "The text was kept against the objection."),
    "justified": Mark("◆", "justified", "warn", "The text was kept, with a reason."),
    "partially_addressed": Mark("◆", "partly addressed", "warn", "The answer met a part of the objection."),
    "rejected": Mark("◆", "rejected", "bad", "The objection was turned down, with a reason."),
    "deflected": Mark("◆", "deflected", "bad", "The answer did not meet the objection."),
    "escalated": Mark("◆", "escalated", "warn", "The objection became a question to a person."),
}
VOTES: Final[Mapping[str, Mark]] = {
    "ACT": Mark("✓", "ACT", "good", "A vote or a ruling to act."),
    "WARN": Mark(
        "◇",
        "WARN",
        "warn",
        "A vote or a ruling between ACT and REFUSE: too little support to act without a warning.",
    ),
    "REFUSE": Mark("✗", "REFUSE", "bad", "A vote or a ruling not to act. A lost vote counts as this."),
    "VETO": Mark("■", "VETO", "bad", "A vote of one role that alone keeps the others from acting."),
}
STANDINGS: Final[Mapping[str, Mark]] = {
    "UPHELD": Mark("◆", "upheld", "good", "The judge finds that the argument holds."),
    "PARTIALLY_UPHELD": Mark(
        "◆", "partly upheld", "part", "The judge finds that a part of the argument holds."
    ),
    "REFUTED": Mark("◆", "refuted", "bad", "The judge finds that the argument is wrong."),
    "UNCERTAIN": Mark("◆", "uncertain", "warn", "The judge cannot tell whether the argument holds."),
    "SURVIVE": Mark("◆", "survives", "good", "The analysis held when it was questioned."),
    "COLLAPSE": Mark("◆", "collapses", "bad", "The analysis did not hold when it was questioned."),
}
KINDS: Final[Mapping[str, Mapping[str, Mark]]] = {
    "status of a claim": STATUSES,
    "result of a check": RESULTS,
    "drift check": DRIFT,
    "advice": ADVICE,
    "alarm state": ALARMS,
    "answer of a retrospective": SEEN,
    "response": RESPONSES,
    "what became of an objection": DISPOSED,
    "vote": VOTES,
    "standing of an argument": STANDINGS,
}
"""What the marks of a table are marks of → the table."""


def mark_of(table: Mapping[str, Mark], value: str) -> Mark:
    """Return the mark of a value; a value that a newer version added shows its own name."""
    # A ledger of a newer moot may hold values that this table lacks, and it must still render.
    return table.get(value) or Mark("·", value, "plain")
