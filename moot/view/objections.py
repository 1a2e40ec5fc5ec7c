"""Objections to a decision and who disagrees with it, in their own words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ledger.events import Argument, Challenge, Concern, Decision, Disposition, Response, Standing, Vote
from ledger.plain_text import counted, first_sentence, one_line, sentences
from ledger.result import Result
from ledger.state.book import Book, grouped
from ledger.state.decided import overridden
from moot.view.events import words_of
from moot.view.judgements import (
    ballot_of,
    cited_as,
    compared,
    has_beliefs,
    latest,
    majority,
    option_of,
    scorecard,
    side_means,
    terms_in,
    view_of,
    vote_text,
)
from moot.view.reasons import (
    TAKEN,
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
from rounds.protocols.sides import GIVEN_UP, concessions_of, is_given_up


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
    """The strongest thing said against the decision. `also`: what stands against the plans of other members.

    `more`: how many others of its kind stand against the decision.
    """

    also: tuple[str, ...] = ()
    more: int = 0

    @property
    def line(self) -> str:
        """Return the objection in one line, with its author and its ids."""
        return f"{self.role}: {self.text}{self.judged} ({self.places})"

    @property
    def places(self) -> str:
        """Return where the objection is, those to the other plans, and how many more there are."""
        also = f"; to the other plans: {', '.join(self.also)}" if self.also else ""
        return f"{self.ref}{also}{f'; and {self.more} more' if self.more else ''}"


def strongest_objection(
    book: Book, decision: Decision | None, why: list[Point], others: Sequence[Decision] = ()
) -> Objection | None:
    """Return the strongest objection to the decision in its author's words; None where the ledger has none.

    `others` are the plans of members who agree: the objection to each of them is named after it.
    """
    if decision is None:
        return None
    # What was conceded is listed by itself.
    cited = {ref for point in (*why, *conceded_of(book, decision)) for ref in point.refs}
    approval = None if decision.type == "override" else approval_of(book)
    if approval is not None:
        return _against_verdict(book, decision, approval, cited)
    # Recorded dissent names this decision explicitly, so it beats anything that is inferred.
    if decision.dissent:
        dissenter = decision.dissent[0]
        text = one_line(dissenter.text)
        became = _became(book, dissenter.ref)
        return Objection(dissenter.role, text, dissenter.ref, became)
    if decision.type == "override":
        return _overruled(book, decision)
    opposed = _opposed(book, decision, cited)
    if opposed is None:
        return None
    also = [left for plan in others if (left := _opposed(book, plan, cited))]
    more = sum(left.more for left in (opposed, *also))
    became = _became(book, opposed.ref)
    return msgspec.structs.replace(opposed, also=tuple(left.ref for left in also), more=more, became=became)


def _became(book: Book, identity: str) -> str:
    """Return how an objection was judged, else how it was answered."""
    event = book.by_id.get(identity)
    # The closing of a run with forecasts asks the least convinced role to object, and whether it dissents.
    if isinstance(event, Concern) and event.phase == "S" and has_beliefs(book):
        return "asked to object, and dissents" if event.rank else "asked to object"
    answer = latest(response for response in book.of(Response) if response.to == identity)
    unjudged = "not answered" if isinstance(event, Challenge) and event.type == "attack" else ""
    if answer:
        unjudged = f"not judged: {answer.by} {words_of(answer).mark.word} the text"
    return _judged(book, identity) or unjudged


def _judged(book: Book, identity: str) -> str:
    """Return how something was judged, and by how many where several judged it; empty where nobody did."""
    # Several judges share a role, so each counts by its step; what it says last is its judgement. That something was
    # conceded is the word of its author, which a judge only repeats.
    judged = {
        event.step: f"{event.by}: {words_of(event).mark.word}"
        for event in book.events
        if isinstance(event, Disposition | Standing) and event.of == identity
        if getattr(event, "disposition", "") != "conceded"
    }
    counts = Counter(judged.values()).most_common()
    return ", ".join(f"{words} ({n} of {len(judged)})" if len(judged) > 1 else words for words, n in counts)


def _overruled(book: Book, decision: Decision) -> Objection | None:
    """Return the decision that a person overruled, which argues for the opposite."""
    original = book.by_id.get(overridden(book.state, decision.id))
    if not isinstance(original, Decision) or original.id == decision.id:
        return None
    who = (
        "the protocol's rule"
        if original.made_by == "rule"
        else (original.name or original.made_by).replace("_", " ")
    )
    return Objection(who, f"had decided: {one_line(original.text)}", original.id)


def _opposed(book: Book, decision: Decision, cited: set[str]) -> Objection | None:
    """Return the strongest thing that contradicts a decision."""
    # In order of how directly each contradicts: votes, losing arguments, challenges, concerns.
    if ballot := ballot_of(book):
        # What a view voted before it changed its vote was said against the ruling, too.
        earlier = ballot._replace(votes=[vote for vote in book.of(Vote) if vote.ballot == 1]).against
        for vote in (*ballot.against, *earlier):
            text = f"{vote_text(book, vote)}{' in the first ballot' * (vote in earlier)}: {_gist(vote)}"
            return Objection(vote.by, text, vote.id, more=len(ballot.against or earlier) - 1)
    if losing := [event for event in _losing_arguments(book, decision) if event.id not in cited]:
        return Objection(losing[0].by, one_line(losing[0].claim), losing[0].id, more=len(losing) - 1)
    if left := _unanswered(book, decision, cited):
        text = one_line(f"{left[0].claim} {left[0].text}")
        return Objection(left[0].by, text, left[0].id, more=len(left) - 1)
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
    if not concerns:
        return None
    gravest = max(concerns, key=lambda concern: (severity(book, concern), concern.seq))
    return Objection(gravest.by, one_line(gravest.text), gravest.id, more=len(concerns) - 1)


def taken_up(book: Book) -> frozenset[str]:
    """Return the objections that are none to the final answer: accepted into it, or put to a person as a question."""
    became = {disposition.of: disposition.disposition for disposition in book.of(Disposition)}
    # What is left of an escalated objection is its question, which `needs you` or the answer to it shows.
    put_to_person = {
        objection
        for concern in book.of(Concern)
        if concern.type == "question" and concern.for_human
        for objection in concern.between
    }
    return frozenset(
        objection
        for objection, disposition in became.items()
        if disposition in TAKEN or (disposition == "escalated" and objection in put_to_person)
    )


def _gist(vote: Vote) -> str:
    """Return the point of a vote: its first sentence, or the last two of a revised vote."""
    # A revision goes through its challenges first and states its position at the end.
    return first_sentence(vote.reasoning) if vote.ballot == 1 else " ".join(sentences(vote.reasoning)[-2:])


def _side_of(book: Book, decision: Decision) -> str | None:
    """Return the side or option that a decision follows; None where it follows none."""
    # A decision for a side cites the arguments of that side that stand, and for neither those of both.
    carry = {
        event.side
        for kind in ("supported-by", "builds-on")
        for event in cited_as(kind, Argument, book, decision)
    }
    # Where none of its arguments stands, one judge follows the points, and several have votes of their own.
    if not carry and decision.made_by != "rule":
        means = side_means(book)
        carry = {side for side in means if means[side] == max(means.values())}
    return [*decision.about[:1], *carry][0] if decision.about or len(carry) == 1 else None


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
    cited = {cite.id for cite in decision.cites if cite.type == "challenge"}
    ends: dict[str, str] = {response.to: response.outcome for response in book.of(Response)}
    ends |= {disposition.of: disposition.disposition for disposition in book.of(Disposition)}
    # Ordered by weight: an escalated challenge is open by decision, the others by neglect. The last of them have a
    # defense and no judgement, which leaves them open.
    weights = ("escalated", "rejected", "deflected", "", "partially_addressed", "defend", "justify")
    left = [
        challenge
        for challenge in book.of(Challenge)
        if challenge.id not in elsewhere
        and (not cited or challenge.id in cited)
        # Only attacks have a step that answers them; a tribunal's challenges are met in the next votes.
        and ends.get(challenge.id, "" if challenge.type == "attack" else None) in weights
    ]
    return sorted(left, key=lambda challenge: weights.index(ends.get(challenge.id, "")))


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
    text = one_line(best.claim if isinstance(best, Argument) else best.text)
    became = f"{f'judge: {words}' if words else 'open'}{weight_text(book, best)}"
    # Blockers that the advocate itself names are listed as open, and are not counted twice.
    more = sum(approval.is_no or other.by != "advocate" for other in against[1:])
    return Objection(best.by, text, best.id, became, more=more)


def risks_of(book: Book, decision: Decision) -> Iterator[Point]:
    """Yield what advocates name against what was decided for: open blockers, and the risks as one point."""
    approval = None if decision.type == "override" else approval_of(book)
    yield from (
        Point.of(
            f"A blocker that the advocate itself names (judge: {judged(book, concern, approval)}): {concern.text}",
            concern.id,
        )
        for concern in (book.of(Concern) if approval is not None else ())
        if concern.by == "advocate" and concern.id not in book.state.resolved
    )
    # The strongest of what matters most to the judge of a panel is the objection, or all of it is why.
    for concern in blockers(book, decision) if book.state.opening.protocol == "panel" else ():
        weight = f"Among what matters most to the judge{weight_text(book, concern)}"
        yield Point.of(f"{weight}: {concern.by}: {concern.text}", concern.id)
    if decision.type == "override" or book.state.opening.protocol != "comparative":
        return
    from rounds.protocols.comparative import sides_of

    cases = [event for event in book.of(Concern) if event.phase == "case"]
    if risks := [risk for risk in cases if sides_of(book.state, risk.round, risk.by).b in decision.about]:
        number = f"{counted(len(risks), 'risk')} of {' and '.join(decision.about)}, named and not judged"
        first = f"{risks[0].text.partition(': ')[2]} ({risks[0].by})"
        yield Point.of(f"{number}, the first: {first}", *(risk.id for risk in risks))


def conceded_of(book: Book, decision: Decision) -> Iterator[Point]:
    """Yield what a decision gives up, and what roles conceded against its side or in the text that it is about.

    Each concession has in front who made it, and how others judged it.
    """
    yield from (
        Point.of(f"{decision.by}: {text}", decision.id)
        for text in decision.narratives
        if text.startswith(GIVEN_UP)
    )
    winner = _side_of(book, decision)
    sides = {argument.by: argument.side for argument in book.of(Argument)}
    for name, roles in concessions_of(book).items():
        event = book.by_id.get(name)
        by = ", ".join(role for role in roles if sides.get(role) == winner)
        if by and isinstance(event, Argument | Challenge):
            side = f", an argument of {event.side}" if isinstance(event, Argument) else ""
            words = f" ({judgement})" if (judgement := _judged(book, name)) else ""
            yield Point.of(f"{by}{side}{words}: {event.claim}", name)
    yield from (point for is_for, point in concessions(book, decision) if not is_for)


def left_out(book: Book, decision: Decision, reasons: Iterable[Point]) -> str:
    """Return which arguments of the decision's side are no reasons for it, in a sentence; empty where all are."""
    approval, used = approval_of(book), [ref for point in reasons for ref in point.refs]
    # Nobody gives points in a review, and its advocate alone argues for the proposal.
    side = _side_of(book, decision) if approval is None else "FOR" * (not approval.is_no)
    why = grouped(
        (
            f"{_judged(book, event.id) or judged(book, event, approval)}"
            f"{f', given up by {event.by}' if is_given_up(book, event) else ''}",
            event.id,
        )
        for event in book.of(Argument)
        # Options are compared by their points, and the many arguments of one are no reasons of their own.
        if event.side == side and event.id not in used and not decision.about
    )
    listed = "; ".join(f"{', '.join(ids)} ({words})" for words, ids in why.items())
    return f"On its side, but not counted as reasons: {listed}." if listed else ""


def dissent_of(book: Book, decision: Decision | None) -> Iterator[Dissenting]:
    """Yield who disagrees with the decision."""
    if decision is None or decision.type == "override":
        return  # who disagreed with what a person overruled says nothing about the override
    ballot = ballot_of(book)
    # Votes follow below, with what each voted.
    cast: set[str] = {vote.id for vote in ballot.votes} if ballot is not None else set()
    yield from (
        Dissenting(dissenter.role, one_line(dissenter.text), dissenter.ref, _became(book, dissenter.ref))
        for dissenter in decision.dissent
        if dissenter.ref not in cast
    )
    yield from (
        Dissenting(vote.by, f"{vote_text(book, vote)}: {_gist(vote)}", vote.id)
        for vote in ([] if ballot is None else ballot.cast if ballot.is_split else ballot.against)
    )
    yield from _other_rounds(book, decision)
    # Members who chose another option dissent from the majority by their own decision.
    if (members := majority(book)) and members.option:
        yield from (
            Dissenting(plan.id, first_sentence(plan.text), plan.id)
            for plan in members.plans
            if option_of(book, plan) not in (None, members.option)
        )


def terms_of_voters(book: Book, decision: Decision) -> Iterator[tuple[bool, Point]]:
    """Yield the terms of voters and dissenters in their own words, and whether the author is for the decision.

    Those who are for it come first: what they ask for is a condition of the decision, or of changing it.
    """
    ballot = None if decision.type == "override" else ballot_of(book)
    cast = ballot.cast if ballot is not None else []
    sides = {vote.id: ballot is not None and vote not in ballot.against for vote in cast}
    authors = [
        (view_of(vote), vote.reasoning, vote.id or "")
        for vote in sorted(cast, key=lambda entry: not sides[entry.id])
        # What a vote for acting asks for would not open a refusal again.
        if vote.decision != "ACT" or sides[vote.id]
    ]
    authors += [(entry.role, entry.text, entry.ref) for entry in decision.dissent if entry.ref not in sides]
    yield from (
        (sides.get(ref, False), Point.of(f"{author}: {terms}", ref))
        for author, text, ref in authors
        if (terms := terms_in(text))
    )


def _other_rounds(book: Book, decision: Decision) -> Iterator[Dissenting]:
    """Yield rounds of a comparison in which the judge preferred another option to the recommended one."""
    if book.state.opening.protocol != "comparative" or decision.made_by != "rule":
        return
    yield from (
        Dissenting(f"judge, round {judgement.round}", first_sentence(judgement.text), judgement.id)
        for judgement in book.of(Decision)
        # Only rounds in which the recommended option took part say anything about it.
        if judgement.type == "round" and compared(book, decision, judgement)
        if set(judgement.about).isdisjoint(decision.about)
    )
