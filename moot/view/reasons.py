"""Reasons of a decision by the kind of thing it cites, each with its evidence level and a quote of its own.

A claim as a reason has the level of its own evidence. The verdict on a proposal is a place on the run's scale: yes, yes
with something to mend, no. Concerns that the judge holds genuine support "no", and arguments that survive the other
two. What supports one verdict speaks against its opposite: a refuted concern is never a reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import chain
from typing import Final, NamedTuple

import msgspec

from ledger.events import (
    Argument,
    Challenge,
    Claim,
    Concern,
    Decision,
    Disposition,
    Event,
    ExperimentPlanned,
    Rating,
    Response,
    Score,
    Standing,
    Verification,
    Vote,
)
from ledger.events.envelope import Evidence, EvidenceClass
from ledger.events.ids import kind_of
from ledger.plain_text import first_sentence, one_line
from ledger.result import Result
from ledger.state.book import Book, grouped, per_book, sections_named
from moot.view.events import judgement_of
from moot.view.grounds import Ground, Quote, quotes_of, remembered, rests_on
from moot.view.judgements import (
    ballot_of,
    cited_as,
    compared,
    latest,
    reason_of,
    scorecard,
    view_of,
    vote_text,
    votes_before,
)
from moot.view.marks import times_of
from rounds.protocols.adversarial import GENUINE_FROM, SCALES
from rounds.protocols.citations import UPHELD, most_say
from rounds.protocols.sides import TAKEN, attacks_on, granted_by, is_given_up, pairing, sides_of
from rounds.protocols.step_table import rule

CLASSES: Final[tuple[EvidenceClass, ...]] = (
    "measured", "reproduced", "calculated", "quoted", "ran", "argued", "conceded", "said",
)  # fmt: skip
"""Evidence levels, the best first."""
MET: Final = frozenset({"addressed", "defended"})
"""Dispositions of an attack that an answer withstood."""


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

    @classmethod
    def of(cls, text: str, *refs: str | None) -> Point:
        """Return a point that is neither true nor false by a test: a step, a condition, a question."""
        return cls(one_line(text), None, None, [ref for ref in refs if ref])


def reasons_of(book: Book, decision: Decision) -> list[Point]:
    """Return the reasons of a decision, the best tested first; a decision that sums up others has theirs.

    A person's override has the reasons that it cites, and none of what it overruled.
    """
    # The question that an answer resolves is no reason for it.
    if decision.type == "answer":
        return []
    approval = None if decision.type == "override" else approval_of(book)
    if approval is not None:
        return _reasons_of_approval(book, decision, approval)
    computed = [] if decision.type == "override" else [*_votes(book), *_scorecard(book, decision)]
    computed += [point for own, point in concessions(book, decision) if own]
    ranked: list[tuple[tuple[int, float], Point]] = []
    # One level is enough: deeper grounds support the grounds and not the decision itself.
    for ground in rests_on(book, decision, 1, remembered()):
        reason = _reason(book, decision, ground)
        if reason is not None:
            weight, point = reason
            place = CLASSES.index(point.class_) if point.class_ else len(CLASSES)
            # What a decision merely mentions ranks below everything that it is based on.
            direct = 0 if ground.relation in ("based-on", "supported-by") else 1
            ranked.append(((direct * 10 + place, -weight), point))
    return computed + [point for _, point in sorted(ranked, key=lambda item: item[0])]


def reasons_of_each(book: Book, plans: Sequence[Decision]) -> list[list[Point]]:
    """Return the reasons of each plan. Where there are several, each reason has the id of its plan in front."""
    several = bool(plans[1:])
    return [
        [
            msgspec.structs.replace(point, text=f"{f'{plan.id}: ' * several}{point.text}")
            for point in reasons_of(book, plan)
        ]
        for plan in plans
    ]


def _reason(book: Book, decision: Decision, ground: Ground) -> tuple[float, Point] | None:
    """Return a cited ground as a reason with its weight; None where it does not support the decision."""
    event = book.by_id.get(ground.id)
    match event:
        # A refuted or open claim cannot support anything, even where it is cited.
        case Claim() if ground.standing == "tested_confirmed":
            quote = ground.foremost.quote
            class_ = class_of(book, event, ground)
            times = times_of(book, class_, [ground.id])
            return 0.0, Point(
                one_line(event.text), class_, quote.words if quote else None, [ground.id], times
            )
        # Where no argument of the winner stands, a decision cites those of both sides as settled.
        case Argument() if ground.relation != "resolves":
            # A judge may recommend something else than the side that argued better, so each side is named.
            lead = ", conceded by ".join([event.side, *granted_by(book, event)])
            fallacies = {name for row in book.of(Score) if row.of == event.id for name in row.fallacies}
            wrong = f"{'; fallacy: ' * bool(fallacies)}{', '.join(sorted(fallacies))}"
            verdict = f" ({words}{wrong})" if (words := judgement_of(book, event.id)) else ""
            return argument_point(book, event, f"{lead}{verdict}: ")
        case Concern():
            return concern_point(book, event)
        case Challenge():
            return _challenge(book, event)
        case Decision() if event.type == "round":
            # An overturned decision is no reason any more, even where it is still cited.
            if book.state.decisions[ground.id].overturned_by is not None:
                return None
            # A judgement for another option speaks against what the rule decided; one that names none cannot.
            other = bool(event.about) and set(event.about).isdisjoint(decision.about)
            if other and decision.made_by == "rule":
                return None
            return 0.0, Point.of(first_sentence(event.text), ground.id)
        case _:
            return None


def class_of(book: Book, event: Claim, ground: Ground) -> EvidenceClass:
    """Return the evidence level of a claim's last test, as recorded or else computed from its own evidence."""
    # The last test that was not outweighed decides, as it decides the claim's status.
    for entry in reversed(book.state.claims[event.id].history):
        test = book.by_id.get(entry.by) if not entry.outweighed else None
        if isinstance(test, ExperimentPlanned):
            ran = book.state.experiments[entry.by].class_
            if ran is not None:
                return ran
        if isinstance(test, Verification):
            change = next((move for move in test.claim_status_changes if move.claim_id == event.id), None)
            if change is not None and change.class_:
                return change.class_
    # An import pools the evidence of a verdict for all its claims. What cannot be told to be the claim's own
    # counts for nothing, and the claim is then only stated.
    own = [quote for holder in (ground, *ground.under) for quote in holder.quotes]
    if any(_is_document(quote) for quote in own):
        return "quoted"
    return "argued" if any(quote.by not in (None, event.raised_by) for quote in own) else "said"


def _is_document(quote: Quote) -> bool:
    """Return whether a quote is of a document and is there."""
    # A quote that cannot be verified must not raise the evidence level to "quoted".
    return kind_of(quote.ref) == "document" and quote.words is not None and quote.holds is True


def argument_point(book: Book, event: Argument, lead: str) -> tuple[float, Point] | None:
    """Return an argument that most judges upheld or none judged; None otherwise, and where it was given up."""
    standings = [judgement.standing for judgement in book.of(Standing) if judgement.of == event.id]
    # An argument that the judges did not uphold, or that its side gave up, is no reason for the decision.
    if is_given_up(book, event) or (standings and not most_say(standings, UPHELD)):
        return None
    attacks = attacks_on(book, event)
    quote = _own_quote(book, event.quotes)
    class_: EvidenceClass = "conceded" if granted_by(book, event) else "argued" if attacks else "said"
    return score_of(book, event.id), Point(one_line(f"{lead}{event.claim}"), class_, quote, [event.id])


def score_of(book: Book, identity: str | None) -> float:
    """Return the mean of the totals that judges gave; 0 without one."""
    totals = [float(score.total) for score in book.of(Score) if score.of == identity]
    return sum(totals) / len(totals) if totals else 0.0


@per_book
def severities(book: Book) -> dict[str, list[Rating]]:
    """Return the severity ratings (1 to 5) that others gave, by concern id."""
    return grouped((rating.of, rating) for rating in book.of(Rating) if rating.scale == "severity_1_5")


def concern_point(book: Book, event: Concern, lead: str = "") -> tuple[float, Point]:
    """Return a concern, weighted by the severity that others gave it."""
    quote = _own_quote(book, event.evidence)
    # A concern that others rated was argued about; one without ratings is only stated.
    was_rated = any(rating.by != event.by for rating in severities(book).get(event.id, ()))
    class_: EvidenceClass = "quoted" if quote else "argued" if was_rated else "said"
    return severity(book, event), Point(one_line(f"{lead}{event.text}"), class_, quote, [event.id])


def severity(book: Book, event: Concern) -> float:
    """Return the mean of the ratings of a concern, else its author's own; 0 where neither exists."""
    # Ratings by others are more independent than the author's own severity.
    values = [float(rating.value) for rating in severities(book).get(event.id, ())]
    return sum(values) / len(values) if values else float(event.severity or 0)


def _challenge(book: Book, event: Challenge) -> tuple[float, Point] | None:
    """Return a challenge that changed the text or was answered so that the text holds; None otherwise."""
    answer = latest(response for response in book.of(Response) if response.to == event.id)
    # What its author concedes weakens the text, so it is no reason for a decision that builds on it.
    if answer is not None and answer.outcome == "concede":
        return None
    became = latest(disposition for disposition in book.of(Disposition) if disposition.of == event.id)
    quote = _own_quote(book, event.evidence)
    text = one_line(event.claim or event.text)
    refs = [event.id, *([answer.id] if answer is not None else [])]
    # No second reader confirms that a text was mended: the author of the change is named, and its word is no test.
    if answer is not None and answer.outcome in ("fix", "revise"):
        lead = f"Criticism, answered with a change by {answer.by} in {answer.id}, which nobody checked"
        return 1.0, Point(f"{lead}: {text}", "said", quote, refs)
    if became is None:
        return None
    if answer is not None and became.disposition in MET:
        lead = (
            f"Met, as the attacker judged it, by this answer to {event.id}"
            if became.disposition == "addressed"
            else f"Held when questioned in {event.id}"
        )
        # These are the words of the answer, so its id goes first.
        return 0.0, Point(f"{lead}: {first_sentence(answer.text)}", "argued", None, refs[::-1])
    if answer is None and became.disposition in TAKEN:
        # An author who accepts their own critique is no second opinion.
        alone = became.by == event.by
        lead = f"{'Own objection' if alone else 'Objection'}, taken up"
        return 0.0, Point(f"{lead}: {text}", "said" if alone else "argued", quote, refs)
    return None


def _own_quote(book: Book, evidence: Iterable[Evidence]) -> str | None:
    """Return the first quote of a document that is at the cited place."""
    return next((quote.words for quote in quotes_of(book, evidence) if _is_document(quote)), None)


def _votes(book: Book) -> Iterator[Point]:
    """Yield the lost votes under a refusal, then those that went the way of the ruling; a split has no winner."""
    ballot = ballot_of(book)
    if ballot is None:
        return
    # Only a refusal rests on lost votes: any other ruling was made against them.
    for vote in book.of(Vote) if ballot.ruling.decision == "REFUSE" else ():
        # In the first ballot only the loss of the safety view refuses: it could have been a veto.
        if vote.fallback and (vote.ballot == 2 or view_of(vote) == "safety"):
            which = f"The {'last' if vote.ballot == 2 else 'first'} vote of {view_of(vote)}"
            # What the view said before is all that it said.
            earlier = votes_before(book, vote)
            before = "".join(f" Before it: {vote_text(book, first)}: {reason_of(first)}" for first in earlier)
            text = one_line(f"{which} was lost, which counts as REFUSE.{before}")
            # The rule counts it so; nothing was calculated.
            yield Point.of(text, *(first.id for first in earlier), vote.id)
    # Only the last ballot counts: a role may have withdrawn the reasons of its first one.
    yield from (
        Point(one_line(f"{vote.by} ({vote_text(book, vote)}): {reason_of(vote)}"), "said", None, [vote.id])
        for vote in ballot.cast
        if not ballot.is_split and vote not in ballot.against
    )


def _scorecard(book: Book, decision: Decision) -> Iterator[Point]:
    """Yield the criteria in which the chosen option is ahead and behind, where options were scored."""
    cards = scorecard(book)
    if len(cards) < 2:
        return
    # The cards are sorted by their totals. A judge may recommend an option that its own points do not.
    best = next((card for card in cards if decision.about[:1] == (card.option,)), cards[0])
    other = next(card for card in cards if card is not best)
    ahead = [name for name, value in best.parts.items() if value > other.parts.get(name, value)]
    behind = [name for name, value in best.parts.items() if value < other.parts.get(name, value)]
    if not ahead:
        return
    lead = f"By the judge's scores {best.option} is ahead of {other.option} in {', '.join(ahead)}"
    # The means are over all rounds, in most of which one of the two met another option.
    both = {best.option, other.option}
    margin = sum(
        Decimal(score.total) if score.of == best.option else -Decimal(score.total)
        for score in book.of(Score)
        if {*pairing(book.state, score.round)} == both
    )
    direct = f"; in the rounds that compare the two, {other.option} scores higher" * (margin < 0)
    text = f"{lead}, and behind in {', '.join(behind) or 'nothing'}{direct}."
    # Comparing what a judge says is no calculation: its points are as good as its word.
    yield Point(text, "said", None, [*best.refs, *other.refs])


# ---------------------------------------------------------------- verdicts on a proposal


class Approval(NamedTuple):
    """The judge's verdict in the words of the scale, its place there, and the concerns left unaddressed."""

    verdict: str
    is_yes: bool
    is_no: bool
    unaddressed: frozenset[str]


def approval_of(book: Book) -> Approval | None:
    """Return the verdict of the judge; None in a protocol without a scale, and before the judge spoke."""
    scale = SCALES.get(rule(book.state, "scale"), ())
    # A repaired or repeated judgement replaces the earlier one.
    judgement = latest(sections_named(book, "verdict")) if scale else None
    # An import or a hostile ledger may hold a verdict that is not on the scale; treat it as absent.
    if judgement is None or judgement[1] not in scale:
        return None
    event, verdict = judgement
    listed = [section.text.split(", ") for section in event.sections if section.name == "unaddressed"]
    return Approval(verdict, verdict == scale[0], verdict == scale[-1], frozenset(chain(*listed)))


def _reasons_of_approval(book: Book, decision: Decision, approval: Approval) -> list[Point]:
    """Return the reasons for the verdict, with who gives them: concerns that carried it, else surviving arguments."""
    # Nobody argues for the document of a panel: what matters most to its judge is why there is something to mend.
    is_against = approval.is_no or (book.state.opening.protocol == "panel" and not approval.is_yes)
    concerns = sorted(blockers(book, decision), key=lambda concern: -severity(book, concern))
    events = concerns if is_against else surviving(book, decision)
    weighed = [
        concern_point(book, event, lead) if isinstance(event, Concern) else argument_point(book, event, lead)
        for event in events
        for lead in [f"{event.by}{weight_text(book, event)}: "]
    ]
    return [point[1] for point in weighed if point]


def blockers(book: Book, decision: Decision) -> list[Concern]:
    """Return the concerns that carried the verdict: those scored as genuine, or a panel's findings that matter most."""
    return cited_as("based-on", Concern, book, decision)


def weight_text(book: Book, event: Event) -> str:
    """Return the severity of a concern by its author and other reviewers, and who marked it; empty without one."""
    if not isinstance(event, Concern) or event.severity is None:
        return ""
    # What a judge makes of it is said by itself.
    rows = [row for row in severities(book).get(event.id, ()) if row.by != "judge"]
    others = f", {', '.join(str(row.value) for row in rows)} by others" if rows else ""
    also = markers_of(book, event)
    marked = f", marked as theirs too by {also}" if also else ""
    return f" (severity {event.severity} of 5 by its author{others}{marked})"


def markers_of(book: Book, event: Concern) -> str:
    """Return the reviewers of other fields who marked a panel's finding as theirs too; empty where none did."""
    rows = severities(book).get(event.id, ())
    return " and ".join(row.by for row in rows if row.criterion == "cross-cutting")


def surviving(book: Book, decision: Decision) -> list[Argument]:
    """Return the arguments for the proposal that the judge lets stand."""
    return cited_as("supported-by", Argument, book, decision)


def judged(book: Book, event: Concern | Argument, approval: Approval | None) -> str:
    """Return what the judge of a proposal says of an argument or a concern; empty where it says nothing."""
    if approval is None:
        return ""
    decisions, is_panel = book.of(Decision), book.state.opening.protocol == "panel"
    if isinstance(event, Argument):
        survives = any(event in surviving(book, decision) for decision in decisions)
        return "survives" if survives else "not named as surviving"
    rating = latest(entry for entry in severities(book).get(event.id, ()) if entry.by == "judge")
    blocks = is_panel and any(event in blockers(book, decision) for decision in decisions)
    words = (
        ""
        if rating is None
        else f"{'genuine' if int(rating.value) >= GENUINE_FROM else 'a stretch'}, {rating.value} of 5",
        "among what matters most" if blocks else "",
        "not addressed" if event.id in approval.unaddressed else "",
    )
    return ", ".join(filter(None, words))


def concessions(book: Book, decision: Decision) -> Iterator[tuple[bool, Point]]:
    """Yield what the advocates of a comparison concede, and whether that is for the decision."""
    if decision.type == "override" or book.state.opening.protocol != "comparative":
        return
    for event, words in sections_named(book, "conceded"):
        option = sides_of(book.state, event.round, event.by).a
        if words and compared(book, decision, event):
            text = f"Conceded by {event.by}, who argues for {option}: {one_line(words)}"
            yield option not in decision.about, Point(text, "conceded", None, [f"{event.id}#conceded"])


def contradictions(book: Book, decision: Decision) -> list[str]:
    """Return in sentences what the judge says against its own verdict or recommendation."""
    approval, genuine = approval_of(book), blockers(book, decision)
    if approval is None:
        apart = ", ".join(
            event.id for event in book.of(Decision) if event.type == "round" and _differs(book, event)
        )
        return [f"The judge scores another option higher than the one that it recommends in {apart}."] * bool(
            apart
        )
    # An approval may have genuine concerns that its case meets. The judge of a panel has to name findings in any case.
    left = ", ".join(event.id for event in genuine if event.id in approval.unaddressed)
    unheld = book.of(Argument) and not surviving(book, decision)
    though = (
        "scores no concern as genuine" if approval.is_no and not genuine else "",
        f"calls genuine and not addressed: {left}" if approval.is_yes and left else "",
        "names no argument that survives" if approval.is_yes and unheld else "",
    )
    return [f"The judge says {approval.verdict}, though it {text}." for text in though if text]


def _differs(book: Book, judgement: Decision) -> bool:
    """Return whether the scores of a judgement put another option above the one that it recommends."""
    totals = {score.of: float(score.total) for score in book.of(Score) if score.step == judgement.step}
    return any(totals[option] < max(totals.values()) for option in totals.keys() & judgement.about)
