"""Counting Jugalbandi transcripts: the stored numbers by the published rules, the true ones by structure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledger.interchange.jugalbandi import NotAResult, jugalbandi_counts
from tests.data import JUGALBANDI

TRUE = {"1": (6, 0, 0), "2": (8, 1, 1), "3": (6, 0, 0), "4": (7, 0, 0), "5": (7, 0, 0)}

PROPOSAL = """# Plan
## Assumptions
- one database
  - of a recent version
- one region
```
- not an assumption
```
## Plan
- step
"""
CHALLENGES = """### [STRUCTURAL] One database is one fault
Text that names [MISSING] and [ASSUMPTION] without raising them.
**[MISSING] Backups**
"""
RESOLUTION = """### C1
**Accepted** — with a replica; the escalated variant was considered and not accepted.
### C2
> **Rejected** is what the challenger expected
**Not accepted** would be another word.
**ESCALATED** - who pays for backups?
```
**Accepted** in code
```
"""


def _result() -> dict[str, Any]:
    raw = {"proposer": PROPOSAL, "challenger": CHALLENGES, "resolver": RESOLUTION}
    return {
        "single_pass": {"raw_output": PROPOSAL},
        "council": {"raw_outputs": [PROPOSAL, PROPOSAL, PROPOSAL]},
        "jugalbandi": {"raw_outputs": raw},
    }


@pytest.mark.parametrize("file", JUGALBANDI, ids=[file.stem for file in JUGALBANDI])
def test_published_rules_give_the_stored_counts(file: Path) -> None:
    result = json.loads(file.read_bytes())
    counts = jugalbandi_counts(result)
    for part, numbers in counts.published.items():
        assert numbers == {name: result[part][name] for name in numbers}
    disposed = counts.structural.dispositions
    assert tuple(disposed.values()) == TRUE[file.stem.split("-")[1]]
    assert sum(counts.structural.challenges.values()) == sum(disposed.values())


def test_structure_is_not_fooled_by_prose_quotations_or_code() -> None:
    counts = jugalbandi_counts(_result())
    assert counts.structural.assumptions == 2
    assert counts.structural.challenges == {"STRUCTURAL": 1, "ASSUMPTION": 0, "MISSING": 1}
    assert counts.structural.dispositions == {"accepted": 1, "rejected": 0, "escalated": 1}


def test_the_published_rules_are_fooled() -> None:
    published = jugalbandi_counts(_result()).published["jugalbandi"]
    assert published["proposer_assumptions"] == 4
    assert published["challenger_challenges"] == 4
    assert published["resolver_dispositions"] == {"accepted": 4, "rejected": 1, "escalated": 2}


def test_another_object_is_refused() -> None:
    with pytest.raises(NotAResult, match="council"):
        jugalbandi_counts({"single_pass": {"raw_output": ""}})
