"""Colours, each with a shape and a word beside it, so that nothing is said by colour alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from rich.text import Text

from ledger.plain_text import one_line
from moot.view.labels import Label


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
COURSE: Final = "cyan"


def labels_text(labels: Iterable[Label]) -> Iterator[Text]:
    """What must be read first, a line each."""
    for label in labels:
        yield Text.assemble((f" {label.kind} ", LABEL), " ", one_line(label.text))


def mark_of(table: Mapping[str, Mark], value: str) -> Mark:
    """The mark of a value; one that a newer version added shows its own name."""
    return table.get(value) or Mark("·", value, "")
