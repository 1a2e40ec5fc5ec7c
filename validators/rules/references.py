"""References and evidence: what an event points at is there, is earlier, says what is quoted from it, and is enough."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from ledger.events import (
    KINDS,
    Artifact,
    Claim,
    Concern,
    DriftCheck,
    Event,
    ExperimentPlanned,
    Rating,
    Verification,
)
from ledger.events.envelope import Evidence
from ledger.events.ids import parse_reference, round_of
from ledger.events.kinds import values_at
from ledger.state.book import contains_quote, rows_of, written
from ledger.state.decided import deliberated
from roles.evidence import evidence_class, exhibits
from validators.finding import Breach
from validators.ledger_index import LedgerIndex
from validators.rule import rule


def named_at(event: Event, paths: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield (field, value) for the values at the given paths."""
    for path in paths:
        for value in values_at(event, path):
            yield path.partition("[]")[0], value


def references(event: Event) -> Iterator[tuple[str, str]]:
    """Yield (field, ref) of every reference that must resolve, except a verification's own evidence."""
    yield from named_at(event, KINDS[event.kind].refs)
    if isinstance(event, Artifact):
        yield from _inside(event)
    # Evidence of verifications has a rule of its own (REF002), with other bounds for imports.
    if event.kind != "verification":
        for field, evidence in all_evidence(event):
            yield field, evidence.ref


def _inside(event: Artifact) -> Iterator[tuple[str, str]]:
    target = event.body.get("target")
    if isinstance(target, str):
        yield "body.target", target
    for n, trace in enumerate(rows_of(event.body, "traces")):
        for hook in cast("list[Any]", trace.get("hooks") or []):
            if isinstance(hook, str):
                yield f"body.traces[{n}].hooks", hook


def all_evidence(event: Event) -> Iterator[tuple[str, Evidence]]:
    """Yield (field, evidence) of every piece of evidence of an event."""
    for field in ("evidence_refs", "evidence", "because", "quotes"):
        value = getattr(event, field, ())
        if isinstance(value, tuple):
            for evidence in cast("tuple[Any, ...]", value):
                if isinstance(evidence, Evidence):
                    yield field, evidence
    if isinstance(event, Verification):
        for change in event.claim_status_changes:
            yield from (("claim_status_changes", evidence) for evidence in change.evidence)
    for anchor in getattr(event, "anchors", ()):
        yield from (("anchors", evidence) for evidence in anchor.evidence)
    if isinstance(event, Artifact):
        for entry in rows_of(event.body, "evidence"):
            # Bodies of imported artifacts are free JSON, so every type is checked before use.
            if isinstance(entry.get("ref"), str):
                yield "body.evidence", Evidence(ref=entry["ref"], quote=entry.get("quote"))


@rule("REF003", "error", source="FORMAT 1 (12), FORMAT 2 (`Ref`), SD-5, SD-50")
def reference_is_earlier(event: Event, index: LedgerIndex) -> Iterator[str]:
    """What an event refers to is already on the ledger.

    An event that leans on a later one was written with knowledge it could not have, or was moved. References of
    verifications and decisions have rules of their own.
    """
    options = {option.id for option in index.opened.options} if index.opened else ()
    for field, identity in named_at(event, KINDS[event.kind].ids):
        # Ratings and standings may be about an option, which is named by the opening and not by an event.
        if identity not in options and index.earlier(identity, event.seq) is None:
            yield f"{field} names {identity}, which is not on the ledger before it"
    for field, seq in named_at(event, KINDS[event.kind].seqs):
        if isinstance(seq, int) and not 0 <= seq < event.seq:
            yield f"{field} is {seq}, which is no earlier event"
    # Refs of imports are paths of the source and do not resolve to events.
    for field, ref in references(event) if event.by != "import" else ():
        if index.passages(ref, event.seq) is None:
            yield f"{field} points at {ref!r}, which is not on the ledger before it"
    for party in event.between if isinstance(event, Concern) else ():
        if party not in index.roles and index.earlier(party, event.seq) is None:
            yield f"between names {party}, neither a role nor an earlier event"
    if event.saw != tuple(sorted(set(event.saw))):
        yield "saw is not sorted and unique"
    if max(event.saw, default=-1) >= event.seq:
        yield "saw names an event that is not earlier"


@rule("REF004", "error", source='SD-10, SD-11, FORMAT 5 ("a quote matches")')
def quote_stands_there(event: Event, index: LedgerIndex) -> Iterator[Breach | str]:
    """A quotation occurs word for word at its reference.

    An invented quotation is worse than none: it looks checked.
    """
    for field, evidence in all_evidence(event):
        if evidence.quote is None or index.was_redacted(evidence.ref):
            continue
        texts = _with_output(index, evidence.ref, event.seq)
        # a reference that leads nowhere is the rule of references' to say
        if texts is not None and not contains_quote(texts, evidence.quote):
            what = f"{field}: the quotation does not stand at {evidence.ref}"
            # In a redacted copy one side of the quotation may have lost its words.
            if index.was_reworded(event, evidence.ref):
                yield Breach(event.seq, f"{what}, where words were redacted", "warning")
            else:
                yield what


def _with_output(index: LedgerIndex, ref: str, before: int) -> tuple[str, ...] | None:
    """Return the texts at a reference, with an experiment's output; None where it cannot be looked up."""
    texts = index.passages(ref, before)
    if texts is None or not isinstance(index.book.by_id.get(ref), ExperimentPlanned):
        return texts
    output = written(index.book, ref, before)
    # Part of the output was removed, so a quotation may have been in the missing part.
    return None if None in output else (*texts, *(text for text in output if text))


@rule("REF006", "error", source="FORMAT 2, FORMAT 3")
def goal_and_option_are_known(event: Event, index: LedgerIndex) -> Iterator[str]:
    """Goals and options that an event names are those of the run's opening, or options that its agenda made.

    Drift is measured by what serves which goal; a goal made up on the way would always be served.
    """
    if index.opened is None:
        return
    for goal in set(_goals(event)) - {entry.id for entry in index.opened.goals}:
        yield f"{goal!r} is no goal of this run"
    for option in set(_options(event)) - {entry.id for entry in index.book.state.options}:
        yield f"{option!r} is no option of this run"


def _goals(event: Event) -> Iterator[str]:
    anchor = getattr(event, "anchor_ref", None)
    if isinstance(anchor, str):
        yield anchor
    if isinstance(event, Artifact):
        yield from (claim.anchor_ref for claim in event.proposed_claims if claim.anchor_ref is not None)
    if isinstance(event, DriftCheck):
        yield from (entry.goal for entry in event.anchors)


def _options(event: Event) -> Iterator[str]:
    # These two define options; all other events only name them.
    if event.kind not in ("run_opened", "agenda"):
        yield from getattr(event, "about", ())
        yield from getattr(event, "options", ())
    if isinstance(event, Artifact):
        yield from (option for claim in event.proposed_claims for option in claim.about)


SCALES: Final[Mapping[str, tuple[int | str, ...]]] = {
    "severity_1_5": (1, 2, 3, 4, 5),
    "effectiveness_1_5": (1, 2, 3, 4, 5),
    "criterion_1_5": (1, 2, 3, 4, 5),
    "confidence_1_5": (1, 2, 3, 4, 5),
    "priority_p": ("P0", "P1", "P2", "P3"),
    "weight_hml": ("High", "Medium", "Low"),
}
"""Scale → its values; a sighting names a role or a round and has none."""


@rule("RAT001", "error", source="FORMAT 2 (`rating`), AD-5, AD-12, AD-28")
def rating_is_on_its_scale(event: Rating) -> Iterator[str]:
    """A rating's value is on the scale that it names.

    A level that the scale does not have cannot be added up or compared.
    """
    values = SCALES.get(event.scale)
    # `True == 1` in Python, so a boolean would pass as the lowest level.
    if values is not None and (event.value not in values or isinstance(event.value, bool)):
        yield f"{event.value!r} is no value of {event.scale}"


@rule("STY011", "warning", source="SD-5, SD-32, SD-33")
def artifact_cites_the_past(index: LedgerIndex) -> Iterator[Breach]:
    """Once something is decided, every artifact cites something from an earlier round.

    Check 4 compares artifacts with earlier decisions. An artifact that cites none can silently contradict all of
    them.
    """
    state = index.book.state
    first = next((state.decisions[identity] for identity in deliberated(state)), None)
    for event in index.events:
        if first is None:
            return
        if isinstance(event, Artifact) and first.seq < event.seq and first.round < event.round:
            # Any earlier round will do. The rule asks whether the past was read, not which part of it.
            rounds = (round_of(parse_reference(ref).id) for _, ref in references(event))
            if not any(round_ is not None and round_ < event.round for round_ in rounds):
                yield Breach(event.seq, f"{event.id} cites nothing of an earlier round")


@rule("REF001", "error", source="SD-49 (1), SD-50", published=1)
def affected_claims_exist(event: Verification, index: LedgerIndex) -> Iterator[str]:
    """Every claim that a verification tests or moves was raised before.

    A verdict on a claim that was never raised, or raised later, tests nothing.
    """
    named = (*event.claims_affected, *(change.claim_id for change in event.claim_status_changes))
    for identity in dict.fromkeys(named):
        if not isinstance(index.earlier(identity, event.seq), Claim):
            yield f"{event.id} names {identity}, which is no claim raised before it"


@rule("REF002", "error", source="SD-49 (2), SD-50, FORMAT 2 (`Ref`), FORMAT 12", published=2)
def evidence_resolves(event: Verification, index: LedgerIndex) -> Iterator[Breach | str]:
    """The evidence of a verification points at a section or at lines that exist.

    It points at a section of an earlier event or at lines of a context document; in an import at a file that came with
    it, where a missing one is a warning. This closes three gaps: sections were never looked up, `#x` pointed at the
    folder, and inapplicable checks could point anywhere.
    """
    of_changes = (evidence for change in event.claim_status_changes for evidence in change.evidence)
    # The same reference may serve several claims; it is reported once.
    refs = dict.fromkeys(evidence.ref for evidence in (*event.evidence_refs, *of_changes))
    lost = [ref for ref in refs if index.passages(ref, event.seq) is None]
    if event.by != "import" and lost:
        what = "no section of an earlier event and no document's lines"
        yield f"{event.id}: {', '.join(map(repr, lost))}: {what}"
    # Refs of an import are paths. The file part decides, because sections of foreign files are not indexed.
    files = {_bare(entry.name) for entry in index.opened.context} if index.opened else ()
    missing = [repr(ref) for ref in lost if _bare(ref.partition("#")[0]) not in files]
    if event.by == "import" and missing:
        what = f"{event.id}: no file came with this import for {', '.join(missing)}"
        yield Breach(event.seq, what, "warning")


def _bare(path: str) -> str:
    return path.strip().removeprefix("./")


PIECES_MIN: Final = 2


@rule("REF005", "error", source="SD-38, SD-49 (7), SD-50", published=7)
def evidence_has_two_references(event: Verification) -> Iterator[str]:
    """A verification has at least two different pieces of evidence, unless it is inapplicable.

    One piece is an anecdote, and the same piece twice is still one. Asked of imports alone: elsewhere each claim that a
    verification moves has evidence of its own, and one piece is enough.
    """
    if event.result != "NOT_APPLICABLE" and event.by == "import":
        # Two different quotes from one place are two pieces of evidence.
        pieces = {(evidence.ref, evidence.quote) for evidence in event.evidence_refs}
        if len(pieces) < PIECES_MIN:
            yield f"{event.id} rests on {len(pieces)} different pieces of evidence, not {PIECES_MIN}"


@rule("REF007", "error", source="FORMAT 2 (`class`)", applies_to_imports=False)
def class_follows_from_its_evidence(event: Verification, index: LedgerIndex) -> Iterator[str]:
    """The class of a status change follows from its own evidence, not from what a seat calls it.

    A document's words are quoted, arithmetic that agrees is calculated, another role's text is argued; a claim that
    rests on its own author alone is stated, not tested. What was run is judged by experiments, never by a verdict. What
    the controller computes from an expression is computed again from the reply.
    """
    if event.by == "controller":
        return
    for change in event.claim_status_changes:
        claim = index.earlier(change.claim_id, event.seq)
        # Verdicts that were recorded before classes existed state none.
        if change.class_ is None or not isinstance(claim, Claim):
            continue
        pieces = exhibits(index.book, change.claim_id, change.evidence)
        # A seat's own word for its evidence is never trusted (SD-45): a higher class would outweigh real
        # tests.
        expected = evidence_class(pieces, claim.raised_by, change.bearing)
        if change.class_ != expected:
            yield f"{event.id} calls {change.claim_id} {change.class_}; its evidence comes to {expected}"


@rule("STY007", "warning", source="SD-10, SD-11, SD-37", applies_to_imports=False)
def evidence_is_quoted(event: Verification) -> Iterator[str]:
    """A verification quotes at least one of the things it rests on.

    A paraphrase is the verifier's word for it; a quotation can be looked up.
    """
    if event.step is None or not event.evidence_refs:
        return
    if _found_nothing(event):
        return
    if not any(evidence.quote for evidence in event.evidence_refs):
        yield f"{event.id} quotes nothing of what it rests on"


@rule("STY008", "warning", source="SD-40, SD-83")
def evidence_is_deep(event: Verification) -> Iterator[str]:
    """At least one piece of a verification's evidence points below a header.

    A reference to a whole artifact or to a section without a number shows that something was opened, not that it was
    read.
    """
    if not event.evidence_refs or _found_nothing(event):
        return
    if all(is_shallow(evidence.ref) for evidence in event.evidence_refs):
        yield f"{event.id} points at headers alone: {event.evidence_refs[0].ref}"


def _found_nothing(event: Verification) -> bool:
    """Return whether documents were read and do not settle the claim, so that there is nothing to quote."""
    return event.phase == "D" and event.result == "UNCLEAR"


def is_shallow(ref: str) -> bool:
    """Return whether a reference names no lines and no numbered section (FORMAT 3)."""
    reference = parse_reference(ref)
    return reference.lines is None and not (reference.section or "")[-1:].isdigit()


@rule("DRF001", "error", source="SD-58, SD-68, FORMAT 2 (`drift_check`)")
def drift_check_covers_every_goal(event: DriftCheck, index: LedgerIndex) -> Iterator[str]:
    """A drift check judges every goal, and only a PASS answers an earlier FAIL.

    A goal that is left out is where a deliberation has drifted from.
    """
    goals = sorted(goal.id for goal in index.opened.goals) if index.opened else []
    if not index.is_imported(event.seq) and sorted(anchor.goal for anchor in event.anchors) != goals:
        yield f"{event.id} does not judge each of {', '.join(goals)} once"
    if event.addresses is not None:
        failed = index.earlier(event.addresses, event.seq)
        # S5 counts answered FAILs, so a wrong `addresses` could satisfy a stop signal.
        if event.verdict != "PASS" or not isinstance(failed, DriftCheck) or failed.verdict != "FAIL":
            yield f"{event.id} addresses {event.addresses}; only a PASS answers an earlier FAIL"
