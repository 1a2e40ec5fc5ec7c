"""Forecasts and memo of a `crux` run in its outcome: sentences, likelihood, reasons, unsettled cruxes.

The outcome is shown first by most verbs, and few runs have forecasts, so their arithmetic is imported where it is used.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from ledger.events import Claim, Decision, Frame, Memo, Statement
from ledger.events.answers import MemoSentence
from ledger.events.values import EvidenceClass
from ledger.plain_text import counted, first_sentence, one_line
from ledger.state.book import Book
from ledger.state.series import plan_of
from moot.view.evidence import times_of
from moot.view.reasons import Point

if TYPE_CHECKING:
    # The arithmetic of forecasts loads slowly, and most runs have none.
    from detectors.forecasts.standing import ForecastStanding, UnsettledCrux

REASONS: Final = 3
_SETTLED_BY: Final = {
    "execution": "Run",
    "calculation": "Calculate",
    "document": "Look up",
    "person": "Measure",
}
"""Way to settle a claim → the verb for a person."""


def has_beliefs(book: Book) -> bool:
    """Return whether the run has sealed forecasts."""
    return book.state.opening.protocol == "crux" and bool(book.state.beliefs)


def memo_of(book: Book, decision: Decision | None) -> Memo | None:
    """Return the memo that a decision was made of, without its removed sentences; an override has none."""
    # A person's override replaces the memo, so its sentences no longer explain the decision.
    if decision is None or decision.by != "controller" or decision.type != "final":
        return None
    memos = [memo for memo in book.of(Memo) if memo.round == decision.round]
    # A memo goes back to its writer once for unsupported sentences, and what stays unsupported is removed.
    # The last version is the one that counts.
    return memos[-1] if memos else None


class MemoTold(msgspec.Struct, frozen=True):
    """A memo in the fields of the outcome."""

    book: Book
    memo: Memo

    def answer(self) -> str:
        """Return the sentences of the answer."""
        return " ".join(sentence.text for sentence in self._of("answer"))

    def field(self, name: str) -> list[Point]:
        """Return the sentences of a field, each with the evidence level of what it cites."""
        return [self._point(sentence) for sentence in self._of(name)]

    def _of(self, name: str) -> Iterator[MemoSentence]:
        return (sentence for sentence in self.memo.sentences if sentence.field == name)

    def _point(self, sentence: MemoSentence) -> Point:
        from roles.memo.checks import class_of_sentence
        from roles.memo.citing import cited_texts

        cited = cited_texts(self.book, sentence.refs)
        # Only reasons carry evidence; an action or a condition is not true or false.
        class_ = class_of_sentence(sentence, cited) if sentence.field == "why" else None
        times = times_of(self.book, class_, sentence.refs)
        return Point(
            text=sentence.text,
            class_=class_,
            quote=sentence.quote,
            refs=list(sentence.refs),
            times=times,
            at=self.memo.id,
        )


def standing_now(book: Book) -> ForecastStanding:
    """Return the present standing of a run's forecasts."""
    from rounds.protocols.crux.standing import standing_at

    return standing_at(book.state)


def how_likely(book: Book) -> str:
    """Return the group forecast of the outcome's option, and the range of the roles' forecasts."""
    from rounds.protocols.crux import standing

    now, options = standing_now(book), standing.option_ids(book.state)
    if now.group is None or now.leader is None:
        return "No role gave a forecast."
    memo = book.state.memo
    # The memo may answer with another option than the leader, and the figure must match the answer.
    named = memo.answers if memo is not None and memo.answers in options else options[now.leader]
    place = options.index(named or options[now.leader])
    forecasts = [forecast[place] for forecast in now.forecasts.values()]
    low, high = min(forecasts), max(forecasts)
    points = f"{float(now.group.points(place)):.0f}%"
    if len(forecasts) == 1:
        text = f"{points} for {options[place]}, the forecast of one role."
    else:
        spread = f"{low}%" if low == high else f"{low}–{high}%"
        text = f"{points} for {options[place]}, the group forecast of {len(forecasts)} roles, which give it {spread}."
    # A memo that departs from the forecasts has to say so next to its figure.
    if place != now.leader:
        leads = f"{float(now.group.points(now.leader)):.0f}%"
        reason = f" {memo.why_not_leader}" if memo is not None and memo.why_not_leader else ""
        text += f" The group forecast prefers {options[now.leader]}, with {leads}.{reason}"
    return text


def why_untested(book: Book) -> str:
    """Return why a `crux` run had nothing to test, in parentheses; empty elsewhere."""
    if book.state.opening.protocol != "crux" or not has_beliefs(book) or not book.state.looks:
        return ""
    from rounds.protocols.crux.untested import why_nothing_was_tested  # its texts cost other protocols 0.1 s

    reason = why_nothing_was_tested(book.state)
    return f" ({reason})" if reason else ""


def options_missing(book: Book) -> list[Point]:
    """Return the options that the check of the question found missing."""
    # The answer is only the best of the options that were named, so this has to be said.
    frame = next(iter(book.of(Frame)), None)
    if frame is None or not frame.missing:
        return []
    text = f"The question does not name: {' / '.join(first_sentence(one_line(option)) for option in frame.missing)}"
    return [Point(text=text, class_=None, quote=None, refs=[f"@{frame.seq}"])]


def basis_told(why: list[Point], families: int | None) -> str:
    """Return the evidence levels under the answer, in a sentence of its own."""
    from roles.evidence import basis_sentence

    classes: list[EvidenceClass] = [point.class_ or "said" for point in why]
    return basis_sentence(classes, families=families)


def other_leaders(book: Book) -> Iterator[tuple[str, str, str]]:
    """Yield role, words and forecast id of each role that prefers another option than the group does."""
    from rounds.protocols.crux import standing

    now, state = standing_now(book), book.state
    # A single forecast is the group forecast, so it cannot disagree with it.
    if now.leader is None or len(now.forecasts) < 2:
        return
    options, latest = standing.option_ids(state), state.beliefs_at(state.round)
    for role, forecast in now.forecasts.items():
        first = max(range(len(options)), key=lambda n: forecast[n])
        # A tie with the leader is no dissent.
        if forecast[first] > forecast[now.leader] and role in latest:
            text = (
                f"prefers {options[first]}: {forecast[first]}%, against {forecast[now.leader]}% for"
                f" {options[now.leader]}."
            )
            yield role, text, latest[role].id


def reasons_of_roles(book: Book) -> list[Point]:
    """Return the reasons of the role nearest to the group, for runs without a memo."""
    from rounds.protocols.crux.assignments import writers

    # The role nearest to the group forecast argues for what the group prefers.
    for role in writers(standing_now(book))[:1]:
        event = book.by_id.get(f"S-1-B-{role}")
        if isinstance(event, Statement):
            named = [section for section in event.sections if section.name.startswith("reason-")]
            return [
                Point(
                    text=one_line(section.text),
                    class_="said",
                    quote=None,
                    refs=[f"{event.id}#{section.name}"],
                )
                for section in named[:REASONS]
            ]
    return []


def unsettled(book: Book) -> list[UnsettledCrux]:
    """Return the cruxes that are not settled, the most valuable test first."""
    return list(standing_now(book).unsettled)


def revisit_if(book: Book) -> Iterator[Point]:
    """Yield every unsettled crux with the value of its test: what could still change the answer."""
    for crux in unsettled(book):
        claim = book.by_id.get(crux.claim)
        if isinstance(claim, Claim):
            text = f"Open: {one_line(claim.text)} ({worth_told(crux.best)})"
            yield Point(text=text, class_=None, quote=None, refs=[crux.claim])


def tests_to_make(run: str, book: Book) -> Iterator[Point]:
    """Yield tests for a person that could change the answer, the most valuable first, with commands."""
    from moot.view.forecasts import answer_command
    from rounds.protocols.crux.standing import askable

    for crux in askable(book.state):
        claim = book.by_id.get(crux.claim)
        if isinstance(claim, Claim):
            test = f"{_SETTLED_BY[crux.how]}: {one_line(claim.testable_as)} ({worth_told(crux.best)})"
            order = order_for(run, book, crux.claim)
            # Where seats planned a program, running it is cheaper than designing a test by hand.
            program = f" Program: `{order.runs}`, run it here with `{order.here}`." if order else ""
            command = answer_command(run, book, crux.claim).command
            refs = [crux.claim, *([order.experiment] if order else [])]
            yield Point(text=f"{test}:{program} `{command}`", class_=None, quote=None, refs=refs)


def worth_told(points: Fraction | float | str) -> str:
    """Return the value of a test in words."""
    return f"a test is worth {float(points):.1f} points"


class Order(NamedTuple):
    """A program that was planned for a claim and never run: its command line, and the command that runs it here."""

    experiment: str
    runs: str
    here: str


def order_for(run: str, book: Book, claim: str) -> Order | None:
    """Return the last program that roles planned for a claim; None once one of its programs was run."""
    planned = [experiment for experiment, facts in book.state.experiments.items() if claim in facts.claims]
    # Once a program ran, its verdict is on the ledger and the claim needs another kind of test.
    if not planned or any(book.state.experiments[name].judged for name in planned):
        return None
    experiment = planned[-1]
    return Order(
        experiment=experiment,
        runs=shlex.join(plan_of(book, experiment).argv),
        here=f"moot experiment run {shlex.quote(run)} {experiment}",
    )


def unseen_told(book: Book) -> str:
    """Return how many ways to be wrong were named, and an estimate of those that were not."""
    from rounds.protocols.crux.sightings import unseen

    estimate = unseen(book.state)
    if estimate is None or not estimate.distinct:
        return ""
    more = estimate.jackknife - estimate.distinct
    # Singletons drive the estimate: many ways named once suggest more that were not named.
    named = f"{counted(estimate.distinct, 'way')} to be wrong named"
    return f"{named}, about {round(more)} more by estimate" if more else named
