"""Decisions: what they cite and rest on, and the votes that a ruling needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ledger.events import Decision, Event, Ruling, Vote
from ledger.state.decided import SUPPORT, Fallen, fallen_under
from ledger.state.lifecycle import FALLEN
from validators.finding import Breach
from validators.ledger_index import LedgerIndex
from validators.rule import rule


@rule("DEC001", "error", source="SD-47, SD-49 (5)", published=5)
def decision_rests_on_a_citation(index: LedgerIndex) -> Iterator[Breach]:
    """A decision cites at least one thing that it rests on.

    A decision without a basis cannot fall when its basis falls.
    """
    for event in index.events:
        if isinstance(event, Decision) and not any(cite.id.strip() for cite in event.cites):
            yield Breach(event.seq, f"{event.id} cites nothing")


@rule("DEC002", "warning", source="SD-47, SD-78, SD-99, FORMAT 5 (*in force*)")
def decision_rests_on_tested_claims(index: LedgerIndex) -> Iterator[Breach]:
    """Of the claims that a decision rests on, at least one has been tested and has not fallen.

    Reported at the event that made it so, and gone with the one that mends it. This is not AT RISK (decided.py): one
    fallen claim is enough for that, and an untested claim is not.
    """
    for event in index.events:
        if isinstance(event, Decision):
            claims = tuple(
                cite.id for cite in event.cites if cite.type == "claim" and cite.relation in SUPPORT
            )
            if claims:
                yield from _stretches(event, claims, index)


def _stretches(decision: Decision, claims: tuple[str, ...], index: LedgerIndex) -> Iterator[Breach]:
    # The breach starts and ends with status changes of the cited claims, so only those moments are examined.
    moments = {decision.seq}
    moments.update(seq for claim in claims for seq, _, _ in index.changes(claim) if seq > decision.seq)
    since: int | None = None
    for seq in sorted(moments):
        # One tested claim that holds is enough. A single fallen one makes the decision AT RISK, which is
        # reported elsewhere.
        shaky = all(_is_shaky(claim, seq, index) for claim in claims)
        if shaky and since is None:
            since = seq
        elif not shaky and since is not None:
            yield _breach(decision, claims, since, seq, index)
            since = None
    if since is not None:
        yield _breach(decision, claims, since, None, index)


def _is_shaky(claim: str, through: int, index: LedgerIndex) -> bool:
    status = index.status_at(claim, through)
    return status is None or status == "pending" or status in FALLEN


def _breach(
    decision: Decision, claims: tuple[str, ...], since: int, until: int | None, index: LedgerIndex
) -> Breach:
    standing = ", ".join(f"{claim} is {index.status_at(claim, since) or 'unknown'}" for claim in claims)
    return Breach(since, f"{decision.id} rests on no tested claim that stands: {standing}", until=until)


@rule("DEC006", "warning", source="SD-47, SD-78, FORMAT 2 (*at risk*)", recorded=False)
def decision_rests_on_what_stands(index: LedgerIndex) -> Iterator[Breach]:
    """When a decision is made, nothing that it rests on has fallen already.

    What falls later puts a decision AT RISK, which every output says. A decision that was built on a refuted claim,
    or
    on a decision that was AT RISK by then, should have been caught by its author.
    """
    state = index.book.state
    for identity, facts in state.decisions.items():
        # Judged as of the decision. What falls later is no fault of its author.
        fallen = fallen_under(state, identity, at=facts.seq)
        if fallen:
            summary = "; ".join(map(_fallen_in_words, fallen))
            yield Breach(facts.seq, f"{identity} rests on what did not stand when it was made: {summary}")


def _fallen_in_words(fallen: Fallen) -> str:
    through = f", through {', '.join(fallen.through)}" if fallen.through else ""
    return f"{fallen.id} ({fallen.status}{through})"


@rule("DEC003", "error", source="SD-47, SD-50, FORMAT 2 (`decision`)")
def cited_thing_exists(index: LedgerIndex) -> Iterator[Breach]:
    """What a decision cites is on the ledger before it and is what the citation calls it.

    This closes a gap: the targets of citations were never checked. Only a decision is overturned or superseded by a
    decision.
    """
    for event in index.events:
        if not isinstance(event, Decision):
            continue
        for cite in event.cites:
            if cite.type == "document" and cite.id in _documents(index):
                continue
            # Rulings and screenings have no id and are cited by place, as `@17`.
            target = index.earlier(cite.id, event.seq) or _by_place(index, cite.id, event.seq)
            if target is None:
                what = "later" if cite.id in index.book.by_id else "not on the ledger"
                yield Breach(event.seq, f"{event.id} cites {cite.id}, which is {what}")
            elif (_COUNTS_AS | _CALLED).get(target.kind, target.kind) != cite.type:
                yield Breach(event.seq, f"{event.id} cites {cite.id} as a {cite.type}; it is a {target.kind}")
            elif (
                cite.relation in ("overturns", "supersedes")
                and target.kind not in ("decision", *_COUNTS_AS)
                # Imported decisions may overturn other kinds of events, as their source recorded it.
                and not index.is_imported(event.seq)
            ):
                yield Breach(event.seq, f"{event.id} {cite.relation} {cite.id}, which is no decision")


_COUNTS_AS: Final = {"ruling": "decision", "screening": "verification", "validation": "verification"}
"""Kinds without an id that a person may overturn by their place, and what a citation calls them."""


_CALLED: Final = {"experiment_planned": "experiment"}
"""What else a citation calls by another name than its kind."""


def _documents(index: LedgerIndex) -> frozenset[str]:
    return frozenset(entry.id for entry in index.opened.context) if index.opened else frozenset()


def _by_place(index: LedgerIndex, cited: str, than: int) -> Event | None:
    seq = int(cited[1:]) if cited.startswith("@") and cited[1:].isdigit() else than
    event = index.events[seq] if seq < than else None
    return event if event is not None and event.kind in _COUNTS_AS else None


@rule("DEC005", "error", source="S4-7, S4-9", recorded=False)
def act_has_a_vote_of_safety(index: LedgerIndex) -> Iterator[Breach]:
    """A ruling ACT is made with a vote of safety in every ballot.

    moot 0.1 counted a lost vote of safety as one REFUSE among three, and two of three could act.
    """
    lost: list[str] = []
    for event in index.events:
        if isinstance(event, Vote) and event.fallback and str(event.id).endswith("-safety"):
            lost.append(str(event.id))
        # Only ACT is dangerous without a safety vote. REFUSE and WARN need no permission.
        elif isinstance(event, Ruling) and event.decision == "ACT" and lost:
            yield Breach(event.seq, f"the ruling is ACT, and nobody gave {', '.join(lost)}")
