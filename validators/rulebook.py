"""The rulebook: every rule in the order in which it is read, and what they find in a book."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

import orjson

from ledger.book import Book
from roles.protocol import UNLAWFUL
from validators import (
    absence_is_predicted,
    absent_role_is_silent,
    act_has_a_vote_of_safety,
    affected_claims_exist,
    artifact_agrees_with_itself,
    artifact_cites_the_past,
    artifact_is_short,
    attempts_add_up,
    author_may_write_this,
    blob_is_kept,
    brief_is_derived_again,
    changed_claims_are_affected,
    cited_thing_exists,
    claim_is_plain,
    claim_is_testable,
    commit_is_whole,
    context_serves_one_role,
    controller_writes_what_is_due,
    cross_round_trace_uses_the_past,
    decision_rests_on_a_citation,
    decision_rests_on_tested_claims,
    decision_rests_on_what_stands,
    dissent_is_recorded,
    drift_check_covers_every_goal,
    edge_case_has_its_own_trigger,
    event_belongs_to_its_round,
    event_follows_from_its_reply,
    event_keeps_its_laws,
    evidence_has_two_references,
    evidence_is_deep,
    evidence_is_quoted,
    evidence_resolves,
    fields_are_known,
    flip_brings_new_evidence,
    flip_is_of_own_position,
    goal_and_option_are_known,
    id_is_unique,
    imported_event_is_complete,
    inapplicable_check_is_not_asked,
    invariant_is_falsifiable,
    lead_follows_rotation,
    lead_is_present,
    ledger_is_intact,
    nothing_follows_the_end,
    numbers_are_gapless,
    persona_is_concrete,
    position_is_sealed,
    quote_stands_there,
    rating_is_on_its_scale,
    recorded_signals_hold,
    recorded_validation_holds,
    reference_is_earlier,
    role_is_in_the_cast,
    round_follows_the_plan,
    round_has_disagreement,
    round_is_validated,
    round_keeps_its_volume,
    run_opens_first,
    statement_keeps_its_length,
    status_change_is_legal,
    status_change_starts_where_the_claim_stood,
    status_follows_its_bearing,
    step_has_one_reply,
    step_was_open,
    step_yields_its_kinds,
    successor_has_another_author,
    superseded_claim_has_a_successor,
    synthesis_leaves_nothing_pending,
    test_is_not_the_claim,
    text_is_screened,
    text_keeps_its_sentences,
    verifier_is_not_author,
    walkthrough_is_walked,
    words_are_counted,
)
from validators.reading.docket import Docket
from validators.reading.report import CheckReport, ReportedFinding, Unjudged
from validators.reading.rule import Breach, Finding, Rule, RuleContext, standing

RULES: Final[tuple[Rule, ...]] = (
    # bytes and laws of single events
    ledger_is_intact.RULE,
    fields_are_known.RULE,
    event_keeps_its_laws.RULE,
    imported_event_is_complete.RULE,
    # order, steps, ids
    run_opens_first.RULE,
    round_follows_the_plan.RULE,
    event_belongs_to_its_round.RULE,
    step_was_open.RULE,
    step_has_one_reply.RULE,
    nothing_follows_the_end.RULE,
    commit_is_whole.RULE,
    id_is_unique.RULE,
    numbers_are_gapless.RULE,
    step_yields_its_kinds.RULE,
    # who may say what
    verifier_is_not_author.RULE,
    role_is_in_the_cast.RULE,
    author_may_write_this.RULE,
    lead_follows_rotation.RULE,
    lead_is_present.RULE,
    context_serves_one_role.RULE,
    # stress rounds and sealed positions
    absent_role_is_silent.RULE,
    inapplicable_check_is_not_asked.RULE,
    absence_is_predicted.RULE,
    position_is_sealed.RULE,
    flip_is_of_own_position.RULE,
    flip_brings_new_evidence.RULE,
    # references, evidence, quotations
    affected_claims_exist.RULE,
    evidence_resolves.RULE,
    reference_is_earlier.RULE,
    rating_is_on_its_scale.RULE,
    quote_stands_there.RULE,
    evidence_has_two_references.RULE,
    goal_and_option_are_known.RULE,
    # claims and their lifecycles
    claim_is_testable.RULE,
    test_is_not_the_claim.RULE,
    status_change_starts_where_the_claim_stood.RULE,
    status_change_is_legal.RULE,
    status_follows_its_bearing.RULE,
    changed_claims_are_affected.RULE,
    superseded_claim_has_a_successor.RULE,
    synthesis_leaves_nothing_pending.RULE,
    drift_check_covers_every_goal.RULE,
    # decisions
    decision_rests_on_a_citation.RULE,
    decision_rests_on_tested_claims.RULE,
    decision_rests_on_what_stands.RULE,
    cited_thing_exists.RULE,
    dissent_is_recorded.RULE,
    act_has_a_vote_of_safety.RULE,
    # artifacts, length, style
    artifact_agrees_with_itself.RULE,
    artifact_is_short.RULE,
    statement_keeps_its_length.RULE,
    words_are_counted.RULE,
    text_keeps_its_sentences.RULE,
    round_keeps_its_volume.RULE,
    claim_is_plain.RULE,
    walkthrough_is_walked.RULE,
    persona_is_concrete.RULE,
    invariant_is_falsifiable.RULE,
    edge_case_has_its_own_trigger.RULE,
    cross_round_trace_uses_the_past.RULE,
    evidence_is_quoted.RULE,
    evidence_is_deep.RULE,
    round_has_disagreement.RULE,
    successor_has_another_author.RULE,
    artifact_cites_the_past.RULE,
    # replies, briefs, recorded verdicts
    blob_is_kept.RULE,
    attempts_add_up.RULE,
    brief_is_derived_again.RULE,
    event_follows_from_its_reply.RULE,
    controller_writes_what_is_due.RULE,
    text_is_screened.RULE,
    round_is_validated.RULE,
    recorded_signals_hold.RULE,
    recorded_validation_holds.RULE,
)
"""Every rule. The last one reads what the others found."""

IMPORTED: Final = "imported"
UNLAWFUL_LEDGER: Final = "the ledger breaks other rules"
"""Why a rule could not be judged, beside that the run is an import."""
MESSAGE_LENGTH_MAX: Final = 2_000


class PhaseUnknown(ValueError):
    """No round of this run has reached a phase of that name."""


def rules_hash(rules: Sequence[Rule] = RULES) -> str:
    """SHA-256 of the canonical JSON of [[code, version], …], by code: what a `validation` event keeps (FORMAT 2).

    Only a rule that is new, gone or judges differently changes it, never the order in which rules are asked.
    """
    return hashlib.sha256(orjson.dumps(sorted([rule.code, rule.version] for rule in rules))).hexdigest()


def findings(
    book: Book,
    context: RuleContext,
    *,
    through: int | None = None,
    recorded: bool = False,
    rules: Sequence[Rule] = RULES,
) -> tuple[Finding, ...]:
    """What stood broken after event `through` (None: the last), by seq, then by code.

    `recorded` asks only the rules whose findings a `validation` event keeps: those that the events and the
    documents alone decide. It is what the controller records and what `recorded_validation_holds` computes again.
    `rules` are asked in their order; some read what those before them found.
    """
    docket = judged(book, context, recorded=recorded, rules=rules)
    return standing(docket.found, book.state.seq if through is None else through)


def judged(
    book: Book, context: RuleContext, *, recorded: bool = False, rules: Sequence[Rule] = RULES
) -> Docket:
    """The docket with all that the rules found, and with those that had to give up on a ledger that others refuse."""
    docket = Docket(book, context, rules_hash())
    crashes: list[Exception] = []
    for rule in rules:
        if rule.recorded or not recorded:
            found: list[Finding] = []
            try:
                found.extend(  # what was found before a rule gave up stays found
                    _finding(rule, breach, docket)
                    for breach in _judged(rule, docket)
                    if rule.applies_to_imports or breach.seq is None or not docket.is_imported(breach.seq)
                )
            except UNLAWFUL as error:
                crashes.append(error)
                docket.unjudged.append(rule.code)
            docket.found += found
            if rule.recorded:
                docket.recorded += found
    if crashes and not any(finding.severity == "error" for finding in docket.found):
        raise crashes[0]  # nothing is wrong with the ledger, so it is the rule that is
    return docket


def check(
    book: Book, context: RuleContext, phase: str | None = None, *, recorded: bool = False
) -> CheckReport:
    """The report of the rules over a book.

    `phase` judges the ledger as it stood when that phase last ended; raises `PhaseUnknown` when none did. Rules that
    an import cannot be judged by are listed as not applicable, never as kept (FORMAT 12).
    """
    through = None if phase is None else end_of(phase, book)
    docket = judged(book, context, recorded=recorded)
    found = standing(docket.found, book.state.seq if through is None else through)
    opened = book.state.opened
    imported = opened is not None and opened.origin.type == "import"
    return CheckReport(
        run=context.run,
        ok=not any(finding.severity == "error" for finding in found),
        findings=[
            ReportedFinding(
                code=finding.code,
                severity=finding.severity,
                seq=finding.seq,
                stream=finding.stream,
                line=finding.line,
                message=finding.message,
            )
            for finding in found
        ],
        not_applicable=[
            Unjudged(code=rule.code, reason=IMPORTED)
            for rule in RULES
            if imported and not rule.applies_to_imports
        ]
        + [Unjudged(code=code, reason=UNLAWFUL_LEDGER) for code in docket.unjudged],
    )


def end_of(phase: str, book: Book) -> int:
    """Seq of the last event of a phase, in the latest round that reached it."""
    found = max((event.seq for event in book.events if event.phase == phase), default=None)
    if found is None:
        raise PhaseUnknown(phase)
    return found


def _judged(rule: Rule, docket: Docket) -> Iterable[Breach]:
    """What a rule finds; one that imports cannot be judged by is not asked where there is nothing else."""
    nothing_else = 0 <= docket.imported_through == len(docket.events) - 1
    return () if nothing_else and not rule.applies_to_imports else rule.check(docket)


def _finding(rule: Rule, breach: Breach, docket: Docket) -> Finding:
    stream, line = breach.where or docket.place_of(breach.seq)
    return Finding(
        code=breach.code or rule.code,
        severity=breach.severity or rule.severity,
        seq=breach.seq,
        stream=stream,
        line=line,
        message=" ".join(breach.message.split())[:MESSAGE_LENGTH_MAX],
        until=breach.until,
    )


__all__ = [
    "RULES",
    "CheckReport",
    "Finding",
    "PhaseUnknown",
    "Rule",
    "RuleContext",
    "check",
    "end_of",
    "findings",
    "rules_hash",
]
