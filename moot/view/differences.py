"""Two runs side by side, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from moot.view.plain import joined, listed

if TYPE_CHECKING:
    from ledger.compare.diff import Cost, Differences
    from rounds.analysis.compare import RunDiff

SHOWN = 12


def diff_text(found: RunDiff) -> str:
    """What `moot diff` prints."""
    lines = [f"a  {found.a}", f"b  {found.b}", _verdict(found)]
    for noun, differences in (("claims", found.claims), ("decisions", found.decisions)):
        lines += ["", *_differences(noun, differences)]
    lines += ["", *_signals(found), "", *_cost(found)]
    return joined(lines)


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


def _differences(noun: str, found: Differences) -> list[str]:
    lines = [
        f"{noun}: {len(found.matched)} matched, {len(found.only_a)} only in a, {len(found.only_b)} only in b"
    ]
    lines += [
        f"  {one.a} / {one.b}: {one.status_a} in a, {one.status_b} in b" for one in found.changed[:SHOWN]
    ]
    lines += [f"  {one.a} ≈ {one.b} ({one.similarity:.2f})" for one in found.similar[:SHOWN]]
    for letter, only in (("a", found.only_a), ("b", found.only_b)):
        if only:
            more = f" and {len(only) - SHOWN} more" if len(only) > SHOWN else ""
            lines.append(f"  only in {letter}: {', '.join(only[:SHOWN])}{more}")
    return lines


def _signals(found: RunDiff) -> list[str]:
    a, b = found.signals.a, found.signals.b
    lines = [
        f"signals ({a.profile}): {a.satisfied} of {a.of} in a ({a.advice.replace('_', ' ')}), "
        f"{b.satisfied} of {b.of} in b ({b.advice.replace('_', ' ')})"
    ]
    for one in found.signals.changed:
        marks = ["✓" if satisfied else "✗" for satisfied in (one.satisfied_a, one.satisfied_b)]
        lines.append(
            f"  {one.id} {one.name}: {marks[0]} {one.value_a or '–'} in a, {marks[1]} {one.value_b or '–'} in b"
        )
    return lines


def _cost(found: RunDiff) -> list[str]:
    return [f"cost {letter}: {_spent(cost)}" for letter, cost in (("a", found.cost.a), ("b", found.cost.b))]


def _spent(cost: Cost) -> str:
    parts = [
        f"{cost.calls} calls",
        *_tokens(cost),
        *([f"{cost.usd} USD"] if cost.usd is not None else []),
        *([_unknown(cost)] if cost.unpriced else []),
    ]
    return listed(parts)


def _tokens(cost: Cost) -> list[str]:
    """Counts that no seat gave are unknown and not 0."""
    if cost.calls and not (cost.tokens_in or cost.tokens_out):
        return ["tokens unknown"]
    return [f"{cost.tokens_in} tokens in", f"{cost.tokens_out} out"]


def _unknown(cost: Cost) -> str:
    return "cost unknown" if cost.usd is None else f"{cost.unpriced} of unknown cost"
