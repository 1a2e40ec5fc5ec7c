"""Learn the gate's cues from labelled questions: logistic regression over the cues of `rounds/setup/gate_cues.py`.

    pip install scikit-learn && python -m benchmarks.gate.learn      # writes rounds/setup/gate_cues.tsv

scikit-learn is asked for by nothing else, so it is in no lock file.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rounds.protocols import PROTOCOLS
from rounds.setup.gate_cues import CUES, cues_of

TRAINING: Final = Path(__file__).with_name("training.jsonl")
SEEN_LEAST: Final = 2
"""Questions that a cue must occur in."""
KEPT: Final = 3000
"""Cues of the table: those with the largest weights, fitted once more without the others."""
STARTS: Final = {"decision": 50, "chore": -50, "look-up": -50}
"""Added to the start of a kind. A fifth of the questions learned from are decisions, and more than a third of those
that people ask; and one reply, which nobody checks, must be clearly likelier than the rest."""
UNIT: Final = 100
"""Weights are whole hundredths, so that the table is the same on every machine."""


def training() -> list[tuple[str, str]]:
    """Return the questions learned from, with their kinds."""
    rows = [json.loads(line) for line in TRAINING.read_text("utf-8").splitlines()]
    return [(row["question"], row["kind"]) for row in rows]


def fitted(
    rows: Sequence[set[str]], kinds: Sequence[str], rarity: Mapping[str, float]
) -> tuple[list[str], Any]:
    """Return the cues of some questions in order, and the model that gives each a weight per kind."""
    from sklearn.feature_extraction import DictVectorizer  # type: ignore[import-not-found]
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-not-found]

    columns = DictVectorizer(sort=True)
    table = columns.fit_transform([{cue: rarity[cue] for cue in row} for row in rows])
    model = LogisticRegression(C=1.0, max_iter=3000, tol=1e-6).fit(table, kinds)
    return list(columns.feature_names_), model


def main() -> None:
    """Write the table."""
    questions, labels = zip(*training(), strict=True)
    rows = [cues_of(question) for question in questions]
    seen = Counter(cue for row in rows for cue in row)
    rows = [{cue for cue in row if seen[cue] >= SEEN_LEAST} for row in rows]
    # A rare word tells more than a common one (inverse document frequency); the penalty would hold its weight down.
    rarity = {cue: math.log(len(rows) / count) / 4 for cue, count in seen.items()}
    cues, model = fitted(rows, labels, rarity)
    heaviest = sorted(range(len(cues)), key=lambda n: -max(abs(weight) for weight in model.coef_[:, n]))[
        :KEPT
    ]
    kept = {cues[n] for n in heaviest}
    cues, model = fitted([row & kept for row in rows], labels, rarity)
    kinds = [kind.name for protocol in PROTOCOLS.values() for kind in protocol.questions]
    column = {kind: list(model.classes_).index(kind) for kind in kinds}
    start = [round(UNIT * model.intercept_[column[kind]]) + STARTS.get(kind, 0) for kind in kinds]
    lines = [["cue", *kinds], ["", *start]]
    lines += [
        [cue, *(round(UNIT * model.coef_[column[kind], n] * rarity[cue]) for kind in kinds)]
        for n, cue in enumerate(cues)
    ]
    CUES.write_text("".join("\t".join(map(str, line)) + "\n" for line in lines), "utf-8")


if __name__ == "__main__":
    main()
