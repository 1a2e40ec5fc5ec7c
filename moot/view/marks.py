"""Marks: every value has a shape, a word and a tone, so that no meaning depends on color alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

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
