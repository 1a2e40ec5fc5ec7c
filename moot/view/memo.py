"""What beliefs and a memo put into the outcome of a run: sentences, how likely it is, on whom it rests.

The outcome stands at the head of most verbs, and few runs have beliefs: their arithmetic is imported by who has some.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from ledger.events import Claim, Decision, Memo, Statement
from ledger.events.answers import MemoSentence
from ledger.events.values import EvidenceClass
from ledger.plain_text import counted, one_line, shortened
from ledger.state.book import Book
from ledger.state.series import plan_of
from moot.view.evidence import times_of
from moot.view.reasons import Point

if TYPE_CHECKING:
    from detectors.beliefs.course import RoundEnd

REASONS: Final = 3
TEST_SHOWN: Final = 90
"""Characters of a test before its command."""
_SETTLED_BY: Final = {
    "execution": "Run",
    "calculation": "Calculate",
    "document": "Look up",
    "person": "Ask or measure",
}
"""How a claim is settled → how a person is told to do it."""


def has_beliefs(book: Book) -> bool:
    """Whether the run is one of sealed beliefs, and has some."""
    return book.state.opening.protocol == "crux" and bool(book.state.beliefs)


def memo_of(book: Book, decision: Decision | None) -> Memo | None:
    """The memo that a decision was made of, without the sentences that nothing supported; an override has none."""
    if decision is None or decision.by != "controller" or decision.type != "final":
        return None
    memos = [one for one in book.of(Memo) if one.round == decision.round]
    return memos[-1] if memos else None


class MemoTold(msgspec.Struct, frozen=True):
    """A memo in the fields of the outcome."""

    book: Book
    memo: Memo

    def answer(self) -> str:
        """The sentences that answer."""
        return " ".join(one.text for one in self._of("answer"))

    def field(self, name: str) -> list[Point]:
        """What the memo says there, each sentence with the class of what it cites."""
        return [self._point(one) for one in self._of(name)]

    def _of(self, name: str) -> Iterator[MemoSentence]:
        return (one for one in self.memo.sentences if one.field == name)

    def _point(self, one: MemoSentence) -> Point:
        from roles.memo.checks import class_of_sentence
        from roles.memo.citing import cited_texts

        cited = cited_texts(self.book, one.refs)
        class_ = class_of_sentence(one, cited) if one.field == "why" else None
        times = times_of(self.book, class_, one.refs)
        return Point(
            text=one.text, class_=class_, quote=one.quote, refs=list(one.refs), times=times, at=self.memo.id
        )


def end_of_run(book: Book) -> RoundEnd:
    """Where beliefs stand at the end of the round that is open, or was last."""
    from rounds.protocols.crux import standing

    return standing.end_of(book.state, book.state.round)


def how_likely(book: Book) -> str:
    """Return how likely the group forecast calls the answer, with the range over the roles.

    A word with a band of its own, such as "likely (55–80%)", would read as an interval around the number.
    """
    from detectors.beliefs.pool import spread_of
    from rounds.protocols.crux import standing

    end = end_of_run(book)
    if end.pool is None or end.leader is None:
        return "No role has a forecast that counts."
    leader = standing.option_ids(book.state)[end.leader]
    what = "none of the options is right" if leader == standing.NONE else f"{leader} is right"
    share = f"{float(end.pool[end.leader]):.0f}% that {what}"
    if len(end.roles) == 1:
        return f"{share}, by the forecast of one role."
    low, high = (f"{float(points):.0f}" for points in spread_of(end.roles, end.leader))
    return f"{share}: mean of {len(end.roles)} forecasts, roles {low}{'' if low == high else f'–{high}'}%."


def basis_told(why: list[Point], families: int | None) -> str:
    """What the answer rests on, in a sentence of its own."""
    from roles.evidence import basis_sentence

    classes: list[EvidenceClass] = [one.class_ or "said" for one in why]
    return basis_sentence(classes, families=families)


def other_leaders(book: Book) -> Iterator[tuple[str, str, str]]:
    """Who puts another option first than the answer does: role, words, the belief that says so."""
    from detectors.beliefs.report import rounded
    from rounds.protocols.crux import standing

    end, state = end_of_run(book), book.state
    if end.leader is None or len(end.roles) < 2:
        return
    options, latest = standing.option_ids(state), state.beliefs_at(state.round)
    for role, points in end.roles.items():
        first = max(range(len(options)), key=lambda n: points[n])
        if points[first] > points[end.leader] and role in latest:
            put, own = rounded(points[first]), rounded(points[end.leader])
            text = f"puts {options[first]} first: {put:g} points, against {own:g} for {options[end.leader]}."
            yield role, text, latest[role].id


def reasons_of_roles(book: Book) -> list[Point]:
    """Where nobody wrote a memo: the reasons of the role that is nearest the pool, as it gave them."""
    from rounds.protocols.crux.asked import writers

    for role in writers(book.state)[:1]:
        event = book.by_id.get(f"S-1-B-{role}")
        if isinstance(event, Statement):
            named = [one for one in event.sections if one.name.startswith("reason-")]
            return [
                Point(text=one_line(one.text), class_="said", quote=None, refs=[f"{event.id}#{one.name}"])
                for one in named[:REASONS]
            ]
    return []


def work_order(run: str, book: Book) -> Iterator[Point]:
    """What nobody here could test and is worth a test, the most valuable first, with its program where it has one."""
    from detectors.beliefs.report import rounded

    end = end_of_run(book)
    if end.stop is None or end.stop.reason != "hand_over":
        return
    for one in sorted(end.values, key=lambda value: -value.at_best):
        claim = book.by_id.get(one.claim)
        if isinstance(claim, Claim):
            test = f"{_SETTLED_BY.get(one.how, 'Settle')}: {one_line(claim.testable_as)}"
            worth = f"({worth_told(rounded(one.at_best))})"
            order = order_for(run, book, one.claim)
            if order is None:
                yield Point(text=f"{test} {worth}", class_=None, quote=None, refs=[one.claim])
                continue
            text = f"{shortened(test, TEST_SHOWN)} {worth}: {order.told}"
            yield Point(text=text, class_=None, quote=None, refs=[one.claim, order.experiment])


def worth_told(points: float | str) -> str:
    """The value of a test."""
    return f"worth {round(float(points), 2):g} points of being right"


class Order(NamedTuple):
    """A program that was planned for a claim and never run: what is run, and how its result comes in."""

    experiment: str
    runs: str
    submit: str
    here: str

    @property
    def told(self) -> str:
        """All of it in sentences."""
        return f"`{self.runs}`; here: {self.here}; from elsewhere: {self.submit}"


def order_for(run: str, book: Book, claim: str) -> Order | None:
    """The last program that seats planned for a claim and that was never run; one that two call unfair is none."""
    from rounds.protocols.crux.programs import set_aside

    aside, named = set_aside(book.state), shlex.quote(run)
    for experiment in reversed(book.state.unjudged):
        if claim in book.state.experiments[experiment].claims and experiment not in aside:
            return Order(
                experiment=experiment,
                runs=shlex.join(plan_of(book, experiment).argv),
                submit=f"moot experiment submit {named} {experiment} FILE",
                here=f"moot experiment run {named} {experiment}",
            )
    return None


def unseen_told(book: Book) -> str:
    """How many ways to be wrong were named, and how many more there are at least by the estimate."""
    from rounds.protocols.crux.sightings import unseen

    found = unseen(book.state)
    if found is None or not found.distinct:
        return ""
    more = found.jackknife - found.distinct
    named = f"{counted(found.distinct, 'way')} to be wrong named"
    return f"{named}, at least {round(more)} more by estimate" if more else named
