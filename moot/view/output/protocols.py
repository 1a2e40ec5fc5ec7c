"""`moot protocols --json`: what can be run."""

from __future__ import annotations

from moot.view.output.base import Output
from roles.castings import CASTINGS
from roles.prompt_set import STRUCTURED
from rounds.protocols import PROTOCOLS
from rounds.setup.plans import PLANS
from rounds.setup.variants import MEANINGS


class RoleLine(Output, frozen=True):
    """A role and the question it asks."""

    id: str
    question: str


class ProtocolLine(Output, frozen=True):
    """A protocol: `--protocol NAME`. `fits` says when; `rules` are its named variants, the default first,
    `meanings` what they choose."""

    name: str
    version: int
    summary: str
    roles: list[RoleLine]
    fits: str
    calls: str
    rules: dict[str, list[str]]
    meanings: dict[str, str]


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


def protocols(name: str | None = None) -> Protocols:
    """All that is installed, or one protocol. Raises `ProtocolUnknown`."""
    chosen = list(PROTOCOLS.values()) if name is None else [PROTOCOLS[name]]
    names = {protocol.name for protocol in chosen}
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
                meanings={rule: MEANINGS[rule] for rule in protocol.variants},
            )
            for protocol in chosen
        ],
        plans=[
            PlanLine(
                name=name,
                rounds=len(rows := plan()),
                stress=[row.round for row in rows if row.absent],
                drift=[row.round for row in rows if row.drift],
            )
            for name, plan in PLANS.items()
            if STRUCTURED in names
        ],
        castings=list(CASTINGS) if STRUCTURED in names else [],
    )
