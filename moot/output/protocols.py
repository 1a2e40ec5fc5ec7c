"""`moot protocols --json`: what can be run."""

from __future__ import annotations

from moot.output.base import Output
from roles.castings import CASTINGS
from rounds.plans import PLANS
from rounds.protocols import PROTOCOLS


class RoleLine(Output, frozen=True):
    """A role and the question it asks."""

    id: str
    question: str


class ProtocolLine(Output, frozen=True):
    """A protocol: `--protocol NAME`. `fits` says when; `rules` are its named variants, the default first."""

    name: str
    version: int
    summary: str
    roles: list[RoleLine]
    fits: str
    calls: str
    rules: dict[str, list[str]]


class PlanLine(Output, frozen=True):
    """A plan: `--plan NAME`. `stress` and `drift` are round numbers."""

    name: str
    rounds: int
    stress: list[int]
    drift: list[int]


class Protocols(Output, frozen=True):
    """What this moot has; `castings` are for `--cast NAME`."""

    protocols: list[ProtocolLine]
    plans: list[PlanLine]
    castings: list[str]


def protocols() -> Protocols:
    """All that is installed."""
    return Protocols(
        protocols=[
            ProtocolLine(
                name=protocol.name,
                version=protocol.version,
                summary=protocol.summary,
                roles=[RoleLine(id=role.id, question=role.question) for role in protocol.roles],
                fits=protocol.fits,
                calls=protocol.calls,
                rules={rule: list(values) for rule, values in protocol.variants.items()},
            )
            for protocol in PROTOCOLS.values()
        ],
        plans=[
            PlanLine(
                name=name,
                rounds=len(rows := plan()),
                stress=[row.round for row in rows if row.absent],
                drift=[row.round for row in rows if row.drift],
            )
            for name, plan in PLANS.items()
        ],
        castings=list(CASTINGS),
    )
