"""Every recorded run of crux: `moot signals --json` against a second reading of its ledger and a second calculation."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.detectors.beliefs.test_oracle import in_strings
from tests.oracles.beliefs import answer
from tests.oracles.crux_ledger import events_of, table_of, unseen_of

EXAMPLES = Path(__file__).resolve().parents[3] / "runs" / "examples"
RUNS = sorted(EXAMPLES.glob("crux-*"))


def beliefs(run):
    """What the command prints."""
    done = subprocess.run(
        [sys.executable, "-m", "moot", "signals", str(run), "--json"], capture_output=True, check=False
    )
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout)


def without_text(one):
    """A round in strings of two decimals, without what is only for people."""
    stop = {key: value for key, value in one["stop"].items() if key != "text"}
    return {**in_set(in_strings(one)), "round": one["round"], "stop": stop}


def in_set(one):
    """A round whose moved roles are a set: which of them answered first is not said."""
    return {**one, "derived": sorted(one["derived"])}


def test_there_are_recorded_runs():
    assert len(RUNS) >= 10


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_the_oracle_agrees_on_a_recorded_run(run):
    told, events = beliefs(run), events_of(run)
    expected = answer(table_of(events))
    assert told["options"] == expected["options"]
    for one, other in zip(told["rounds"], expected["rounds"], strict=True):
        assert without_text(one) == in_set(other)
    assert told["without"] == expected["without"]
    unseen = unseen_of(events, expected["rounds"][-1]["leader"])
    assert in_strings(told["unseen"]) == in_strings(
        unseen and {key: float(one) for key, one in unseen.items()}
    )


def test_a_crux_that_only_a_program_decides_is_not_said_to_tell_nothing_apart():
    """Argued about twice without a verdict it is off the table; that is no reason to say that no test would help."""
    stop = beliefs(EXAMPLES / "crux-telemetry-2")["rounds"][-1]["stop"]
    assert stop["reason"] == "values"
    assert stop["text"].startswith("Nothing that was tested here told the first two apart. C-1-1 could if it")
