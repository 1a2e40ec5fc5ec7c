"""The outcome of a run, shown first on every surface: decision, confidence, reasons, conditions, next steps.

outcome_of(run, book) computes it from the ledger of any protocol, and states what a run lacks.
`moot.view.outcome_text` formats it; `--json` and the pages have every text in full.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from ledger.events import (
    Assumption,
    Concern,
    Decision,
    Statement,
)
from ledger.events.conditions import Conditions, conditions_of
from ledger.plain_text import counted, one_line, sentences
from ledger.result import Result
from ledger.state.book import Book
from ledger.state.decided import fallen_under, final_in_force, in_force, overridden
from ledger.state.lifecycle import OPEN
from moot.view.agreement import EndWithout, hangs_on_told, without_each
from moot.view.annexes import final_text
from moot.view.annexes_judging import falsifiers_of_judges, merged_questions
from moot.view.approval import approval_objection, approval_of, approval_reasons
from moot.view.evidence import RAN, meaning
from moot.view.judgements import (
    agreeing,
    confidences_told,
    majority,
    merged_told,
    named,
    plans_told,
    ruling_of,
    ruling_told,
    scores_told,
)
from moot.view.labels import calls_of, why_stopped
from moot.view.memo import (
    MemoTold,
    basis_told,
    has_beliefs,
    how_likely,
    memo_of,
    options_missing,
    other_leaders,
    reasons_of_roles,
    revisit_if,
    tests_to_make,
)
from moot.view.outcome_status import Became, became_told, open_under, serious_questions, standing_of
from moot.view.questions import Asking, asked_of_you
from moot.view.reasons import Point, dissent_told, objection_told, reasons_of
from moot.view.seats import family_of
from moot.view.trust import looked_at_told, model_families, trust_told
from moot.view.undecided import forecasts_told, not_decided_yet
from moot.view.words import going_on
from roles.outcome_status import OutcomeStatus

if TYPE_CHECKING:
    from rounds.run.budget import Amounts

# Three reasons fit the outcome block; the text next to them gives the total.
WHY: Final = 3
"""Maximum number of reasons named."""


class Dissenting(Result, frozen=True):
    """Who disagrees with the decision, in the role's own words where it gave any."""

    role: str
    text: str
    ref: str


class Outcome(Result, frozen=True):
    """What a run comes to. `status` is computed, never written by a seat; lists are empty where nothing is recorded.

    `status_why` says in a clause what the status follows from. `go_on` is the command that resumes a stopped run.
    `became`: what a person said later of its decisions. `without`: the end without each role, by the sealed answers,
    empty where there are none; `hangs_on` says it in a sentence."""

    status: OutcomeStatus
    status_why: str
    question: str
    answer: str
    how_sure: str
    hangs_on: str | None
    without: dict[str, EndWithout]
    do_now: list[Point]
    why: list[Point]
    changes_our_mind: list[Point]
    requirements: list[Point]
    objection: str | None
    dissent: list[Dissenting]
    needs_you: list[Asking]
    not_settled: list[Point]
    assumed: list[Point]
    trust: str
    looked_at: str
    became: list[Became]
    go_on: str | None


def outcome_of(run: str, book: Book, beyond: Amounts | None = None) -> Outcome:
    """Return the outcome of a run that has been opened.

    `run` is how commands name it. `beyond` is what attempts used that no event shows (`rounds.run.budget`).
    """
    state = book.state
    finals = [_decision(book, identity) for identity in final_in_force(state)]
    # The first final decision is the main one, since protocols close with it first.
    chief = finals[0] if finals else _latest(book)
    memo = memo_of(book, chief)
    hangs_on = None if chief is None else _hangs_on(book, chief)
    held = _conditions(book, hangs_on, finals)
    without = without_each(book)
    memo_told = MemoTold(book, memo) if memo is not None else None
    reasons = _reasons(book, chief, memo_told)
    wording = _Wording(run, book, chief, finals, memo_told, reasons[:WHY], len(reasons))
    standing = standing_of(book, chief, finals)
    # A memo states its own conditions; only decisions without one need them derived.
    requirements = wording.field("requirements") or _points_of(held, "requirements")
    return Outcome(
        status=standing.status,
        status_why=standing.why or _beside(book, standing.status, requirements, without),
        question=state.opening.question.strip(),
        answer=wording.answer(),
        how_sure=wording.how_sure(),
        hangs_on=hangs_on_told(book, chief, without),
        without=without,
        do_now=list(wording.do_now()),
        why=wording.why,
        changes_our_mind=[
            *(wording.field("changes_our_mind") or _points_of(held, "falsifiers")),
            *(revisit_if(book) if has_beliefs(book) else ()),
        ],
        requirements=requirements,
        objection=_objection(book, chief, wording.why),
        dissent=[Dissenting(*dissenter) for dissenter in _dissent(book, chief)],
        needs_you=asked_of_you(run, book),
        not_settled=[*options_missing(book), *(wording.field("not_settled") or wording.not_settled())],
        assumed=wording.field("assumed") or list(wording.assumed()),
        trust=trust_told(book),
        looked_at=looked_at_told(run, book, beyond),
        became=became_told(book),
        # Other states resume by an answer or an experiment, which `needs_you` lists.
        go_on=going_on(run, state.stopped_by) if standing.status is OutcomeStatus.STOPPED else None,
    )


def _beside(
    book: Book, status: OutcomeStatus, requirements: list[Point], without: Mapping[str, EndWithout]
) -> str:
    """Return what qualifies a decision, or why a run stopped."""
    if status is OutcomeStatus.STOPPED:
        return why_stopped(book.state)
    # Other states explain themselves, so a qualification would only repeat them.
    if status is not OutcomeStatus.DECIDED:
        return ""
    serious = serious_questions(book)
    verdict = approval_of(book)
    parts = [verdict.verdict] if verdict is not None else []
    plans = plans_told(book, {ref for point in requirements for ref in point.refs})
    parts += [f"{counted(len(requirements), 'requirement')}{plans}"] if requirements else []
    parts += [f"{counted(serious, 'serious question')} open"] if serious else []
    if any(end.changes for end in without.values()):
        # A decision that flips without one seat deserves a warning before anything else is read.
        parts.append("another answer would lead without one role")
    return ", ".join(parts)


def _decision(book: Book, identity: str) -> Decision:
    event = book.by_id[identity]
    assert isinstance(event, Decision), f"{identity} is no decision"
    return event


def _latest(book: Book) -> Decision | None:
    """Return the main decision while none is final: the first of the last round that decided and is in force."""
    members = majority(book)
    # Any member who chose the leading option can speak for the majority.
    if members is not None:
        return agreeing(book, members)[0]
    state = book.state
    # A person's answer to a question is context and never the run's own answer.
    standing = [identity for identity in in_force(state) if state.decisions[identity].rank != "answer"]
    # An override takes the place of the decision it replaces, also in this order.
    first = {identity: _decision(book, overridden(state, identity)) for identity in standing}
    last = max((origin.round for origin in first.values()), default=0)
    candidates = [(origin.seq, identity) for identity, origin in first.items() if origin.round == last]
    # Deciding roles put the main decision first, as they do at the end.
    return _decision(book, min(candidates)[1]) if candidates else None


def _reasons(book: Book, chief: Decision | None, memo: MemoTold | None) -> list[Point]:
    """Return the memo's reasons, else those that stand under the decision, the best tested first."""
    if chief is None:
        return []
    # Overrides by a person have reasons of their own, even in a run with forecasts.
    if has_beliefs(book) and chief.by == "controller":
        return (memo.field("why") if memo is not None else []) or reasons_of_roles(book)
    approval = None if chief.type == "override" else approval_of(book)
    return reasons_of(book, chief) if approval is None else approval_reasons(book, chief, approval)


def _objection(book: Book, chief: Decision | None, why: list[Point]) -> str | None:
    """Return the strongest thing said against the decision, in its author's words."""
    approval = None if chief is None or chief.type == "override" else approval_of(book)
    if chief is None or approval is None:
        return objection_told(book, chief, why)
    return approval_objection(book, chief, approval, {ref for point in why for ref in point.refs})


def _hangs_on(book: Book, chief: Decision) -> Decision:
    """Return the decision whose conditions apply: the chief, or the last judgement under a rule."""
    # A rule only counts votes or scores, so the conditions come from the judgements under it.
    if chief.made_by != "rule" or conditions_of(chief).told():
        return chief
    cited = [cite.id for cite in chief.cites if cite.type == "decision" and cite.relation == "based-on"]
    under = [_decision(book, identity) for identity in cited]
    # A judgement about another option sets conditions for a decision that was not made.
    alike = [decision for decision in under if not set(decision.about).isdisjoint(chief.about)]
    return (alike or under or [chief])[-1]


def _conditions(
    book: Book, main: Decision | None, finals: list[Decision]
) -> list[tuple[Decision, Conditions]]:
    """Return the conditions of the main decision, then those of every other final one."""
    members = majority(book)
    # Members of a council who agree on an option still set conditions of their own.
    plans = agreeing(book, members) if members is not None else finals[1:]
    others = [decision for decision in plans if main is None or decision.id != main.id]
    decisions = [*([main] if main is not None else []), *others]
    held = [(decision, conditions_of(decision)) for decision in decisions]
    # Judges of a debate put their falsifiers into statements, not into decisions.
    if main is not None and main.made_by == "rule" and not any(each.told() for _, each in held):
        held.append((main, Conditions(falsifiers=falsifiers_of_judges(book))))
    return held


def _points_of(
    held: list[tuple[Decision, Conditions]], name: Literal["falsifiers", "requirements"]
) -> list[Point]:
    """Return conditions of one kind as points, each once, with the decision that names it."""
    conditions = {
        one_line(text): decision.id
        # Building the dict in reverse keeps the first decision that names a repeated condition.
        for decision, each in reversed(held)
        for text in reversed(getattr(each, name))
    }
    return [_point(text, ref) for text, ref in reversed(conditions.items())]


def _dissent(book: Book, chief: Decision | None) -> Iterator[tuple[str, str, str]]:
    """Yield who disagrees in words, then who puts another option first in its sealed forecast."""
    yield from dissent_told(book, chief)
    if chief is not None and has_beliefs(book):
        yield from other_leaders(book)


class _Wording(msgspec.Struct, frozen=True):
    """The outcome of one decision, and of the other final ones, in words."""

    run: str
    book: Book
    chief: Decision | None
    finals: list[Decision]
    memo: MemoTold | None
    why: list[Point]
    reasons: int
    """How many reasons there are, shown or not."""

    def field(self, name: str) -> list[Point]:
        """Return the points of a field of the memo; empty without a memo."""
        return self.memo.field(name) if self.memo is not None else []

    def answer(self) -> str:
        """Return the decision in force, with options in the asker's words."""
        if self.memo is not None and (text := self.memo.answer()):
            return text
        if self.chief is None:
            return "Nothing was decided." if self.book.state.finished else not_decided_yet(self.book)
        if self.chief.type not in ("override", "answer"):
            if ruling := ruling_told(self.book):
                # After its first sentence, the rule's own decision names withdrawn vetoes and lost votes.
                return named(self.book, " ".join([ruling, *sentences(self.chief.text)[1:]]))
            if merged := merged_told(self.book):
                return named(self.book, merged)
        # A decision text may be a whole plan, and the outcome is one paragraph.
        text = named(self.book, one_line(self.chief.text))
        # Members decide for good on their own, so theirs is final without a closing decision.
        return text if self.finals or majority(self.book) else f"Not final: {text}"

    def how_sure(self) -> str:
        """Return the stated confidence, then what it rests on."""
        if self.chief is None:
            return forecasts_told(self.book)
        if has_beliefs(self.book) and self.chief.by == "controller":
            families = model_families(self.book)
            likely = named(self.book, how_likely(self.book))
            return f"{likely} {basis_told(self.why, families)}"
        # The votes or scores of the roles say nothing about a person's confidence.
        by_person = self.chief.type == "override"
        parts = (self._stated(self.chief), self._basis(), "" if by_person else scores_told(self.book))
        return " ".join(part for part in parts if part)

    def _stated(self, chief: Decision) -> str:
        who = (chief.name or chief.made_by).replace("_", " ")
        if chief.type == "override":
            return f"Decided by {chief.name or 'a person'} in place of {overridden(self.book.state, chief.id or '')}."
        if chief.made_by == "rule":
            # The votes follow in the same paragraph, so repeating their numbers here adds nothing.
            if ruling_of(self.book) is not None:
                return "Computed by the rule of the protocol from the last votes."
            return f"Computed by the rule of the protocol; {self._stated_under(chief)}."
        if counted := majority(self.book):
            return confidences_told(self.book, counted)
        if chief.confidence is None:
            return "No confidence is stated."
        return f"Confidence {chief.confidence} of 5, as stated ({who})."

    def _stated_under(self, chief: Decision) -> str:
        """Return the confidence that the judgements under a rule state."""
        # A rule has no confidence; the judgements that it counts may have one.
        cited = [self.book.by_id.get(cite.id) for cite in chief.cites if cite.relation == "based-on"]
        stated = [event for event in cited if isinstance(event, Decision) and event.confidence is not None]
        if not stated:
            return "nobody states a confidence"
        each = ", ".join(f"{decision.confidence} of 5 ({decision.by}, {decision.id})" for decision in stated)
        return f"confidence under it, as stated: {each}"

    def _basis(self) -> str:
        """Return how many of the shown reasons were run, quoted or argued, and whether any was run."""
        counts = Counter((point.class_ or "untested", point.times) for point in self.why)
        if not counts:
            return ""
        total = counts.total()
        classes = ", ".join(f"{number} {meaning(*how)}" for how, number in counts.items())
        ran = any(point.class_ in RAN for point in self.why)
        families = {
            family_of(respondent.provider, respondent.model)
            for respondent in calls_of(self.book.events).answered
        }
        # One family shares its blind spots, so its agreement is weaker evidence than it looks.
        alike = ", all seats were one model family" if len(families) == 1 and None not in families else ""
        of_all = f"Of {counted(self.reasons, 'reason')}{f', {total} shown' if self.reasons > total else ''}"
        return f"{of_all}: {classes}{'' if ran else '; none was run'}{alike}."

    def do_now(self) -> Iterator[Point]:
        """Yield tests left to run, then the memo's steps or every other final decision."""
        if has_beliefs(self.book):
            yield from self.field("do_now")
            # While the run goes on, moot itself may still run these tests.
            if self.book.state.finished:
                yield from tests_to_make(self.run, self.book)
            return
        if self.chief is None:
            return
        # The decision rests on these claims, although no test settled them.
        for identity in open_under(self.book, self.finals):
            claim = self.book.by_id[identity]
            test = one_line(getattr(claim, "testable_as", ""))
            yield _point(f"Run what decides {identity}: {test}", identity)
        yield from self._answered_since()
        for other in self.finals[1:]:
            yield _point(one_line(other.text), other.id)
        # With several final decisions the list above already is the plan.
        if not self.finals[1:] and (plan := self._handed_on()):
            yield plan

    def _answered_since(self) -> Iterator[Point]:
        """Yield answers that a person gave after the final text was written, so that the text lacks them."""
        decided = self.chief.seq if self.chief is not None and self.finals else None
        for event in self.book.of(Decision) if decided is not None else ():
            asked = [cite.id for cite in event.cites if cite.id in self.book.state.concerns]
            # Answers given before the decision were in the brief of the deciding step.
            if event.type == "answer" and asked and decided is not None and event.seq > decided:
                to = asked[0] if len(asked) == 1 else f"{asked[0]} and {len(asked) - 1} that ask the same"
                yield _point(f"Work in what a person answered to {to}: {one_line(event.text)}", event.id)

    def _handed_on(self) -> Point | None:
        """Return the text of the deciding step, where the decision only points to it: a plan, a notice."""
        # Every member of a council has a text of its own, so none of them is the final one.
        final = final_text(self.book, self.chief) if majority(self.book) is None else None
        if final is None:
            return None
        return _point(f"Read the final text before you use it ({final.words} words).", final.ref)

    def not_settled(self) -> Iterator[Point]:
        """Yield fallen grounds, what the closing leaves open, and open questions of a judge."""
        state = self.book.state
        for ground in fallen_under(state, self.chief.id or "") if self.chief is not None else ():
            yield _point(
                f"AT RISK: {ground.id}, on which this rests, is {ground.status.replace('tested_', '')}.",
                ground.id,
            )
        yield from self._closing_open()
        yield from self._contested()
        # Questions to a person are listed under "needs you" with their commands.
        asked = [
            event
            for event in self.book.of(Concern)
            if event.type == "question" and not event.for_human and event.id not in state.resolved
        ]
        for text, ids in merged_questions(sorted(asked, key=lambda question: -question.round)):
            yield _point(one_line(text), *ids)
        # Dozens of claims may be open, so the outcome counts them and names the verb that lists them.
        waiting = [identity for identity, claim in state.claims.items() if claim.status in OPEN]
        if waiting:
            yield _point(
                f"{len(waiting)} of {len(state.claims)} claims are untested or unclear: moot claims."
            )

    def _contested(self) -> Iterator[Point]:
        """Yield the zones where the sides of an adversarial run still differ."""
        if self.chief is not None and self.chief.zones is not None:
            yield from (_point(one_line(text), self.chief.id) for text in self.chief.zones.contested)

    def _closing_open(self) -> Iterator[Point]:
        for event in self.book.of(Statement):
            if event.type == "summary":
                for section in event.sections:
                    if section.name == "open":
                        yield from (_point(sentence, event.id) for sentence in sentences(section.text))

    def assumed(self) -> Iterator[Point]:
        """Yield choices that the final plan makes without a request."""
        if self.chief is None or self.chief.type == "override" or majority(self.book) is not None:
            return
        # Unrequested choices come first: they are the ones the asker never agreed to (JB-2).
        assumptions = sorted(self.book.of(Assumption), key=lambda assumption: not assumption.unrequested)
        for event in assumptions:
            yield _point(one_line(event.text), event.id)


def _point(text: str, *refs: str | None) -> Point:
    return Point(text=text, class_=None, quote=None, refs=[ref for ref in refs if ref])
