"""Forecasts, cruxes and the memo of a `crux` run, for the outcome, the terminal, the report and the page.

Few runs have forecasts and their arithmetic loads slowly, so everything that is common to all protocols imports this
module inside the function that needs it.
"""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Final, NamedTuple

import msgspec

from detectors.forecasts.arithmetic import rounded
from detectors.forecasts.report import CruxReport, ForecastReport, report_of
from detectors.forecasts.standing import ForecastStanding, UnseenWays, Verdict, standing_of
from ledger.events import Claim, Concern, Decision, Memo, Statement
from ledger.plain_text import counted, one_line, percent, shortened, some
from ledger.state.book import Book, per_book, sections_from
from ledger.state.decided import concern_standing, is_overruled, tested_by
from ledger.state.experiments import plan_of
from moot.view.grounds import quotes_in
from moot.view.judgements import named, option_of
from moot.view.labels import changing_roles, leader_text
from moot.view.marks import meaning, times_of
from moot.view.objections import Dissenting
from moot.view.reasons import Point
from moot.view.text import joined
from moot.view.words import answer_command, question_about
from roles.memo.checks import class_of_sentence
from roles.memo.citing import cited_texts
from rounds.protocols.crux import standing
from rounds.protocols.crux.assignments import writers
from rounds.protocols.crux.standing import answer_id, unseen

INDENT: Final = " " * 6
WORDS_SHOWN: Final = 160
"""Maximum characters of a claim or an option before it is cut."""
REASONS: Final = 3
RIVAL: Final = 10
"""Minimum points of the next option to be named."""
WAYS_LISTED: Final = 4
HOW: Final = {"execution": "run", "calculation": "calculate", "document": "read", "person": "measure"}
"""Way to settle a crux → its word on screen."""
NOTE: Final = "How often a test is right is an assumption, not a measurement."


class ForecastParts(NamedTuple):
    """What the forecasts and the memo of a run give to its outcome; a memo only where it is the decision."""

    memo: dict[str, list[Point]]
    why: list[Point]
    how_sure: str
    do_now: list[Point]
    ways_shared: list[Point]
    unsettled: list[Point]
    dissent: list[Dissenting]


def forecast_parts(run: str, book: Book, chief: Decision | None) -> ForecastParts:
    """Return the parts for a run with forecasts; `chief` is its main decision."""
    memo, why, how_sure = memo_points(book, chief), list[Point](), ""
    # They are ways in which the leader could be wrong, and would speak for another answer.
    is_leader = chief is None or option_of(book, chief) == leader_of_group(book)
    ways = sorted(ways_to_be_wrong(book), key=lambda way: -way[0]) if is_leader else []
    if chief is not None:
        # A reason that was removed from the memo must not come back as one of a role.
        why = memo.get("why", []) if memo else reasons_of_role(book)
        # Beside the group forecast of several roles, reasons read as theirs.
        whose = f"No memo gives reasons{': those stated are of one role alone' * bool(why)}."
        alone = f" {'The memo gives no supported reason.' if memo else whose}"
        cited = {ref for point in why[:REASONS] for ref in point.refs}
        why = [*(point for point in settled_cruxes(book, chief) if cited.isdisjoint(point.refs)), *why]
        how_sure = f"{named(book, how_likely(book))}{alone * ('why' not in memo)}"
        # A lost objection is named with the replies that were given up.
        asked = book.state.answered | book.state.given_up
        if not any(step.startswith(f"r{chief.round}.S.objection.") for step in asked):
            how_sure += " No role was asked to object to the answer."
    return ForecastParts(
        memo,
        why,
        how_sure,
        list(steps_to_take(run, book, memo.get("do_now", []))),
        [point for number, point in ways if number > 1],
        [*revisit_if(book), *(point for number, point in ways if number == 1)],
        list(other_leaders(book)) if chief is not None else [],
    )


@per_book
def standing_now(book: Book) -> ForecastStanding:
    """Return the present standing of a run's forecasts."""
    return standing.standing_at(book.state)


def are_readable(book: Book) -> bool:
    """Return whether all numbers are in, so that showing them breaks no seal."""
    return bool(book.state.looks) or standing.numbers_end(book.state) is not None


def leader_of_group(book: Book) -> str | None:
    """Return the option that leads the group forecast; None without forecasts."""
    leader = standing_now(book).leader
    return None if leader is None else standing.option_ids(book.state)[leader]


def points_for(book: Book, option: str | None, end: ForecastStanding | None = None) -> float:
    """Return the group forecast of an option, of 100 points; 0 without forecasts, and for no option of the run."""
    group, options = (end or standing_now(book)).group, standing.option_ids(book.state)
    return 0 if group is None or option not in options else rounded(group.points(options.index(option)))


def memo_points(book: Book, decision: Decision | None) -> dict[str, list[Point]]:
    """Return the memo that a decision was made of, by field, each sentence with the evidence level of what it cites.

    Empty without a memo: a person's override replaces it, so its sentences no longer explain the decision.
    """
    if decision is None or decision.by != "controller" or decision.type != "final":
        return {}
    fields: dict[str, list[Point]] = {}
    # A memo goes back to its writer once for unsupported sentences, and what stays unsupported is removed.
    # The last version is the one that counts.
    for memo in [memo for memo in book.of(Memo) if memo.round == decision.round][-1:]:
        for sentence in memo.sentences:
            cited = cited_texts(book, sentence.refs)
            # Only reasons carry evidence; an action or a condition is not true or false.
            class_ = class_of_sentence(sentence, cited) if sentence.field == "why" else None
            times = times_of(book, class_, sentence.refs)
            refs = list(dict.fromkeys([*(quote.ref for quote in quotes_in(book, sentence)), *sentence.refs]))
            point = Point(sentence.text, class_, sentence.quote, refs, times, memo.id)
            fields.setdefault(sentence.field, []).append(point)
    return fields


def how_likely(book: Book) -> str:
    """Return the group forecast of the outcome's option, and the range of the roles' forecasts."""
    now, options = standing_now(book), standing.option_ids(book.state)
    if now.group is None or now.leader is None:
        return "No role gave a forecast."
    memo = book.state.memo
    # The memo may answer with another option than the leader, and the figure must match the answer.
    place = options.index(memo.answers) if memo is not None and memo.answers in options else now.leader
    forecasts = [forecast[place] for forecast in now.forecasts.values()]
    low, high = min(forecasts), max(forecasts)
    # A role without numbers about a test cannot follow its result.
    answered = standing.table_at(book.state).forecasts.keys()
    left = " and ".join(sorted(answered - now.forecasts.keys()))
    without = f"{lost_text(book, answered)}{f' (without {left}: no numbers about a test)' if left else ''}"
    each = f", {low}{'' if low == high else f'–{high}'}% each"
    # After a test each forecast is what the role's own numbers say for that result.
    if any(belief.derived for belief in book.state.beliefs.values()):
        each += " by its numbers and the tests' assumed reliability"
    # Of options made by code each role scored one, and no figure of another one is its own.
    if standing.own_options(book.state):
        each = "; points outside a role's own answer are spread evenly"
    whose = f"group forecast of {len(forecasts)} roles{without}{each}"
    whose = whose if forecasts[1:] else f"forecast of one role{without}"
    text = f"{percent(now.group.points(place))} for {options[place]}, the {whose}."
    # A memo that departs from the forecasts has to say so next to its figure.
    if place != now.leader:
        leads = percent(now.group.points(now.leader))
        text += f" The group forecast prefers {options[now.leader]}, with {leads}."
        text += f" {memo.why_not_leader}" if memo is not None and memo.why_not_leader else ""
    elif options[2:]:
        second = max({*range(len(options) - 1)} - {place}, key=now.group.points)
        named_below = " ".join([*(other.text for other in other_leaders(book)), *turning_points(book)])
        if now.group.points(second) >= RIVAL and options[second] not in named_below:
            text += f" Next: {options[second]}, {percent(now.group.points(second))}."
    return text


def lost_text(book: Book, answered: Iterable[str]) -> str:
    """Return how many roles lost their reply and are not among those that answered, in parentheses."""
    # Where the options are made of the answers, a role without an answer of its own is still asked about them.
    given_up = {
        step.rpartition(".")[2] for step in book.state.given_up if step.startswith(("r1.B.", "r1.E."))
    }
    lost = len(given_up.difference(answered))
    return f" ({lost} more {'was' if lost == 1 else 'were'} lost)" * bool(lost)


def other_results(book: Book) -> Iterator[tuple[str, Verdict, ForecastStanding]]:
    """Yield the claim of each settled crux, its verdict, and where the run would stand with the other result."""
    table = standing.table_at(book.state)
    for crux in table.cruxes:
        if verdict := crux.verdict:
            other = crux._replace(verdicts=(Verdict("fails" if verdict.holds else "holds", verdict.level),))
            others = (each for each in table.cruxes if each is not crux)
            yield crux.claim, verdict, standing_of(table._replace(cruxes=[*others, other]))


def turning_points(book: Book) -> Iterator[str]:
    """Yield each test whose other result would have changed leader or status, and each that lowered the leader."""
    now, options = standing_now(book), standing.option_ids(book.state)
    leader = leader_of_group(book)
    for claim, verdict, end in other_results(book):
        had = f"the test of {claim}: had it {'failed' if verdict.holds else 'held'}"
        if end.leader not in (None, now.leader):
            yield f"{had}, {leader_text(options[end.leader], options=True)} would lead"
        elif end.status != now.status:
            yield f"{had}, the status would be {end.status.replace('_', ' ').upper()}"
        elif points_for(book, leader, end) > points_for(book, leader):
            yield f"the test of {claim}: that it {verdict.result} lowered {leader}"


def settled_cruxes(book: Book, chief: Decision) -> Iterator[Point]:
    """Yield each crux whose test raised the forecast of the answer, as a reason of its own level."""
    report = forecasts_of("", book)
    option = option_of(book, chief) or ""
    now, results = points_for(book, option), [*other_results(book)]
    if report is None or now <= report.before.get(option, 0):
        return
    took = f"{option} from {percent(report.before[option])} to {percent(now)}"
    # Some tests may have lowered it: the figures are of all tests together.
    lead = f"{len(results)} tests together took {took}; " if results[1:] else f"A test raised {took}: "
    for claim, verdict, end in results:
        if points_for(book, option, end) < now:
            event, times = book.by_id[claim], times_of(book, verdict.level, [claim])
            what = f"{getattr(event, 'text', '')} (test: {getattr(event, 'testable_as', '')})"
            found = f"{claim} {verdict.result}{', which raised it' * bool(results[1:])}"
            yield Point(one_line(f"{lead}{found}: {what}"), verdict.level, None, [claim], times)
            # The sum is said once.
            lead = ""


def other_leaders(book: Book) -> Iterator[Dissenting]:
    """Yield each role that prefers another option than the group does, also one that a test left out of the group."""
    now, state = standing_now(book), book.state
    if now.leader is None:
        return
    options, latest = standing.option_ids(state), state.beliefs_at(state.round)
    # The first mention of an option has its words.
    words = {option: named(book, option) for option in options}
    for role, sealed in standing.table_at(state).forecasts.items():
        forecast = now.forecasts.get(role, sealed)
        first = max(range(len(options)), key=forecast.__getitem__)
        # A tie with the leader is no dissent.
        if forecast[first] > forecast[now.leader] and role in latest:
            option, points = words.pop(options[first], options[first]), f"{forecast[first]}%"
            text = (
                f"gave {points} to its own answer, {option}."
                if standing.own_options(state)
                else f"prefers {option}: {points}, against {forecast[now.leader]}% for {options[now.leader]}."
            )
            yield Dissenting(role, text, latest[role].id)


def reasons_of_role(book: Book) -> list[Point]:
    """Return the reasons of the nearest role that gave an answer for the leader, for runs without a memo."""
    # A role that preferred another option when it answered gave its reasons for that one.
    preferring = standing.preferring_leader(book.state)
    near = [answer_id(role) for role in writers(standing_now(book)) if role in preferring]
    nearest = [name for name in near if name in book.by_id][:1]
    return [
        Point(one_line(f"{event.by}: {part.text}"), "said", None, [f"{event.id}#{part.name}"], at=event.id)
        for event, part in sections_from(book, "reason-")
        if event.id in nearest
    ][:REASONS]


def worth_text(points: Fraction) -> str:
    """Return the value of a test in words."""
    return f"a test is worth {float(points):.1f} points"


def revisit_if(book: Book) -> Iterator[Point]:
    """Yield every unsettled crux with the value of its test: what could still change the answer."""
    for crux in standing_now(book).unsettled:
        claim = book.by_id.get(crux.claim)
        if isinstance(claim, Claim):
            yield Point.of(f"Open: {one_line(claim.text)} ({worth_text(crux.best)})", crux.claim)


def steps_to_take(run: str, book: Book, steps: list[Point]) -> Iterator[Point]:
    """Yield tests that could change the answer, the most valuable first, with commands, then the memo's steps."""
    # After a person's decision a test changes nothing. While the run goes on, moot itself may still run these tests.
    worth = standing_now(book).worth(standing.table_at(book.state).terms.tau)
    due = [] if is_overruled(book.state) else worth
    for crux in due if book.state.finished else ():
        claim = book.by_id.get(crux.claim)
        # An open question asks for the same test, with the same command, under "needs you".
        if isinstance(claim, Claim) and question_about(book, crux.claim) is None:
            program, experiment = program_text(run, book, crux.claim)
            test = (
                f"{'Look up' if crux.how == 'document' else HOW[crux.how].capitalize()}:"
                f" {one_line(claim.testable_as)} ({worth_text(crux.best)}):{program}"
            )
            yield Point.of(f"{test} `{answer_command(run, book, crux.claim)}`", crux.claim, experiment)
    # The memo was written without the result. A step of it about the test itself would say it twice.
    tested = {crux.claim for crux in due}
    for step in steps:
        if tested.isdisjoint(step.refs):
            text = f"{'Written before the test: ' if due else ''}{step.text}"
            yield msgspec.structs.replace(step, text=text)


def program_text(run: str, book: Book, claim: str) -> tuple[str, str | None]:
    """Return the last program that roles planned for a claim, with the command that runs it here, and its experiment.

    Where something was tried in vain, that is said instead: another kind of test is needed then.
    """
    planned = {name: facts for name, facts in book.state.experiments.items() if claim in facts.claims}
    if book.state.claims[claim].status == "tested_unclear" or any(facts.judged for facts in planned.values()):
        return " Tried here in vain.", None
    if not planned:
        return "", None
    *_, experiment = planned
    runs = shlex.join(plan_of(book, experiment).argv)
    here = f"moot experiment run {shlex.quote(run)} {experiment}"
    return f" Program: `{runs}`, run it here with `{here}`.", experiment


def unseen_text(book: Book) -> str:
    """Return how many ways to be wrong were named, an estimate of those that were not, and those that were tested."""
    estimate, ids = unseen(book.state), [way.refs[0] for _, way in ways_to_be_wrong(book)]
    named = "" if estimate is None else _ways_named(estimate, f" ({some(ids, WAYS_LISTED)})" * bool(ids))
    tested = (
        f"{concern} {concern_standing(book.state, concern)}"
        for concern in book.state.concerns
        if tested_by(book.state, concern)
    )
    return ", ".join(filter(None, (named, *tested)))


def _ways_named(ways: UnseenWays, ids: str = "") -> str:
    """Return how many ways to be wrong were named and how many more there are by the jackknife; empty without any."""
    # The jackknife estimates species that no observer has sighted: many ways named once suggest more unnamed.
    more = round(ways.jackknife - ways.distinct)
    named = f"{counted(ways.distinct, 'way')} to be wrong named{ids}" if ways.distinct else ""
    return f"{named}, about {more} more by estimate" if named and more else named


def ways_to_be_wrong(book: Book) -> Iterator[tuple[int, Point]]:
    """Yield each way in which the leader could be wrong, after the number of roles that named it."""
    # Before the end of the numbers a list would show which option its author prefers.
    roles = standing.preferring_leader(book.state) if are_readable(book) else []
    merged = [(way.id, way.text, way.sightings) for way in book.of(Concern) if way.type == "defeater"]
    # Without the reply that merges the lists, each entry counts alone.
    answers = [event for event in book.of(Statement) if event.id == answer_id(event.by)]
    alone = (
        (f"{event.id}#{part.name}", part.text, (event.by,))
        for event, part in sections_from(book, "defeater-")
    )
    # The list of a role that prefers another option is about that option.
    lists = [event.by for event in answers if event.by in roles]
    about = f" that put {leader_text(leader_of_group(book), True)} first" * (len(lists) < len(answers))
    of_all = f"of {counted(len(lists), 'role')}{about}{lost_text(book, [event.by for event in answers])}"
    for way, text, authors in merged or alone:
        if by := [role for role in authors if role in roles]:
            who = f"{f'{len(by)} {of_all}' if merged else by[0]}: {one_line(text)}"
            yield len(by), Point.of(f"A way to be wrong, named by {who}", way)


def forecasts_of(run: str, book: Book) -> ForecastReport | None:
    """Return the forecasts of a run once all numbers are in; None before that, and for other protocols.

    `run` is how commands name the run.
    """
    state = book.state
    # Partial forecasts would reveal sealed numbers to seats that still answer.
    if state.opening.protocol != "crux" or not are_readable(book):
        return None
    texts = dict(standing.option_texts(state))
    for claim in standing.cruxes_of(state):
        event = book.by_id[claim]
        # A hostile ledger may name a crux whose event is of another kind.
        texts[claim] = event.text if isinstance(event, Claim) else ""
    return report_of(
        standing.table_at(state),
        standing.option_ids(state),
        run=run,
        texts=texts,
        kept=standing.kept_cruxes(state),
        disagree=[claim for claim in standing.cruxes_of(state) if standing.disagreeing(state, claim)],
        unseen=unseen(state),
    )


def roles_spread(report: ForecastReport, option: str) -> str:
    """Return ` (roles 50–63%)`: the range of the roles' forecasts of an option; empty for a single role."""
    forecasts = [points[option] for points in report.roles.values()]
    low, high = min(forecasts), max(forecasts)
    return f" (roles {low}{'' if low == high else f'–{high}'}%)" * (len(forecasts) > 1)


def crux_line(crux: CruxReport) -> str:
    """Return the result of a crux, or the value of a test of it."""
    if crux.result is not None:
        return f"{crux.result}, {meaning(crux.level or 'said')}"
    points = "has no numbers" if crux.value is None else f"a test is worth {crux.value:.1f} points"
    # Contradicting programs mean that the test itself is in doubt, whatever its value.
    why = (
        ", two programs disagree"
        if crux.disagree
        else ""
        if crux.kept
        else ", not among those kept for tests"
    )
    return f"not settled{why}: {points} ({HOW[crux.how]})"


def forecasts_text(report: ForecastReport, status: str, width: int) -> str:
    """Return the status in words, then forecasts and cruxes, as text of `width` columns, clamped to 60–200."""
    width = min(max(width, 60), 200)
    # The forecasts before the tests matter only where a test changed them.
    moved = [option for option in report.group if report.group[option] != report.before[option]]
    before = ", ".join(f"{option} {percent(report.before[option])}" for option in moved)
    worth = [crux.claim for crux in report.cruxes if not crux.result and (crux.value or 0) >= report.tau]
    left = f". No test that is left is worth {report.tau:g} points." * bool(report.cruxes and not worth)
    texts = [
        f"{status}{left}",
        "",
        *(
            f"{option}  {percent(report.group[option])}{roles_spread(report, option)}"
            f"  {shortened(words, WORDS_SHOWN)}"
            for option, words in report.options.items()
            # Options that never had a point are those that no role considered; they add no information.
            if report.group.get(option) or report.before.get(option)
        ),
        *[f"Before the tests: {before}."] * bool(moved),
        "",
        *(
            f"{crux.claim}  {shortened(crux.text, WORDS_SHOWN)}{' ' * bool(crux.text)}{crux_line(crux)}"
            # The test that is worth most comes first; settled cruxes keep their order.
            for crux in sorted(report.cruxes, key=lambda crux: -(crux.value or 0))
        ),
        *["No claim is listed for a test."] * (not report.cruxes),
        "",
        *closing_lines(report),
    ]
    return joined(textwrap.fill(text, width, subsequent_indent=INDENT) for text in texts)


def closing_lines(report: ForecastReport) -> Iterator[str]:
    """Yield decisive roles, an estimate of unnamed ways to be wrong, and the basis of the figures."""
    yield from (f"It depends on {roles}." for roles in changing_roles(report.without, report.leader))
    if report.unseen is not None and (ways := _ways_named(report.unseen)):
        yield f"{ways}."
    if report.cruxes:
        # The value of a test depends on an assumed accuracy, so no figure may stand without this note.
        yield NOTE
