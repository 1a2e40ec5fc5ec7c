"""Objections to a decision and who disagrees with it, in their own words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from ledger.events import (
    Argument,
    Challenge,
    Concern,
    Decision,
    Disposition,
    Response,
    Standing,
    Statement,
    Vote,
)
from ledger.events.ids import kind_of
from ledger.plain_text import counted, first_sentence, one_line, sentences, shortened, some
from ledger.result import Result
from ledger.state.book import Book, grouped
from ledger.state.decided import overridden
from moot.view.events import judgement_of, words_of
from moot.view.judgements import (
    author_of,
    ballot_of,
    compared,
    has_beliefs,
    latest,
    majority,
    option_of,
    options_of,
    reason_of,
    scorecard,
    view_of,
    vote_text,
)
from moot.view.labels import leader_text
from moot.view.reasons import (
    Approval,
    Point,
    approval_of,
    blockers,
    concessions,
    judged,
    score_of,
    severity,
    surviving,
    weight_text,
)
from rounds.protocols.citations import UPHELD, most_say
from rounds.protocols.sides import concessions_of, granted_by, is_given_up, taken_up

_TERMS: Final = re.compile(
    r"\b(?:if|once|only after|unless|until|provided|with(?:out)?)\b.*\bI(?:'d| (?:would|could|will|can))\b"
    r"|\bI(?:'d| (?:would|could|will|can))\b.*\b(?:if|once|only after|unless|until|provided)\b"
    r"|\bonly (?:if|once|after)\b",
    re.IGNORECASE | re.DOTALL,
)
"""Words by which an author names the condition of agreeing: `With a test in place I would not stand in the way.`"""


class Dissenting(Result, frozen=True):
    """Who disagrees with the decision, in the role's own words where it gave any.

    `became`: how it was judged or answered, or that the role was asked to object; empty where it was neither.
    """

    role: str
    text: str
    ref: str
    became: str = ""

    @property
    def judged(self) -> str:
        """Return what became of it in brackets."""
        return f" [{self.became}]" if self.became else ""


class Objection(Dissenting, frozen=True):
    """The strongest thing said against the decision.

    `others`: what else of its kind stands against the decision. `also`: what stands against the plans of other members,
    plan by plan.
    """

    also: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """Return the objection in one line, with its author and its ids."""
        return f"{self.role}: {self.text}{self.judged} ({self.places})"

    @property
    def places(self) -> str:
        """Return where the objection is, what else is against the decision, and what is against the other plans."""
        others = f"; others: {some(self.others, 5)}" if self.others else ""
        also = f"; to the other plans: {some(self.also, 5)}" if self.also else ""
        return f"{self.ref}{others}{also}"


def strongest_objection(
    book: Book, decision: Decision | None, why: list[Point], others: Sequence[Decision]
) -> Objection | None:
    """Return the strongest objection to the decision in its author's words; None where the ledger has none.

    `others` are the plans of members who agree: the objection to each of them is named after it.
    """
    if decision is None:
        return None
    cited = {ref for point in why for ref in point.refs}
    approval = None if decision.type == "override" else approval_of(book)
    if approval is not None:
        return _against_verdict(book, decision, approval, cited)
    # Recorded dissent names this decision explicitly, so it beats anything that is inferred.
    if recorded := [dissenter for dissenter in decision.dissent if dissenter.ref not in cited]:
        first = recorded[0]
        return Objection(first.role, one_line(first.text), first.ref, _became(book, first.ref))
    if decision.type == "override":
        return _overruled(book, decision)
    opposed = _opposed(book, decision, cited)
    if opposed is None:
        return None
    also = [left for plan in others if (left := _opposed(book, plan, cited))]
    theirs = tuple(ref for left in also for ref in (left.ref, *left.others))
    return msgspec.structs.replace(opposed, also=theirs, became=_became(book, opposed.ref))


def _became(book: Book, identity: str) -> str:
    """Return how an objection was judged, else how it was answered."""
    event, judgement = book.by_id.get(identity), judgement_of(book, identity)
    # The closing of a run with forecasts asks the least convinced role to object, and whether it dissents.
    if isinstance(event, Concern) and event.phase == "S" and has_beliefs(book):
        own = book.state.beliefs_at(book.state.round).get(event.by)
        if not event.rank or not own:
            return f"asked to object{', and dissents' if event.rank else '; would not decide otherwise'}"
        # A role that dissents may put the answer first itself, which says how much its dissent weighs.
        first = max(own.points, key=own.points.__getitem__)
        choice = leader_text(first, bool(options_of(book)))
        return f"asked to object, and dissents; its own numbers give {choice} {own.points[first]}%"
    if answer := latest(response for response in book.of(Response) if response.to == identity):
        if answer.outcome == "concede":
            return f"conceded by {answer.by}{f'; {judgement}' if judgement else ''}"
        how = f"{words_of(answer).mark.word} the text, {first_sentence(answer.text)}"
        return judgement or f"not judged: {answer.by} {how}"
    # An examiner calls a question deflected, whether its answer is no answer or there is none.
    unanswered = isinstance(event, Challenge) and event.type == ("question" if judgement else "attack")
    return "; ".join(filter(None, ("not answered" * unanswered, judgement)))


def _overruled(book: Book, decision: Decision) -> Objection | None:
    """Return the decision that a person overruled, which argues for the opposite."""
    original = book.by_id.get(overridden(book.state, decision.id))
    if not isinstance(original, Decision) or original.id == decision.id:
        return None
    who = "the protocol's rule" if original.made_by == "rule" else author_of(original)
    # A person decides in place of all members of a council, and overrules one of them by name.
    others = tuple(
        event.ref
        for event in book.of(Decision)
        if event.phase == original.phase == "plan" and event is not original
    )
    return Objection(who, f"had decided: {one_line(original.text)}", original.id, others=others)


def _opposed(book: Book, decision: Decision, cited: set[str]) -> Objection | None:
    """Return the strongest thing that contradicts a decision."""
    # In order of how directly each contradicts: votes, losing arguments, challenges, concerns.
    if ballot := ballot_of(book):
        # What a view voted before it changed its vote was said against the ruling, too.
        earlier = ballot._replace(votes=[vote for vote in book.of(Vote) if vote.ballot == 1]).against
        if against := ballot.against or earlier:
            when = " in the first ballot" * (not ballot.against)
            return _first(against, f"{vote_text(book, against[0])}{when}: {reason_of(against[0])}")
    # Arguments that were conceded are listed by themselves.
    conceded = {ref for point in conceded_of(book, decision) for ref in point.refs}
    if losing := [event for event in _losing_arguments(book, decision) if event.id not in cited | conceded]:
        return _first(losing, losing[0].claim)
    if left := _unanswered(book, decision, cited):
        return _first(left, words_of(left[0]).text)
    # Concerns that the decision cites or lists as reasons were taken in, so they are no objection.
    elsewhere = cited | {cite.id for cite in decision.cites} | taken_up(book)
    concerns = [
        concern
        for concern in book.of(Concern)
        if concern.type in ("concern", "tension")
        and concern.by != "controller"
        and concern.id not in book.state.resolved
        and concern.id not in elsewhere
        # An old concern without a severity may long be settled, so only recent ones count. In `crux` those of an
        # earlier round are about the memo that a person's result replaced.
        and (concern.severity or concern.round >= decision.round - (not has_beliefs(book)))
        and book.state.opening.protocol != "panel"
    ]
    concerns.sort(key=lambda concern: (severity(book, concern), concern.seq), reverse=True)
    return _first(concerns, concerns[0].text) if concerns else None


def _first(events: Sequence[Argument | Challenge | Concern | Vote], text: str, became: str = "") -> Objection:
    """Return the first of the events against a decision, with the ids of the others."""
    first, *rest = events
    return Objection(first.by, one_line(text), first.id, became, others=tuple(event.id for event in rest))


def _side_of(book: Book, decision: Decision) -> str | None:
    """Return the side or option that a decision follows; None where it follows none."""
    if decision.about or book.state.opening.protocol != "debate":
        return next(iter(decision.about), None)
    from rounds.protocols.debate_judging import side_preferred  # the other protocols judge no sides

    # What a decision cites says no side: of even sides it cites all arguments that stand, which may be those of one.
    return side_preferred(book)


def _losing_arguments(book: Book, decision: Decision) -> list[Argument]:
    """Return the arguments of the side that lost, or for options compared with the chosen one, the best first."""
    # The means over all rounds decide on an option, so they also say which of the others comes closest.
    means = {card.option: float(card.total) for card in scorecard(book)}
    winner = _side_of(book, decision)
    verdicts = grouped((judgement.of, judgement.standing) for judgement in book.of(Standing))
    # An argument that nothing attacked has no verdict, and stands.
    return sorted(
        (
            argument
            for argument in book.of(Argument)
            if winner not in (None, argument.side) and compared(book, decision, argument)
            if not most_say(verdicts.get(argument.id, ()), ("REFUTED", "COLLAPSE"))
            if not is_given_up(book, argument)
        ),
        key=lambda argument: (
            not most_say(verdicts.get(argument.id, ()), UPHELD),
            -means.get(argument.side, score_of(book, argument.id)),
        ),
    )


def _unanswered(book: Book, decision: Decision, in_reasons: set[str]) -> list[Challenge]:
    """Return the challenges that were escalated, rejected, deflected, not answered, half met, or only defended.

    One that waits as a question to a person is left out: the question is shown instead.
    """
    elsewhere = in_reasons | taken_up(book)
    # Each plan of a council cites the challenges to it alone. What was put in other rounds is in no case in it.
    cited = {cite.id for cite in decision.cites if cite.type == "challenge"}
    answered: dict[str, str] = {response.to: response.outcome for response in book.of(Response)}
    ends = answered | {disposition.of: disposition.disposition for disposition in book.of(Disposition)}
    # Ordered by weight: an escalated challenge is open by decision, the others by neglect. The last of them have a
    # defense and no judgement, which leaves them open.
    weights = ("escalated", "rejected", "deflected", "", "partially_addressed", "defend", "justify")
    left = [
        challenge
        for challenge in book.of(Challenge)
        if challenge.id not in elsewhere
        and (not cited or challenge.id in cited or challenge.round != decision.round)
        # Only attacks have a step that answers them; a tribunal's challenges are met in the next votes.
        and ends.get(challenge.id, "" if challenge.type == "attack" else None) in weights
    ]
    return sorted(
        left,
        key=lambda challenge: (
            challenge.round <= decision.round,
            weights.index(ends.get(challenge.id, "")),
            challenge.id in answered,
            -challenge.round,
        ),
    )


def _against_verdict(book: Book, decision: Decision, approval: Approval, cited: set[str]) -> Objection | None:
    """Return the strongest thing against the verdict, with who said it and what the judge makes of it."""
    # The best case against a rejection is what the advocate could still say for the proposal.
    against: list[Argument] | list[Concern] = surviving(book, decision) or list(book.of(Argument))
    if not approval.is_no:
        concerns = [event for event in book.of(Concern) if event.type == "concern" and event.id not in cited]
        # What the judge finds a stretch is only said where nothing else is against the verdict.
        settled, named = book.state.resolved, blockers(book, decision)
        # What carried weight with the judge comes first, then what nobody met.
        against = sorted(
            [concern for concern in concerns if concern.id not in settled] or concerns,
            key=lambda concern: (
                concern not in named,
                -severity(book, concern),
                concern.id not in approval.unaddressed,
                -(concern.severity or 0),
            ),
        )
    if not against:
        return None
    best, words = against[0], judged(book, against[0], approval)
    became = f"{f'judge: {words}' if words else 'open'}{weight_text(book, best)}"
    # What weighs most with the challenger and little with the judge is in no other row.
    first = next((event for event in book.of(Concern) if event.by == "challenger"), best)
    if first is not best and "a stretch" in (view := judged(book, first, approval)):
        became += f"; of {first.id}, which the challenger ranks first: {view}"
    # Blockers that the advocate itself names, and findings of a panel, are listed or counted as open.
    others = (event for event in against[1:] if approval.is_no or event.by != "advocate")
    listed = [best, *others] if book.state.opening.protocol != "panel" else [best]
    return _first(listed, words_of(best).text, became)


def conceded_of(book: Book, decision: Decision | None, objection: Objection | None = None) -> Iterator[Point]:
    """Yield what roles conceded against a decision, against its side or in the text that it is about.

    Each concession has in front who made it, and how others judged it. At an end without a decision it is all that was
    conceded. The objection is not said twice.
    """
    if decision is not None:
        yield from (point for is_for, point in concessions(book, decision) if not is_for)
    winner = _side_of(book, decision) if decision else None
    sides = {argument.by: argument.side for argument in book.of(Argument)}
    for name, roles in concessions_of(book).items() if decision or book.state.finished else ():
        event = book.by_id.get(name)
        by = ", ".join(role for role in roles if decision is None or sides.get(role) == winner)
        if by and isinstance(event, Argument | Challenge) and not (objection and objection.ref == name):
            side = f", an argument of {event.side}" if isinstance(event, Argument) else ""
            words = f" ({judgement})" if (judgement := judgement_of(book, name)) else ""
            answer = latest(row for row in book.of(Response) if (row.to, row.outcome) == (name, "concede"))
            how = f"; answer: {first_sentence(answer.text)}" if answer else ""
            revised = answer.revised if answer else None
            then = f" (then handed in {revised})" if revised else ""
            yield Point.of(f"{by}{side}{words}{then}: {event.claim}{how}", name, revised)


def left_out(book: Book, decision: Decision, reasons: Iterable[Point]) -> str:
    """Return which side the scores are for, and which of its arguments are no reasons for the decision.

    An argument that the other side gave up is neither that nor an objection. Where no side is ahead, all are listed.
    """
    approval, used = approval_of(book), [ref for point in reasons for ref in point.refs]
    # Nobody gives points in a review, and its advocate alone argues for the proposal.
    side = _side_of(book, decision) if approval is None else "FOR" * (not approval.is_no)
    why = grouped(
        (
            f"{judgement_of(book, event.id) or judged(book, event, approval)}"
            f"{f', given up by {event.by}' if is_given_up(book, event) else ''}"
            f"{''.join(f', conceded by {role}' for role in granted_by(book, event))}",
            event.id,
        )
        for event in book.of(Argument)
        # Options are compared by their points, and the many arguments of one are no reasons of their own.
        if side in (None, event.side) and event.id not in used and not decision.about
    )
    listed = "; ".join(f"{', '.join(ids)} ({words})" for words, ids in why.items())
    theirs = [event for event in book.of(Argument) if side not in (None, event.side) and not decision.about]
    conceded = [(event.id, judgement_of(book, event.id)) for event in theirs if is_given_up(book, event)]
    given_up = ", ".join(f"{name} ({words})" if words else name for name, words in conceded)
    # The judge writes a recommendation, and no field of it names a side.
    won = theirs and decision.made_by != "rule" and approval is None
    text = latest(event for event in book.of(Statement) if event.phase in ("steelman", "defence"))
    settled = "; ".join(decision.zones.agreement) if decision.zones else ""
    ends = Counter(event.disposition for event in book.of(Disposition))
    texts = (
        f"By these scores {side} is ahead, and its arguments are the reasons." if won else "",
        f"{'On its side, but not' if side else 'Not'} counted as reasons: {listed}." if listed else "",
        f"Given up by the other side: {given_up}." if given_up else "",
        # An examiner calls a question deflected that has no answer, too.
        f"Of {counted(ends.total(), 'question')} {ends['defended']} were defended, {ends['conceded']} conceded and"
        f" {ends['deflected']} deflected; {ends.total() - len(book.of(Response))} had no answer."
        if book.state.opening.protocol == "cross-examination"
        else "",
        # A verdict is about the last text of a position, and settles some of it.
        f"The position{' after its defense' * (text.phase == 'defence')}: {text.id}." if text else "",
        f"Settled, as the {decision.by} says{', though replies were lost' * bool(book.state.given_up)}:"
        f" {shortened(one_line(settled), 200)} ({decision.id})."
        if settled
        else "",
        # Stories that make sense of both sides' cases; other protocols keep something else there.
        f"The judge tells {counted(len(decision.narratives), 'story')} that make sense of all this ({decision.id})."
        if approval and decision.narratives
        else "",
    )
    return " ".join(filter(None, texts))


def dissent_of(book: Book, decision: Decision | None) -> Iterator[Dissenting]:
    """Yield who disagrees with the decision."""
    if decision is None or decision.type == "override":
        return  # who disagreed with what a person overruled says nothing about the override
    ballot = ballot_of(book)
    yield from (
        Dissenting(dissenter.role, one_line(dissenter.text), dissenter.ref, _became(book, dissenter.ref))
        for dissenter in decision.dissent
        # Votes follow below, with what each voted.
        if kind_of(dissenter.ref) != "vote"
    )
    yield from (
        Dissenting(vote.by, f"{vote_text(book, vote)}: {reason_of(vote)}", vote.id)
        for vote in ([] if ballot is None else ballot.cast if ballot.is_split else ballot.against)
    )
    yield from (
        Dissenting(f"judge, round {judgement.round}", first_sentence(judgement.text), judgement.id)
        for judgement in book.of(Decision)
        # Only rounds in which the recommended option took part say anything about it.
        if judgement.type == "round" and compared(book, decision, judgement)
        if decision.made_by == "rule" and set(judgement.about).isdisjoint(decision.about)
        if book.state.opening.protocol == "comparative"
    )
    # Members who chose another option dissent from the majority by their own decision.
    if (members := majority(book)) and members.option:
        yield from (
            Dissenting(plan.id, f"for {option}: {first_sentence(plan.text)}", plan.id)
            for plan in members.plans
            if (option := option_of(book, plan)) not in (None, members.option)
        )


def terms_of_voters(book: Book, decision: Decision) -> Iterator[Point]:
    """Yield, in the voters' own words, the terms under which they would change or keep their votes."""
    ballot = None if decision.type == "override" else ballot_of(book)
    for vote in ballot.cast if ballot else ():
        # What a vote for acting asks for would not open a refusal again.
        if ballot and vote.decision == "ACT" and vote in ballot.against:
            continue
        # A term is free text: a voter may also name what would end an approval, so none is called a requirement.
        if terms := latest(sentence for sentence in sentences(vote.reasoning) if _TERMS.search(sentence)):
            yield Point.of(f"{view_of(vote)}: {terms}", vote.id)
