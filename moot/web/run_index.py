"""Index of the runs under one directory, each with a name for its address and a line for the list."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ledger.events import Validation
from ledger.state.decided import in_force
from ledger.state.state import State
from ledger.store.disk import read_plain
from ledger.store.failures import LedgerError, refuse_strange
from ledger.store.store import read_driver
from ledger.store.streams import HEAD_BYTES
from moot.app.unlawful_runs import explain_with
from moot.view import words
from moot.view.labels import Label
from moot.view.outcome import outcome_of
from moot.web.followed import Followed, labels_shown, standing_of
from moot.web.links import address_of
from roles.protocol import UNLAWFUL
from rounds.protocols import protocol_of

PATTERNS: Final = ("head", "*/head", "examples/*/head")
KEPT_MAX: Final = 12
"""Most runs that stay in memory; the least recently viewed one is dropped first."""


@dataclass(frozen=True, slots=True)
class RunLine:
    """A run in the list. `why` says how it ended or where it is; an unreadable run has a `trouble`."""

    name: str
    question: str
    answer: str
    outcome: str
    protocol: str
    state: str
    why: str
    round: int
    planned: int
    events: int
    labels: tuple[Label, ...]
    errors: int | None
    claims: int
    decisions: int
    calls: int
    micro_usd: int
    unpriced: int
    last: str
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
        if status not in ("", self.status) or protocol not in ("", self.protocol):
            return False
        labels = " ".join(label.kind for label in self.labels)
        haystack = " ".join(
            (self.name, self.question, self.answer, self.status, self.protocol, self.state, self.why, labels)
        )
        haystack = haystack.replace("_", " ").casefold()
        return all(word in haystack for word in text.casefold().split())


ORDERS: Final[Mapping[str, Callable[[RunLine], Any]]] = {
    "question": lambda line: line.question.casefold(),
    "status": lambda line: line.status,
    "protocol": lambda line: line.protocol,
    "rounds": lambda line: line.round,
    "replies": lambda line: line.calls,
    "cost": lambda line: line.micro_usd,
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
        self._followed: OrderedDict[Path, Followed] = OrderedDict()
        self._lines: dict[Path, tuple[bytes, RunLine]] = {}

    def names(self) -> dict[str, Path]:
        """Return name → directory; of two directories with one name the deeper is called `folder~name`."""
        places: dict[str, Path] = {}
        for pattern in PATTERNS:
            # Looked up for every request: runs come and go while the viewer is open.
            for head in sorted(self.root.glob(pattern)):
                place = head.parent
                name = place.resolve().name if place == self.root else place.name
                if name in places:
                    name = f"{place.parent.name}~{name}"
                places.setdefault(name, place)
        return places

    def followed(self, name: str) -> Followed | None:
        """Return the run of that name, read up to its head, or None. Raises `LedgerError`."""
        place = self.names().get(name)
        if place is None:
            return None
        run = self._kept(place)
        with run.lock:
            run.catch_up()
        return run

    def named(self, names: Iterable[str]) -> list[Path]:
        """Return the directories of those names that are runs."""
        places = self.names()
        return [places[name] for name in names if name in places]

    def _kept(self, place: Path) -> Followed:
        with self._lock:
            # Popped and inserted again: the order of the dict is the order of the last use.
            run = self._followed.pop(place, None) or Followed(place)
            self._followed[place] = run
            while len(self._followed) > KEPT_MAX:
                self._followed.popitem(last=False)
            return run

    def lines(self) -> list[RunLine]:
        """Return every run, the last written first; an unreadable run says why."""
        return in_order((self._line(name, place) for name, place in self.names().items()), LATEST)

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
            run = self._kept(place)
            with run.lock:
                run.catch_up()
                # The list shows the error too, so that a strange run is found without opening it.
                refuse_strange(run.state, place)
                protocol_of(run.opened, place)
                return line_of(name, run)
        except OSError as error:
            return _unreadable(name, f"it cannot be read: {error.strerror}")
        except (LedgerError, *UNLAWFUL) as error:  # one run is one line, and none of them is the others' end
            known = explain_with(error, [place])
            trouble = (
                f"{known.what}; {known.fix}" if known else f"moot cannot show it: {type(error).__name__}"
            )
            return _unreadable(name, trouble)


def line_of(name: str, run: Followed) -> RunLine:
    """Return a run's line."""
    state, opened = run.state, run.opened
    origin, outcome = opened.origin, outcome_of(str(run.path), run.book())
    return RunLine(
        name=name,
        question=opened.question,
        answer=outcome.answer,
        outcome=outcome.status,
        protocol=opened.protocol,
        state=standing_of(run),
        why=_why(state),
        round=state.round,
        planned=len(opened.plan),
        events=run.seq + 1,
        labels=labels_shown(run),
        errors=_errors(run.book().events),
        claims=len(state.claims),
        decisions=len(in_force(state)),
        calls=state.spend.calls,
        micro_usd=state.spend.micro_usd,
        unpriced=state.spend.unpriced,
        last=run.book().events[-1].at,
        forked_from=Path(origin.of).name if origin.type == "fork" and origin.of else None,
        forked_at=origin.seq if origin.type == "fork" else None,
    )


def _why(state: State) -> str:
    if state.closing is not None:
        return words.why_closed(state.closing.reason)
    return f"in round {state.round}, {words.PHASES.get(state.phase, state.phase)}"


def _errors(events: Iterable[object]) -> int | None:
    """Return the number of errors in the last recorded validation; None without one."""
    last = next((event for event in reversed(tuple(events)) if isinstance(event, Validation)), None)
    return None if last is None else sum(finding.severity == "error" for finding in last.findings)


def _unreadable(name: str, trouble: str) -> RunLine:
    return RunLine(
        name, "", "", "unreadable", "", "unreadable", "", 0, 0, 0, (), None, 0, 0, 0, 0, 0, "", trouble=trouble
    )  # fmt: skip


def siblings(lines: Iterable[RunLine]) -> dict[str, list[RunLine]]:
    """Return parent → its forks in the list."""
    forks: dict[str, list[RunLine]] = {}
    for line in lines:
        if line.forked_from:
            forks.setdefault(line.forked_from, []).append(line)
    return forks
