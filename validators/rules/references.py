"""References: what an event points at is there, is earlier, and says what is quoted from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from ledger.events import (
    Agenda,
    Artifact,
    Concern,
    DriftCheck,
    Event,
    ExperimentPlanned,
    Memo,
    Rating,
    Verification,
)
from ledger.events.ids import parse_reference, round_of
from ledger.events.values import Evidence
from ledger.state.anchors import contains_quote, written
from ledger.state.decided import deliberated
from validators.finding import Breach
from validators.ledger_index import LedgerIndex
from validators.rule import rule

IDS: Final[dict[str, tuple[str, ...]]] = {
    "statement": ("responds_to",),
    "verification": ("repeats",),
    "response": ("to",),
    "drift_check": ("addresses",),
    "disposition": ("of",),
    "rating": ("of",),
    "score": ("of", "order"),
    "standing": ("of",),
    "run_closed": ("outcome", "open"),
    "experiment_planned": ("claims",),
    "experiment_run": ("of",),
    "experiment_judged": ("of",),
}
"""Kind → fields with ids of earlier events."""


REFS: Final[dict[str, tuple[str, ...]]] = {
    "artifact": ("cites",),
    "claim": ("raised_at_artifact", "places"),
    "challenge": ("target",),
    "response": ("revised",),
    "decision": ("round_artifact_refs", "claims"),
}
"""Kind → fields with references, `<id>#<section>`."""


SEQS: Final[dict[str, tuple[str, ...]]] = {
    "ruling": ("votes",),
    "validation": ("through",),
    "signals": ("through",),
    "alarm": ("closes",),
    "amendment": ("cause",),
    "round_opened": ("cause",),
    "run_closed": ("through",),
}
"""Kind → fields with the seq of earlier events."""


def values(event: Event, fields: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Yield (field, value) of the given fields, lists one by one, null left out."""
    for field in fields:
        value = getattr(event, field)
        for entry in cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,):
            if entry is not None:
                yield field, entry


def references(event: Event) -> Iterator[tuple[str, str]]:
    """Yield (field, ref) of every reference that must resolve, except a verification's own evidence."""
    yield from values(event, REFS.get(event.kind, ()))
    match event:
        case Artifact():
            yield from _inside(event)
        case Agenda():
            yield from (("merged", ref) for proposal in event.merged for ref in proposal.from_)
            yield from (("dropped", proposal.from_) for proposal in event.dropped)
        case Memo():
            yield from (("sentences", ref) for sentence in event.sentences for ref in sentence.refs)
        case DriftCheck():
            yield from (("sentences", check.of) for check in event.sentences)
        case _:
            pass
    # Evidence of verifications has a rule of its own (REF002), with other bounds for imports.
    if event.kind != "verification":
        for field, evidence in all_evidence(event):
            yield field, evidence.ref


def _inside(event: Artifact) -> Iterator[tuple[str, str]]:
    target = event.body.get("target")
    if isinstance(target, str):
        yield "body.target", target
    for n, trace in enumerate(_dicts(event.body.get("traces"))):
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
        for entry in _dicts(event.body.get("evidence")):
            # Bodies of imported artifacts are free JSON, so every type is checked before use.
            if isinstance(entry.get("ref"), str):
                yield "body.evidence", Evidence(ref=entry["ref"], quote=entry.get("quote"))


def _dicts(value: Any) -> list[dict[str, Any]]:
    return (
        [entry for entry in cast("list[Any]", value) if isinstance(entry, dict)]
        if isinstance(value, list)
        else []
    )


@rule("REF003", "error", source="FORMAT 1 (12), FORMAT 2 (`Ref`), SD-5, SD-50")
def reference_is_earlier(index: LedgerIndex) -> Iterator[Breach]:
    """What an event refers to is already on the ledger.

    An event that leans on a later one was written with knowledge it could not have, or was moved. References of
    verifications and decisions have rules of their own.
    """
    options = {option.id for option in index.opened.options} if index.opened else frozenset[str]()
    for event in index.events:
        for field, identity in values(event, IDS.get(event.kind, ())):
            # Ratings and standings may be about an option, which is named by the opening and not by an event.
            if identity not in options and index.earlier(identity, event.seq) is None:
                yield Breach(event.seq, f"{field} names {identity}, which is not on the ledger before it")
        for field, seq in values(event, SEQS.get(event.kind, ())):
            if isinstance(seq, int) and not 0 <= seq < event.seq:
                yield Breach(event.seq, f"{field} is {seq}, which is no earlier event")
        # Refs of imports are paths of the source and do not resolve to events.
        if event.by != "import":
            for field, ref in references(event):
                if index.passages(ref, event.seq) is None:
                    yield Breach(
                        event.seq, f"{field} points at {ref!r}, which is not on the ledger before it"
                    )
        yield from _parties(event, index)
        yield from _saw(event)


def _parties(event: Event, index: LedgerIndex) -> Iterator[Breach]:
    if isinstance(event, Concern):
        for party in event.between:
            if party not in index.roles and index.earlier(party, event.seq) is None:
                yield Breach(event.seq, f"between names {party}, neither a role nor an earlier event")


def _saw(event: Event) -> Iterator[Breach]:
    if event.saw != tuple(sorted(set(event.saw))):
        yield Breach(event.seq, "saw is not sorted and unique")
    if max(event.saw, default=-1) >= event.seq:
        yield Breach(event.seq, "saw names an event that is not earlier")


@rule("REF004", "error", source='SD-10, SD-11, FORMAT 5 ("a quote matches")')
def quote_stands_there(index: LedgerIndex) -> Iterator[Breach]:
    """A quotation occurs word for word at its reference.

    An invented quotation is worse than none: it looks checked.
    """
    for event in index.events:
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
                    yield Breach(event.seq, what)


def _with_output(index: LedgerIndex, ref: str, than: int) -> tuple[str, ...] | None:
    """Return the texts at a reference, with an experiment's output; None where it cannot be looked up."""
    texts = index.passages(ref, than)
    if texts is None or not isinstance(index.book.by_id.get(ref), ExperimentPlanned):
        return texts
    output = written(index.book, ref, than)
    # Part of the output was removed, so a quotation may have been in the missing part.
    return None if None in output else (*texts, *(text for text in output if text))


@rule("REF006", "error", source="FORMAT 2, FORMAT 3")
def goal_and_option_are_known(index: LedgerIndex) -> Iterator[Breach]:
    """Goals and options that an event names are those of the run's opening, or options that its agenda made.

    Drift is measured by what serves which goal; a goal made up on the way would always be served.
    """
    if index.opened is None:
        return
    goals = {entry.id for entry in index.opened.goals}
    options = {entry.id for entry in index.book.state.options}
    for event in index.events:
        for goal in _goals(event):
            if goal not in goals:
                yield Breach(event.seq, f"{goal!r} is no goal of this run")
        for option in _options(event):
            if option not in options:
                yield Breach(event.seq, f"{option!r} is no option of this run")


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
def rating_is_on_its_scale(index: LedgerIndex) -> Iterator[Breach]:
    """A rating's value is on the scale that it names.

    A level that the scale does not have cannot be added up or compared.
    """
    for event in index.events:
        if isinstance(event, Rating):
            values = SCALES.get(event.scale)
            # `True == 1` in Python, so a boolean would pass as the lowest level.
            if values is not None and (event.value not in values or isinstance(event.value, bool)):
                yield Breach(event.seq, f"{event.value!r} is no value of {event.scale}")


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
