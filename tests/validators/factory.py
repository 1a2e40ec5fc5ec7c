"""Books for the rules: one good deliberation played through the engine in memory, and ways to spoil a book.

Three rounds: a normal one, one without the critic and with a drift check, and a last one with the synthesis.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import orjson
from msgspec import structs

from detectors.parameters import params_hash
from ledger.events import Event, RunOpened
from ledger.events.envelope import GENESIS
from ledger.events.run import (
    Budgets,
    CastMember,
    ContextDocument,
    Labelled,
    Origin,
    PlanRow,
    StopRule,
)
from ledger.format.canonical import seal
from ledger.state.book import Book, book
from roles.prompt_set import installed_prompt_set, read_prompt_set
from roles.protocol import open_steps
from roles.seats.port import Answer
from rounds.protocols import PROTOCOLS, plans
from rounds.run.controller import Controller
from rounds.run.session import accept
from rounds.run.verdicts import standard
from tests.validators.replies import STRESSED, reply
from validators.finding import RuleFinding, standing
from validators.ledger_index import RuleContext
from validators.rule import Rule
from validators.rulebook import RULES, judged


def findings(
    book: Book,
    context: RuleContext,
    *,
    through: int | None = None,
    recorded: bool = False,
    rules: Sequence[Rule] = RULES,
) -> tuple[RuleFinding, ...]:
    """Return the findings in force after event `through` (None: the last), by seq, then by code.

    `recorded` asks only the rules whose findings a `validation` event keeps.
    """
    index = judged(book, context, recorded=recorded, rules=rules)
    return standing(index.findings, book.state.seq if through is None else through)


PROTOCOL: Final = PROTOCOLS["structured"]
VERDICTS: Final = standard(PROTOCOL)
CONTEXT: Final = VERDICTS.context()
AT: Final = "2026-01-01T00:00:00.000000Z"
CHOSEN: Final[dict[str, str | int | bool | None]] = {
    "positions": "sealed",
    "rivals": "free",
    "lengths": "short",
    "wait": "off",
    "validate": "round",
}
"""The rules of the good deliberation."""
DOCUMENT: Final = b"one writer\nmany readers\nno lost line\n"
ROLES: Final = ("action", "guardian", "observer", "critic", "verifier")


@dataclass(frozen=True, slots=True)
class Store:
    """Blobs in memory."""

    content: Mapping[str, bytes]

    def read(self, sha256: str) -> bytes | None:
        """The bytes with that hash, None when there are none."""
        return self.content.get(sha256)


_PROMPTS = read_prompt_set(installed_prompt_set("structured"))


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def opening() -> RunOpened:
    """The opening of the good deliberation."""
    rows = (
        PlanRow(round=1, phases=plans.NORMAL),
        PlanRow(round=2, absent="critic", drift=True, phases=(*plans.NORMAL, "H")),
        PlanRow(round=3, phases=(*plans.NORMAL, "S")),
    )
    return RunOpened(
        round=0,
        phase="open",
        by="controller",
        protocol="structured",
        question="Which storage keeps every line?",
        goals=(Labelled(id="G-1", text="No line is lost"), Labelled(id="G-2", text="Easy to read")),
        options=(Labelled(id="O-1", text="three streams"), Labelled(id="O-2", text="one journal")),
        context=(ContextDocument(id="K-1", name="facts.md", sha256=_sha256(DOCUMENT), bytes=len(DOCUMENT)),),
        cast=tuple(CastMember(role=role, title=role, charge=f"be {role}", seat="command") for role in ROLES),
        plan=rows,
        predict=plans.default_predictions(["critic"]),
        stop=StopRule(profile="published", params=params_hash("published"), check_every=3, not_before=3),
        budgets=Budgets(),
        prompt_set=_sha256(installed_prompt_set("structured")),
        seed=0,
        rules=CHOSEN,
        origin=Origin(type="new"),
        moot="0.1.0",
    )


class _Play:
    """Plays a run in memory, commit by commit."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {
            _sha256(content): content for content in (DOCUMENT, installed_prompt_set("structured"))
        }
        self.events: list[Event] = []
        self._prev = GENESIS

    def book(self) -> Book:
        return book(self.events, Store(self.blobs))

    def commit(self, drafts: Iterable[Event]) -> None:
        sealed = seal(tuple(drafts), prev=self._prev, seq=len(self.events), at=AT)
        self._prev = sealed.head.hash
        self.events += sealed.events

    def answer(self) -> bool:
        """Answer the first open step; false when there is none."""
        ledger = self.book()
        for step in open_steps(PROTOCOL, ledger.state):
            pending = tuple(
                claim for claim, facts in ledger.state.claims.items() if facts.status == "pending"
            )
            lead = ledger.state.rounds[step.name.round].lead or ""
            content = orjson.dumps(reply(step.name, lead, pending))
            seat = Answer(seat="command", isolation="trusted", context_id=f"c{ROLES.index(step.role) + 1}")
            accepted = accept(PROTOCOL, ledger, step, content, seat, _PROMPTS)
            self.blobs.update(accepted.blobs)
            self.commit(accepted.events)
            return True
        return False


@cache
def base() -> Book:
    """The good deliberation, finished."""
    play = _Play()
    play.commit([opening()])
    controller = Controller(PROTOCOL, VERDICTS)
    while True:
        drafts = controller.owed(play.book())
        if drafts:
            play.commit(drafts)
        elif not play.answer():
            return play.book()


def seq_of(identity: str, ledger: Book | None = None) -> int:
    """The seq of an event by its id."""
    return (ledger or base()).by_id[identity].seq


def find(kind: type[Event], where: Callable[[Any], bool] | None = None) -> int:
    """The seq of the first event of a kind (that fits) in the good deliberation."""
    return next(
        event.seq for event in base().events if isinstance(event, kind) and (where is None or where(event))
    )


def change(which: str | int, on: Book | None = None, /, **fields: Any) -> Book:
    """A book in which some fields of one event are others."""
    ledger = on or base()
    seq = seq_of(which, ledger) if isinstance(which, str) else which
    events = list(ledger.events)
    events[seq] = structs.replace(events[seq], **fields)
    return book(events, ledger.blobs)


def body(identity: str, /, **fields: Any) -> Book:
    """A book in which some fields of an artifact's body are others."""
    event: Any = base().by_id[identity]
    return change(identity, body={**event.body, **fields})


def opened(**fields: Any) -> Book:
    """A book with another opening."""
    return change(0, **fields)


def cut(through: int, ledger: Book | None = None) -> Book:
    """The prefix of a book, through an event."""
    whole = ledger or base()
    return book(whole.events[: through + 1], whole.blobs)


def add(ledger: Book, *drafts: Event) -> Book:
    """A book with one more commit."""
    start = len(ledger.events)
    events = [
        structs.replace(draft, seq=start + n, rest=len(drafts) - 1 - n, at=AT)
        for n, draft in enumerate(drafts)
    ]
    return book([*ledger.events, *events], ledger.blobs)


def end_of(identity: str, ledger: Book | None = None) -> int:
    """The seq of the last event of the commit that holds an event."""
    whole = ledger or base()
    seq = seq_of(identity, whole)
    return seq + whole.events[seq].rest


def without_blob(sha256: str) -> Book:
    """The good deliberation with one blob missing."""
    whole = base()
    assert isinstance(whole.blobs, Store)
    kept = {key: content for key, content in whole.blobs.content.items() if key != sha256}
    assert len(kept) == len(whole.blobs.content) - 1, "that blob was not there"
    return book(whole.events, Store(kept))


def judge(ledger: Book, code: str, context: RuleContext = CONTEXT) -> tuple[RuleFinding, ...]:
    """The findings of one rule."""
    rules = [
        rule for rule in RULES if rule.code == _ASKED.get(code, code) or (code in _READERS and rule.recorded)
    ]
    return tuple(finding for finding in findings(ledger, context, rules=rules) if finding.code == code)


_ASKED: Final = {"BRIEF-UNAVAILABLE": "BRF001"}
"""Codes that are another rule's second voice."""
_READERS: Final = ("BRF001", "FLW001", "VER001")
"""Rules that read what the recorded ones found."""


def imported(*drafts: Event, documents: Mapping[str, bytes] | None = None) -> Book:
    """An imported ledger: its opening, and drafts that all become `by: import` unless they name a role."""
    files = documents or {}
    context = tuple(
        ContextDocument(id=f"K-{n}", name=name, sha256=_sha256(content), bytes=len(content))
        for n, (name, content) in enumerate(files.items(), 1)
    )
    first = structs.replace(
        opening(),
        by="import",
        context=context,
        cast=tuple(CastMember(role=role, title="", charge="", seat="") for role in ROLES[:4]),
        predict=(),
        prompt_set=GENESIS,
        origin=Origin(type="import", tool="skill"),
    )
    events = [first, *drafts]
    numbered = [structs.replace(event, seq=seq, at=AT) for seq, event in enumerate(events)]
    return book(numbered, Store({_sha256(content): content for content in files.values()}))


__all__ = [
    "CHOSEN",
    "CONTEXT",
    "STRESSED",
    "add",
    "base",
    "body",
    "change",
    "cut",
    "end_of",
    "find",
    "imported",
    "judge",
    "opened",
    "seq_of",
    "without_blob",
]
