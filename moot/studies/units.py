"""Units and jobs of a study: a unit is one answer to one item in one arm; its jobs are the runs that produce it.

Most units take one run. `best_of` takes k independent runs, and one more that reads the k answers and chooses. Judging
takes a run for each order of two answers. A job's name reveals neither item nor arm nor part, because every seat sees
the name of its run.

Counts of a run: two assumptions count as the same when they share at least 60% of the long words of the shorter one.
The procedure is crude and knows no synonyms, but it is the same for every arm.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import product
from random import Random
from typing import Any, Final

from ledger.events import Assumption, Disposition
from ledger.language.words import word_count
from ledger.plain_text import one_line
from ledger.state.book import Book
from ledger.state.decided import final_in_force
from ledger.state.state import WAIT
from moot.app.settings import RunOptions
from moot.studies.definition import Study
from moot.view.annexes import final_text
from moot.view.forecasts import leader_of_group, standing_now
from moot.view.judgements import has_beliefs, majority, option_of, option_said, options_of
from moot.view.outcome import outcome_of
from rounds.protocols import PROTOCOLS
from rounds.protocols.crux import standing
from rounds.setup.deliberation import Deliberation, checked
from rounds.setup.toml_file import Table

CHOICE: Final = "choice"
FIRST, SECOND, NEITHER = "the first answer", "the second answer", "neither is better"
ANSWERS_NAMED: Final = "answer-{n}.md"
CHOOSE: Final = (
    "Answers to this question, given independently of each other, are attached. Give the one that is right."
)
NAME_LETTERS: Final = 12
JUDGED: Final = "judge-"
"""Prefix of judging parts; the position of the arm's answer follows it."""
ORDERS: Final = ("first", "second")
CHOICE_CHARACTERS: Final = 60
"""Longest choice that a decision may name before a colon, in characters."""


@dataclass(frozen=True, slots=True, order=True)
class StudyUnit:
    """One answer: an item in an arm, the n-th time (from 1)."""

    item: str
    arm: str
    repetition: int


@dataclass(frozen=True, slots=True)
class StudyJob:
    """One run.

    `part`: empty for the whole unit, `draw-n`, `choice`, or `judge-first` and `judge-second`, which show the unit's
    answer as first or second beside the baseline's. `after`: jobs that it waits for, by name.
    """

    unit: StudyUnit
    part: str
    name: str
    after: tuple[str, ...] = ()

    @property
    def is_judging(self) -> bool:
        """Return whether judges play it."""
        return self.part.startswith(JUDGED)


@dataclass(frozen=True, slots=True)
class UnitAnswer:
    """Answer and cost of a run; `points` are its group forecast of 100 by option, `words` count all replies."""

    chosen: str | None
    points: Mapping[str, float] | None
    text: str
    replies: int
    lost: int
    words: int
    tokens: int
    usd: float | None
    experiments: int
    counts: Mapping[str, float] = field(default_factory=dict[str, float])
    """Counts of the run, by measure."""


def units_of(study: Study) -> list[StudyUnit]:
    """Return every unit, shuffled by the study's seed within each repetition, so that no arm comes first."""
    units = [
        StudyUnit(item, arm.id, n)
        for item, arm in product(study.tables, study.file.arm)
        for n in range(1, study.repetitions(item) + 1)
    ]
    # Shuffled, because prices, rate limits and models change while a study runs.
    Random(study.file.study.seed).shuffle(units)
    return sorted(units, key=lambda unit: unit.repetition)


def jobs_of(study: Study) -> Iterator[StudyJob]:
    """Yield every job of the study, each after those that it waits for."""
    units = units_of(study)
    for unit in units:
        yield from _jobs(study, unit)
    if study.file.judging is None:
        return
    baseline = study.file.study.baseline
    for unit in units:
        if unit.arm != baseline:
            # A judge needs both answers, of the same item and repetition.
            after = (last_of(study, unit), last_of(study, replace(unit, arm=baseline)))
            # Models favor a position, so each pair is judged in both orders.
            for order in ORDERS:
                part = f"{JUDGED}{order}"
                yield StudyJob(unit, part, name_of(study, unit, part), after)


def _jobs(study: Study, unit: StudyUnit) -> Iterator[StudyJob]:
    times = study.arm(unit.arm).best_of
    if times is None:
        yield StudyJob(unit, "", name_of(study, unit, ""))
        return
    draws = [StudyJob(unit, f"draw-{n}", name_of(study, unit, f"draw-{n}")) for n in range(1, times + 1)]
    yield from draws
    yield StudyJob(unit, CHOICE, name_of(study, unit, CHOICE), tuple(draw.name for draw in draws))


def last_of(study: Study, unit: StudyUnit) -> str:
    """Return the name of the job that gives a unit's answer."""
    return name_of(study, unit, "" if study.arm(unit.arm).best_of is None else CHOICE)


def name_of(study: Study, unit: StudyUnit, part: str) -> str:
    """Return the name of a job's run: always the same, and without a word about its content."""
    identity = f"{study.file.study.seed}|{unit.item}|{unit.arm}|{unit.repetition}|{part}"
    return f"r{sha256(identity.encode()).hexdigest()[:NAME_LETTERS]}"


def deliberation_for(study: Study, job: StudyJob, before: Mapping[str, UnitAnswer]) -> Deliberation:
    """Return the deliberation of a job; `before` holds the answers of the jobs that it waits for."""
    table = study.tables[job.unit.item]
    match job.part:
        case "":
            return _laid(table, _options(study, job.unit), job.unit)
        case "choice":
            # In the order of the draws, which says nothing about their quality.
            texts = [before[name].text for name in job.after]
            return _laid(_with_answers(table, texts), _options(study, job.unit), job.unit)
        case part if part.startswith("draw-"):
            # Far apart seeds: the draws of one unit must not share a seed with each other or with the next
            # repetition.
            further = 1_000 * int(part.removeprefix("draw-"))
            return _laid(table, _options(study, job.unit, further), job.unit)
        case part:
            mine, other = (before[name].text for name in job.after)
            pair = (mine, other) if part == "judge-first" else (other, mine)
            return _laid(_judged(study, table, pair), {"deliberation": {"protocol": "single-pass"}}, job.unit)


def check_arms(study: Study) -> None:
    """Check every arm over every item. Raises `DeliberationError`, with the arm, for an unknown rule or plan."""
    for arm, item in product(study.file.arm, study.tables):
        unit = StudyUnit(item, arm.id, 1)
        _laid(study.tables[item], _options(study, unit), unit)


def _laid(table: Table, settings: Table, unit: StudyUnit) -> Deliberation:
    return checked(RunOptions(settings).over(table), name=f"study.toml, arm {unit.arm}, item {unit.item}")


def _options(study: Study, unit: StudyUnit, further: int = 0) -> Table:
    """Return the arm's settings over an item's file. A run waits for a person only if its arm says so."""
    arm = study.arm(unit.arm)
    subject = {"protocol": arm.protocol, "seed": study.file.study.seed + unit.repetition - 1 + further}
    # A study of hundreds of runs cannot wait for a person in each, unless an arm is about just that.
    waiting = {WAIT: "off"} if WAIT in PROTOCOLS[arm.protocol].variants else {}
    return {
        "deliberation": subject if arm.plan is None else {**subject, "plan": arm.plan},
        "rules": {**waiting, **arm.rules},
        "budget": {name: value for name, value in arm.budget if value is not None},
        "experiments": {"run": arm.experiments},
    }


def _with_answers(table: Table, texts: list[str]) -> Table:
    subject = dict(table["deliberation"])
    subject["question"] = f"{subject['question']}\n\n{CHOOSE}"
    rows = [{"name": ANSWERS_NAMED.format(n=n), "text": text} for n, text in enumerate(texts, 1)]
    # The answers are documents, so that the choosing seat can cite them.
    return {**table, "deliberation": subject, "context": [*table.get("context", []), *rows]}


def _judged(study: Study, table: Table, texts: tuple[str, str]) -> Table:
    assert study.file.judging is not None, "only a study with judges has such jobs"
    question = str(table["deliberation"]["question"]).strip()
    subject = {
        "question": f"{study.file.judging.question}\n\n{question}",
        "options": [FIRST, SECOND, NEITHER],
    }
    rows = [{"name": f"{name}.md", "text": text} for name, text in zip(ORDERS, texts, strict=True)]
    return {"deliberation": subject, "context": [*table.get("context", []), *rows]}


def answer_in(book: Book) -> UnitAnswer:
    """Return the answer and the cost of a run, from its ledger."""
    state, summary = book.state, outcome_of("", book)
    finals = [book.by_id[identity] for identity in final_in_force(state)]
    # A run may decide several things; the first final decision answers the question.
    final: Any = finals[0] if finals else None
    written = final_text(book, final)
    parts = [summary.answer, *(point.text for point in summary.why)]
    experiments = sum(event.kind == "experiment_judged" for event in book.events)
    return UnitAnswer(
        chosen=chosen_by(book),
        points=_points(book),
        text=written.text if written is not None else "\n\n".join(parts),
        replies=state.spend.calls,
        lost=len(state.given_up),
        words=sum(_words(book, event.call.reply) for event in book.events if event.call is not None),
        tokens=state.spend.tokens_in + state.spend.tokens_out,
        usd=None if state.spend.usd is None or state.spend.unpriced else float(state.spend.usd),
        experiments=experiments,
        counts=counts_in(book),
    )


def chosen_by(book: Book) -> str | None:
    """Return the option that leads or that the decision names, by id or words, otherwise the words before its colon."""
    state = book.state
    if not state.finished:
        return None
    # A forecast names its leader exactly; words of a decision are only matched when there is none.
    if has_beliefs(book) and (leader := leader_of_group(book)):
        return leader
    if (vote := majority(book)) is not None:
        return vote.option
    decisions = [book.by_id[identity] for identity in final_in_force(state)]
    text = str(getattr(decisions[0], "text", "")) if decisions else ""
    option = option_of(book, decisions[0]) if decisions else None  # type: ignore[arg-type]
    option = option or option_said(options_of(book), text)
    word, colon, _ = text.partition(":")
    return option or (one_line(word) if colon and len(word) <= CHOICE_CHARACTERS else None)


def _points(book: Book) -> Mapping[str, float] | None:
    """Return the group forecast at the end."""
    if not has_beliefs(book):
        return None

    group = standing_now(book).group
    if group is None:
        return None
    return {option: float(group.points(n)) for n, option in enumerate(standing.option_ids(book.state))}


def _words(book: Book, sha: str) -> int:
    content = book.blobs.read(sha)
    return word_count(content.decode("utf-8", "replace")) if content is not None else 0


def winner_of(answer: UnitAnswer, order: str) -> str | None:
    """Return the answer that a judge prefers: `arm`, `baseline` or `neither`; None where it names none of them."""
    place = {"O-1": ORDERS[0], "O-2": ORDERS[1]}.get(answer.chosen or "")
    if place is None:
        return "neither" if answer.chosen == "O-3" else None
    return "arm" if place == order else "baseline"


SHARED_WORDS: Final = 0.6
"""Share of the shorter assumption's long words from which on two count as the same."""
LONG: Final = re.compile(r"[^\W\d_]{4,}")


def counts_in(book: Book) -> Mapping[str, float]:
    """Return measure → number; empty for a protocol that has neither assumptions nor objections."""
    assumptions = [assumption.text for assumption in book.of(Assumption)]
    disposed = [objection.disposition for objection in book.of(Disposition)]
    if not assumptions and not disposed:
        return {}
    return {
        "assumptions": float(len(assumptions)),
        "assumptions that differ": float(len(distinct(assumptions))),
        "objections": float(len(disposed)),
        "left to a person": float(disposed.count("escalated")),
    }


def distinct(texts: Iterable[str]) -> list[str]:
    """Return the texts without those that are the same as an earlier one."""
    kept: list[tuple[str, frozenset[str]]] = []
    for text in texts:
        words = frozenset(LONG.findall(text.casefold()))
        if not any(_same(words, other) for _, other in kept):
            kept.append((text, words))
    return [text for text, _ in kept]


def _same(first: frozenset[str], second: frozenset[str]) -> bool:
    # Two texts without long words are compared whole, since nothing could be shared.
    least = min(len(first), len(second))
    return first == second if least == 0 else len(first & second) >= SHARED_WORDS * least
