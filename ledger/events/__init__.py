"""The closed union of all event kinds, and the stream each belongs to (FORMAT 2).

The files here do without `from __future__ import annotations`: msgspec would have to compile every annotation again
from its text, which costs each start of a verb 10 ms.
"""

from typing import Final, Literal

from ledger.events.answers import Agenda, Belief, Frame, Memo
from ledger.events.claims import (
    Argument,
    Artifact,
    Assumption,
    Claim,
    Concern,
    Position,
    Rating,
    Statement,
)
from ledger.events.decisions import (
    Alarm,
    Decision,
    Disposition,
    Ruling,
    Score,
    Signals,
    Standing,
    Vote,
)
from ledger.events.envelope import Attempt, Call, Context, Envelope
from ledger.events.experiments import ExperimentJudged, ExperimentPlanned, ExperimentRun
from ledger.events.run import (
    Amendment,
    Fallback,
    RoundOpened,
    RunClosed,
    RunOpened,
)
from ledger.events.verifications import (
    Challenge,
    DriftCheck,
    Flip,
    Response,
    Screening,
    Validation,
    Verification,
)

ClaimsEvent = Statement | Artifact | Claim | Assumption | Argument | Concern | Rating | Position | Belief
VerificationsEvent = (
    Verification
    | Challenge
    | Response
    | Flip
    | DriftCheck
    | Screening
    | Validation
    | Frame
    | ExperimentPlanned
    | ExperimentRun
    | ExperimentJudged
)
DecisionsEvent = (
    RunOpened
    | RoundOpened
    | Decision
    | Disposition
    | Score
    | Standing
    | Vote
    | Ruling
    | Signals
    | Alarm
    | Fallback
    | Amendment
    | RunClosed
    | Agenda
    | Memo
)
Event = ClaimsEvent | VerificationsEvent | DecisionsEvent
StreamName = Literal["claims", "verifications", "decisions"]

STREAMS: Final[tuple[StreamName, ...]] = ("claims", "verifications", "decisions")

KINDS: Final[dict[str, tuple[type[Event], StreamName]]] = {
    "statement": (Statement, "claims"),
    "artifact": (Artifact, "claims"),
    "claim": (Claim, "claims"),
    "assumption": (Assumption, "claims"),
    "argument": (Argument, "claims"),
    "concern": (Concern, "claims"),
    "rating": (Rating, "claims"),
    "position": (Position, "claims"),
    "belief": (Belief, "claims"),
    "verification": (Verification, "verifications"),
    "challenge": (Challenge, "verifications"),
    "response": (Response, "verifications"),
    "flip": (Flip, "verifications"),
    "drift_check": (DriftCheck, "verifications"),
    "screening": (Screening, "verifications"),
    "validation": (Validation, "verifications"),
    "frame": (Frame, "verifications"),
    "experiment_planned": (ExperimentPlanned, "verifications"),
    "experiment_run": (ExperimentRun, "verifications"),
    "experiment_judged": (ExperimentJudged, "verifications"),
    "run_opened": (RunOpened, "decisions"),
    "round_opened": (RoundOpened, "decisions"),
    "decision": (Decision, "decisions"),
    "disposition": (Disposition, "decisions"),
    "score": (Score, "decisions"),
    "standing": (Standing, "decisions"),
    "vote": (Vote, "decisions"),
    "ruling": (Ruling, "decisions"),
    "signals": (Signals, "decisions"),
    "alarm": (Alarm, "decisions"),
    "fallback": (Fallback, "decisions"),
    "amendment": (Amendment, "decisions"),
    "run_closed": (RunClosed, "decisions"),
    "agenda": (Agenda, "decisions"),
    "memo": (Memo, "decisions"),
}


def stream_of(event: Event) -> StreamName:
    """Return the stream that holds `event`."""
    return KINDS[event.kind][1]


__all__ = [
    "KINDS",
    "STREAMS",
    "Agenda",
    "Alarm",
    "Amendment",
    "Argument",
    "Artifact",
    "Assumption",
    "Attempt",
    "Belief",
    "Call",
    "Challenge",
    "Claim",
    "ClaimsEvent",
    "Concern",
    "Context",
    "Decision",
    "DecisionsEvent",
    "Disposition",
    "DriftCheck",
    "Envelope",
    "Event",
    "ExperimentJudged",
    "ExperimentPlanned",
    "ExperimentRun",
    "Fallback",
    "Flip",
    "Frame",
    "Memo",
    "Position",
    "Rating",
    "Response",
    "RoundOpened",
    "Ruling",
    "RunClosed",
    "RunOpened",
    "Score",
    "Screening",
    "Signals",
    "Standing",
    "Statement",
    "StreamName",
    "Validation",
    "Verification",
    "VerificationsEvent",
    "Vote",
    "stream_of",
]
