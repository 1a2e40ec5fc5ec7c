"""Two runs side by side, and a run next to its forks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from detectors.course import PoolWithout
from ledger.plain_text import counted, shortened
from ledger.result import Result
from moot.view.text import WIDTH, folded, joined, listed
from rounds.analysis.stress import ForkLosses, Planned, RoleLoss

if TYPE_CHECKING:
    from ledger.compare.diff import Cost, Differences
    from rounds.analysis.compare import FinalAnswer, RunDiff, SignalDifferences, Texts
    from rounds.analysis.stress import Counted


SHOWN = 12


def diff_text(diff: RunDiff) -> str:
    """Return what `moot diff` prints."""
    lines = [*_answers(diff), "", f"a  {diff.a}", f"b  {diff.b}", _verdict(diff)]
    for noun, differences in (("claims", diff.claims), ("decisions", diff.decisions)):
        lines += ["", *_differences(noun, differences, diff.texts)]
    lines += ["", *([*_signals(diff.signals), ""] if diff.signals is not None else []), *_cost(diff)]
    return joined(lines)


def _answers(diff: RunDiff) -> list[str]:
    """Return the answers of both runs, or one where they are the same."""
    answers = diff.answers
    # The answer is what a reader compares first; identical answers need no second paragraph.
    if answers.same and answers.a is not None:
        return ["same answer", *folded(answers.a.chosen or answers.a.text)]
    return [*_answer("A", answers.a), *_answer("B", answers.b)]


def _answer(letter: str, answer: FinalAnswer | None) -> list[str]:
    if answer is None:
        return [f"{letter}  no final decision"]
    first, *rest = folded(f"{answer.chosen or answer.text}   ({answer.decision})", 3)
    return [f"{letter}  {first.strip()}", *rest]


def _verdict(diff: RunDiff) -> str:
    if diff.same:
        return "the same, line by line, but for hashes, instants, and what calls took and cost"
    # Different questions share no baseline, so the place where the ledgers part means nothing.
    if not diff.comparable:
        return "two questions: where they part says nothing"
    parting = diff.parting
    if parting is None:
        return "they differ"
    # A fork appends a second run_opened behind the shared events, so it is the first difference.
    if parting.seq and (parting.b or "").startswith("run_opened"):
        return f"b is a fork of a: everything before @{parting.seq} is the same"
    return f"they part at @{parting.seq}: {parting.a or 'nothing'} in a, {parting.b or 'nothing'} in b"


def _differences(noun: str, differences: Differences, texts: Texts) -> list[str]:
    lines = [
        f"{noun}: {len(differences.matched)} matched, {len(differences.only_a)} only in a,"
        f" {len(differences.only_b)} only in b"
    ]
    for change in differences.changed[:SHOWN]:
        where = f"{change.a} / {change.b}: {change.status_a} in a, {change.status_b} in b"
        lines += _id_line(where, texts.a.get(change.a, ""))
    for pair in differences.similar[:SHOWN]:
        lines += _id_line(f"{pair.a} ≈ {pair.b} ({pair.similarity:.2f})", texts.a.get(pair.a, ""))
    for letter, only, words in (("a", differences.only_a, texts.a), ("b", differences.only_b, texts.b)):
        for identity in only[:SHOWN]:
            lines += _id_line(f"only in {letter}: {identity}", words.get(identity, ""))
        # A report of hundreds of ids hides the changes, so the JSON output carries the rest.
        if len(only) > SHOWN:
            lines.append(f"  only in {letter}: {len(only) - SHOWN} more (--json has all)")
    for listed_, what in ((differences.changed, "stand differently"), (differences.similar, "similar")):
        if len(listed_) > SHOWN:
            lines.append(f"  {len(listed_) - SHOWN} more {what} (--json has all)")
    return lines


def _id_line(where: str, text: str) -> list[str]:
    """Return one line with the beginning of the text of an id."""
    return [f"  {where}  {shortened(text, WIDTH - len(where) - 4)}".rstrip()]


def _signals(signals: SignalDifferences) -> list[str]:
    a, b = signals.a, signals.b
    lines = [
        f"signals ({a.profile}): {a.satisfied} of {a.of} in a ({a.advice.replace('_', ' ')}), "
        f"{b.satisfied} of {b.of} in b ({b.advice.replace('_', ' ')})"
    ]
    for change in signals.changed:
        marks = ["✓" if satisfied else "✗" for satisfied in (change.satisfied_a, change.satisfied_b)]
        lines.append(
            f"  {change.id} {change.name}: {marks[0]} {change.value_a or '–'} in a,"
            f" {marks[1]} {change.value_b or '–'} in b"
        )
    return lines


def _cost(diff: RunDiff) -> list[str]:
    return [f"cost {letter}: {_cost_told(cost)}" for letter, cost in (("a", diff.cost.a), ("b", diff.cost.b))]


def _cost_told(cost: Cost) -> str:
    parts = [
        counted(cost.calls, "call"),
        *_tokens(cost),
        *([f"${cost.usd}"] if cost.usd is not None else []),
        *([_unknown(cost)] if cost.unpriced else []),
    ]
    return listed(parts)


def _tokens(cost: Cost) -> list[str]:
    """Return the token counts in words; counts that no seat gave are unknown, not 0."""
    # Seats that report no counts leave 0 in the sums, which would read as free of charge.
    if cost.calls and not (cost.tokens_in or cost.tokens_out):
        return ["tokens unknown"]
    return [f"{cost.tokens_in:,} tokens in", f"{cost.tokens_out:,} out"]


def _unknown(cost: Cost) -> str:
    return "cost unknown" if cost.usd is None else f"{cost.unpriced} of unknown cost"


class Stress(Result, frozen=True):
    """`made` are forks that this call made, `missing` those still to be made, `unfinished` those with rounds to go.

    `left_out` is the pool of the sealed answers without each role, where the run asked for them. `spared` are roles
    whose forks are not offered, because without them the same option leads by more than the noise.
    """

    run: str
    made: list[str]
    missing: list[Planned]
    unfinished: list[str]
    forks: list[ForkLosses]
    roles: list[RoleLoss]
    left_out: list[PoolWithout]
    spared: list[str]


IDS_SHOWN = 12


def stress_text(stress: Stress) -> str:
    """Return what `moot fork --stress` prints: each fork next to the run, each role, then missing forks."""
    lines: list[str] = []
    for fork in stress.forks:
        lines += [*_fork(fork), ""]
    lines += _left_out(stress)
    lines.append("what each role carried")
    for role in stress.roles:
        lines += folded(f"{role.role:<9} {role.verdict}: {role.detail}")
    lines += [*_todo(stress)]
    return joined(lines)


def _left_out(stress: Stress) -> Iterator[str]:
    if not stress.left_out:
        return
    yield f"what the roles would answer, without one of them (R{stress.left_out[0].round}; no reply was asked for)"
    for pool in stress.left_out:
        lead = (
            f"{pool.without} leads instead of {pool.leader}"
            if pool.changes
            else f"{pool.without} still leads"
        )
        yield f"{pool.role:<9} {lead}, by {pool.margin:.1f} points{', within the noise' if pool.close else ''}"
    # A fork costs replies. Where the same option leads clearly without the role, none is worth it.
    if stress.spared:
        yield from folded(
            f"no fork is offered without {listed(stress.spared)}: the same option leads by more than the noise. "
            "Say --role for one all the same."
        )
    yield ""


def _fork(fork: ForkLosses) -> Iterator[str]:
    where = ", ".join(f"R{number}" for number in fork.rounds)
    what = f"without {fork.without}" if fork.without else "nothing changed: what chance does"
    yield f"{fork.run}: {where} {what}"
    for name, counts in (("run", fork.parent), ("fork", fork.fork)):
        yield f"  {name:<5}{_counted(counts)}"
    gone = (
        f"{len(fork.lost)} claims of the run did not come up ({len(fork.own)} of them {fork.without}'s own)"
    )
    yield f"  lost {gone if fork.without else f'{len(fork.lost)} claims of the run did not come up'}"
    yield from folded(_ids(fork.lost), 7) if fork.lost else ()
    yield f"  kept {fork.again}, new {len(fork.new)}"
    # Readiness is worth a line only where leaving the role out changed it.
    if fork.ready_parent != fork.ready_fork:
        ready = {True: "ready to stop", False: "not ready"}
        yield f"  the run is {ready[fork.ready_parent]}, the fork {ready[fork.ready_fork]}"


def _counted(counted: Counted) -> str:
    return (
        f"{counted.claims} claims, {counted.tested} status changes, {counted.broken} BROKEN of"
        f" {counted.disagreement} disagreeing checks, {counted.tensions} tensions, {counted.decisions} decisions"
    )


def _ids(ids: list[str]) -> str:
    more = f" and {len(ids) - IDS_SHOWN} more" if len(ids) > IDS_SHOWN else ""
    return listed(ids[:IDS_SHOWN]) + more


def _todo(stress: Stress) -> Iterator[str]:
    if stress.unfinished:
        yield "to be gone on with: moot run --resume FORK --seats SPEC"
        yield from (f"  {run}" for run in stress.unfinished)
    if stress.missing:
        yield f"to be made ({len(stress.missing)}; `--make` makes them all)"
        for plan in stress.missing:
            yield f"  moot fork {stress.run} --round {plan.round} --without {plan.role}"
