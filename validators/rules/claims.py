"""Claims: testable, and moved along their lifecycle by tests alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ledger.events import Claim, Verification
from ledger.state.lifecycle import STATUS_OF_BEARING, TESTED, TRANSITIONS
from roles.asof import stands_for
from validators.finding import Breach
from validators.ledger_index import LedgerIndex
from validators.rule import rule


@rule("CLM001", "error", source="SD-42, SD-49 (6)", published=6)
def claim_is_testable(index: LedgerIndex) -> Iterator[Breach]:
    """A claim says which observable outcome would test it.

    A claim that nothing could disprove cannot support a decision.
    """
    for event in index.events:
        if isinstance(event, Claim) and not event.testable_as.strip():
            yield Breach(event.seq, f"{event.id} says nothing that would test it")


@rule("CLM002", "warning", source="SD-42, SD-82")
def test_is_not_the_claim(index: LedgerIndex) -> Iterator[Breach]:
    """The test of a claim is more than the claim said again.

    A test that restates its claim is passed by believing it.
    """
    for event in index.events:
        if isinstance(event, Claim) and event.text.strip() and _bare(event.text) == _bare(event.testable_as):
            yield Breach(event.seq, f"{event.id} is to be tested by itself: testable_as repeats its text")


def _bare(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!")


@rule("LIF001", "error", source="SD-44, SD-50, FORMAT 2 (`bearing`)")
def status_change_starts_where_the_claim_stood(index: LedgerIndex) -> Iterator[Breach]:
    """`from` of a status change is the status that the claim had when the step's group opened.

    In an import, and for steps of no group: just before. A wrong `from` would let a verdict claim a move that it did
    not make.
    """
    for event in index.events:
        if not isinstance(event, Verification):
            continue
        for change in event.claim_status_changes:
            # Steps of one group work in parallel, so each states the status at the group's opening and not
            # after its siblings.
            stood = index.stood_at_opening(change.claim_id, event)
            if stood is not None and change.from_ != stood:
                yield Breach(
                    event.seq, f"{event.id} moves {change.claim_id} from {change.from_}; it was {stood}"
                )


@rule("LIF002", "error", source="SD-43, SD-44, SD-46, FORMAT 2 (`bearing`, `repeats`)")
def status_change_is_legal(index: LedgerIndex) -> Iterator[Breach]:
    """A claim moves only along the status machine, once in a verification, never by a re-judgement.

    pending may be tested; what was tested may be tested again; superseded is final, and only a later claim supersedes.
    """
    for event in index.events:
        if not isinstance(event, Verification):
            continue
        counts = Counter(change.claim_id for change in event.claim_status_changes)
        for identity in (claim for claim, count in counts.items() if count > 1):
            yield Breach(event.seq, f"{event.id} moves {identity} {counts[identity]} times")
        if event.repeats is not None and event.claim_status_changes:
            yield Breach(event.seq, f"{event.id} repeats {event.repeats} and yet moves claims")
        for change in event.claim_status_changes:
            if change.to == "superseded":
                yield Breach(event.seq, f"{event.id} supersedes {change.claim_id}; only a claim can")
            # The stated `from` is used here. Whether it is the real status is LIF001's question.
            elif change.to not in TRANSITIONS[change.from_]:
                yield Breach(
                    event.seq, f"{event.id} moves {change.claim_id} from {change.from_} to {change.to}"
                )


@rule("LIF003", "error", source="SD-44, SD-45, FORMAT 2 (`bearing`)")
def status_follows_its_bearing(index: LedgerIndex) -> Iterator[Breach]:
    """A status follows from its test's bearing, and the bearing agrees with the result.

    A BROKEN check can confirm a claim ("X has a flaw"), so the result alone says nothing; but an UNCLEAR one decides
    nothing, and an inapplicable one moves nothing.
    """
    for event in index.events:
        if not isinstance(event, Verification):
            continue
        if event.result == "NOT_APPLICABLE" and event.claim_status_changes:
            yield Breach(event.seq, f"{event.id} is NOT_APPLICABLE and moves claims")
            continue
        for change in event.claim_status_changes:
            due = STATUS_OF_BEARING[change.bearing]
            # A supersession by a verification is already reported by LIF002.
            if change.to != due and change.to != "superseded":
                yield Breach(
                    event.seq,
                    f"{event.id}: {change.bearing} leads {change.claim_id} to {due}, not {change.to}",
                )
            # BROKEN and ROBUST describe the checked thing, bearing the claim: only the undecided case must
            # agree.
            if (change.bearing == "inconclusive") != (event.result == "UNCLEAR"):
                yield Breach(
                    event.seq,
                    f"{event.id} is {event.result}, which is never {change.bearing} ({change.claim_id})",
                )


@rule("LIF004", "error", source="SD-37, SD-49 (3)", published=3)
def changed_claims_are_affected(index: LedgerIndex) -> Iterator[Breach]:
    """A claim that was tested is among the affected claims of what tested it.

    Otherwise a status would have changed without any record that it was tested. The published rule asked for any
    verification; this one asks for the one that moved it.
    """
    for event in index.events:
        if isinstance(event, Verification):
            changed = dict.fromkeys(change.claim_id for change in event.claim_status_changes)
            for identity in changed:
                if identity not in event.claims_affected:
                    yield Breach(event.seq, f"{event.id} moves {identity} and does not list it as affected")


@rule("LIF005", "error", source="SD-44, SD-46, SD-49 (4), SD-50, FORMAT 2 (`supersedes`)", published=4)
def superseded_claim_has_a_successor(index: LedgerIndex) -> Iterator[Breach]:
    """A claim supersedes an earlier claim that was tested, and never itself.

    A pending claim that disappears was never tested. Closes the holes that "later" was not checked and that a claim
    could supersede itself.
    """
    for event in index.events:
        if not isinstance(event, Claim) or event.supersedes is None:
            continue
        older = event.supersedes
        if older == event.id:
            yield Breach(event.seq, f"{event.id} supersedes itself")
        elif not isinstance(index.earlier(older, event.seq), Claim):
            yield Breach(event.seq, f"{event.id} supersedes {older}, which is no claim raised before it")
        else:
            stood = index.stood_at_opening(older, event)
            # For a step whose opening is unknown the status cannot be told, and ORD004 reports that step.
            known = event.step is None or stands_for(index.openings.of, event.step) is not None
            if known and stood not in TESTED:
                was = stood or "not yet raised"
                yield Breach(event.seq, f"{event.id} supersedes {older}, which was {was}, not tested")


@rule("STY010", "warning", source='SD-44 ("later stricter claim")')
def successor_has_another_author(index: LedgerIndex) -> Iterator[Breach]:
    """A claim is superseded by another role than the one that raised it.

    Replacing one's own claim is allowed, but it is also how a refuted claim quietly returns. Check whether the
    successor
    is stricter.
    """
    for event in index.events:
        if not isinstance(event, Claim) or event.supersedes is None:
            continue
        older = index.earlier(event.supersedes, event.seq)
        # A warning only: an author may well correct its own claim after a test.
        if isinstance(older, Claim) and older.raised_by == event.raised_by:
            yield Breach(
                event.seq, f"{event.raised_by} replaces its own {older.id} by {event.id}: is it stricter?"
            )
