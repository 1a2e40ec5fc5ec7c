"""Agreement between the roles: the answer without each role, answers without opposition, and model families.

All of it is computed from the sealed answers, votes and decisions, and costs no reply. What the others would have said
without hearing a role takes a fork (`moot fork --stress`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Final

from detectors.report import EndWithout
from ledger.events import Decision
from ledger.plain_text import counted
from ledger.state.book import Book, grouped, per_book
from ledger.state.state import OWN, BeliefFacts, State
from moot.view import words
from moot.view.judgements import (
    ballot_of,
    has_beliefs,
    majority,
    named,
    option_of,
    options_of,
)
from moot.view.labels import calls_of, changing_roles, leader_text
from moot.view.seats import family_of
from roles.protocol import is_complete
from rounds.protocols import is_watched, protocol_of

if TYPE_CHECKING:
    from detectors.course import PoolWithout


NOT_MEASURABLE: Final = "Not measurable: no sealed answers."
HEADS: Final = ("without", "would lead", "by points", "reading")
FROM_ANSWERS: Final = "Computed from the last sealed answers; no reply was spent on it."


@per_book
def without_each(book: Book) -> dict[str, EndWithout]:
    """Return the result without each role; empty while answers are still coming in."""
    if not has_beliefs(book):
        return {pool.role: EndWithout(pool.without, pool.changes) for pool in pools_without(book)}
    from moot.view.forecasts import forecasts_of

    report = forecasts_of("", book)
    return {} if report is None else report.without


def pools_without(book: Book) -> tuple[PoolWithout, ...]:
    """Return the pools without each role, with margins, for runs that ask once per round; empty meanwhile."""
    from detectors.course import left_out

    state = book.state
    pools = left_out(state)
    groups = protocol_of(state.opening).groups(state, pools[0].round) if pools and not state.finished else ()
    # Until the step is complete some roles have answered and others have not, which would compare unequal sets.
    return (
        () if any(group.name == "E.belief" and not is_complete(state, group) for group in groups) else pools
    )


def condition_sentence(book: Book, chief: Decision | None, without: Mapping[str, EndWithout]) -> str | None:
    """Return the sentence for the outcome; None without data, and where a person decided in place of the roles."""
    if not without or chief is None or chief.type == "override":
        return None
    same = (
        "no single role's sealed answer: without any one of them the answer would be the same"
        if len(without) > 1
        # Without the last role that has numbers about a test, those without them would count again.
        else f"{', '.join(without)}: only its forecast counts"
    )
    if has_beliefs(book):
        from moot.view.forecasts import leader_of_group, turning_points

        leader, turning = leader_of_group(book), [*turning_points(book)]
    else:
        leader, turning = pools_without(book)[0].leader, []
        # Sealed answers decide nothing: they speak of a decision only where it names the option that they prefer.
        if options_of(book) and option_of(book, chief) != leader:
            return None
    changing = [*changing_roles(without, leader, options=bool(options_of(book)))]
    return "; ".join([*(changing or [same]), *turning])


def without_rows(book: Book) -> list[tuple[str, ...]]:
    """Return the cells under `HEADS`, one row per role; empty without sealed answers."""
    options = bool(options_of(book))
    return [
        (
            pool.role,
            leader_text(pool.without, options),
            f"{pool.margin:g}",
            ("another one leads" if pool.changes else "the same") + ", within the noise" * pool.close,
        )
        for pool in pools_without(book)
    ]


# ---------------------------------------------------------------- while nothing is decided


def leader_so_far(book: Book) -> str | None:
    """Return the option that leads the group forecast, in words; None while forecasts are sealed."""
    if has_beliefs(book):
        from moot.view.forecasts import are_readable, leader_of_group

        # Naming a leader while others still answer would break the seal.
        leader = leader_of_group(book) if are_readable(book) else None
    else:
        leader = next((pool.leader for pool in pools_without(book)), None)
    return None if leader is None else leader_text(leader, bool(options_of(book)))


def not_decided_yet(book: Book) -> str:
    """Return the text shown in place of an answer."""
    leads = f" The group forecast puts {leader} first." if (leader := leader_so_far(book)) else ""
    return named(book, f"Nothing is decided yet.{leads}")


def forecasts_clause(book: Book) -> str:
    """Return how sure the roles are without a decision, by their sealed forecasts."""
    # A role may seal a forecast more than once, and derived ones come from the same roles.
    sealed = {belief.role for belief in book.state.beliefs.values() if not belief.derived}
    if not sealed:
        forecasts = book.state.opening.protocol in ("crux", "structured")
        return "No forecast has been given." if forecasts else "No confidence is stated."
    if leader_so_far(book) is None:
        # Forecasts may rest on numbers of a later step: `crux` asks for them once its list of tests is there.
        later = "forecasts stay sealed until all numbers are in"
        lost = "other numbers were lost, so there is no group forecast"
        return f"{counted(len(sealed), 'role')} gave a sealed forecast; {lost if book.state.finished else later}."
    if has_beliefs(book):
        from moot.view.forecasts import how_likely

        return named(book, how_likely(book))
    pools = pools_without(book)
    return f"Round {pools[0].round}: mean of {len(pools)} forecasts."


# ---------------------------------------------------------------- answers that nobody opposed


RECENT: Final = 2
"""Number of last rounds with checks in which nothing may have been found."""


def alarms_clause(book: Book) -> str:
    """Return the open alarms, else whether alarms were watched for and whether agreement was ever tested."""
    state = book.state
    if alarms := state.open_alarms():
        return f"open alarms: {', '.join(words.failure(alarm.fm) for alarm in alarms)}"
    watch = "no open alarm" if is_watched(state.opening) else ""
    # Detectors never watched an imported run, which is not the same as finding nothing.
    if state.is_import:
        watch = "no failure mode was looked for as it ran"
    return "; ".join(filter(None, (watch, untested_agreement(book))))


def untested_agreement(book: Book) -> str:
    """Return the common answer that was never tested; empty where any role differed or a test found something."""
    state = book.state
    if not without_each(book):  # nobody sealed an answer, or answers are still coming in
        return ""
    closed = max((look.round for look in state.looks), default=0) if has_beliefs(book) else state.round
    # Points on an answer in own words name no option that roles could agree on.
    own = [belief for belief in state.beliefs.values() if not (belief.derived or OWN in belief.points)]
    sealed = [belief for belief in own if belief.round <= closed]
    first = {_first(belief) for belief in sealed}
    # A single role cannot agree with anyone, and a tie at the top is no choice.
    if len({belief.role for belief in sealed}) < 2 or len(first) > 1 or None in first:
        return ""
    tested, moved = _crux_tests(state) if has_beliefs(book) else _checks(state)
    if moved:
        return ""
    leader = leader_text(first.pop(), bool(options_of(book)))
    nothing = "no test found anything" if tested else "nothing was tested"
    return (
        f"every role that answered put {leader} first in every sealed answer and {nothing},"
        " so this is no all-clear"
    )


def _first(belief: BeliefFacts) -> str | None:
    """Return the option with more points than any other; None on a tie."""
    most = max(belief.points.values(), default=0)
    best = [option for option, points in belief.points.items() if points == most]
    return best[0] if len(best) == 1 else None


def _checks(state: State) -> tuple[bool, bool]:
    """Return whether checks applied, and whether a check of the last rounds was not ROBUST."""
    applied = [
        check for check in state.checks.values() if check.phase != "S" and check.result != "NOT_APPLICABLE"
    ]
    # Early checks find flaws in drafts; only the last rounds tell something about the result.
    last = sorted({check.round for check in applied})[-RECENT:]
    return bool(applied), any(check.result != "ROBUST" for check in applied if check.round in last)


def _crux_tests(state: State) -> tuple[bool, bool]:
    """Return whether a crux was tested, and whether a test had a result that could move the answer."""
    statuses = {claim.status for claim in state.claims.values()}
    ran = {experiment.verdict for experiment in state.experiments.values()} - {None, "error"}
    moved = bool(
        statuses & {"tested_confirmed", "tested_refuted", "partially_refuted"} or ran & {"holds", "fails"}
    )
    # An unclear test moved nothing, yet it is a test.
    return bool(ran or statuses - {"pending"}), moved


UNNAMED: Final = "an unnamed family"


def families_text(book: Book) -> str:
    """Return `families agree: claude (3) and gpt (2) all put O-2 first`, or how they differ.

    Empty where only one family answered, or where the families did not choose between the same things.
    """
    families = families_of_roles(book)
    chosen = grouped((families[role], choice) for role, choice in choices(book).items() if role in families)
    # Agreement within one family says nothing, since its models share their blind spots.
    if len(chosen) < 2:
        return ""
    # A forecast ranks all options, whereas a vote or a decision chooses one.
    verb, after = ("put", " first") if book.state.beliefs else ("chose", "")
    everything = {*chain(*chosen.values())}
    if len(everything) == 1:
        who = " and ".join(f"{family} ({len(seats)})" for family, seats in sorted(chosen.items()))
        return f"families agree: {who} all {verb} {everything.pop()}{after}"
    spread = {
        family: [f"{choice} ({counted(number, 'seat')})" for choice, number in Counter(seats).most_common()]
        for family, seats in sorted(chosen.items())
    }
    each = [f"{family} {verb} {' and '.join(parts)}{after}" for family, parts in spread.items()]
    return f"families differ: {', '.join(each)}"


def families_of_roles(book: Book) -> dict[str, str]:
    """Return the family that answered for each role, without roles that several families answered for."""
    families = grouped(
        (respondent.role, family.name if family else UNNAMED)
        for respondent in calls_of(book.events).answered
        for family in [family_of(respondent.provider, respondent.model)]
    )
    # A role whose seat changed families mid-run cannot be counted for either.
    return {role: names[0] for role, names in families.items() if len({*names}) == 1}


def choices(book: Book) -> Mapping[str, str]:
    """Return each role's choice: the option that it puts first, its vote, or the option that its decision names."""
    state = book.state
    if state.beliefs:
        # Only the last forecasts count: earlier ones were given before the tests.
        latest = state.beliefs_at(state.round)
        return {
            role: max(facts.points, key=facts.points.__getitem__)
            for role, facts in latest.items()
            if OWN not in facts.points
        }
    if (ballot := ballot_of(book)) is not None:
        # A lost vote was filled in by the controller and is no family's opinion.
        return {vote.by: vote.decision for vote in ballot.cast}
    members = majority(book)
    plans = members.plans if members is not None else ()
    return {plan.by: option for plan in plans if (option := option_of(book, plan)) is not None}
