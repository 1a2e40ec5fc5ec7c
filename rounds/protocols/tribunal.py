"""`tribunal`: three views analyse, challenge each other, revise and vote; the ruling is code (S4-1 … S4-21, S4-30).

Laws
1. Round 1: each view alone. Round 2: all six ordered pairs; a challenger sees the question, its own first decision and
   the other's reasoning without numbers. Round 3: each view sees its own analysis and what was put to it, and votes
   again.
2. A vote is computed from confidence and risk by the policy of its view; the views never say a decision.
3. The ruling counts the last ballots by `voting`: `documented` or `shipped`. A veto of the first ballot that was argued
   away is named in the ruling. A view that gives no vote votes REFUSE, and without a vote of safety in either ballot
   the ruling is REFUSE: the risks were not looked at, or what safety saw could not be challenged.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from statistics import pvariance
from typing import Annotated, Any, Final, Literal, cast

import msgspec
from msgspec import Meta

from ledger.events import Challenge, Concern, Decision, Event, Ruling, Vote
from ledger.events.decisions import Cite, Dissent
from ledger.events.ids import StepName, event_id, role_of
from ledger.events.run import PlanRow
from ledger.state.book import Book, grouped
from ledger.state.state import State
from roles.brief.records import target_of
from roles.protocol import Loss, Pick, Protocol, RoleDefinition, Rules, Step
from roles.replies import Part, Sentence, Text
from rounds.protocols.citations import Quotable, cites
from rounds.protocols.step_table import Numbering, StepRow, StepTable, asks, rule, statement
from rounds.protocols.votes import SAFETY_LOST, VETO_FROM, aggregate_votes, sides_with

VIEWS: Final = ("utility", "accuracy", "safety")
BALLOTS: Final[Mapping[str, int]] = {"analyse": 1, "revise": 2}
Percentage = Annotated[int, Meta(ge=0, le=100)]
Choice = Literal["ACT", "WARN", "REFUSE", "VETO"]


class ViewReply(Part, frozen=True, kw_only=True):
    """One view's analysis: reasoning without numbers, and the two numbers from which its vote is computed."""

    reasoning: Text
    confidence: Percentage
    risk: Percentage


class ViewChallenge(Part, frozen=True, kw_only=True):
    """A challenge to one other view, in two or three sentences."""

    claim: Sentence
    text: Text


POLICIES: Final[Mapping[str, Callable[[int, int], Choice]]] = {
    # S4-2: by confidence alone, ACT from 60 and WARN from 40.
    "utility": lambda confidence, _: "ACT" if confidence >= 60 else "WARN" if confidence >= 40 else "REFUSE",
    # S4-3: by confidence alone, ACT from 85 and WARN from 60.
    "accuracy": lambda confidence, _: "ACT" if confidence >= 85 else "WARN" if confidence >= 60 else "REFUSE",
    # S4-4: by risk alone, VETO from 50 and WARN from 30.
    "safety": lambda _, risk: "VETO" if risk >= VETO_FROM else "WARN" if risk >= 30 else "ACT",
}
"""View → its vote, by confidence and risk."""


def _ballot(step: Step) -> dict[str, Any]:
    """Return the id of a vote and the ballot that it belongs to."""
    ballot = BALLOTS[step.name.phase]
    return {"id": event_id("vote", step.name.round, ballot, step.role), "ballot": ballot}


def _vote(numbering: Numbering, step: Step, reply: ViewReply) -> tuple[Event, ...]:
    # The decision is computed from the numbers, so a view cannot vote against its own policy.
    choice = POLICIES[step.role](reply.confidence, reply.risk)
    vote = numbering.event(Vote, step, reply, **_ballot(step), decision=choice, fallback=False)
    return (*statement(step, "analysis", {"reasoning": reply.reasoning}), vote)


def _refusal(book: Book, step: Step) -> tuple[Event, ...]:
    """Return the refusal of a view that gives no vote (S4-7)."""
    refusal = Numbering(book, step.name.round).computed(
        Vote,
        step.name.phase,
        **_ballot(step),
        decision="REFUSE",
        # Zero confidence and full risk: a lost vote must never help toward acting.
        confidence=0,
        risk=100,
        reasoning="No vote was given.",
        fallback=True,
    )
    return (refusal,)


def _pairs(state: State, round_: int, phase: str) -> Iterable[StepName]:
    """Yield all ordered pairs of views that have an analysis to be challenged."""
    yield from (
        StepName(round_, phase, f"on_{target}", challenger)
        for challenger in VIEWS
        for target in VIEWS
        # A lost analysis cannot be challenged, and its view refuses already.
        if target != challenger and f"r{round_ - 1}.analyse.{target}" in state.answered
    )


_OWN_NUMBER: Final = re.compile(
    r"""\b(?:confidence|risk)\b[\s*_:=(]*(?:(?:is|of|at|about|around)\s)*  # then a number that ends the clause,
        \d{1,3}(?:\.\d+)?(?:\s?%|\spercent|\s?/\s?100|\sout\sof\s100)?  # unlike "a risk of 5% data loss"
        (?=[\s*_]*(?:[;:!?)]|[.,](?!\d)|$|\b(?:and|but|or)\b))
      | \b(?!100\b)\d{1,3}(?:\s?%|\spercent)\s  # but "nobody is 100% sure", "a 95% confidence interval"
        (?:sure|certain|confident|confidence(?!\s(?:interval|level)))\b""",
    re.IGNORECASE | re.VERBOSE,
)


def _wrong_view(_: Quotable, reply: ViewReply) -> Iterator[str]:
    """Yield a problem for each confidence or risk in the reasoning: the other views are to see reasons alone."""
    # With numbers in the text, challengers would argue about a percentage and not about the reasons.
    yield from (
        f"reasoning: says {stated[0]!r}; confidence and risk have fields of their own"
        for stated in _OWN_NUMBER.finditer(reply.reasoning)
    )


def ruling(book: Book) -> tuple[Event, ...]:
    """Return the ruling by code after the last ballot, the doubts about it, and the decision (S4-14 … S4-20, S4-30)."""
    state = book.state
    # Sorted by view: the views answer side by side, and the first to answer must not come first in the decision.
    votes = sorted(book.of(Vote), key=_view)
    last = [vote for vote in votes if vote.ballot == 2]
    if len(last) < len(VIEWS) or book.of(Ruling):
        return ()
    voting = rule(state, "voting")
    result = aggregate_votes(
        [{"agent": _view(vote), **msgspec.structs.asdict(vote)} for vote in last], voting
    )
    vetoed = [_view(vote) for vote in votes if vote.ballot == 1 and vote.decision == "VETO"]
    unheard = [_view(vote) for vote in votes if vote.ballot == 1 and vote.fallback]
    # A veto refuses already, and its own rule tells a reader more than a lost vote does.
    if "safety" in unheard and result.rule != "safety_veto":
        result = msgspec.structs.replace(result, decision="REFUSE", rule=SAFETY_LOST)
    metadata = _flat(result.metadata) | {"vetoed_in_first_ballot": ", ".join(vetoed) or "none"}
    if unheard:
        metadata["lost_in_first_ballot"] = ", ".join(unheard)
    numbering = Numbering(book, state.round)
    event = numbering.computed(
        Ruling,
        decision=result.decision,
        rule=result.rule,
        rules=voting,
        votes=[vote.seq for vote in last],
        metadata=metadata,
    )
    doubts = [numbering.computed(Concern, type="concern", text=text) for text in _doubts(book, last)]
    cited = _cites(book, last)
    # A decision must cite something; without any vote the question goes to a person instead.
    if not cited:
        text = "Nobody gave a vote in the last ballot: the ruling REFUSE rests on nobody's view. Decide."
        return (event, *doubts, numbering.computed(Concern, type="question", text=text, for_human=True))
    decision = numbering.computed(
        Decision,
        text=f"{result.decision} by the rule {result.rule} ({voting})."
        f"{_withdrawn(vetoed, last)}{_lost(last, unheard)}",
        type="final",
        cites=cited,
        made_by="rule",
        dissent=tuple(
            Dissent(role=_view(vote), ref=vote.id, text=vote.reasoning)
            for vote in last
            # A lost vote is no dissent: the view never said what it would have voted.
            if not vote.fallback and not sides_with(vote.decision, result.decision)
        ),
    )
    return (event, *doubts, decision)


def _cites(book: Book, last: list[Vote]) -> tuple[Cite, ...]:
    """Cite the votes that were given, then what was put to the views."""
    votes = [vote.id for vote in last if not vote.fallback]
    challenges = [event.id for event in book.of(Challenge)] if votes else []
    return (
        *cites("vote", [(identity, "based-on") for identity in votes]),
        *cites("challenge", [(identity, "builds-on") for identity in challenges]),
    )


def _withdrawn(vetoed: list[str], last: list[Vote]) -> str:
    """Return a sentence about a veto of the first ballot; a lost vote withdraws none."""
    if not vetoed or any(vote.decision == "VETO" for vote in last):
        return ""
    lost = {_view(vote) for vote in last if vote.fallback}
    ends = grouped(("not withdrawn" if view in lost else "withdrawn", view) for view in vetoed)
    texts = (f" A veto of {', '.join(views)} in the first ballot was {end}." for end, views in ends.items())
    return "".join(texts)


def _lost(last: list[Vote], unheard: list[str]) -> str:
    """Return which views gave no vote, in words, so that a ruling shows its gaps."""
    ballots = {"last": [_view(vote) for vote in last if vote.fallback], "first": unheard}
    texts = [f" No vote in the {name} ballot: {', '.join(lost)}." for name, lost in ballots.items() if lost]
    without = any("safety" in lost for lost in ballots.values())
    return "".join(texts) + (" Without safety's vote nothing is acted on." if without else "")


def _view(vote: Vote) -> str:
    return role_of(vote.id)


def _flat(metadata: Mapping[str, Any]) -> dict[str, str | int | bool | None]:
    """Return metadata as a ledger keeps it: fractions as decimal strings, lists as words."""
    flat: dict[str, str | int | bool | None] = {}
    for name, value in metadata.items():
        if isinstance(value, float):
            # The format has no floats, whose text differs between languages; decimals are
            # fixed to four digits.
            flat[name] = f"{Decimal(repr(value)).quantize(Decimal('0.0001')):f}"
        elif isinstance(value, dict):
            counts = cast("dict[str, int]", value)
            flat[name] = ", ".join(f"{key} {count}" for key, count in counts.items())
        elif isinstance(value, list):
            words = cast("list[str]", value)
            flat[name] = ", ".join(words) or "none"
        else:
            flat[name] = value
    return flat


def _doubts(book: Book, votes: list[Vote]) -> Iterator[str]:
    """Yield confidence that is too good, and agreement that is too smooth (S4-30)."""
    question = book.state.opening.question
    votes = [vote for vote in votes if not vote.fallback]
    for vote in votes:
        for says, holds in (
            (
                "at least 95 with less than 100 characters of reasons",
                vote.confidence >= 95 and len(vote.reasoning) < 100,
            ),
            ("at least 90 on a long question", vote.confidence >= 90 and len(question) > 500),
            ("100 on a question that is not trivial", vote.confidence == 100 and len(question) > 50),
        ):
            if holds:
                yield f"Overconfidence: {_view(vote)} says {vote.confidence}, {says}."
    confidences = [vote.confidence for vote in votes]
    # One vote has no variance, and agrees with itself without meaning anything.
    if len(confidences) > 1:
        if len(set(confidences)) == 1:
            yield "Forced consensus: all confidences are the same."
        elif pvariance(confidences) < 10 and min(confidences) > 80:
            yield "Forced consensus: all confidences are high and close to each other."


_OWN_DECISION: Final = Pick("analyse", kinds=("vote",), whose="own", back=1)
_TARGET: Final = Pick("analyse", kinds=("statement",), whose="target", back=1)

_LOST_VOTE: Final = {
    "revise": Loss("refuse", "its vote counts as REFUSE", decides=True),
    "revise.safety": Loss("refuse", "without safety's vote the ruling is REFUSE", decides=True),
}
_LOST_VIEW: Final = {
    "analyse": Loss("refuse", "nobody could challenge this view; its first vote counts as REFUSE"),
    "analyse.safety": Loss("refuse", "nobody could challenge safety; without its vote the ruling is REFUSE"),
}


def _last_votes(book: Book) -> list[Vote]:
    """Return the votes of the last ballot that were given."""
    return [vote for vote in book.of(Vote) if vote.ballot == 2 and not vote.fallback]


def _disputed(book: Book) -> int:
    """Return 1 where the last votes differ, else 0; refusing and a veto are one side."""
    return int(len({vote.decision.replace("VETO", "REFUSE") for vote in _last_votes(book)}) > 1)


def _sides(book: Book) -> Counter[str]:
    """Return the views whose last vote went the way of the ruling, where the votes differ."""
    return Counter(
        _view(vote)
        for ruling in book.of(Ruling)
        for vote in _last_votes(book)
        if _disputed(book) and sides_with(vote.decision, ruling.decision)
    )


STEPS: Final = StepTable(
    (
        StepRow(
            "analyse",
            asks(*VIEWS),
            ViewReply,
            _vote,
            wrong=_wrong_view,
            loss=_LOST_VIEW,
            stand_in=_refusal,
        ),
        StepRow(
            "challenge",
            _pairs,
            ViewChallenge,
            lambda _, step, reply: statement(step, "review", {"challenge": reply.text}),
            lambda numbering, step, reply: [
                numbering.event(
                    Challenge,
                    step,
                    reply,
                    target=event_id("statement", step.name.round - 1, "analyse", target_of(step.name)),
                    type="challenge",
                )
            ],
            loss=Loss("skipped", "this challenge was not put"),
            sees=(_OWN_DECISION, _TARGET),
        ),
        StepRow(
            "revise",
            asks(*VIEWS),
            ViewReply,
            _vote,
            wrong=_wrong_view,
            loss=_LOST_VOTE,
            sees=(
                Pick("analyse", kinds=("vote",), whose="own", back=2),
                Pick("challenge", kinds=("challenge",), whose="aimed", back=1),
            ),
            stand_in=_refusal,
        ),
    )
)


def _plan(_rules: Rules, _options: int) -> tuple[PlanRow, ...]:
    """Return a round for each row."""
    return tuple(PlanRow(round=n, phases=(row.phase,)) for n, row in enumerate(STEPS.rows, 1))


TRIBUNAL: Final[Protocol] = STEPS.protocol(
    "tribunal",
    "utility, accuracy and safety analyse, challenge each other, revise and vote; the ruling is code",
    (
        RoleDefinition("utility", "What good does it do?", "charters/utility", "Utility"),
        RoleDefinition("accuracy", "Is it true, and can that be checked?", "charters/accuracy", "Accuracy"),
        RoleDefinition("safety", "What can go wrong, and for whom?", "charters/safety", "Safety"),
    ),
    plan=_plan,
    variants={"voting": ("documented", "shipped")},
    owed=ruling,
    fits="whether to act on something, where harm counts",
    calls="12",
    sides=_sides,
    disputed=_disputed,
)
