"""Rulebook: every rule in the order in which it runs, and their findings on a book."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

import orjson

from ledger.plain_json import converted
from ledger.result import Result
from ledger.state.book import Book
from roles.protocol import UNLAWFUL
from validators.finding import Breach, ReportedFinding, RuleFinding, standing
from validators.ledger_index import LedgerIndex, RuleContext
from validators.rule import Rule
from validators.rules import (
    calls,
    checks,
    claims,
    events,
    references,
    replay,
    roles,
    rounds,
    texts,
)

RULES: Final[tuple[Rule, ...]] = (
    # bytes and laws of single events
    events.ledger_is_intact,
    events.fields_are_known,
    events.event_keeps_its_laws,
    events.imported_event_is_complete,
    # order, steps, ids
    rounds.run_opens_first,
    rounds.round_follows_the_plan,
    rounds.event_belongs_to_its_round,
    events.step_was_open,
    events.step_has_one_reply,
    rounds.nothing_follows_the_end,
    events.commit_is_whole,
    events.time_runs_forward,
    events.id_is_unique,
    events.numbers_are_gapless,
    events.step_yields_its_kinds,
    # who may say what
    roles.verifier_is_not_author,
    roles.role_is_in_the_cast,
    roles.author_may_write_this,
    roles.lead_follows_rotation,
    roles.lead_is_present,
    calls.context_serves_one_role,
    # stress rounds and sealed positions
    roles.absent_role_is_silent,
    checks.inapplicable_check_is_not_asked,
    roles.absence_is_predicted,
    checks.position_is_sealed,
    checks.flip_is_of_own_position,
    checks.flip_brings_new_evidence,
    # beliefs and the agenda
    calls.belief_is_sealed,
    calls.numbers_come_once_and_first,
    calls.agenda_places_everything_once,
    # references, evidence, quotations
    references.affected_claims_exist,
    references.evidence_resolves,
    references.reference_is_earlier,
    references.rating_is_on_its_scale,
    references.quote_stands_there,
    references.evidence_has_two_references,
    references.class_follows_from_its_evidence,
    references.goal_and_option_are_known,
    # claims and their lifecycles
    claims.claim_is_testable,
    claims.test_is_not_the_claim,
    claims.status_change_starts_where_the_claim_stood,
    claims.status_change_is_legal,
    claims.status_follows_its_bearing,
    claims.changed_claims_are_affected,
    claims.superseded_claim_has_a_successor,
    events.synthesis_leaves_nothing_pending,
    references.drift_check_covers_every_goal,
    # experiments
    calls.experiment_can_decide,
    calls.experiment_is_planned_before_it_runs,
    calls.program_runs_by_a_persons_word,
    calls.judgement_is_computed_again,
    calls.only_experiments_are_ran,
    # decisions
    claims.decision_rests_on_a_citation,
    claims.decision_rests_on_tested_claims,
    claims.decision_rests_on_what_stands,
    claims.cited_thing_exists,
    checks.dissent_is_recorded,
    claims.act_has_a_vote_of_safety,
    # artifacts, length, style
    texts.artifact_agrees_with_itself,
    texts.artifact_is_short,
    texts.statement_keeps_its_length,
    texts.words_are_counted,
    texts.text_keeps_its_sentences,
    texts.round_keeps_its_volume,
    texts.claim_is_plain,
    texts.claim_is_readable_outside,
    texts.walkthrough_is_walked,
    texts.persona_is_concrete,
    texts.invariant_is_falsifiable,
    texts.edge_case_has_its_own_trigger,
    texts.cross_round_trace_uses_the_past,
    references.evidence_is_quoted,
    references.evidence_is_deep,
    checks.round_has_disagreement,
    claims.successor_has_another_author,
    references.artifact_cites_the_past,
    # replies, briefs, recorded verdicts
    calls.blob_is_kept,
    calls.attempts_add_up,
    calls.brief_is_derived_again,
    replay.event_follows_from_its_reply,
    replay.controller_writes_what_is_due,
    replay.text_is_screened,
    rounds.round_is_validated,
    rounds.recorded_signals_hold,
    rounds.recorded_validation_holds,
)
"""Every rule. The last one reads what the others found."""

IMPORTED: Final = "imported"
UNLAWFUL_LEDGER: Final = "the ledger breaks other rules"
"""Why a rule could not be judged, beside that the run is an import."""
MESSAGE_LENGTH_MAX: Final = 2_000


class PhaseUnknown(ValueError):
    """No round of this run has reached a phase of that name."""


class Unjudged(Result, frozen=True):
    """A rule that was not asked, and why."""

    code: str
    reason: str


class CheckReport(Result, frozen=True):
    """Every finding of a run. `ok`: none of severity error.

    `as_given` counts recorded verdicts that other rules or thresholds gave: they were not recomputed.
    """

    run: str
    ok: bool
    findings: list[ReportedFinding]
    as_given: int
    not_applicable: list[Unjudged]


def rules_hash(rules: Sequence[Rule] = RULES) -> str:
    """Return SHA-256 of the canonical JSON of [[code, version], …], by code.

    `validation` events keep it (FORMAT 2).

    Only a rule that is new, gone or judges differently changes it, never the order in which rules are asked.
    """
    return hashlib.sha256(orjson.dumps(sorted([rule.code, rule.version] for rule in rules))).hexdigest()


def judged(
    book: Book, context: RuleContext, *, recorded: bool = False, rules: Sequence[Rule] = RULES
) -> LedgerIndex:
    """Return the index with all findings, and with the rules that gave up on a ledger that others refuse."""
    index = LedgerIndex(book, context, rules_hash())
    all_imported = 0 <= index.imported_through == len(index.events) - 1
    crashes: list[Exception] = []
    for rule in rules:
        # A recorded validation depends on events and documents alone, so that a lost blob or a new detector
        # cannot change it.
        if rule.recorded or not recorded:
            breaches: list[RuleFinding] = []
            try:
                breaches.extend(  # what was found before a rule gave up stays found
                    _finding(rule, breach, index)
                    # A rule that cannot judge imports is not run where everything was imported. A fork of an import
                    # has live events too, and those are judged.
                    for breach in (() if all_imported and not rule.applies_to_imports else rule.check(index))
                    if rule.applies_to_imports or breach.seq is None or not index.is_imported(breach.seq)
                )
            # A rule may assume what another rule reports as broken. Its failure then says nothing new, and the
            # others still count.
            except UNLAWFUL as error:
                crashes.append(error)
                index.unjudged.append(rule.code)
            index.findings += breaches
            if rule.recorded:
                index.recorded += breaches
    # A crash without any error finding would hide a fault of the rule itself, so it is raised.
    if crashes and not any(finding.severity == "error" for finding in index.findings):
        if not index.absent_rules:
            raise crashes[0]  # nothing is wrong with the ledger, so it is the rule that is
        message = (
            f"the opening does not say {', '.join(index.absent_rules)}, and its protocol cannot do without"
        )
        index.findings.append(_finding(rounds.run_opens_first, Breach(0, message), index))
    return index


def check(
    book: Book, context: RuleContext, phase: str | None = None, *, recorded: bool = False
) -> CheckReport:
    """Return the report of the rules over a book.

    `phase` judges the ledger as it stood when that phase last ended; raises `PhaseUnknown` when none did. Rules that
    an import cannot be judged by are listed as not applicable, never as kept (FORMAT 12).
    """
    through = None if phase is None else end_of(phase, book)
    index = judged(book, context, recorded=recorded)
    stood = standing(index.findings, book.state.seq if through is None else through)
    opened = book.state.opened
    imported = opened is not None and opened.origin.type == "import"
    return CheckReport(
        run=context.run,
        ok=not any(finding.severity == "error" for finding in stood),
        findings=converted(stood, list[ReportedFinding], from_attributes=True),
        as_given=len(index.as_given),
        not_applicable=[
            Unjudged(code=rule.code, reason=IMPORTED)
            for rule in RULES
            if imported and not rule.applies_to_imports
        ]
        + [Unjudged(code=code, reason=UNLAWFUL_LEDGER) for code in index.unjudged],
    )


def end_of(phase: str, book: Book) -> int:
    """Return the seq of the last event of a phase, in the latest round that reached it. Raises `PhaseUnknown`."""
    last = max((event.seq for event in book.events if event.phase == phase), default=None)
    if last is None:
        raise PhaseUnknown(phase)
    return last


def _finding(rule: Rule, breach: Breach, index: LedgerIndex) -> RuleFinding:
    stream, line = breach.where or index.place_of(breach.seq)
    return RuleFinding(
        code=breach.code or rule.code,
        severity=breach.severity or rule.severity,
        seq=breach.seq,
        stream=stream,
        line=line,
        # Messages quote texts of seats, which may hold line feeds and be long; a validation event keeps them in
        # one line.
        message=" ".join(breach.message.split())[:MESSAGE_LENGTH_MAX],
        until=breach.until,
    )
