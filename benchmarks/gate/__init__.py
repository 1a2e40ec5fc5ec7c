"""Score the gate's choices against the labels of two independent readers: `python -m benchmarks gate`."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks.gate.labeled import HERE, Question, WrongLabels, labels, questions
from rounds.setup.gate import OTHERWISE, SINGLE, GateChoice, GateQuestion, gate, kinds

TARGET: Final = 0.85
"""Share that the gate must get right, among questions on which both readers agree."""
LABELS: Final = ("labels-1.jsonl", "labels-2.jsonl")
SMALL: Final = frozenset(kind.name for kind in kinds().values() if kind.protocol == SINGLE)
"""Kinds for which one reply is enough."""


def kappa(pairs: Sequence[tuple[str, str]]) -> float:
    """Return Cohen's kappa of two readers: agreement beyond the one expected from their shares of kinds."""
    count = len(pairs)
    observed = sum(first == second for first, second in pairs) / count
    firsts, seconds = Counter(first for first, _ in pairs), Counter(second for _, second in pairs)
    expected = sum(firsts[kind] * seconds[kind] for kind in firsts) / count**2
    return 1.0 if expected == 1 else (observed - expected) / (1 - expected)


def too_small(
    asked: Sequence[Question], chosen: Mapping[str, GateChoice], readers: Sequence[Mapping[str, str]]
) -> list[Question]:
    """Return the questions that get one reply from the gate although a reader says that they deserve more."""
    return [
        question
        for question in asked
        if chosen[question.id].protocol == SINGLE
        and any(reader[question.id] not in SMALL for reader in readers)
    ]


def report(asked: Sequence[Question], readers: Sequence[Mapping[str, str]]) -> bool:
    """Print the figures, and return whether a target is missed."""
    chosen = {question.id: gate(GateQuestion(question.text)) for question in asked}
    pairs = [(readers[0][question.id], readers[1][question.id]) for question in asked]
    same = sum(first == second for first, second in pairs)
    print(
        f"readers agree on {same} of {len(pairs)} ({same / len(pairs):.0%}), Cohen's kappa {kappa(pairs):.2f}"
    )
    agreed = {
        question.id: first for question, (first, second) in zip(asked, pairs, strict=True) if first == second
    }
    kinds = sum(chosen[key].kind == kind for key, kind in agreed.items())
    protocols = sum(chosen[key].protocol == _protocol(kind) for key, kind in agreed.items())
    default = sum(kind == OTHERWISE for kind in agreed.values())
    share = protocols / max(1, len(agreed))
    print(
        f"right protocol on {protocols} of {len(agreed)} ({share:.0%}), right kind on {kinds}; "
        f"always {_protocol(OTHERWISE)} would be right on {default}"
    )
    for question in asked:
        if question.id in agreed and chosen[question.id].kind != agreed[question.id]:
            print(f"  {question.id}: {agreed[question.id]} → {chosen[question.id].kind}: {question.text}")
    wrong = too_small(asked, chosen, readers)
    print(f"one reply although a reader says that the question deserves more: {len(wrong)}")
    for question in wrong:
        print(f"  {question.id} {' / '.join(reader[question.id] for reader in readers)}: {question.text}")
    return share < TARGET or bool(wrong)


def stakes() -> None:
    """Print how often one reply is chosen for requests that look small: those with stakes, and those without."""
    rows = [json.loads(line) for line in (HERE / "stakes.jsonl").read_text("utf-8").splitlines()]
    counts = Counter(
        (row["kind"].partition("-")[0], gate(GateQuestion(row["question"])).protocol == SINGLE)
        for row in rows
    )
    for kind, what in (("stakes", "with stakes in their subject alone"), ("plain", "without stakes")):
        print(
            f"small requests {what}: one reply for {counts[kind, True]} of {counts[kind, True] + counts[kind, False]}"
        )


def _protocol(kind: str) -> str:
    return kinds()[kind].protocol


def main(options: list[str]) -> int:
    """Score the gate against both readers' labels; return 1 when a target is missed, 2 without labels."""
    directory = Path(options[0]) if options else HERE
    missing = [name for name in LABELS if not (directory / name).is_file()]
    if missing:
        print(f"no {' and no '.join(missing)} in {directory}: label by LABELING.md first", file=sys.stderr)
        return 2
    asked = questions()
    try:
        readers = [labels(directory / name, asked) for name in LABELS]
    except WrongLabels as error:
        print(error, file=sys.stderr)
        return 2
    stakes()
    return int(report(asked, readers))
