"""Pairs for references, evidence, quotations and what is cited."""

from __future__ import annotations

from msgspec import structs

from ledger.events import Decision, Ruling, Verification, Vote
from ledger.events.decisions import Cite
from ledger.events.envelope import Evidence, EvidenceClass
from ledger.state.book import Book
from tests.validators.factory import add, base, change, imported, seq_of
from tests.validators.pair import Pair, at
from tests.validators.pairs_roles import CHECK

FILES = {"a.md": b"x", "b.md": b"y"}


def _evidence(*refs: str, which: str = "V-1-1") -> Book:
    return change(which, evidence_refs=tuple(Evidence(ref=ref) for ref in refs))


def _imported_check(*refs: str) -> Book:
    return imported(structs.replace(CHECK, evidence_refs=tuple(Evidence(ref=ref) for ref in refs)))


def _document(ref: str, quote: str | None = None) -> Book:
    pieces = (Evidence(ref=ref, quote=quote), Evidence(ref="A-1-critic#attack-2"))
    return change("V-1-1", evidence_refs=pieces)


def _classed(class_: EvidenceClass) -> Book:
    """V-1-1, where each claim rests on the critic's attack and the action's trace."""
    event = base().by_id["V-1-1"]
    assert isinstance(event, Verification)
    pieces = (Evidence(ref="A-1-critic#attack-2"), Evidence(ref="A-1-action#trace-1-step-3"))
    changes = tuple(
        structs.replace(one, class_=class_, evidence=pieces) for one in event.claim_status_changes
    )
    return change("V-1-1", claim_status_changes=changes)


def _cites(*cites: Cite, which: str = "D-3-1") -> Book:
    return change(which, cites=cites)


def _cite(identity: str, type_: str = "claim", relation: str = "based-on") -> Cite:
    return Cite(type=type_, id=identity, relation=relation)  # type: ignore[arg-type]  # the tests try wrong ones


def _dissent(**fields: str) -> Book:
    """D-1-1 with another dissent than the critic's, which it has."""
    event = base().by_id["D-1-1"]
    assert isinstance(event, Decision), "D-1-1 is a decision"
    (dissent,) = event.dissent
    return change("D-1-1", dissent=(structs.replace(dissent, **fields),))


def end_of_base() -> int:
    """The last event of the ledger that pairs begin with."""
    return base().events[-1].seq


def _vote(view: str, *, lost: bool) -> Vote:
    return Vote(
        id=f"VO-3-2-{view}",
        round=3,
        phase="revise",
        by="controller" if lost else view,
        ballot=2,
        decision="REFUSE" if lost else "ACT",
        confidence=90,
        risk=10,
        reasoning="For a reason.",
        fallback=lost,
    )


def _ruling(decision: str) -> Ruling:
    return Ruling(
        round=3,
        phase="revise",
        by="controller",
        decision=decision,  # type: ignore[arg-type]  # one of the literals
        rule="strong_majority",
        rules="documented",
        votes=(),
        metadata={},
    )


def _action(**fields: object) -> Book:
    return change("A-1-action", **fields)


PAIRS = (
    Pair("REF001", lambda: change("V-1-2", claims_affected=("C-1-2", "C-9-1")), lambda: seq_of("V-1-2")),
    Pair(
        "REF001",
        lambda: change("V-1-2", claims_affected=("C-1-2", "C-1-6")),
        lambda: seq_of("V-1-2"),
        lambda: change("V-1-2", claims_affected=("C-1-2", "C-1-5")),
        why="a claim that is raised later",
    ),
    Pair("REF002", lambda: _evidence("A-1-action#trace-9", "A-1-critic#attack-2"), lambda: seq_of("V-1-1")),
    Pair(
        "REF002",
        lambda: _evidence("S-1-F-critic#summary", "A-1-critic#attack-2"),
        lambda: seq_of("V-1-1"),
        lambda: _evidence("S-1-C-critic#p1", "A-1-critic#attack-2"),
        why="a section that is written later",
    ),
    Pair(
        "REF002",
        lambda: _document("K-1#L3-L9"),
        lambda: seq_of("V-1-1"),
        lambda: _document("K-1#L1-L2"),
        why="lines of a document",
    ),
    Pair(
        "REF002",
        lambda: imported(CHECK, documents={"a.md": b"x"}),
        at(1),
        lambda: imported(CHECK, documents=FILES),
        severity="warning",
        why="files of an import",
    ),
    Pair(
        "REF003",
        lambda: _action(cites=("D-3-1",)),
        lambda: seq_of("A-1-action"),
        lambda: _action(cites=("K-1",)),
    ),
    Pair("REF003", lambda: change("S-1-C-critic", responds_to=("D-1-1",)), lambda: seq_of("S-1-C-critic")),
    Pair(
        "REF003",
        lambda: change("N-1-1", between=("action", "C-2-1")),
        lambda: seq_of("N-1-1"),
        lambda: change("N-1-1", between=("guardian", "C-1-1")),
        why="parties of a tension",
    ),
    Pair("REF003", lambda: change(40, through=40), at(40), why="a validation of itself"),
    Pair(
        "REF003",
        lambda: change("A-1-action", saw=(0, 2, 1)),
        lambda: seq_of("A-1-action"),
        why="saw is sorted",
    ),
    Pair(
        "REF003",
        lambda: change("A-1-action", saw=(0, 90)),
        lambda: seq_of("A-1-action"),
        why="saw is earlier",
    ),
    Pair(
        "REF004",
        lambda: _document("K-1#L2", "many writers"),
        lambda: seq_of("V-1-1"),
        lambda: _document("K-1#L2", "many  readers"),
        why="white space is no difference",
    ),
    Pair(
        "REF004",
        lambda: _document("A-1-action#trace-1-step-3", "append line 7"),
        lambda: seq_of("V-1-1"),
        why="another step's words",
    ),
    Pair(
        "REF005",
        lambda: _imported_check("a.md#x-1"),
        at(1),
        lambda: _evidence("A-1-critic#attack-2"),
        why="one piece is enough where each claim has evidence of its own",
    ),
    Pair(
        "REF005",
        lambda: _imported_check("a.md#x-1", "a.md#x-1"),
        at(1),
        lambda: _imported_check("a.md#x-1", "a.md#x-2"),
        why="the same piece twice",
    ),
    Pair(
        "REF007",
        lambda: _classed("reproduced"),
        lambda: seq_of("V-1-1"),
        lambda: _classed("argued"),
    ),
    Pair("REF006", lambda: change("D-1-1", anchor_ref="G-7"), lambda: seq_of("D-1-1")),
    Pair(
        "REF006",
        lambda: change("C-1-1", about=("O-1", "O-3")),
        lambda: seq_of("C-1-1"),
        lambda: change("C-1-1", about=("O-2",)),
    ),
    Pair(
        "DEC005",
        lambda: add(base(), _vote("safety", lost=True), _ruling("ACT")),
        lambda: end_of_base() + 2,
        lambda: add(base(), _vote("utility", lost=True), _vote("safety", lost=False), _ruling("ACT")),
        why="R-1: another view's vote may be lost",
    ),
    Pair(
        "DEC005",
        lambda: add(base(), _vote("safety", lost=True), _ruling("ACT")),
        lambda: end_of_base() + 2,
        lambda: add(base(), _vote("safety", lost=True), _ruling("REFUSE")),
    ),
    Pair("DEC001", lambda: _cites(), lambda: seq_of("D-3-1")),
    Pair(
        "DEC002",
        lambda: _cites(_cite("C-1-1")),
        lambda: seq_of("D-3-1"),
        lambda: _cites(_cite("C-1-1"), _cite("C-2-2")),
        severity="warning",
        why="one claim that stands is enough",
    ),
    Pair(
        "DEC002",
        lambda: _cites(_cite("C-1-1"), _cite("V-2-4", "verification")),
        lambda: seq_of("D-3-1"),
        lambda: _cites(_cite("C-1-1"), _cite("V-1-1", "verification")),
        severity="warning",
        why="a refuted claim supports nothing, the test that refuted it does",
    ),
    Pair(
        "DEC002",
        lambda: _cites(_cite("C-1-3"), which="D-1-1"),
        lambda: seq_of("C-3-4"),
        severity="warning",
        why="from the event that takes the footing away",
    ),
    Pair(
        "DEC006",
        lambda: _cites(_cite("C-1-3")),
        lambda: seq_of("D-3-1"),
        lambda: _cites(_cite("C-1-3"), which="D-1-1"),
        severity="warning",
        why="R-16: it had fallen before; what falls later is no fault of the author",
    ),
    Pair(
        "DEC006",
        lambda: change(
            "D-3-1",
            _cites(_cite("C-1-3"), which="D-1-1"),
            cites=(_cite("D-1-1", "decision", "builds-on"),),
        ),
        lambda: seq_of("D-3-1"),
        lambda: change(
            "D-3-1",
            _cites(_cite("C-1-3"), which="D-1-1"),
            cites=(_cite("D-1-1", "decision", "supersedes"), _cite("C-2-2")),
        ),
        severity="warning",
        why="R-16: built on a decision that was at risk by then; one that supersedes it is not",
    ),
    Pair("DEC003", lambda: _cites(_cite("C-9-9")), lambda: seq_of("D-3-1"), why="nothing"),
    Pair("DEC003", lambda: _cites(_cite("@²", "verification")), lambda: seq_of("D-3-1"), why="no number"),
    Pair(
        "DEC003",
        lambda: _cites(_cite("V-3-6", "verification")),
        lambda: seq_of("D-3-1"),
        lambda: _cites(_cite("H-2", "drift_check"), _cite("C-2-2")),
        why="what comes later",
    ),
    Pair("DEC003", lambda: _cites(_cite("V-3-2", "claim")), lambda: seq_of("D-3-1"), why="of another kind"),
    Pair(
        "DEC003",
        lambda: _cites(_cite("C-2-2", "claim", "overturns")),
        lambda: seq_of("D-3-1"),
        lambda: _cites(_cite("D-2-1", "decision", "overturns"), _cite("C-2-2")),
        why="only decisions are overturned",
    ),
    Pair("DEC004", lambda: _dissent(text="It is well."), lambda: seq_of("D-1-1"), why="in other words"),
    Pair("DEC004", lambda: _dissent(role="guardian"), lambda: seq_of("D-1-1"), why="of another role"),
    Pair(
        "DEC004",
        lambda: _dissent(ref="S-1-C-critic"),
        lambda: seq_of("D-1-1"),
        why="where it does not stand",
    ),
    Pair(
        "DEC004",
        lambda: _dissent(ref="S-3-S-review-critic", text="Two appends and one crash still lose a line."),
        lambda: seq_of("D-1-1"),
        lambda: change("D-1-1", dissent=()),
        why="said later",
    ),
)
