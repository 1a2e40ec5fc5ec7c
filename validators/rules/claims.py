"""Claims and decisions: the test of a claim, moves of its status, citations of decisions, and ACT without safety."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ledger.events import KINDS, Claim, Decision, Event, Ruling, Verification, Vote
from ledger.state.decided import SUPPORT, Fallen, fallen_under
from ledger.state.lifecycle import FALLEN, STATUS_OF_BEARING, TESTED, TRANSITIONS
from roles.asof import stands_for
from validators.finding import Breach
from validators.ledger_index import LedgerIndex
from validators.rule import rule


@rule("CLM001", "error", source="SD-42, SD-49 (6)", published=6)
def claim_is_testable(event: Claim) -> Iterator[str]:
    """A claim has a text in `testable_as`.

    It is for the observable outcome that would test the claim: one that nothing could disprove cannot support a
    decision. Whether the text names such an outcome is left to the verifier.
    """
    if not event.testable_as.strip():
        yield f"{event.id} says nothing that would test it"


@rule("CLM002", "warning", source="SD-42, SD-82")
def test_is_not_the_claim(event: Claim) -> Iterator[str]:
    """The test of a claim is more than the claim said again.

    A test that restates its claim is passed by believing it.
    """
    if event.text.strip() and _bare(event.text) == _bare(event.testable_as):
        yield f"{event.id} is to be tested by itself: testable_as repeats its text"


def _bare(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".!")


@rule("LIF001", "error", source="SD-44, SD-50, FORMAT 2 (`bearing`)")
def status_change_starts_where_the_claim_stood(event: Verification, index: LedgerIndex) -> Iterator[str]:
    """`from` of a status change is the status that the claim had when the step's group opened.

    In an import, and for steps of no group: just before. A wrong `from` would let a verdict claim a move that it did
    not make.
    """
    for change in event.claim_status_changes:
        # Steps of one group work in parallel, so each states the status at the group's opening and not
        # after its siblings.
        stood = index.stood_at_opening(change.claim_id, event)
        if stood is not None and change.from_ != stood:
            yield f"{event.id} moves {change.claim_id} from {change.from_}; it was {stood}"


@rule("LIF002", "error", source="SD-43, SD-44, SD-46, FORMAT 2 (`bearing`, `repeats`)")
def status_change_is_legal(event: Verification) -> Iterator[str]:
    """A verification moves a claim at most once, as the status machine allows from the stated `from`.

    pending may be tested; what was tested may be tested again; superseded is final. A verification supersedes nothing,
    and one that repeats another moves nothing. LIF001 compares `from` with the claim.
    """
    counts = Counter(change.claim_id for change in event.claim_status_changes)
    for identity in (claim for claim, count in counts.items() if count > 1):
        yield f"{event.id} moves {identity} {counts[identity]} times"
    if event.repeats is not None and event.claim_status_changes:
        yield f"{event.id} repeats {event.repeats} and yet moves claims"
    for change in event.claim_status_changes:
        if change.to == "superseded":
            yield f"{event.id} supersedes {change.claim_id}; only a claim can"
        # The stated `from` is used here. Whether it is the real status is LIF001's question.
        elif change.to not in TRANSITIONS[change.from_]:
            yield f"{event.id} moves {change.claim_id} from {change.from_} to {change.to}"


@rule("LIF003", "error", source="SD-44, SD-45, FORMAT 2 (`bearing`)")
def status_follows_its_bearing(event: Verification) -> Iterator[str]:
    """A status follows from its test's bearing, and the bearing agrees with the result.

    A BROKEN check can confirm a claim ("X has a flaw"), so the result alone says nothing; but an UNCLEAR one decides
    nothing, and an inapplicable one moves nothing.
    """
    if event.result == "NOT_APPLICABLE" and event.claim_status_changes:
        yield f"{event.id} is NOT_APPLICABLE and moves claims"
        return
    for change in event.claim_status_changes:
        due = STATUS_OF_BEARING[change.bearing]
        # A supersession by a verification is already reported by LIF002.
        if change.to != due and change.to != "superseded":
            yield f"{event.id}: {change.bearing} leads {change.claim_id} to {due}, not {change.to}"
        # BROKEN and ROBUST describe the checked thing, bearing the claim: only the undecided case must
        # agree.
        if (change.bearing == "inconclusive") != (event.result == "UNCLEAR"):
            yield f"{event.id} is {event.result}, which is never {change.bearing} ({change.claim_id})"


@rule("LIF004", "error", source="SD-37, SD-49 (3)", published=3)
def changed_claims_are_affected(event: Verification) -> Iterator[str]:
    """A claim that was tested is among the affected claims of what tested it.

    Otherwise a status would have changed without any record that it was tested. The published rule asked for any
    verification; this one asks for the one that moved it.
    """
    changed = dict.fromkeys(change.claim_id for change in event.claim_status_changes)
    for identity in changed:
        if identity not in event.claims_affected:
            yield f"{event.id} moves {identity} and does not list it as affected"


@rule("LIF005", "error", source="SD-44, SD-46, SD-49 (4), SD-50, FORMAT 2 (`supersedes`)", published=4)
def superseded_claim_has_a_successor(event: Claim, index: LedgerIndex) -> Iterator[str]:
    """A claim supersedes an earlier claim that was tested, and never itself.

    A pending claim that disappears was never tested. Closes the holes that "later" was not checked and that a claim
    could supersede itself.
    """
    if event.supersedes is None:
        return
    older = event.supersedes
    if older == event.id:
        yield f"{event.id} supersedes itself"
    elif not isinstance(index.earlier(older, event.seq), Claim):
        yield f"{event.id} supersedes {older}, which is no claim raised before it"
    else:
        stood = index.stood_at_opening(older, event)
        # For a step whose opening is unknown the status cannot be told, and ORD004 reports that step.
        known = event.step is None or stands_for(index.openings.of, event.step) is not None
        if known and stood not in TESTED:
            was = stood or "not yet raised"
            yield f"{event.id} supersedes {older}, which was {was}, not tested"


@rule("STY010", "warning", source='SD-44 ("later stricter claim")')
def successor_has_another_author(event: Claim, index: LedgerIndex) -> Iterator[str]:
    """A claim is superseded by another role than the one that raised it.

    Replacing one's own claim is allowed, but it is also how a refuted claim quietly returns. Check whether the
    successor is stricter.
    """
    if event.supersedes is None:
        return
    older = index.earlier(event.supersedes, event.seq)
    # A warning only: an author may well correct its own claim after a test.
    if isinstance(older, Claim) and older.raised_by == event.raised_by:
        yield f"{event.raised_by} replaces its own {older.id} by {event.id}: is it stricter?"


@rule("DEC001", "error", source="SD-47, SD-49 (5)", published=5)
def decision_rests_on_a_citation(event: Decision) -> Iterator[str]:
    """A decision has at least one citation.

    A decision without a basis cannot fall when its basis falls. A citation of any relation is enough, also one that
    only settles or overturns.
    """
    if not any(cite.id.strip() for cite in event.cites):
        yield f"{event.id} cites nothing"


@rule("DEC002", "warning", source="SD-47, SD-78, SD-99, FORMAT 5 (*in force*)", version=2)
def decision_rests_on_tested_claims(event: Decision, index: LedgerIndex) -> Iterator[Breach]:
    """Of the claims that a decision rests on, at least one has been tested and has not fallen, or it cites a test.

    A refuted claim supports nothing, but the measurement, program or check that refuted it does. Reported at the event
    that made it so, and gone with the one that mends it. This is not AT RISK (decided.py): one fallen claim is enough
    for that, and an untested claim is not.
    """
    claims = tuple(cite.id for cite in event.cites if cite.type == "claim" and cite.relation in SUPPORT)
    if claims and not _cites_a_test(event, index):
        yield from _stretches(event, claims, index)


def _cites_a_test(decision: Decision, index: LedgerIndex) -> bool:
    """Return whether a decision rests on a test that confirmed or refuted a claim before it."""
    cited = {cite.id for cite in decision.cites if cite.type != "claim" and cite.relation in SUPPORT}
    return any(
        move.by in cited and move.seq < decision.seq and move.bearing not in (None, "inconclusive")
        for facts in index.book.state.claims.values()
        for move in facts.moves
    )


def _stretches(decision: Decision, claims: tuple[str, ...], index: LedgerIndex) -> Iterator[Breach]:
    # The breach starts and ends with status changes of the cited claims, so only those moments are examined.
    moments = {decision.seq}
    moments.update(seq for claim in claims for seq, _, _ in index.changes(claim) if seq > decision.seq)
    since: int | None = None
    for seq in sorted(moments):
        # One tested claim that holds is enough. A single fallen one makes the decision AT RISK, which is
        # reported elsewhere.
        statuses = [index.status_at(claim, seq) for claim in claims]
        shaky = all(status in (None, "pending", *FALLEN) for status in statuses)
        if shaky and since is None:
            since = seq
        elif not shaky and since is not None:
            yield _breach(decision, claims, since, seq, index)
            since = None
    if since is not None:
        yield _breach(decision, claims, since, None, index)


def _breach(
    decision: Decision, claims: tuple[str, ...], since: int, until: int | None, index: LedgerIndex
) -> Breach:
    standing = ", ".join(f"{claim} is {index.status_at(claim, since) or 'unknown'}" for claim in claims)
    return Breach(since, f"{decision.id} rests on no tested claim that stands: {standing}", until=until)


@rule("DEC006", "warning", source="SD-47, SD-78, FORMAT 2 (*at risk*)", recorded=False)
def decision_rests_on_what_stands(index: LedgerIndex) -> Iterator[Breach]:
    """When a decision is made, nothing that it rests on has fallen already.

    What falls later puts a decision AT RISK, which every output says. A decision that was built on a refuted claim, or
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
def cited_thing_exists(event: Decision, index: LedgerIndex) -> Iterator[str]:
    """What a decision cites is a document of the run, or precedes it and is of the kind that the citation names.

    This closes a gap: the targets of citations were never checked. Rulings, screenings and validations have no id and
    are cited by place, as `@17`. Outside imports, a decision overturns or supersedes nothing but these and decisions.
    """
    documents = {entry.id for entry in index.opened.context} if index.opened else ()
    for cite in event.cites:
        if cite.type == "document" and cite.id in documents:
            continue
        target = index.earlier(cite.id, event.seq) or _at_place(index, cite.id, event.seq)
        # The same words for what comes later: a recorded verdict must not change when the ledger goes on.
        if target is None:
            yield f"{event.id} cites {cite.id}, which is not on the ledger before it"
        elif cite.id.startswith("@") and not _is_cited_by_place(target):
            yield (
                f"{event.id} cites {cite.id}, which is {target.kind_and_id}; by place it can cite only rulings, "
                "screenings and validations"
            )
        elif (KINDS[target.kind].cited_as or target.kind) != cite.type:
            yield f"{event.id} cites {cite.id} as a {cite.type}; it is a {target.kind}"
        elif (
            cite.relation in ("overturns", "supersedes")
            and target.kind != "decision"
            and not _is_cited_by_place(target)
            # Imported decisions may overturn other kinds of events, as their source recorded it.
            and not index.is_imported(event.seq)
        ):
            yield f"{event.id} {cite.relation} {cite.id}, which is no decision"


def _is_cited_by_place(event: Event) -> bool:
    """Return whether a person may overturn an event that has no id, by its place."""
    row = KINDS[event.kind]
    return not row.id and bool(row.cited_as)


def _at_place(index: LedgerIndex, cited: str, before: int) -> Event | None:
    # `isdigit` alone takes digits that `int` does not, such as a superscript.
    seq = int(cited[1:]) if cited.startswith("@") and cited[1:].isascii() and cited[1:].isdigit() else before
    return index.events[seq] if seq < before else None


@rule("DEC005", "error", source="S4-7, S4-9", recorded=False)
def act_has_a_vote_of_safety(index: LedgerIndex) -> Iterator[Breach]:
    """No ruling is ACT after a vote of safety was lost, in any ballot.

    moot 0.1 counted a lost vote of safety as one REFUSE among three, and two of three could act.
    """
    lost: list[str] = []
    for event in index.events:
        if isinstance(event, Vote) and event.fallback and event.id.endswith("-safety"):
            lost.append(event.id)
        # Only ACT is dangerous without a safety vote. REFUSE and WARN need no permission.
        elif isinstance(event, Ruling) and event.decision == "ACT" and lost:
            yield Breach(event.seq, f"the ruling is ACT, and nobody gave {', '.join(lost)}")
