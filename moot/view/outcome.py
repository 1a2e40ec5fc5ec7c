"""The outcome of a run, shown first on every surface: decision, confidence, reasons, conditions, next steps.

outcome_of(run, book) computes it; `moot.view.outcome_text` formats it; `--json` and the pages have all texts in full.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, Literal

from detectors.report import EndWithout
from ledger.events import Assumption, Challenge, Concern, Decision
from ledger.events.ids import kind_of
from ledger.plain_text import counted, one_line, sentences
from ledger.result import Result
from ledger.state import decided
from ledger.state.book import Book, grouped, sections_named
from ledger.state.lifecycle import OPEN
from moot.view.agreement import condition_sentence, forecasts_clause, not_decided_yet, without_each
from moot.view.annexes import final_text, plans_to_read
from moot.view.annexes_judging import merged_questions, open_questions
from moot.view.judgements import (
    author_of,
    ballot_of,
    cited_as,
    compared,
    confidences_text,
    has_beliefs,
    majority,
    majority_text,
    named,
    option_of,
    ruling_text,
    scores_text,
)
from moot.view.labels import calls_of, why_stopped
from moot.view.marks import RAN, meaning
from moot.view.objections import (
    Dissenting,
    Objection,
    conceded_of,
    dissent_of,
    left_out,
    strongest_objection,
    terms_of_voters,
)
from moot.view.outcome_status import Became, became_of_decisions, caveats, open_under, standing_of
from moot.view.questions import (
    Asking,
    again_after_loss,
    answered_since,
    asked_of_you,
    objections_to_question,
    recommended,
    risks_of,
    tests_not_listed,
    to_decide_on,
)
from moot.view.reasons import Point, approval_of, contradictions, reasons_of_each
from moot.view.trust import looked_at_text, trust_text
from moot.view.words import command_to_go_on
from roles.outcome_status import OutcomeStatus
from rounds.protocols.sides import taken_up

if TYPE_CHECKING:
    from moot.view.forecasts import ForecastParts
    from rounds.run.budget import Amounts

WHY: Final = 3
"""Maximum number of reasons named: three fit the block, and the text next to them gives the total."""
_BLANK: Final = re.compile(r"\[[A-Z][A-Z' /_-]+\]|_{4,}|\bTBD\b")
"""A place in a final text that is left for a person to fill."""


class Outcome(Result, frozen=True):
    """Outcome of a run. `status` is computed, never written by a seat; lists are empty where nothing is recorded.

    `status_why` says in a clause what the status follows from. `go_on` is the command that resumes a stopped run, asks
    again what was lost, or puts your decision in the place of the run's. `became`: what a person said later of its
    decisions. `without`: the end without each role, by the sealed answers, empty where there are none; `hangs_on`
    says it in a sentence.
    """

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
    conceded: list[Point]
    objection: Objection | None
    dissent: list[Dissenting]
    needs_you: list[Asking]
    not_settled: list[Point]
    assumed: list[Point]
    trust: str
    looked_at: str
    became: list[Became]
    go_on: str | None


def outcome_of(run: str, book: Book, unrecorded: Amounts | None = None) -> Outcome:
    """Return the outcome of a run that has been opened.

    `run` is how commands name it. `unrecorded` is what attempts used that no event shows (`rounds.run.budget`).
    """
    state, reading = book.state, _Reading(run, book)
    chief, memo, without = reading.chief, reading.memo, without_each(book)
    standing = standing_of(book, chief, reading.finals)
    # A memo states its own conditions; only decisions without one need them derived.
    requirements = memo.get("requirements") or reading.conditions("requirements")
    # The judge of a panel has to recommend something, and the ledger has one field for both.
    advice, requirements = (requirements, []) if state.opening.protocol == "panel" else ([], requirements)
    parts = reading.forecasts
    # A person's decision may be what a forecast prefers.
    dissent = [*dissent_of(book, chief), *(parts.dissent if parts and not reading.by_person else ())]
    # What several roles name counts for more than a sentence of the memo, which one role wrote.
    named_by_several, unsettled = (parts.ways_shared, parts.unsettled) if parts else ([], [])
    falsifiers = memo.get("changes_our_mind") or reading.conditions("falsifiers")
    left_open = memo.get("not_settled") or reading.not_settled(standing.status)
    return Outcome(
        status=standing.status,
        status_why=standing.why or _beside(reading, standing.status, requirements, without),
        question=state.opening.question.strip(),
        answer=reading.answer(),
        how_sure=reading.how_sure(),
        hangs_on=condition_sentence(book, chief, without),
        without=without,
        do_now=[
            *tests_not_listed(book),
            *to_decide_on(book, standing.status),
            *reading.do_now(),
            *recommended(book, chief),
            *advice,
            *(() if reading.by_person else again_after_loss(run, book, standing.status)),
        ],
        why=reading.reasons[:WHY],
        changes_our_mind=[
            *_in_turn((named_by_several, falsifiers, unsettled)),
            *(terms_of_voters(book, chief) if chief else ()),
        ],
        requirements=requirements,
        conceded=[] if reading.by_person else list(conceded_of(book, chief, reading.objection)),
        objection=reading.objection,
        dissent=dissent,
        needs_you=(needs := asked_of_you(run, book)),
        not_settled=[*objections_to_question(book), *left_open],
        assumed=memo.get("assumed") or reading.assumed(),
        trust=trust_text(book),
        looked_at=looked_at_text(run, book, unrecorded),
        became=became_of_decisions(book),
        # Other states resume by an answer, of which a rule counts none, or by an experiment: `needs_you` lists them.
        go_on=command_to_go_on(
            run, state, standing.status, None if needs and chief and chief.made_by != "rule" else chief
        ),
    )


def _beside(
    reading: _Reading, status: OutcomeStatus, requirements: list[Point], without: Mapping[str, EndWithout]
) -> str:
    """Return what qualifies a decision, or why a run stopped."""
    if status is OutcomeStatus.STOPPED:
        return why_stopped(reading.state)
    # Other states explain themselves, so a qualification would only repeat them.
    if status is not OutcomeStatus.DECIDED:
        return ""
    verdict = approval_of(reading.book)
    parts, several = [verdict.verdict] if verdict else [], ""
    if reading.members is not None:
        # Members answer apart and nothing binds them together, so the majority is named as what decided.
        parts = [f"by {reading.members.most} of {len(reading.members.plans)} members"]
        plans = {ref for point in requirements for ref in point.refs}
        # Members of a council write requirements of their own, each for the own plan.
        several = f" in {len(plans)} plans" if len(plans) > 1 else ""
    elif reading.names_none:
        parts.append("no option named")
    parts += [f"{counted(len(requirements), 'requirement')}{several}"] if requirements else []
    parts += caveats(reading.book)
    blanks = _BLANK.findall(reading.text.text) if reading.text else []
    parts += [f"{counted(len(blanks), 'blank')} left to fill"] if blanks else []
    # A decision that flips without one seat deserves a warning before anything else is read.
    flips = ["without one role the end would be another"] * any(end.changes for end in without.values())
    parts += ["only one forecast counts"] if len(without) == 1 else flips
    return ", ".join(parts)


def _in_turn(lists: Iterable[list[Point]]) -> list[Point]:
    """Return the first point of each list, then the second of each, and so on."""
    return [point for points in zip_longest(*lists) for point in points if point is not None]


class _Reading:
    """A run read for its outcome: its main decision, and the parts that depend on it."""

    def __init__(self, run: str, book: Book) -> None:
        self.run, self.book, self.state = shlex.quote(run), book, book.state
        self.members = majority(book)
        self.decisions = {event.id: event for event in book.of(Decision)}
        self.finals = [self.decisions[identity] for identity in decided.final_in_force(book.state)]
        # The first final decision is the main one, since protocols close with it first.
        self.chief = self.finals[0] if self.finals else self._latest()
        self.by_person = self.chief is not None and self.chief.type in ("override", "answer")
        # Every member of a council who agrees has a plan of its own.
        self.plans = tuple(filter(None, [self.chief])) if self.members is None else self.members.agreeing
        self.forecasts: ForecastParts | None = None
        if has_beliefs(book):
            from moot.view.forecasts import forecast_parts

            self.forecasts = forecast_parts(run, book, self.chief)
        self.memo = self.forecasts.memo if self.forecasts else {}
        # Overrides by a person have reasons of their own, even in a run with forecasts. Every member of a council who
        # agrees has reasons of its own: one of each plan comes first.
        self.reasons = (
            self.forecasts.why
            if self.forecasts and self.chief and self.chief.by == "controller"
            else _in_turn(reasons_of_each(book, self.plans))
        )
        self.objection = strongest_objection(book, self.chief, self.reasons[:WHY], self.plans[1:])
        # Every member of a council has a text of its own, so none of them is the final one.
        has_text = self.members is None and (self.chief or self.state.finished)
        self.text = final_text(book, self.chief) if has_text else None

    def _latest(self) -> Decision | None:
        """Return the main decision while none is final: the first of the last round that decided and is in force."""
        # Any member who chose the leading option can speak for the majority.
        if self.members is not None:
            return self.members.agreeing[0]
        state, council = self.state, self.state.opening.protocol == "council"
        # An override takes the place of the decision it replaces, also in this order.
        first = {name: self.decisions[decided.overridden(state, name)] for name in decided.outcome(state)}
        last = max((origin.round for origin in first.values()), default=0)
        candidates = [
            # The members of a council whom a person did not overrule decide no more.
            (council and identity == origin.id, origin.seq, identity)
            for identity, origin in first.items()
            if origin.round == last
        ]
        # Deciding roles put the main decision first, as they do at the end.
        return self.decisions[min(candidates)[-1]] if candidates else None

    @property
    def names_none(self) -> bool:
        """Return whether a decision names none of the question's options, as verdicts on something put forward do."""
        if self.chief is None or self.by_person or self.members is not None:
            return False
        return bool(self.state.opening.options) and option_of(self.book, self.chief) is None

    def answer(self) -> str:
        """Return the decision in force, with options in the asker's words."""
        if sentences_ := self.memo.get("answer"):
            return " ".join(sentence.text for sentence in sentences_)
        if self.chief is None:
            return "Nothing was decided." if self.state.finished else not_decided_yet(self.book)
        # A decision text may be a whole plan, and the outcome is one paragraph.
        text = one_line(self.chief.text)
        if self.chief.type not in ("override", "answer"):
            if ruling := ruling_text(self.book):
                # After its first sentence, the rule's own decision names withdrawn vetoes and lost votes.
                return named(self.book, " ".join([ruling, *sentences(self.chief.text)[1:]]))
            if self.members is not None:
                return named(self.book, majority_text(self.members))
        # Members decide for good on their own, so theirs is final without a closing decision, and so is a person's.
        is_final = self.finals or self.members is not None or (self.by_person and self.state.finished)
        return f"{'' if is_final else 'Not final: '}{named(self.book, text)}"

    def how_sure(self) -> str:
        """Return the stated confidence, then what it rests on."""
        if self.chief is None:
            return forecasts_clause(self.book)
        if self.forecasts and self.chief.by == "controller":
            return f"{self.forecasts.how_sure} {self._basis()}"
        texts = [self._stated(self.chief), self._basis()]
        # What the roles voted or scored says nothing about a person's confidence.
        if not self.by_person:
            texts += [scores_text(self.book), left_out(self.book, self.chief, self.reasons)]
            texts += contradictions(self.book, self.chief)
        return " ".join(filter(None, texts))

    def _stated(self, chief: Decision) -> str:
        """Return the confidence that was stated with the decision, or with the judgements under a rule."""
        if chief.type == "answer":
            return f"Decided by {chief.name or 'a person'}, because no reply decided."
        if self.by_person:
            return f"Decided by {chief.name or 'a person'} in place of {decided.overridden(self.state, chief.id)}."
        if chief.made_by == "rule":
            # The votes follow in the same paragraph, so repeating their numbers here adds nothing.
            if ballot := ballot_of(self.book):
                return f"Computed by the {ballot.ruling.rules} rules from the votes."
            # A rule has no confidence; the judgements that it counts may have one, each in what it recommends.
            each = confidences_text(cited_as("based-on", Decision, self.book, chief))
            # Judges of a debate state theirs beside their scores; the rule says how many, and how far they agree.
            judges = chief.narratives if self.state.opening.protocol == "debate" else ()
            under = (
                f"; confidence that judgements under it state, each for its own recommendation, of 5: {each}"
            )
            return " ".join([f"Computed by the rule of the protocol{under * bool(each)}.", *judges])
        if self.members is not None and (each := confidences_text(self.members.plans)):
            return f"Stated confidence, of 5: {each}."
        if self.members is not None or chief.confidence is None:
            return "No confidence is stated."
        return f"Confidence {chief.confidence} of 5, as stated ({author_of(chief)})."

    def _basis(self) -> str:
        """Return how many of the shown reasons were run, quoted or argued, and whether any was run."""
        why = self.reasons[:WHY]
        if not why:
            return "" if self.by_person or self.plans[0].cites else "No reason is cited for it."
        # Judgements on the way have no level, and neither have votes that were lost.
        counts = Counter(
            (
                point.class_ or ("on lost votes" if "vote" in map(kind_of, point.refs) else "untested"),
                point.times,
            )
            for point in why
        )
        classes = ", ".join(f"{number} {meaning(*how)}" for how, number in counts.items())
        ran = "" if any(point.class_ in RAN for point in why) else "; none was run"
        # One family shares its blind spots, so its agreement is weaker evidence than it looks.
        alike = ", all seats were one model family" if calls_of(self.book.events).model_families == 1 else ""
        first, *others = self.plans
        plans = f" in {len(self.plans)} plans" if others else ""
        whole = f"decisions {self.run}" if others else f"why {self.run} {first.id}"
        # A memo, or a role's answer in its place, holds the reasons of a run with forecasts.
        whole = f"show {self.run} {why[-1].at}" if why[-1].at else whole
        listed = f", {len(why)} shown (all: moot {whole})" if len(self.reasons) > len(why) else ""
        return f"Of {counted(len(self.reasons), 'reason')}{plans}{listed}: {classes}{ran}{alike}."

    def conditions(self, name: Literal["falsifiers", "requirements"]) -> list[Point]:
        """Return the conditions of the main decision, then those of every other final one, each once."""
        decisions = self._conditional(self.chief) if self.chief is not None else []
        # Members of a council who agree on an option still set conditions of their own.
        others = self.plans[1:] or self.finals[1:]
        decisions += [plan for plan in others if plan.id not in {decision.id for decision in decisions}]
        texts = [
            (one_line(text), decision.id)
            for decision in decisions
            for text in getattr(decided.conditions_of(decision), name)
        ]
        # Judges of a debate put their falsifiers into statements, not into decisions.
        if name == "falsifiers" and not any(
            decided.conditions_of(decision).introduced() for decision in decisions
        ):
            by_rule = bool(decisions) and decisions[0].made_by == "rule"
            texts += [
                (one_line(text), event.id)
                for event, section in (sections_named(self.book, name) if by_rule else ())
                for text in filter(None, section.split("\n\n"))
            ]
        # Members and judges often agree word for word; each text is listed once, in order, with all who state it.
        return [Point.of(text, *dict.fromkeys(refs)) for text, refs in grouped(texts).items()]

    def _conditional(self, chief: Decision) -> list[Decision]:
        """Return the decisions whose conditions apply: the chief, or the judgements under a rule."""
        # A rule only counts votes or scores, so the conditions come from the judgements under it.
        if chief.made_by != "rule" or decided.conditions_of(chief).introduced():
            return [chief]
        # A judgement for another option sets conditions for a decision that was not made.
        under = cited_as("based-on", Decision, self.book, chief)
        return [event for event in under if not set(event.about).isdisjoint(chief.about)] or [chief]

    def do_now(self) -> Iterator[Point]:
        """Yield tests left to run, then the memo's steps or every other final decision."""
        if self.forecasts is not None:
            yield from self.forecasts.do_now
            return
        # The decision rests on these claims, although no test settled them.
        for identity in open_under(self.book, self.finals):
            claim = self.book.by_id[identity]
            verb = {"execution": "Run", "document": "Read"}.get(getattr(claim, "how", ""), "Test")
            yield Point.of(f"{verb} what decides {identity}: {getattr(claim, 'testable_as', '')}", identity)
        yield from answered_since(self.run, self.book, self.chief) if self.chief else ()
        yield from plans_to_read(self.run, self.book, self.members.plans) if self.members is not None else ()
        # With several final decisions the list is the plan.
        yield from (Point.of(other.text, other.id) for other in self.finals[1:])
        if not self.finals[1:] and (text := self.text):
            name = "final text" if self.finals else "last draft"
            blanks = ", ".join(dict.fromkeys(_BLANK.findall(text.text)))
            fill = f"Fill in {blanks} in the {name} and read it" if blanks else f"Read the {name}"
            where = f"({text.words} words){'.' if self.finals else f': moot show {self.run} {text.ref}'}"
            yield Point.of(f"{fill} before you use it {where}", text.ref)

    def not_settled(self, status: OutcomeStatus) -> Iterator[Point]:
        """Yield fallen grounds, what the closing leaves open, and open questions of a judge."""
        state, chief = self.state, self.chief
        for ground in decided.fallen_under(state, chief.id) if chief else ():
            fallen = ground.status.replace("tested_", "")
            yield Point.of(f"AT RISK: {ground.id}, on which this rests, is {fallen}.", ground.id)
        # The status of a decision says so itself.
        if self.names_none and status is not OutcomeStatus.DECIDED:
            yield Point.of("The answer names none of the options that the question names.")
        for event, text in sections_named(self.book, "open"):
            if event.type == "summary":
                yield from (Point.of(sentence, event.id) for sentence in sentences(text))
        # In an adversarial run these are the zones where the sides still differ.
        if chief and chief.zones:
            yield from (Point.of(text, chief.id) for text in chief.zones.contested)
        # What code doubts about a ruling settles nothing, and a reader has to weigh it (S4-30).
        doubts = (put for put in self.book.of(Concern) if put.type == "concern" and put.by == "controller")
        yield from (Point.of(doubt.text, doubt.id) for doubt in doubts)
        # What is a reason or the objection is not said again.
        elsewhere = {ref for point in self.reasons[:WHY] for ref in point.refs}
        elsewhere |= {self.objection.ref} if self.objection else set()
        risks = risks_of(self.run, self.book, chief, elsewhere) if chief else ()
        yield from (point for point in risks if elsewhere.isdisjoint(point.refs))
        # Questions about other options are not open for this decision.
        here = (put for put in open_questions(self.book) if chief is None or compared(self.book, chief, put))
        questions = sorted(here, key=lambda question: -question.round)
        yield from (Point.of(text, *ids) for text, ids in merged_questions(questions))
        # Dozens of claims may be open, so the outcome counts them and names the verb that lists them.
        waiting = sum(claim.status in OPEN for claim in state.claims.values())
        if waiting:
            yield Point.of(
                f"Still open: {waiting} of {counted(len(state.claims), 'claim')} (moot claims {self.run})"
            )

    def assumed(self) -> list[Point]:
        """Return what the plans take for granted, one of each in turn, without what objections changed."""
        if self.by_person:
            return []
        taken = taken_up(self.book)
        leads = {plan.step: f"{plan.id}: " * bool(self.plans[1:]) for plan in self.plans}
        changed = {event.target.partition("#")[0] for event in self.book.of(Challenge) if event.id in taken}
        # Unrequested choices come first: they are the ones the asker never agreed to (JB-2).
        assumptions = sorted(self.book.of(Assumption), key=lambda assumption: not assumption.unrequested)
        # Plans for other options are no earlier versions, and a plan does not repeat what the one it revises assumes.
        plans = grouped(
            (
                event.step,
                # A plan that lacks its decision is the only one there is.
                Point.of(
                    f"{leads.get(event.step, 'in the first plan: ' * bool(leads))}{event.text}"
                    f"{' (nobody asked for it)' * bool(event.unrequested)}",
                    event.id,
                ),
            )
            for event in assumptions
            if event.id not in changed and (self.members is None or event.step in leads)
        )
        return _in_turn(plans.values())
