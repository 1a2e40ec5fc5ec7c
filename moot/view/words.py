"""Words for the codes of a ledger: phases, checks, artifacts, failure modes, reasons for the end of a run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Final

from ledger.events import Decision
from ledger.events.ids import parse_step
from ledger.plain_text import counted as counted  # templates ask for it by this module
from ledger.state.book import Book
from ledger.state.state import State
from roles.outcome_status import OutcomeStatus

NO_PARAMETERS: Final = (
    "The run's own parameters are not here (`moot verify` says whether they were lost or redacted), so its gates and"
    " alarms cannot be read again; what it recorded stands."
)
FAILURE_MODES: Final[Mapping[str, str]] = {
    "FM-1": "roles give in",
    "FM-2": "attacks without consequence",
    "FM-3": "goals forgotten",
    "FM-4": "one role dominates",
    "FM-5": "claims pile up or run dry",
    "FM-6": "checks without evidence",
    "FM-7": "stress rounds skipped",
    "FM-8": "claims outrun their tests",
    "FM-9": "an option nobody examined",
}
"""Failure mode → its name in plain words."""
FAILURE_SIGNS: Final[Mapping[str, str]] = {
    "FM-1": "Roles give up positions without new evidence, or checks find nothing round after round.",
    "FM-2": "Checks call something broken, but no claim moves and no decision cites them.",
    "FM-3": "Claims and decisions name no goal, or drift checks fail.",
    "FM-4": "One role raises most of the claims that decisions cite, or leads far beyond its share.",
    "FM-5": "More new claims arrive than can be tested, or findings no longer become claims.",
    "FM-6": "Checks reach a verdict without pointing to the places they looked at.",
    "FM-7": "A planned absence of a role was not run, or the absent role had a part in the round.",
    "FM-8": "Claims arrive faster than tests resolve them.",
    "FM-9": "Tests are about one option alone, while a living option has none.",
}
"""Failure mode → how it shows in a run."""
CHECK_NAMES: Final[Mapping[str, str]] = {
    "critic_attack_on_action_trace": "attack × trace",
    "guardian_vs_observer_walkthrough": "invariant × walkthrough",
    "observer_friction_vs_critic_attack": "friction × attack",
    "all_vs_prior_decisions": "all × prior decisions",
    "claim_retest": "re-test",
    "synthesis_resolution": "resolution",
}
ARTIFACTS: Final[Mapping[str, str]] = {
    "behavioral_trace_set": "traces",
    "identity_invariant_check": "invariant",
    "operator_walkthrough": "walkthrough",
    "adversarial_test_case": "attack",
}
PHASES: Final[Mapping[str, str]] = {
    "A": "opening",
    "B": "proposal",
    "C": "supplements",
    "D": "artifacts",
    "E": "checks",
    "F": "reviews",
    "G": "decisions",
    "H": "drift check",
    "S": "synthesis",
}
CLOSINGS: Final[Mapping[str, str]] = {
    "signals": "enough stop signals held",
    "ready": "the stop checks of this run held",
    "protocol_end": "no step was left to take",
    "not_ready": "every planned round was held and the stop signals did not agree",
    "human": "a person or a signal stopped it",
    "seats_failed": "a seat failed for good",
    "budget_rounds": "the budget of rounds was used up",
    "budget_usd": "the next reply could cost more than the budget leaves",
    "budget_tokens": "the next reply could take more tokens than the budget leaves",
    "budget_calls": "the budget allows no further call",
    "budget_minutes": "the budget of minutes was used up",
    "short": "the answers agree, and no proposed test could change them",
    "settled": "no test is worth its price any more",
    "ill_posed": "the question has no answer as it is put",
    "hand_over": "what could change the answer cannot be tested here",
    "values": "nothing that could be tested here tells the first two apart",
    "cap": "no further round of tests was allowed",
}


def failure(mode: str) -> str:
    """Return a failure mode in words with its code: `one role dominates (FM-4)`."""
    return f"{FAILURE_MODES[mode]} ({mode})" if mode in FAILURE_MODES else mode


def failures_in(text: str) -> str:
    """Return a text of the ledger with each failure mode in words before its code."""
    # Detectors write bare codes into their texts, which mean nothing to a reader.
    return re.sub(r"FM-\d", lambda match: failure(match[0]), text)


def why_closed(reason: str) -> str:
    """Return why a run was closed, as a clause."""
    # A newer version may close runs for reasons that this one does not know.
    return CLOSINGS.get(reason, reason)


def round_in(protocol: str, round_: int, planned: int) -> str:
    """Return `round 3 of 13`, or `round 3` for `crux`."""
    # Further rounds of `crux` follow only from a person's results, so it has no planned number.
    return f"round {round_}" if protocol == "crux" else f"round {round_} of {planned}"


def going_on(run: str, reason: str | None) -> str:
    """Return the command that resumes a stopped run; a limit that was reached has to be raised with it."""
    limit = (reason or "").removeprefix("budget_")
    # Minutes count per driver, so a resumed run has all of them again without a new limit.
    raised = (
        f" --max-{limit} MORE" if reason in CLOSINGS and limit in ("rounds", "usd", "tokens", "calls") else ""
    )
    return " ".join(part for part in ("moot run --resume", run and shlex.quote(run)) if part) + raised


def command_to_go_on(run: str, state: State, status: OutcomeStatus, chief: Decision | None) -> str | None:
    """Return the command that resumes a stopped run, asks again what was lost, or puts a person's decision first.

    `chief` is the main decision.
    """
    if status is OutcomeStatus.STOPPED:
        return going_on(run, state.stopped_by)
    if status is OutcomeStatus.YOUR_CALL and chief:
        return f"moot override {shlex.quote(run)} {chief.id} 'TEXT'"
    if status is OutcomeStatus.NOBODY_ANSWERED:
        return fork_for_lost(run, state)
    return None


def fork_for_lost(run: str, state: State, loss: int = -1) -> str | None:
    """Return the command that asks again all from the round of a loss on, by default the last; None without one."""
    lost = list(map(parse_step, state.given_up))
    if lost and (step := lost[loss]):
        return f"moot fork {shlex.quote(run)} --round {step.round}"
    return None


def question_about(book: Book, claim: str) -> str | None:
    """Return the open question that asks a person for the result of a crux."""
    return next(
        (
            identity
            for identity, concern in book.state.concerns.items()
            if concern.for_human and claim in concern.between and identity not in book.state.resolved
        ),
        None,
    )


def answer_command(run: str, book: Book, claim: str) -> str:
    """Return the command that hands in a person's result on a crux."""
    # Answering the open question also closes it; a bare claim id works where none was asked.
    return f"moot answer {shlex.quote(run)} {question_about(book, claim) or claim} --holds|--fails 'TEXT'"
