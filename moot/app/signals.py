"""The stop signals of a run, in its own profile or another, by its own thresholds or those of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from ledger.state.state import State
from moot.app.run import AnyPath, Run
from moot.errors import usage

if TYPE_CHECKING:
    from detectors.beliefs.report import Beliefs
    from detectors.calibrated.judgement import CalibratedJudgement
    from detectors.calibrated.parameters import CalibratedParameters
    from detectors.parameters import SignalProfile
    from detectors.report import SignalReport


def refuse_unwatched(run: Run) -> None:
    """Only the protocol that runs round after round has something that could say stop. Raises `MootError`."""
    from rounds.protocols import is_watched

    opened = run.state.opened
    if opened is not None and not is_watched(opened):
        if opened.protocol == "crux":
            raise usage(
                "a crux run has forecasts, no stop signals", f"see `moot signals {run.path}`", str(run.path)
            )
        raise usage(
            f"a run of {opened.protocol} has no stop signals: its steps end it",
            f"see `moot decisions {run.path}` or `moot report {run.path}`",
            str(run.path),
        )


def forecasts_of(run: Run) -> Beliefs | None:
    """Return the forecasts and cruxes of a `crux` run; None for a run of another protocol."""
    opened = run.state.opened
    if opened is None or opened.protocol != "crux":
        return None
    from moot.view.beliefs import beliefs_of, no_forecast_yet

    return beliefs_of(str(run.path), run.book) or no_forecast_yet(str(run.path))


def signals_of_state(
    run: Run,
    state: State,
    profile: str | None,
    *,
    whole: bool,
    params: AnyPath | None = None,
    judgement: CalibratedJudgement | None = None,
) -> SignalReport:
    """The same from a state that was folded already; `whole` is false for that of a prefix."""
    from detectors.signals import signals_of_state as read

    own: str = state.opened.stop.profile if state.opened else "text"
    wanted = cast("SignalProfile", profile or ("calibrated" if params is not None else own))
    parameters = None if wanted != "calibrated" else thresholds_of(run, state, params)
    return read(
        state,
        wanted,
        run.blobs,
        whole=whole,
        run=str(run.path),
        parameters=parameters,
        judgement=judgement,
    )


def thresholds_of(run: Run, state: State, params: AnyPath | None = None) -> CalibratedParameters:
    """What the profile `calibrated` is read by: the file that was named, or what the run was opened with."""
    from detectors.calibrated.parameters import parameters_of

    if params is None:
        return parameters_of(state, run.blobs)
    from moot.app.run_options import read_params

    return read_params(Path(params))[0]


def signals_at_head(run: Run, state: State) -> SignalReport | None:
    """What `moot signals` says now; None for a protocol without them, and where the run's own thresholds are gone."""
    from ledger.store.failures import BlobMissing
    from rounds.protocols import is_watched

    if not is_watched(state.opened):
        return None
    try:
        return signals_of_state(run, state, None, whole=True)
    except BlobMissing:
        return None
