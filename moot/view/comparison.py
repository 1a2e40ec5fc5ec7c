"""Two runs side by side, and a run next to its forks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from detectors.course import PoolWithout
from ledger.plain_text import counted, shortened, some
from ledger.result import Result
from moot.view.text import WIDTH, folded, joined, listed
from rounds.analysis.stress import ForkLosses, Planned, RoleLoss

if TYPE_CHECKING:
    from ledger.compare.diff import Cost, Differences
    from rounds.analysis.compare import RunDiff, SignalDifferences, Texts
    from rounds.analysis.stress import Counted


SHOWN = 12


def diff_text(diff: RunDiff) -> str:
    """Return what `moot diff` prints."""
    return joined(
        [
            *_answers(diff),
            "",
            f"a  {diff.a}",
            f"b  {diff.b}",
            _verdict(diff),
            "",
            *_differences("claims", diff.claims, diff.texts),
            "",
            *_differences("decisions", diff.decisions, diff.texts),
            "",
            *([*_signals(diff.signals), ""] if diff.signals is not None else []),
            f"accepted replies of a: {_cost_text(diff.cost.a)}",
            f"accepted replies of b: {_cost_text(diff.cost.b)}",
        ]
    )


def _answers(diff: RunDiff) -> Iterator[str]:
    """Yield the answers of both runs, or one where they are the same."""
    answers = diff.answers
    # The answer is what a reader compares first; identical answers need no second paragraph.
    if answers.same and answers.a is not None:
        yield from ("same answer", *folded(answers.a.chosen or answers.a.text))
        return
    for letter, answer in (("A", answers.a), ("B", answers.b)):
        text = (
            "no final decision" if answer is None else f"{answer.chosen or answer.text}   ({answer.decision})"
        )
        first, *rest = folded(text, 3)
        yield from (f"{letter}  {first.strip()}", *rest)


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


def _differences(noun: str, differences: Differences, texts: Texts) -> Iterator[str]:
    """Yield what differs, at most `SHOWN` of each kind: a report of hundreds of ids hides the changes."""
    only = {"a": differences.only_a, "b": differences.only_b}
    yield f"{noun}: {len(differences.matched)} matched, {len(only['a'])} only in a, {len(only['b'])} only in b"
    for change in differences.changed[:SHOWN]:
        where = f"{change.a} / {change.b}: {change.status_a} in a, {change.status_b} in b"
        yield _id_line(where, texts.a.get(change.a, ""))
    for pair in differences.similar[:SHOWN]:
        yield _id_line(f"{pair.a} ≈ {pair.b} ({pair.similarity:.2f})", texts.a.get(pair.a, ""))
    for letter, words in (("a", texts.a), ("b", texts.b)):
        for identity in only[letter][:SHOWN]:
            yield _id_line(f"only in {letter}: {identity}", words.get(identity, ""))
        yield from _left(f"only in {letter}: ", len(only[letter]), "")
    yield from _left("", len(differences.changed), " stand differently")
    yield from _left("", len(differences.similar), " similar")


def _left(before: str, count: int, what: str) -> Iterator[str]:
    """Yield a line for what was cut, which the JSON output carries."""
    if count > SHOWN:
        yield f"  {before}{count - SHOWN} more{what} (--json has all)"


def _id_line(where: str, text: str) -> str:
    """Return one line with the beginning of the text of an id."""
    return f"  {where}  {shortened(text, WIDTH - len(where) - 4)}".rstrip()


def _signals(signals: SignalDifferences) -> Iterator[str]:
    a, b = signals.a, signals.b
    yield (
        f"signals ({a.profile}): {a.satisfied} of {a.of} in a ({a.advice.replace('_', ' ')}), "
        f"{b.satisfied} of {b.of} in b ({b.advice.replace('_', ' ')})"
    )
    for change in signals.changed:
        yield (
            f"  {change.id} {change.name}: {'✓' if change.satisfied_a else '✗'} {change.value_a or '–'} in a,"
            f" {'✓' if change.satisfied_b else '✗'} {change.value_b or '–'} in b"
        )


def _cost_text(cost: Cost) -> str:
    # Seats that report no counts leave 0 in the sums, which would read as free of charge.
    is_counted = cost.tokens_in or cost.tokens_out or not cost.calls
    parts = (
        counted(cost.calls, "call"),
        f"{cost.tokens_in:,} tokens in, {cost.tokens_out:,} out" if is_counted else "tokens unknown",
        f"${cost.usd}" if cost.usd is not None else "",
        ""
        if not cost.unpriced
        else "cost unknown"
        if cost.usd is None
        else f"{cost.unpriced} of unknown cost",
    )
    return ", ".join(part for part in parts if part)


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


def stress_text(stress: Stress) -> str:
    """Return what `moot fork --stress` prints: each fork next to the run, each role, then missing forks."""
    roles = (
        line for role in stress.roles for line in folded(f"{role.role:<9} {role.verdict}: {role.detail}")
    )
    forks = (line for fork in stress.forks for line in (*_fork(fork), ""))
    return joined([*forks, *_left_out(stress), "what each role carried", *roles, *_todo(stress)])


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
    own = f" ({len(fork.own)} of them {fork.without}'s own)" if fork.without else ""
    yield f"  lost {counted(len(fork.lost), 'claim')} of the run did not come up{own}"
    yield from folded(some(fork.lost, SHOWN), 7) if fork.lost else ()
    yield f"  kept {fork.again}, new {len(fork.new)}"
    # Readiness is worth a line only where leaving the role out changed it.
    if fork.ready_parent != fork.ready_fork:
        ready = {True: "ready to stop", False: "not ready"}
        yield f"  the run is {ready[fork.ready_parent]}, the fork {ready[fork.ready_fork]}"


def _counted(counts: Counted) -> str:
    parts = (
        counted(counts.claims, "claim"),
        counted(counts.tested, "status change"),
        f"{counts.broken} BROKEN of {counted(counts.disagreement, 'disagreeing check')}",
        counted(counts.tensions, "tension"),
        counted(counts.decisions, "decision"),
    )
    return ", ".join(parts)


def _todo(stress: Stress) -> Iterator[str]:
    if stress.unfinished:
        yield "to be gone on with: moot run --resume FORK --seats SPEC"
        yield from (f"  {run}" for run in stress.unfinished)
    if stress.missing:
        yield f"to be made ({len(stress.missing)}; `--make` makes them all)"
        for plan in stress.missing:
            yield f"  moot fork {stress.run} --round {plan.round} --without {plan.role}"
