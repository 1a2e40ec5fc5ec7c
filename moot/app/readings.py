"""Answers of the reading verbs, for the command line and for agent hosts: a function per verb."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ledger.events import KINDS, STREAMS, Event, RunOpened, stream_of
from ledger.state.lifecycle import STATUSES
from ledger.state.state import State
from moot.app.runs import AnyPath, Run
from moot.errors import refuse, usage

if TYPE_CHECKING:
    from detectors.forecasts.report import ForecastReport
    from detectors.parameters import GateParameters
    from detectors.report import SignalReport
    from moot.view.claims import Claims, Decisions
    from moot.view.results import Log
    from moot.view.show import Shown, Why


class EventFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Filter of listed events; None means all."""

    kind: str | None = None
    round: int | None = None
    stream: str | None = None
    role: str | None = None

    def includes(self, event: Event) -> bool:
        """Return whether an event is listed."""
        return (
            self.kind in (None, event.kind)
            and self.round in (None, event.round)
            and self.role in (None, event.by)
            and (self.stream is None or stream_of(event) == self.stream)
        )


def read_claims(run: Run, status: str | None = None) -> Claims:
    """Return the claims, or those with one status. Raises `MootError` for an unknown status."""
    _refuse_unknown("status", status, STATUSES, "--status")
    from moot.view.claims import Claims, claims_of

    claims = claims_of(str(run.path), run.book)
    kept = [claim for claim in claims.claims if status in (None, claim.status)]
    return Claims(run=claims.run, claims=kept)


def read_decisions(run: Run, *, final: bool = False, in_force: bool = False) -> Decisions:
    """Return the decisions, with the outcome and what the run cost."""
    from moot.view.claims import Decisions, decision_lines

    view = run.view
    lines = decision_lines(view.book, final=final, in_force=in_force)
    return Decisions(run=view.name, quorum=view.quorum, outcome=view.outcome, decisions=lines)


def find_event(run: Run, identity: str) -> Event:
    """Return the event with an id (H-5) or at a sequence number (@41), or the first one of a step (r1.D.critic).

    Raises `MootError` when the run has no such event.
    """
    # A reference may point into an event (`S-5-1#s2`); the event is what is listed.
    wanted = identity.partition("#")[0]
    for event in run.events:
        if wanted in (event.id, f"@{event.seq}", getattr(event, "step_failed", event.step)):
            return event
    raise usage(f"no event {identity[:80]!r} in this run", f"`moot log {run.path}` lists them", "ID")


def listed_events(run: Run, identity: str | None, wanted: EventFilter) -> list[Event]:
    """Return the events of a filter, or one of them. Raises `MootError`."""
    # Who has written nothing yet, a role or a person, is known as well, and has an empty list.
    cast = [member.role for event in run.events if isinstance(event, RunOpened) for member in event.cast]
    _refuse_unknown("kind", wanted.kind, KINDS, "--kind")
    _refuse_unknown("stream", wanted.stream, STREAMS, "--stream")
    _refuse_unknown("role", wanted.role, {*cast, "human", *(event.by for event in run.events)}, "--by")
    events = run.events if identity is None else (find_event(run, identity),)
    listed = [event for event in events if wanted.includes(event)]
    # An empty answer would read as an event without content.
    refuse(identity and not listed, f"the filters exclude {identity}", "leave them out, or the ID", "ID")
    return listed


def _refuse_unknown(what: str, word: str | None, known: Collection[str], option: str) -> None:
    """Raise `MootError` for a word that is not known; it names the closest, or all."""
    if word is not None and word not in known:
        from difflib import get_close_matches  # most calls have no typo

        near = get_close_matches(word, known, 1)
        fix = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(sorted(known))}"
        raise usage(f"no {what} {word!r}", fix, option)


def read_log(run: Run, events: list[Event]) -> Log:
    """Return events as objects, with the fields that this version knows."""
    import orjson

    from ledger.format.canonical import encode
    from moot.view.results import Log

    return Log(run=str(run.path), events=[orjson.loads(encode(event)) for event in events])


def read_event(run: Run, identity: str) -> Shown:
    """Return an event's content and what became of it, or what a label of the run names. Raises `MootError`."""
    from moot.view.show import labeled, show_of

    name = str(run.path)
    return labeled(name, run.book, identity) or show_of(name, run.book, find_event(run, identity))


def read_grounds(run: Run, identity: str, *, everything: bool = False) -> Why:
    """Return the grounds of a decision or a claim. Raises `MootError`."""
    from moot.view.show import why_of

    return why_of(str(run.path), run.book, find_event(run, identity).ref, everything=everything)


def read_forecasts(run: Run) -> ForecastReport:
    """Return the forecasts and cruxes of a `crux` run. Raises `MootError` for another protocol, and while sealed."""
    forecasts = forecasts_of(run)
    if forecasts is None:
        raise usage("this run has no forecasts", "only crux runs have them; see `signals`", "forecasts")
    return forecasts


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


def thresholds_of(run: Run, state: State, params: AnyPath | None) -> GateParameters:
    """Return the thresholds of the gates, from the named file or from the run."""
    from detectors.parameters import parameters_of

    if params is None:
        return parameters_of(state, run.blobs)
    from moot.app.settings import read_params

    return read_params(Path(params))[0]
