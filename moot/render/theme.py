"""Colours, each with a shape and a word beside it, so that nothing is said by colour alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from rich.text import Text


class Mark(NamedTuple):
    """How a value is shown."""

    shape: str
    word: str
    style: str

    @property
    def plain(self) -> str:
        """Shape and word, for lines without colour."""
        return f"{self.shape} {self.word}"

    @property
    def text(self) -> Text:
        """Shape and word in colour."""
        return Text(self.plain, self.style)


RESULTS: Final[Mapping[str, Mark]] = {
    "BROKEN": Mark("✗", "BROKEN", "bold red"),
    "ROBUST": Mark("✓", "ROBUST", "green"),
    "UNCLEAR": Mark("?", "UNCLEAR", "yellow"),
    "NOT_APPLICABLE": Mark("–", "N/A", "dim"),
}
STATUSES: Final[Mapping[str, Mark]] = {
    "pending": Mark("○", "pending", "cyan"),
    "tested_confirmed": Mark("●", "confirmed", "green"),
    "tested_refuted": Mark("✗", "refuted", "red"),
    "partially_refuted": Mark("◐", "partly refuted", "magenta"),
    "tested_unclear": Mark("?", "unclear", "yellow"),
    "superseded": Mark("⇢", "superseded", "dim"),
}
DRIFT: Final[Mapping[str, Mark]] = {
    "PASS": Mark("✓", "PASS", "green"),
    "PARTIAL": Mark("◐", "PARTIAL", "yellow"),
    "FAIL": Mark("✗", "FAIL", "bold red"),
}
ADVICE: Final[Mapping[str, Mark]] = {
    "strong_stop": Mark("■", "stop: all signals hold", "bold green"),
    "wrap_up": Mark("◧", "wrap up: one more round without new claims", "green"),
    "borderline": Mark("◇", "borderline: look at the signals that are missing", "yellow"),
    "continue": Mark("▶", "continue", "cyan"),
    "escalate": Mark("▲", "escalate: the plan is used up and the run is not ready", "bold red"),
}
ALARMS: Final[Mapping[str, Mark]] = {
    "CLEAR": Mark("✓", "clear", "green"),
    "WATCH": Mark("◇", "WATCH", "yellow"),
    "ALARM": Mark("▲", "ALARM", "bold red"),
    "INSUFFICIENT": Mark("–", "too few events to tell", "dim"),
}
SEEN: Final[Mapping[str, Mark]] = {
    "yes": Mark("✗", "seen", "red"),
    "no": Mark("✓", "not seen", "green"),
    "unsure": Mark("?", "unsure", "yellow"),
}
HOLDS: Final = Mark("✓", "holds", "green")
FAILS: Final = Mark("✗", "does not hold", "yellow")
SEALED: Final = Mark("▣", "sealed", "blue")
DEGRADED: Final = Mark("▲", "DEGRADED", "bold red")
AT_RISK: Final = Mark("▲", "AT RISK", "bold red")
THINKING: Final = Mark("…", "thinking", "bold cyan")
LABEL: Final = "bold black on yellow"
HEADER: Final = "bold"
FAINT: Final = "dim"
LEAD: Final = "bold cyan"

FAILURE_MODES: Final[Mapping[str, str]] = {
    "FM-1": "Sycophancy cascade",
    "FM-2": "Everything reads BROKEN",
    "FM-3": "Drift from the goals",
    "FM-4": "One role dominates",
    "FM-5": "Claims inflate or starve",
    "FM-6": "Verification is bypassed",
    "FM-7": "Stress is avoided",
    "FM-8": "Budget is overrun",
}
CHECK_NAMES: Final[Mapping[str, str]] = {
    "critic_attack_on_action_trace": "attack × trace",
    "guardian_vs_observer_walkthrough": "invariant × walkthrough",
    "observer_friction_vs_critic_attack": "friction × attack",
    "all_vs_prior_decisions": "all × prior decisions",
    "claim_retest": "re-test",
    "synthesis_resolution": "resolution",
}
ARTIFACTS: Final[Mapping[str, str]] = {
    "behavioral_trace_set": "traces",
    "identity_invariant_check": "invariant",
    "operator_walkthrough": "walkthrough",
    "adversarial_test_case": "attack",
}
PHASES: Final[Mapping[str, str]] = {
    "A": "opening",
    "B": "proposal",
    "C": "supplements",
    "D": "artifacts",
    "E": "checks",
    "F": "reviews",
    "G": "decisions",
    "H": "drift check",
    "S": "synthesis",
}
CLOSINGS: Final[Mapping[str, str]] = {
    "signals": "enough stop signals held",
    "ready": "every gate of readiness held",
    "protocol_end": "the plan was used up",
    "not_ready": "the plan was used up and the run was not ready",
    "human": "a person stopped it",
    "seats_failed": "a seat failed for good",
    "budget_rounds": "the budget of rounds was used up",
    "budget_usd": "the budget in dollars was used up",
    "budget_tokens": "the budget of tokens was used up",
    "budget_calls": "the budget of calls was used up",
    "budget_minutes": "the budget of minutes was used up",
}


def mark_of(table: Mapping[str, Mark], value: str) -> Mark:
    """The mark of a value; one that a newer version added shows its own name."""
    return table.get(value) or Mark("·", value, "")
