"""The stop signals of a run, in its own profile or another, by its own thresholds or those of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ledger.state.state import State
from moot.app.run import AnyPath, Run
from moot.errors import usage

if TYPE_CHECKING:
    from detectors.forecasts.report import ForecastReport
    from detectors.parameters import GateParameters
    from detectors.report import SignalReport


def refuse_unwatched(run: Run) -> None:
    """Raise `MootError` for a run whose protocol has no stop signals: only rounds have any."""
    from rounds.protocols import is_watched

    opened = run.state.opening
    if not is_watched(opened):
        if opened.protocol == "crux":
            raise usage(
                "a crux run has forecasts, no stop signals", f"see `moot signals {run.path}`", str(run.path)
            )
        raise usage(
            f"a run of {opened.protocol} has no stop signals: its steps end it",
            f"see `moot decisions {run.path}` or `moot report {run.path}`",
            str(run.path),
        )


def forecasts_of(run: Run) -> ForecastReport | None:
    """Return the forecasts and cruxes of a `crux` run; None for a run of another protocol.

    Raises `MootError` while the forecasts are sealed: until all of them are in.
    """
    if run.state.opening.protocol != "crux":
        return None
    report = run.view.forecasts
    # Forecasts that were shown early would anchor the roles that have not answered yet.
    if report is None:
        what, fix = "forecasts are sealed until all numbers are in", f"see `moot status {run.path}`"
        raise usage(what, fix, str(run.path))
    return report


def signals_of_state(
    run: Run,
    state: State,
    profile: str | None,
    *,
    params: AnyPath | None = None,
) -> SignalReport:
    """Return the stop signals of a state that is already folded."""
    from detectors.signals import signals_of_state as read
    from moot.view.stop_checks import worded

    own = state.opening.stop.profile
    # Only the profile `gates` has thresholds, so a parameter file implies it.
    wanted = profile or ("gates" if params is not None else own)
    parameters = thresholds_of(run, state, params) if wanted == "gates" else None
    report = read(state, wanted, run.blobs, run=str(run.path), parameters=parameters)
    return worded(report, state)


def thresholds_of(run: Run, state: State, params: AnyPath | None = None) -> GateParameters:
    """Return the thresholds of the gates, from the named file or from the run."""
    from detectors.parameters import parameters_of

    if params is None:
        return parameters_of(state, run.blobs)
    from moot.app.run_options import read_params

    return read_params(Path(params))[0]
