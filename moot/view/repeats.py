"""The same question several times: what each run came to, and how far the answers agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from itertools import combinations

from ledger.plain_text import counted, one_line, shortened
from ledger.result import Result
from ledger.state.book import Book
from ledger.state.decided import final_in_force
from moot.view.aftermath import points_of
from moot.view.judged import majority, option_of
from moot.view.memo import end_of_run, has_beliefs
from moot.view.options import option_said, options_of
from moot.view.outcome import outcome_of
from moot.view.text import joined

ANSWER = 60


class RepeatedRun(Result, frozen=True):
    """`chosen`: the option that it ended with, or the judge's word; null where it named none. `points` of 100.
    `lost`: steps that were given up."""

    run: str
    state: str
    status: str
    chosen: str | None
    points: float | None
    answer: str
    replies: int
    lost: int
    usd: str | None


class Repeats(Result, frozen=True):
    """`agreement`: the share of pairs of finished runs that chose alike; `flip_rate`: the share of finished runs that
    did not choose what most did; both null where fewer than two name what they chose. `points`: the least and the
    most that runs gave to what most chose."""

    directory: str
    question: str
    planned: int
    finished: int
    chosen: dict[str, int]
    agreement: float | None
    flip_rate: float | None
    points: list[float]
    replies: int
    usd: str | None
    runs: list[RepeatedRun]


def repeated_run(run: str, book: Book) -> RepeatedRun:
    """What one of them came to."""
    state, told = book.state, outcome_of(run, book)
    chosen = chosen_by(book)
    finals = final_in_force(state)
    return RepeatedRun(
        run=run,
        state=state.life,
        status=told.status,
        chosen=chosen,
        points=points_of(book, finals[0]) if finals else None,
        answer=one_line(told.answer),
        replies=state.spend.calls,
        lost=len(state.given_up),
        usd=state.spend.usd,
    )


def chosen_by(book: Book) -> str | None:
    """The option that leads, or that the decision names, by id or words; else what stands before its colon."""
    state = book.state
    if not state.finished:
        return None
    if has_beliefs(book):
        from rounds.protocols.crux import standing

        end = end_of_run(book)
        if end.leader is not None:
            return standing.option_ids(state)[end.leader]
    if (told := majority(book)) is not None:
        return told.option
    decisions = [book.by_id[identity] for identity in final_in_force(state)]
    text = str(getattr(decisions[0], "text", "")) if decisions else ""
    option = option_of(decisions[0]) if decisions else None  # type: ignore[arg-type]
    option = option or option_said(options_of(book), text)
    word, colon, _ = text.partition(":")
    return option or (one_line(word) if colon and len(word) <= ANSWER else None)


def repeats_of(directory: str, question: str, planned: int, runs: Sequence[RepeatedRun]) -> Repeats:
    """How far they agree."""
    done = [one for one in runs if one.state == "finished"]
    named = [one.chosen for one in done if one.chosen is not None]
    counts = Counter(named)
    first = counts.most_common(1)[0][0] if counts else None
    pairs = list(combinations(named, 2))
    points = [one.points for one in done if one.chosen == first and one.points is not None]
    dollars = [Decimal(one.usd) for one in runs if one.usd is not None]
    return Repeats(
        directory=directory,
        question=one_line(question),
        planned=planned,
        finished=len(done),
        chosen=dict(counts.most_common()),
        agreement=round(sum(one == other for one, other in pairs) / len(pairs), 3) if pairs else None,
        flip_rate=round(1 - counts[first] / len(named), 3) if pairs and first is not None else None,
        points=[min(points), max(points)] if points else [],
        replies=sum(one.replies for one in runs),
        usd=f"{sum(dollars):.6f}" if dollars and len(dollars) == len(runs) else None,
        runs=list(runs),
    )


def repeats_text(found: Repeats) -> str:
    """What they chose first, then a line for each."""
    lines = [found.question, f"{found.finished} of {counted(found.planned, 'run')} finished"]
    if found.chosen:
        told = ", ".join(f"{name} {number}×" for name, number in found.chosen.items())
        spread = (
            f", {found.points[0]:g} to {found.points[1]:g} of 100 points for the first"
            if found.points
            else ""
        )
        lines.append(f"chosen      {told}{spread}")
    if found.agreement is not None and found.flip_rate is not None:
        lines.append(
            f"agreement   {found.agreement:.0%} of pairs chose alike; {found.flip_rate:.0%} left the commonest"
        )
    elif found.finished >= 2:
        lines.append("agreement   not known: fewer than two runs name what they chose")
    lines.append(f"looked at   {counted(found.replies, 'reply')}, {found.usd or 'unknown'} USD")
    for one in found.runs:
        what = one.chosen or one.state
        lines.append(f"  {one.run}  {what}  {shortened(one.answer, ANSWER)}")
    return joined(lines)
