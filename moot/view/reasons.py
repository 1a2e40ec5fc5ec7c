"""Reasons of a decision by the kind of thing it cites, each with its evidence level and a quote of its own.

A claim as a reason has the level of its own evidence. Objections to a decision are computed here too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

import msgspec

from ledger.events import (
    Argument,
    Challenge,
    Claim,
    Concern,
    Decision,
    Disposition,
    ExperimentPlanned,
    Rating,
    Response,
    Score,
    Standing,
    Verification,
    Vote,
)
from ledger.events.values import Evidence, EvidenceClass
from ledger.plain_text import first_sentence, one_line, sentences
from ledger.result import Result
from ledger.state.book import Book
from ledger.state.decided import overridden
from moot.view.evidence import times_of
from moot.view.grounds import Ground, Quote, quotes_of, remembered, rests_on
from moot.view.judgements import (
    is_split,
    latest,
    majority,
    option_of,
    reason_of,
    ruling_of,
    scorecard,
    side_means,
    votes_of,
)
from rounds.protocols.step_table import UPHELD
from rounds.protocols.votes import sides_with

CLASSES: Final[tuple[EvidenceClass, ...]] = (
    "reproduced", "calculated", "quoted", "ran", "argued", "conceded", "said",
)  # fmt: skip
"""Evidence levels, the best first."""
GIVEN_UP: Final = frozenset({"concede", "fix", "revise"})
TAKEN: Final = frozenset({"accepted", "fixed", "resolved"})
"""Dispositions of an objection that the deciding role accepted."""
MET: Final = frozenset({"addressed", "defended"})
"""Dispositions of an attack that an answer withstood."""
_E = TypeVar("_E")


class Point(Result, frozen=True):
    """A sentence of an outcome: its evidence class and a quote of its own where it has them, and what it rests on.

    `times`: how often the program ran by which it has its class. `at`: the event that holds these words, where that is
    none of those that it rests on.
    """

    text: str
    class_: EvidenceClass | None = msgspec.field(name="class")
    quote: str | None
    refs: list[str]
    times: int | None = None
    at: str | None = None


def reasons_of(book: Book, decision: Decision) -> list[Point]:
    """Return the reasons of a decision, the best tested first; a decision that sums up others has theirs.

    A person's override has the reasons that it cites, and none of what it overruled.
    """
    computed = [] if decision.type == "override" else [*_ruling_reasons(book), *_scorecard(book)]
    ranked: list[tuple[tuple[int, float], Point]] = []
    # Where one decision cites arguments of both sides, each needs its side in front.
    sides = {event.side for cite in decision.cites if isinstance(event := book.by_id.get(cite.id), Argument)}
    # One level is enough: deeper grounds support the grounds and not the decision itself.
    for ground in rests_on(book, decision, 1, remembered()):
        reason = None if _recommends_another(book, decision, ground) else _reason(book, ground)
        if reason is not None:
            weight, point = reason
            argument = book.by_id.get(ground.id)
            if len(sides) > 1 and isinstance(argument, Argument) and decision.made_by == "rule":
                point = msgspec.structs.replace(point, text=f"{argument.side}: {point.text}")
            place = CLASSES.index(point.class_) if point.class_ else len(CLASSES)
            # What a decision merely mentions ranks below everything that it is based on.
            direct = 0 if ground.relation in ("based-on", "supported-by") else 1
            ranked.append(((direct * 10 + place, -weight), point))
    return computed + [point for _, point in sorted(ranked, key=lambda item: item[0])]


def _recommends_another(book: Book, decision: Decision, ground: Ground) -> bool:
    """Return whether a cited decision is for another option, so that it speaks against this one."""
    under = book.by_id.get(ground.id)
    return (
        isinstance(under, Decision)
        and decision.made_by == "rule"
        # A decision that names no option cannot speak for another one.
        and bool(under.about)
        and set(under.about).isdisjoint(decision.about)
    )


def _reason(book: Book, ground: Ground) -> tuple[float, Point] | None:
    event = book.by_id.get(ground.id)
    match event:
        case Claim():
            return _claim(book, event, ground)
        case Argument():
            return argument_point(book, event)
        case Concern():
            return concern_point(book, event)
        case Challenge():
            return _challenge(book, event)
        # An overturned decision is no reason any more, even where it is still cited.
        case Decision() if event.type == "round" and event.id not in _overturned(book):
            return 0.0, Point(first_sentence(event.text), None, None, [ground.id])
        case _:
            return None


def _overturned(book: Book) -> frozenset[str]:
    return frozenset(key for key, facts in book.state.decisions.items() if facts.overturned_by is not None)


def _claim(book: Book, event: Claim, ground: Ground) -> tuple[float, Point] | None:
    """Return a claim that was confirmed; None for one that fell or stayed open."""
    # A refuted or open claim cannot support anything, even where it is cited.
    if ground.standing != "tested_confirmed":
        return None
    foremost = ground.foremost
    quote = foremost.quote.words if foremost.quote else None
    class_ = class_of(book, event, ground)
    times = times_of(book, class_, [ground.id])
    return 0.0, Point(one_line(event.text), class_, quote, [ground.id], times)


def class_of(book: Book, event: Claim, ground: Ground) -> EvidenceClass:
    """Return the evidence level of a claim's last test, as recorded or else computed from its own evidence."""
    # The last test that was not outweighed decides, as it decides the claim's status.
    for entry in reversed(book.state.claims[event.id or ""].history):
        test = book.by_id.get(entry.by) if not entry.outweighed else None
        if isinstance(test, ExperimentPlanned):
            ran = book.state.experiments[entry.by].class_
            if ran is not None:
                return ran
        if isinstance(test, Verification):
            change = next((move for move in test.claim_status_changes if move.claim_id == event.id), None)
            if change is not None and change.class_:
                return change.class_
    # Version 1 pools the evidence of a verdict for all its claims. What cannot be told to be the claim's own
    # counts for nothing, and the claim is then only stated.
    own = [quote for holder in (ground, *ground.under) for quote in holder.quotes]
    if any(_is_document(quote) for quote in own):
        return "quoted"
    return "argued" if any(quote.by not in (None, event.raised_by) for quote in own) else "said"


def _is_document(quote: Quote) -> bool:
    # A quote that cannot be verified must not raise the evidence level to "quoted".
    return quote.ref.startswith("K-") and quote.words is not None and quote.holds is True


def argument_point(book: Book, event: Argument) -> tuple[float, Point] | None:
    """Return an argument that a judge upheld or that has no judgement; None otherwise."""
    standing = latest(judgement for judgement in book.of(Standing) if judgement.of == event.id)
    # An argument that the judge did not uphold is no reason for the decision.
    if standing is not None and standing.standing not in UPHELD:
        return None
    quote = _own_quote(book, event.quotes)
    class_: EvidenceClass = "said" if standing is None else "argued"
    return _score(book, event.id), Point(one_line(event.claim), class_, quote, [event.id or ""])


def _score(book: Book, identity: str | None) -> float:
    score = latest(score for score in book.of(Score) if score.of == identity)
    return float(score.total) if score is not None else 0.0


def concern_point(book: Book, event: Concern) -> tuple[float, Point]:
    """Return a concern, weighted by the severity that others gave it."""
    # A concern that others rated was argued about; one without ratings is only stated.
    ratings = [
        rating for rating in book.of(Rating) if rating.of == event.id and rating.scale == "severity_1_5"
    ]
    weight = severity(book, event)
    quote = _own_quote(book, event.evidence)
    class_: EvidenceClass = (
        "quoted" if quote else "argued" if any(rating.by != event.by for rating in ratings) else "said"
    )
    return weight, Point(one_line(event.text), class_, quote, [event.id or ""])


def severity(book: Book, event: Concern) -> float:
    """Return the mean of the ratings of a concern, else its author's own; 0 where neither exists."""
    # Ratings by others are more independent than the author's own severity.
    values = [
        float(rating.value)
        for rating in book.of(Rating)
        if rating.of == event.id and rating.scale == "severity_1_5"
    ]
    return sum(values) / len(values) if values else float(event.severity or 0)


def _challenge(book: Book, event: Challenge) -> tuple[float, Point] | None:
    """Return a challenge that changed the text or was answered so that the text holds; None otherwise."""
    answer = latest(response for response in book.of(Response) if response.to == event.id)
    became = latest(disposition for disposition in book.of(Disposition) if disposition.of == event.id)
    quote = _own_quote(book, event.evidence)
    text = one_line(event.claim or event.text)
    refs = [event.id or "", *([answer.id or ""] if answer is not None else [])]
    # A concession by the other side counts more than any verdict on the challenge.
    if answer is not None and answer.outcome in GIVEN_UP:
        lead = "Granted" if answer.outcome == "concede" else "Criticism, taken up in the text"
        return 1.0, Point(f"{lead}: {text}", "conceded", quote, refs)
    if became is None:
        return None
    if answer is not None and became.disposition in MET:
        lead = "Met, as the attacker says" if became.disposition == "addressed" else "Held when questioned"
        return 0.0, Point(f"{lead}: {first_sentence(answer.text)}", "argued", None, refs)
    if answer is None and became.disposition in TAKEN:
        # An author who accepts their own critique is no second opinion.
        alone = became.by == event.by
        lead = "Own objection to the draft, taken up" if alone else "Objection to the draft, taken up"
        return 0.0, Point(f"{lead}: {text}", "said" if alone else "argued", quote, [event.id or ""])
    return None


def _own_quote(book: Book, evidence: Iterable[Evidence]) -> str | None:
    """Return the first quote of a document that is at the cited place."""
    quotes = quotes_of(book, evidence)
    return next((quote.words for quote in quotes if _is_document(quote)), None)


def _ruling_reasons(book: Book) -> Iterator[Point]:
    ruling = ruling_of(book)
    votes = votes_of(book, ruling) if ruling else []
    # With split votes no side won, so no vote is a reason for the result.
    for vote in votes if not is_split(votes) else ():
        if ruling and not vote.fallback and sides_with(vote.decision, ruling.decision):
            first = next(ballot for ballot in book.of(Vote) if ballot.by == vote.by)
            other = f"{first.decision}, " if first.decision != vote.decision else ""
            earlier = f"; {other}{first.risk} in the first ballot" if first is not vote else ""
            # Only the last ballot counts: a role may have withdrawn the reasons of its first one.
            reason = f"{vote.by} ({vote.decision}, risk {vote.risk} of 100{earlier}): {reason_of(vote)}"
            yield Point(one_line(reason), "said", None, [vote.id or ""])


def _scorecard(book: Book) -> Iterator[Point]:
    """Yield the criteria in which the leading option is ahead and behind, where options were scored."""
    cards = scorecard(book)
    if len(cards) < 2:
        return
    # The cards are sorted, so these are the winner and the runner-up.
    best, other = cards[0], cards[1]
    ahead = [name for name, value in best.parts.items() if value > other.parts.get(name, value)]
    behind = [name for name, value in best.parts.items() if value < other.parts.get(name, value)]
    lead = f"By criterion {best.option} is ahead of {other.option} in {', '.join(ahead) or 'nothing'}"
    yield Point(
        f"{lead}, and behind in {', '.join(behind) or 'nothing'}.",
        "calculated",
        None,
        [*best.refs, *other.refs],
    )


def objection_told(book: Book, decision: Decision | None, why: list[Point]) -> str | None:
    """Return the strongest objection to the decision in its author's words; None where the ledger has none."""
    if decision is None:
        return None
    # Recorded dissent names this decision explicitly, so it beats anything that is inferred.
    if decision.dissent:
        dissenter = decision.dissent[0]
        return f"{dissenter.role}: {one_line(dissenter.text)} ({dissenter.ref})"
    if decision.type == "override":
        return _overruled(book, decision)
    opposed = _opposed(book, decision, {ref for point in why for ref in point.refs})
    return f"{opposed[0]}: {one_line(opposed[1])} ({opposed[2]})" if opposed else None


def _overruled(book: Book, decision: Decision) -> str | None:
    """Return the decision that a person overruled, which argues for the opposite."""
    original = book.by_id.get(overridden(book.state, decision.id or ""))
    if not isinstance(original, Decision) or original.id == decision.id:
        return None
    who = (
        "the protocol's rule"
        if original.made_by == "rule"
        else (original.name or original.made_by).replace("_", " ")
    )
    return f"{who} had decided: {one_line(original.text)} ({original.id})"


def _opposed(book: Book, decision: Decision, cited: set[str]) -> tuple[str, str, str] | None:
    ruling = ruling_of(book)
    # In order of how directly each contradicts: votes, losing arguments, challenges, concerns.
    for vote in votes_of(book, ruling) if ruling else ():
        if ruling and not vote.fallback and not sides_with(vote.decision, ruling.decision):
            return vote.by, _gist(vote), vote.id or ""
    losing = _losing_argument(book)
    if losing is not None:
        return losing.by, losing.claim, losing.id or ""
    left = _unanswered(book, decision, cited)
    if left is not None:
        return left.by, f"{left.claim} {left.text}", left.id or ""
    # Concerns that the decision cites or lists as reasons were taken in, so they are no objection.
    elsewhere = cited | {cite.id for cite in decision.cites} | taken_up(book)
    concerns = [
        concern
        for concern in book.of(Concern)
        if concern.type in ("concern", "tension")
        and concern.by != "controller"
        and concern.id not in book.state.resolved
        and concern.id not in elsewhere
        # An old concern without a severity may long be settled, so only recent ones count.
        and (concern.severity or concern.round >= decision.round - 1)
        and book.state.opening.protocol != "panel"
    ]
    if not concerns:
        return None
    # A run may have thousands of concerns and hardly any ratings, so unrated ones skip the search in `severity`.
    rated = {rating.of for rating in book.of(Rating)}
    gravest = max(
        concerns,
        key=lambda concern: (
            severity(book, concern) if concern.id in rated else float(concern.severity or 0),
            concern.seq,
        ),
    )
    return gravest.by, gravest.text, gravest.id or ""


def taken_up(book: Book) -> frozenset[str]:
    """Return the objections that are none to the final answer: accepted into it, or put to a person as a question."""
    became = {disposition.of: disposition.disposition for disposition in book.of(Disposition)}
    # What is left of an escalated objection is its question, which `needs you` or the answer to it shows.
    asked = {
        objection
        for concern in book.of(Concern)
        if concern.type == "question" and concern.for_human
        for objection in concern.between
    }
    return frozenset(
        objection
        for objection, disposition in became.items()
        if disposition in TAKEN or (disposition == "escalated" and objection in asked)
    )


def _gist(vote: Vote) -> str:
    """Return the point of a vote: its first sentence, or the last two of a revised vote."""
    if vote.ballot == 1:
        return first_sentence(vote.reasoning)
    # A revision goes through its challenges first and states its position at the end.
    return " ".join(sentences(vote.reasoning)[-2:])


def _losing_argument(book: Book) -> Argument | None:
    """Return the best argument of the side that lost, or an upheld one for the other option."""
    sides = side_means(book)
    if len(sides) < 2:
        return None
    ahead = sorted(sides, key=lambda side: -sides[side])
    loser = ahead[1]  # of several options the runner-up: what speaks for it speaks against the first
    verdicts = {judgement.of: judgement.standing for judgement in book.of(Standing)}
    candidates = [
        argument
        for argument in book.of(Argument)
        if argument.side == loser and verdicts.get(argument.id or "") not in ("REFUTED", "COLLAPSE")
    ]
    # Arguments without a verdict only count where the judge ruled on none of that side.
    judged = [argument for argument in candidates if argument.id in verdicts] or candidates
    return max(
        judged,
        key=lambda argument: (verdicts.get(argument.id or "") in UPHELD, _score(book, argument.id)),
        default=None,
    )


def _unanswered(book: Book, decision: Decision, in_reasons: set[str]) -> Challenge | None:
    """Return a challenge that was escalated, rejected, deflected or half met, else one that was only defended.

    One that waits as a question to a person is left out: the question is shown instead.
    """
    elsewhere = in_reasons | taken_up(book)
    cited = {cite.id for cite in decision.cites if cite.type == "challenge"}
    became = {disposition.of: disposition.disposition for disposition in book.of(Disposition)}
    answered = {response.to: response.outcome for response in book.of(Response)}
    challenges = [
        challenge
        for challenge in book.of(Challenge)
        if challenge.id and challenge.id not in elsewhere and (not cited or challenge.id in cited)
    ]
    # Ordered by weight: an escalated challenge is open by decision, the others by neglect.
    for wanted in ("escalated", "rejected", "deflected", "partially_addressed"):
        for challenge in challenges:
            if became.get(challenge.id or "") == wanted:
                return challenge
    # A defense without a judgement leaves the challenge open.
    unjudged = (challenge for challenge in challenges if challenge.id not in became)
    return next(
        (challenge for challenge in unjudged if answered.get(challenge.id or "") in ("defend", "justify")),
        None,
    )


def dissent_told(book: Book, decision: Decision | None) -> Iterator[tuple[str, str, str]]:
    """Yield who disagrees with the decision: role, words, reference."""
    if decision is None or decision.type == "override":
        return  # who disagreed with what a person overruled says nothing about the override
    ruling = ruling_of(book)
    votes = tuple(votes_of(book, ruling)) if ruling else ()
    cast = {vote.id for vote in votes}  # told below with what each voted
    for dissenter in decision.dissent:
        if dissenter.ref not in cast:
            yield dissenter.role, one_line(dissenter.text), dissenter.ref
    for vote in votes:
        if (
            ruling
            and not vote.fallback
            and (is_split(votes) or not sides_with(vote.decision, ruling.decision))
        ):
            yield vote.by, f"{vote.decision} (risk {vote.risk} of 100): {_gist(vote)}", vote.id or ""
    yield from _other_rounds(book, decision)
    counted = majority(book)
    # Members who chose another option dissent from the majority by their own decision.
    for plan in book.of(Decision) if counted and counted.option else ():
        if counted is not None and option_of(book, plan) not in (None, counted.option):
            yield plan.id or "", first_sentence(plan.text), plan.id or ""


def _other_rounds(book: Book, decision: Decision) -> Iterator[tuple[str, str, str]]:
    """Yield rounds of a comparison in which the judge preferred another option to the recommended one."""
    if book.state.opening.protocol != "comparative" or decision.made_by != "rule":
        return
    from rounds.protocols.comparative import pairing

    for judgement in book.of(Decision):
        against = set(judgement.about).isdisjoint(decision.about) and judgement.type == "round"
        # Only rounds in which the recommended option took part say anything about it.
        if against and not set(pairing(book.state, judgement.round)).isdisjoint(decision.about):
            yield f"judge, round {judgement.round}", first_sentence(judgement.text), judgement.id or ""
