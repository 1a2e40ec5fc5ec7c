"""Score the gate's choices against the labels of two independent readers: `python -m benchmarks gate`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from benchmarks.gate.labeled import HERE, Question, WrongLabels, labels, part_of, questions
from rounds.setup.gate import GateChoice, GateQuestion, gate
from rounds.setup.gate_cues import OTHERWISE, SINGLE, kinds

TARGET: Final = 0.85
"""Share of the third part that the gate must get right, among questions on which both readers agree."""
PARTS: Final = {
    1: "part 1, seen while writing cues",
    2: "part 2, held out at first (47 of 60), seen since",
    3: "part 3, freely worded, never used for cues",
}
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


def report(asked: Sequence[Question], readers: Sequence[Mapping[str, str]], parts: Mapping[str, int]) -> bool:
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
    missed = False
    for part, name in PARTS.items():
        ids = [key for key in agreed if parts[key] == part]
        kinds = sum(chosen[key].kind == agreed[key] for key in ids)
        protocols = sum(chosen[key].protocol == _protocol(agreed[key]) for key in ids)
        default = sum(agreed[key] == OTHERWISE for key in ids)
        share = protocols / max(1, len(ids))
        print(
            f"{name}: right protocol on {protocols} of {len(ids)} ({share:.0%}), right kind on {kinds}; "
            f"always {_protocol(OTHERWISE)} would be right on {default}"
        )
        missed = share < TARGET  # the last part decides
    for question in asked:
        if question.id in agreed and chosen[question.id].kind != agreed[question.id]:
            print(f"  {question.id}: {agreed[question.id]} → {chosen[question.id].kind}: {question.text}")
    wrong = too_small(asked, chosen, readers)
    print(f"one reply although a reader says that the question deserves more: {len(wrong)}")
    for question in wrong:
        print(f"  {question.id} {' / '.join(reader[question.id] for reader in readers)}: {question.text}")
    return missed or bool(wrong)


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
    return int(report(asked, readers, part_of(asked)))
