"""Two runs side by side, and a run beside its forks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from detectors.stopping.left_out import PoolWithout
from ledger.plain_text import counted, shortened
from ledger.result import Result
from moot.view.text import WIDTH, folded, joined, listed
from rounds.analysis.stress import ForkLosses, Planned, RoleLoss

if TYPE_CHECKING:
    from ledger.compare.diff import Cost, Differences
    from rounds.analysis.compare import FinalAnswer, RunDiff, SignalDifferences, Texts
    from rounds.analysis.stress import Counted


SHOWN = 12


def diff_text(found: RunDiff) -> str:
    """What `moot diff` prints."""
    lines = [*_answers(found), "", f"a  {found.a}", f"b  {found.b}", _verdict(found)]
    for noun, differences in (("claims", found.claims), ("decisions", found.decisions)):
        lines += ["", *_differences(noun, differences, found.texts)]
    lines += ["", *([*_signals(found.signals), ""] if found.signals is not None else []), *_cost(found)]
    return joined(lines)


def _answers(found: RunDiff) -> list[str]:
    """Whether the two runs answer the same, before anything else."""
    answers = found.answers
    if answers.same and answers.a is not None:
        return ["same answer", *folded(answers.a.chosen or answers.a.text)]
    return [*_answer("A", answers.a), *_answer("B", answers.b)]


def _answer(letter: str, answer: FinalAnswer | None) -> list[str]:
    if answer is None:
        return [f"{letter}  no final decision"]
    first, *rest = folded(f"{answer.chosen or answer.text}   ({answer.decision})", 3)
    return [f"{letter}  {first.strip()}", *rest]


def _verdict(found: RunDiff) -> str:
    if found.same:
        return "the same, line by line, but for hashes, instants, and what calls took and cost"
    if not found.comparable:
        return "two questions: where they part says nothing"
    parting = found.parting
    if parting is None:
        return "they differ"
    if parting.seq and (parting.b or "").startswith("run_opened"):
        return f"b is a fork of a: everything before @{parting.seq} is the same"
    return f"they part at @{parting.seq}: {parting.a or 'nothing'} in a, {parting.b or 'nothing'} in b"


def _differences(noun: str, found: Differences, texts: Texts) -> list[str]:
    lines = [
        f"{noun}: {len(found.matched)} matched, {len(found.only_a)} only in a, {len(found.only_b)} only in b"
    ]
    for one in found.changed[:SHOWN]:
        where = f"{one.a} / {one.b}: {one.status_a} in a, {one.status_b} in b"
        lines += _said(where, texts.a.get(one.a, ""))
    for pair in found.similar[:SHOWN]:
        lines += _said(f"{pair.a} ≈ {pair.b} ({pair.similarity:.2f})", texts.a.get(pair.a, ""))
    for letter, only, words in (("a", found.only_a, texts.a), ("b", found.only_b, texts.b)):
        for identity in only[:SHOWN]:
            lines += _said(f"only in {letter}: {identity}", words.get(identity, ""))
        if len(only) > SHOWN:
            lines.append(f"  only in {letter}: {len(only) - SHOWN} more (--json has all)")
    for listed_, what in ((found.changed, "stand differently"), (found.similar, "similar")):
        if len(listed_) > SHOWN:
            lines.append(f"  {len(listed_) - SHOWN} more {what} (--json has all)")
    return lines


def _said(where: str, text: str) -> list[str]:
    """A line with what stands at an id."""
    return [f"  {where}  {shortened(text, WIDTH - len(where) - 4)}".rstrip()]


def _signals(found: SignalDifferences) -> list[str]:
    a, b = found.a, found.b
    lines = [
        f"signals ({a.profile}): {a.satisfied} of {a.of} in a ({a.advice.replace('_', ' ')}), "
        f"{b.satisfied} of {b.of} in b ({b.advice.replace('_', ' ')})"
    ]
    for one in found.changed:
        marks = ["✓" if satisfied else "✗" for satisfied in (one.satisfied_a, one.satisfied_b)]
        lines.append(
            f"  {one.id} {one.name}: {marks[0]} {one.value_a or '–'} in a, {marks[1]} {one.value_b or '–'} in b"
        )
    return lines


def _cost(found: RunDiff) -> list[str]:
    return [
        f"cost {letter}: {_cost_told(cost)}" for letter, cost in (("a", found.cost.a), ("b", found.cost.b))
    ]


def _cost_told(cost: Cost) -> str:
    parts = [
        counted(cost.calls, "call"),
        *_tokens(cost),
        *([f"${cost.usd}"] if cost.usd is not None else []),
        *([_unknown(cost)] if cost.unpriced else []),
    ]
    return listed(parts)


def _tokens(cost: Cost) -> list[str]:
    """Counts that no seat gave are unknown and not 0."""
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


def stress_text(found: Stress) -> str:
    """What `moot fork --stress` prints: each fork beside the run, each role, then what is still to be made."""
    lines: list[str] = []
    for one in found.forks:
        lines += [*_fork(one), ""]
    lines += _left_out(found)
    lines.append("what each role carried")
    for role in found.roles:
        lines += folded(f"{role.role:<9} {role.verdict}: {role.detail}")
    lines += [*_todo(found)]
    return joined(lines)


def _left_out(found: Stress) -> Iterator[str]:
    if not found.left_out:
        return
    yield f"what the roles would answer, without one of them (R{found.left_out[0].round}; no reply was asked for)"
    for one in found.left_out:
        said = f"{one.without} leads instead of {one.leader}" if one.changes else f"{one.without} still leads"
        yield f"{one.role:<9} {said}, by {one.margin:.1f} points{', within the noise' if one.close else ''}"
    if found.spared:
        yield from folded(
            f"no fork is offered without {listed(found.spared)}: the same option leads by more than the noise. "
            "Say --role for one all the same."
        )
    yield ""


def _fork(one: ForkLosses) -> Iterator[str]:
    where = ", ".join(f"R{number}" for number in one.rounds)
    what = f"without {one.without}" if one.without else "nothing changed: what chance does"
    yield f"{one.run}: {where} {what}"
    for name, counts in (("run", one.parent), ("fork", one.fork)):
        yield f"  {name:<5}{_counted(counts)}"
    gone = f"{len(one.lost)} claims of the run did not come up ({len(one.own)} of them {one.without}'s own)"
    yield f"  lost {gone if one.without else f'{len(one.lost)} claims of the run did not come up'}"
    yield from folded(_ids(one.lost), 7) if one.lost else ()
    yield f"  kept {one.again}, new {len(one.new)}"
    if one.ready_parent != one.ready_fork:
        ready = {True: "ready to stop", False: "not ready"}
        yield f"  the run is {ready[one.ready_parent]}, the fork {ready[one.ready_fork]}"


def _counted(counted: Counted) -> str:
    return (
        f"{counted.claims} claims, {counted.tested} status changes, {counted.broken} BROKEN of"
        f" {counted.disagreement} disagreeing checks, {counted.tensions} tensions, {counted.decisions} decisions"
    )


def _ids(ids: list[str]) -> str:
    more = f" and {len(ids) - IDS_SHOWN} more" if len(ids) > IDS_SHOWN else ""
    return listed(ids[:IDS_SHOWN]) + more


def _todo(found: Stress) -> Iterator[str]:
    if found.unfinished:
        yield "to be gone on with: moot run --resume FORK --seats SPEC"
        yield from (f"  {run}" for run in found.unfinished)
    if found.missing:
        yield f"to be made ({len(found.missing)}; `--make` makes them all)"
        for one in found.missing:
            yield f"  moot fork {found.run} --round {one.round} --without {one.role}"
