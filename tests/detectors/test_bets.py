"""R-14: every bet is on a rate above the tolerated one, whatever the file says and however many roles there are.

Of `detectors/stopping/reading.py`, `detectors/stopping/failure_modes.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given, settings, strategies as st

from detectors import parameters
from detectors.parameters import (
    GateParameters,
    Share,
    gate_parameters,
    params_bytes,
    params_hash,
    read_parameters,
)
from detectors.stopping.failure_modes import domination
from detectors.stopping.reading import RunSoFar, e_values, product, share_stream
from detectors.stopping.rounds import RoundUnits
from ledger.state.state import State

ROUNDS = 13
INSTALLED = gate_parameters()
HASHES = {"gates": "3a2d7e6d4564", "published": "66084310b871", "crux": "5d0b0f96e68e"}


def _bets(parameters: GateParameters, roles: int) -> Iterator[tuple[str, float, tuple[float, ...]]]:
    """Every share that is bet on: what is tolerated, and what is bet on."""
    for name in parameters.__struct_fields__:
        rule = getattr(parameters, name)
        if isinstance(rule, Share):
            yield name, rule.p0, rule.grid
    yield "drift_failed", parameters.drift_failed.p0, (parameters.drift_failed.p1,)
    for name, rule in (("cited", parameters.domination_cited), ("led", parameters.domination_led)):
        bet = rule.bet(roles)
        yield name, *bet


def _balanced(roles: int, citations: int, rounds: int = ROUNDS) -> tuple[State, list[RoundUnits]]:
    """Everybody is cited and leads in turn."""
    names = [f"role{n}" for n in range(roles)]
    turn = iter(names * (rounds * citations))
    return cast("State", SimpleNamespace(roles=tuple(names))), [
        RoundUnits(
            round=number,
            present=tuple(names),
            lead=names[number % roles],
            absent=None,
            planned=None,
            cited_claims=[(next(turn), f"D-{number}-{k}") for k in range(citations)],
        )
        for number in range(1, rounds + 1)
    ]


@pytest.mark.parametrize("roles", range(2, 9))
@pytest.mark.parametrize("above", [0.0, 0.02, 0.09, 0.2, 0.35, 0.4])
def test_a_balanced_run_earns_nothing(roles: int, above: float) -> None:
    """R-14: E was 22 to 53,702 here."""
    grid = tuple(p for p in (0.55, 0.68, 0.8, 0.9, 0.95, 0.97) if p > 0.25 + above)
    rule = msgspec.structs.replace(INSTALLED.domination_cited, above_share=above, grid=grid[:3])
    parameters = msgspec.structs.replace(INSTALLED, domination_cited=rule)
    state, rounds = _balanced(roles, 12)
    reading = domination(RunSoFar(state, rounds, parameters, ROUNDS))
    assert max(reading.rounds) <= 1.0
    assert reading.verdict == "CLEAR"


def test_leads_are_counted_over_the_whole_run_and_citations_since_the_onset() -> None:
    state, rounds = _balanced(4, 4, rounds=10)
    for each in rounds[5:]:
        each.lead = "role0"
        each.cited_claims = [("role0", identity) for _, identity in each.cited_claims]
    reading = domination(RunSoFar(state, rounds, INSTALLED, ROUNDS))
    assert (reading.verdict, reading.onset) == ("ALARM", 6)
    led = sum(each.lead == "role0" for each in rounds)
    assert led > len(rounds[5:])
    assert reading.sentence == (
        "20 of 20 claims that decisions cite since R6 are role0's, "
        f"who led {led} of {len(rounds)} rounds in all"
    )


@st.composite
def _files(draw: st.DrawFn) -> dict[str, Any]:
    """Tables of a file with thresholds drawn at random, with bets both ways."""
    rate = st.floats(0.01, 0.99).map(lambda x: round(x, 3))
    tables: dict[str, Any] = msgspec.to_builtins(INSTALLED)
    for name, table in tables.items():
        if not isinstance(table, dict) or "grid" not in table or not draw(st.booleans()):
            continue
        values = st.floats(0.5, 4).map(lambda x: round(x, 2)) if "mean" in table else rate
        table["grid"] = [draw(values) for _ in table["grid"]]
        if "p0" in table:
            table["p0"] = draw(rate)
        if name.startswith("domination"):
            table["above_share"] = draw(st.floats(0, 0.74).map(lambda x: round(x, 3)))
    return tables


def written(tables: dict[str, Any]) -> bytes:
    """The parameter file that a person would have written: TOML, whose numbers, strings and lists are JSON's."""
    lines = [f"{name} = {json.dumps(value)}" for name, value in tables.items() if not isinstance(value, dict)]
    for name, table in tables.items():
        if isinstance(table, dict):
            lines += [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items())]
    return "\n".join(lines).encode()


@settings(max_examples=300, deadline=None)
@given(_files(), st.integers(2, 9))
def test_a_file_is_refused_or_every_bet_in_it_is_on_something_worse(
    tables: dict[str, Any], roles: int
) -> None:
    """A coin does not grow, on average, at a tolerated rate: p·(p1/p0) + (1−p)·(1−p1)/(1−p0) ≤ 1 for p ≤ p0."""
    try:
        parameters = read_parameters(written(tables))
    except msgspec.ValidationError as error:
        table = re.search(r"`\$\.(\w+)", str(error))
        assert table
        assert table[1] in tables
        return
    for _, p0, grid in _bets(parameters, roles):
        if p0 >= 1:
            assert set(sum(share_stream([(3, 4)], p0, grid).rows, ())) == {0.0}
            continue
        for p1 in grid:
            assert p0 < p1 < 1
            for p in (p0, p0 / 2):
                assert p * (p1 / p0) + (1 - p) * (1 - p1) / (1 - p0) <= 1 + 1e-9


@pytest.mark.parametrize(
    ("wrong", "right", "key"),
    [
        ("above_share = 0.35", "above_share = 0.09", "domination_cited.grid"),
        ("above_share = 0.45", "above_share = 0.20", "domination_led.grid"),
        ("p0 = 0.5\n", "p0 = 0.18\n", "giving_in.grid"),
        ("p1 = 0.1\n", "p1 = 0.5\n", "drift_failed.p1"),
        ("p0 = 1.0\n", "p0 = 0.05\n", "pro_forma_broken.p0"),
        ("p0 = nan\n", "p0 = 0.12\n", "bypass.p0"),
        ("grid = [0.9, 1.6, 2.1]", "grid = [1.25, 1.6, 2.1]", "inflation.grid"),
        ("grid = [0.25, 0.35]", "grid = [0.25, 0.35, 0.5]", "inflation.grid"),
        ("mean = 0.0", "mean = 1.6", "inflation.mean"),
        ("version = 1", "version = 5", "version"),
        ("version = 4", "version = 5", "version"),
        ("p0_where_asked = 0.0 ", "p0_where_asked = 0.10 ", "drift_unanchored.p0_where_asked"),
        ('alarm_at = "5"', 'alarm_at = "20"', "watch_at"),
    ],
)
def test_a_wrong_bet_is_refused_by_its_key(wrong: str, right: str, key: str) -> None:
    text = params_bytes("gates").decode()
    assert right in text
    with pytest.raises(msgspec.ValidationError) as error:
        read_parameters(text.replace(right, wrong, 1).encode())
    for part in key.split("."):
        assert part in str(error.value)


def test_the_whole_file_and_its_section_say_the_same() -> None:
    """A person edits a copy of the whole file; a run keeps the section alone."""
    whole = Path(parameters.__file__).with_suffix(".toml").read_bytes()
    assert read_parameters(whole) == read_parameters(params_bytes("gates")) == INSTALLED


def test_recorded_runs_name_the_sections_by_these_hashes() -> None:
    """Runs of 0.2 were recorded with one file for each section. Its bytes are the section's, so they verify still."""
    assert {section: params_hash(section)[:12] for section in ("gates", "published", "crux")} == HASHES


@given(st.integers(2, 7), st.lists(st.integers(0, 8), min_size=1, max_size=20))
def test_what_stays_below_the_tolerated_share_never_alarms_on_average(roles: int, counts: list[int]) -> None:
    """Both bets at once, rate by rate, have as many rows as each."""
    cited, led = INSTALLED.domination_cited.bet(roles), INSTALLED.domination_led.bet(roles)
    streams = [share_stream([(0, n) for n in counts], *bet) for bet in (cited, led)]
    for stream in (*streams, product(*streams)):
        assert max(e_values(stream, ROUNDS)) <= 1 + 1e-9
