"""A parameter file from runs: read them, estimate, write, and say what it rests on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from detectors.stopping.estimation import RUNS_AT_LEAST, RUNS_FEWEST, Calibration, RateEstimate, estimated
from detectors.stopping.judgement import readings_of
from detectors.stopping.parameters import GateParameters, gate_parameters
from ledger.state.state import State
from ledger.store.store import RunStore
from moot.app.documents import write_document
from moot.app.runs import find_run
from moot.errors import MootError, usage

HEADER = """\
# The failure modes and the readiness gates of the profile `gates`, estimated from {count} runs: {names}.
# {caution}The SHA-256 of these bytes stands in every verdict that was made with them.

"""
NAMED_MAX = 8


def calibrate(said: Sequence[str], out: Path) -> Calibration:
    """Estimate from the runs that were named and write `out`. Raises `MootError`, `LedgerError` and `OSError`."""
    states = dict(_states(said))
    if not states:
        raise usage("no run with a round to learn from", "give runs, or a directory of runs", ", ".join(said))
    if len(states) < RUNS_FEWEST:
        what = f"{len(states)} runs are too few to say what is tolerated"
        fix = f"give at least {RUNS_FEWEST} runs that went well; {RUNS_AT_LEAST} are wanted"
        raise usage(what, fix, ", ".join(said))
    base = gate_parameters()
    found = estimated(list(states.values()), base)
    parameters, rates = _where_enough_tell(found.parameters, found.estimates, base)
    alarmed = [name for name, state in states.items() if _alarms(state)]
    warnings = list(_warnings(len(states), alarmed, rates))
    content = parameter_file(parameters, list(states), warnings)
    write_document(out, content)
    return Calibration(
        out=str(out),
        params=sha256(content).hexdigest(),
        runs=list(states),
        alarmed=alarmed,
        warnings=warnings,
        rates=rates,
    )


def _where_enough_tell(
    found: GateParameters, estimates: Sequence[RateEstimate], base: GateParameters
) -> tuple[GateParameters, list[RateEstimate]]:
    """The estimates without those that fewer runs tell than are asked for; their tables stay as installed."""
    few = [one for one in estimates if one.runs < RUNS_FEWEST]
    tables = {name: getattr(base, name) for name in (one.name.partition(".")[0] for one in few)}
    rates = [
        msgspec.structs.replace(one, estimated=one.installed) if one in few else one for one in estimates
    ]
    return msgspec.structs.replace(found, **tables), rates


def parameter_file(parameters: GateParameters, runs: Sequence[str], warnings: Sequence[str]) -> bytes:
    """The file's bytes: what it rests on, then every table, so that it can be read and changed by hand."""
    names = ", ".join(Path(run).name for run in runs[:NAMED_MAX])
    more = f" and {len(runs) - NAMED_MAX} more" if len(runs) > NAMED_MAX else ""
    caution = (
        f"{' '.join(warning[0].upper() + warning[1:] + '.' for warning in warnings)}\n# " if warnings else ""
    )
    head = HEADER.format(count=len(runs), names=_plain(names) + more, caution=_plain(caution, "\n"))
    return (head + _toml(msgspec.to_builtins(parameters))).encode()


def _toml(tables: Mapping[str, Any]) -> str:
    """The thresholds as TOML, whose numbers, strings and lists of them are those of JSON: first what is in no table."""
    scalars = {name: value for name, value in tables.items() if not isinstance(value, dict)}
    lines = [f"{name} = {json.dumps(value)}" for name, value in scalars.items()]
    for name, table in tables.items():
        if name not in scalars:
            lines += ["", f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def _plain(text: str, kept: str = "") -> str:
    """Text for a comment: nothing in it that could end the line."""
    return "".join(char for char in text if char.isprintable() or char in kept)


def _states(said: Sequence[str]) -> Iterator[tuple[str, State]]:
    seen: set[Path] = set()
    for path in (path for one in said for path in _runs(one)):
        if path.resolve() in seen:
            continue
        seen.add(path.resolve())
        state = RunStore(path).state()
        if state.checks:
            yield str(path), state


def _runs(said: str) -> Iterator[Path]:
    """The run of that name, or every run in the directory."""
    path = find_run(said)
    if (path / "head").exists():
        yield path
        return
    found = sorted(head.parent for head in path.glob("*/head"))
    if not found:
        raise MootError("not_a_run", f"no run in {said!r}", said, "give runs, or a directory of runs")
    yield from found


def _alarms(state: State) -> bool:
    return any(reading.verdict == "ALARM" for reading in readings_of(state))


def _warnings(count: int, alarmed: Sequence[str], estimates: Sequence[RateEstimate]) -> Iterator[str]:
    if count < RUNS_AT_LEAST:
        yield f"it rests on {count} runs; {RUNS_AT_LEAST} are wanted: below, these numbers are guesses"
    if alarmed:
        yield f"{len(alarmed)} of the runs are alarmed by the installed thresholds; only healthy runs should teach"
    kept = [one.name for one in estimates if one.runs < RUNS_FEWEST]
    if kept:
        yield f"kept as installed, because fewer than {RUNS_FEWEST} runs tell: {', '.join(kept)}"
