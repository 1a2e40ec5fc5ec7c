"""Learn the gate's cues from labelled questions: logistic regression over the cues of `rounds/setup/gate_cues.py`.

    pip install scikit-learn
    python -m benchmarks.gate.learn             # writes rounds/setup/gate_cues.tsv
    python -m benchmarks.gate.learn --check     # cross-validates: 10 tables, each asked what it has not seen

scikit-learn is asked for by nothing else, so it is in no lock file.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple
from unittest.mock import patch

from rounds.protocols import PROTOCOLS
from rounds.setup import gate_cues
from rounds.setup.gate import SINGLE, GateQuestion, gate, kinds
from rounds.setup.gate_cues import CUES, cues_of

TRAINING: Final = Path(__file__).with_name("training.jsonl")
SEEN_LEAST: Final = 2
"""Questions that a cue must occur in."""
KEPT: Final = 7000
"""Cues of the table: those that move most questions furthest, fitted once more without the others."""
STARTS: Final = {"chore": -10, "look-up": -10}
"""Added to the start of a kind: one reply, which nobody checks, must be clearly likelier than the rest."""
UNIT: Final = 4
"""Weights are whole quarters, so that the table is small, and the same on every machine."""
SPREAD: Final = 14.0
"""Scale of the cues: the larger, the less the penalty holds the weights down."""
FOLDS: Final = 10
ALIKE: Final = 0.55
"""Share of words in common from which two questions are kept in one fold."""


class Row(NamedTuple):
    """Question learned from."""

    question: str
    kind: str
    source: str = ""


def training() -> list[Row]:
    """Return the questions learned from, with their kinds."""
    return [Row(**json.loads(line)) for line in TRAINING.read_text("utf-8").splitlines()]


def fitted(
    rows: Sequence[set[str]], labels: Sequence[str], seen: Counter[str], kept: set[str]
) -> tuple[Any, Any]:
    """Return the model for the cues that are kept, their names, and the weights of each in the order of the kinds."""
    from sklearn.feature_extraction import DictVectorizer  # type: ignore[import-not-found]
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-not-found]

    # A rare word tells more than a common one (inverse document frequency); the penalty would hold its weight down.
    rarity = {cue: SPREAD * math.log(len(rows) / seen[cue]) / 6 for cue in kept}
    known = [row & kept for row in rows]
    columns = DictVectorizer(sort=True)
    matrix = columns.fit_transform([{cue: rarity[cue] / math.sqrt(len(row)) for cue in row} for row in known])
    model = LogisticRegression(C=1.0, max_iter=3000, tol=1e-4).fit(matrix, labels)
    scale = [rarity[cue] for cue in columns.feature_names_]
    return model, dict(zip(columns.feature_names_, (model.coef_ * scale).T, strict=True))


def learned(rows: Sequence[Row]) -> list[str]:
    """Return the lines of the table."""
    labels, cues = [row.kind for row in rows], [cues_of(row.question) for row in rows]
    seen = Counter(cue for row in cues for cue in row)
    kept = {cue for cue, count in seen.items() if count >= SEEN_LEAST}
    _, table = fitted(cues, labels, seen, kept)
    heaviest = sorted(table, key=lambda cue: (-max(abs(table[cue])) * math.sqrt(seen[cue]), cue))
    model, table = fitted(cues, labels, seen, set(heaviest[:KEPT]))
    names = [kind.name for protocol in PROTOCOLS.values() for kind in protocol.questions]
    column = {kind: list(model.classes_).index(kind) for kind in names}
    start = [round(UNIT * model.intercept_[column[kind]]) + STARTS.get(kind, 0) for kind in names]
    lines = [["cue", *names], ["", *start]]
    lines += [
        [cue, *(round(UNIT * table[cue][column[kind]]) or "" for kind in names)] for cue in sorted(table)
    ]
    return ["\t".join(map(str, line)) for line in lines]


def folds(rows: Sequence[Row]) -> list[int]:
    """Return the fold of each question: that of an earlier one of the same source or with most of its words."""
    words = [set(re.findall(r"[a-z0-9']+", row.question.lower())) for row in rows]
    count = Counter(word for row in words for word in row)
    holders: defaultdict[str, list[int]] = defaultdict(list)
    chosen: list[int] = []
    for n, row in enumerate(rows):
        # Two questions that share most words share one of the rarest five.
        keys = [*sorted(words[n], key=lambda word: (count[word], word))[:5], row.source or f"@{n}"]
        alike = (
            other
            for key in keys
            for other in holders[key]
            if key == row.source or len(words[n] & words[other]) >= ALIKE * len(words[n] | words[other])
        )
        first = next(alike, None)
        chosen.append(n % FOLDS if first is None else chosen[first])
        for key in keys:
            holders[key].append(n)
    return chosen


def check() -> None:
    """Print how often the gate is right on questions that its table has not seen, and what it takes for what."""
    rows = training()
    chosen = folds(rows)
    pairs: Counter[tuple[str, str, bool]] = Counter()
    for fold in range(FOLDS):
        lines = learned([row for row, its in zip(rows, chosen, strict=True) if its != fold])
        head, *rest = lines
        table = tuple(head.split("\t")[1:]), dict(line.split("\t", 1) for line in rest)
        with patch.object(gate_cues, "table", lambda table=table: table):
            for row, its in zip(rows, chosen, strict=True):
                if its == fold:
                    pairs[row.kind, gate(GateQuestion(row.question)).kind, bool(row.source)] += 1
    protocol = {name: kind.protocol for name, kind in kinds().items()}
    for name, sources in (("all", (False, True)), ("from threads and pages", (True,))):
        part = {key: count for key, count in pairs.items() if key[2] in sources}
        right = sum(count for (a, b, _), count in part.items() if protocol[a] == protocol[b])
        small = sum(count for (a, b, _), count in part.items() if protocol[b] == SINGLE != protocol[a])
        whole = sum(part.values())
        print(
            f"{name}: right protocol on {right} of {whole} ({right / whole:.1%}), one reply wrongly: {small}"
        )
    print("label ↓ gate →", *protocol, sep="\t")
    for label in protocol:
        print(label, *(pairs[label, kind, False] + pairs[label, kind, True] for kind in protocol), sep="\t")


def main() -> None:
    """Write the table, or check how good such a table is."""
    if "--check" in sys.argv:
        check()
    else:
        CUES.write_text("".join(f"{line}\n" for line in learned(training())), "utf-8")


if __name__ == "__main__":
    main()
