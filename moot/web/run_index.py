"""Index of the runs under one directory, each with a name for its address and a line for the list."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ledger.events import Validation
from ledger.state.book import Book
from ledger.state.state import Spend
from ledger.store.disk import read_plain, real
from ledger.store.failures import LedgerError, refuse, strangeness
from ledger.store.lock import read_driver
from ledger.store.streams import HEAD_BYTES
from moot.app.runs import Run
from moot.app.unlawful_runs import explain_with
from moot.run_view import RunView
from moot.view import words
from moot.view.labels import Label
from moot.web.overview import labels_shown, standing_of
from moot.web.templating import address_of
from roles.protocol import UNLAWFUL
from rounds.protocols import protocol_of

PATTERNS: Final = ("head", "*/head", "examples/*/head")
KEPT_MAX: Final = 12
"""Most runs that stay in memory; the least recently viewed one is dropped first."""


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run in the list. `why` says how it ended or where it is; a run with a `trouble` cannot be read."""

    name: str
    question: str = ""
    answer: str = ""
    outcome: str = "unreadable"
    protocol: str = ""
    state: str = "unreadable"
    why: str = ""
    round: int = 0
    planned: int = 0
    labels: tuple[Label, ...] = ()
    errors: int | None = None
    spend: Spend = Spend()  # noqa: RUF009  (never changed here)
    last: str = ""
    forked_from: str | None = None
    forked_at: int | None = None
    trouble: str | None = None

    @property
    def status(self) -> str:
        """Return the outcome's status; of an unfinished run, whether a process works on it."""
        return self.state if self.state in ("running", "waiting") else self.outcome

    @property
    def address(self) -> str:
        """Return the address of its pages."""
        return address_of(self.name)

    def matches(self, text: str, status: str = "", protocol: str = "") -> bool:
        """Return whether the list shows every word of a search; an empty status or protocol matches any."""
        texts = (self.name, self.question, self.answer, self.status, self.protocol, self.state, self.why)
        haystack = " ".join([*texts, *(label.kind for label in self.labels)]).replace("_", " ").casefold()
        return (
            status in ("", self.status)
            and protocol in ("", self.protocol)
            and all(word in haystack for word in text.casefold().split())
        )


ORDERS: Final[Mapping[str, Callable[[RunLine], Any]]] = {
    "question": lambda line: line.question.casefold(),
    "status": lambda line: line.status,
    "protocol": lambda line: line.protocol,
    "rounds": lambda line: line.round,
    "replies": lambda line: line.spend.calls,
    "cost": lambda line: line.spend.micro_usd,
    "last": lambda line: line.last,
}
"""Sort keys of the list."""
LATEST: Final = "-last"


def in_order(lines: Iterable[RunLine], order: str) -> list[RunLine]:
    """Return the lines in an order; `-` reverses it, and an unknown order means the latest first."""
    # The order comes from the address, so an unknown one must be harmless.
    key = order.removeprefix("-")
    if key not in ORDERS:
        key, order = "last", LATEST
    return sorted(lines, key=ORDERS[key], reverse=order.startswith("-"))


class RunIndex:
    """The runs under `root`, or `root` itself when it is one. Safe for many threads."""

    def __init__(self, root: Path) -> None:
        self.root: Final = root
        self._lock = threading.Lock()
        self._runs: OrderedDict[Path, Run] = OrderedDict()
        self._lines: dict[Path, tuple[bytes, RunLine]] = {}

    def places(self) -> dict[str, Path]:
        """Return name → directory; of two directories with one name the deeper is called `folder~name`."""
        places: dict[str, Path] = {}
        for pattern in PATTERNS:
            # Looked up for every request: runs come and go while the viewer is open.
            for head in sorted(self.root.glob(pattern)):
                place = head.parent
                name = real(place).name if place == self.root else place.name
                if name in places:
                    name = f"{place.parent.name}~{name}"
                places.setdefault(name, place)
        return places

    def run(self, name: str) -> Run | None:
        """Return the run of that name, or None. Raises `LedgerError`."""
        place = self.places().get(name)
        return None if place is None else self._kept(place)

    def _kept(self, place: Path) -> Run:
        with self._lock:
            # Popped and inserted again: the order of the dict is the order of the last use.
            run = self._runs.pop(place, None) or Run(place)
            self._runs[place] = run
            while len(self._runs) > KEPT_MAX:
                self._runs.popitem(last=False)
            return run

    def lines(self) -> list[RunLine]:
        """Return every run, the last written first; an unreadable run says why."""
        return in_order((self._line(name, place) for name, place in self.places().items()), LATEST)

    def _line(self, name: str, place: Path) -> RunLine:
        try:
            head = read_plain(place / "head", HEAD_BYTES)
        except OSError:
            head = b""
        kept = self._lines.get(place)
        # The head names the whole ledger, so a line is computed again only after a commit.
        if kept is None or kept[0] != head:
            kept = self._lines[place] = (head, self._summary(name, place))
        # A driver may start or die without a commit, so this part of a line is never taken from the cache.
        if kept[1].state in ("running", "waiting"):
            return replace(kept[1], state="running" if read_driver(place) else "waiting")
        return kept[1]

    def _summary(self, name: str, place: Path) -> RunLine:
        try:
            view = self._kept(place).view
            # The list shows the error too, so that a strange run is found without opening it.
            refuse(strangeness(view.book.state), place)
            protocol_of(view.book.state.opening, place)
            return line_of(name, view)
        except OSError as error:
            return RunLine(name, trouble=f"it cannot be read: {error.strerror}")
        except (LedgerError, *UNLAWFUL) as error:  # one run is one line, and none of them is the others' end
            known = explain_with(error, [place])
            unknown = f"moot cannot show it: {type(error).__name__}"
            return RunLine(name, trouble=f"{known.what}; {known.fix}" if known else unknown)


def line_of(name: str, view: RunView) -> RunLine:
    """Return a run's line."""
    state, opened = view.book.state, view.book.state.opening
    origin, outcome = opened.origin, view.outcome
    where = f"in round {state.round}, {words.PHASES.get(state.phase, state.phase)}"
    return RunLine(
        name,
        question=opened.question,
        answer=outcome.answer,
        outcome=outcome.status,
        protocol=opened.protocol,
        state=standing_of(view),
        why=words.why_closed(state.closing.reason) if state.closing is not None else where,
        round=state.round,
        planned=len(opened.plan),
        labels=labels_shown(view),
        errors=_errors(view.book),
        spend=state.spend,
        last=view.book.events[-1].at,
        forked_from=Path(origin.of).name if origin.type == "fork" and origin.of else None,
        forked_at=origin.seq if origin.type == "fork" else None,
    )


def _errors(book: Book) -> int | None:
    """Return the number of errors in the last recorded validation; None without one."""
    last = next(reversed(book.of(Validation)), None)
    return None if last is None else sum(finding.severity == "error" for finding in last.findings)
