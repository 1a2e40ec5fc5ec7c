"""What can be run: protocols, plans and castings; and the figures of a new file."""

from __future__ import annotations

from collections.abc import Sequence

from ledger.events import RunOpened
from ledger.result import Result
from moot.view.gate import Choice, choices_lines
from moot.view.stop_checks import seldom_ready, what_a_plan_lacks
from moot.view.text import WIDTH, joined, listed
from roles.castings import CASTINGS
from rounds.protocols import PROTOCOLS
from rounds.protocols.plans import PLANS
from rounds.protocols.variants import MEANINGS
from rounds.setup.size import asked_of


class RoleLine(Result, frozen=True):
    """A role and the question it asks."""

    id: str
    question: str


class ProtocolLine(Result, frozen=True):
    """A protocol: `--protocol NAME`. `fits` says when; `rules` are its named variants, the default first,
    `meanings` what they choose."""

    name: str
    summary: str
    roles: list[RoleLine]
    fits: str
    calls: str
    rules: dict[str, list[str]]
    meanings: dict[str, str]


class PlanLine(Result, frozen=True):
    """A plan: `--plan NAME`. `stress` and `drift` are round numbers."""

    name: str
    rounds: int
    stress: list[int]
    drift: list[int]


class Protocols(Result, frozen=True):
    """What this moot has; `castings` are for `--rule cast=NAME`."""

    protocols: list[ProtocolLine]
    plans: list[PlanLine]
    castings: list[str]


def protocols(name: str | None = None) -> Protocols:
    """Return all installed protocols, or one. Raises `ProtocolUnknown`."""
    chosen = list(PROTOCOLS.values()) if name is None else [PROTOCOLS[name]]
    return Protocols(
        protocols=[
            ProtocolLine(
                name=protocol.name,
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
            # Plans only matter to protocols whose number of rounds can be chosen.
            if not all(protocol.fixed_plan for protocol in chosen)
        ],
        castings=list(CASTINGS) if any(protocol.has_castings for protocol in chosen) else [],
    )


class NewFile(Result, frozen=True):
    """`replies`: how many replies the plan asks for at most, S included. `lacks`: why it can never become ready;
    `seldom`: why it seldom does, empty where it mostly does."""

    file: str
    protocol: str
    rounds: int
    stress: list[int]
    drift: list[int]
    replies: int
    waived: list[str]
    lacks: list[str]
    seldom: str
    choices: list[Choice]


def new_of(file: str, opening: RunOpened, choices: Sequence[Choice]) -> NewFile:
    """Return the figures of a new file."""
    return NewFile(
        file=file,
        protocol=opening.protocol,
        rounds=len(opening.plan),
        stress=[row.round for row in opening.plan if row.absent],
        drift=[row.round for row in opening.plan if row.drift],
        replies=asked_of(opening).total(),
        waived=[waiver.what for waiver in opening.waived],
        lacks=what_a_plan_lacks(opening),
        seldom=seldom_ready(opening),
        choices=list(choices),
    )


def protocols_text(listing: Protocols) -> str:
    """Return what `moot gate` prints."""
    lines: list[str] = []
    for protocol in listing.protocols:
        lines += [f"{protocol.name}   {protocol.summary}", f"  for {protocol.fits}; calls: {protocol.calls}"]
        lines += [f"  {role.id:<16} {role.question}" for role in protocol.roles]
        lines += [
            f"  --rule {rule}={'|'.join(values)}   {protocol.meanings[rule]}"
            for rule, values in protocol.rules.items()
        ]
    lines += ["", "plans"] if listing.plans else []
    for plan in listing.plans:
        stress = listed([f"R{n}" for n in plan.stress])
        lines.append(
            f"  {plan.name:<12} {plan.rounds} rounds, stress {stress}, drift {listed([f'R{n}' for n in plan.drift])}"
        )
    lines += ["", f"castings   {', '.join(listing.castings)}"] if listing.castings else []
    return joined(lines)


def new_text(draft: NewFile, width: int = WIDTH) -> str:
    """Return what `moot new` prints."""
    stress = listed([f"R{n}" for n in draft.stress], "no stress round")
    lines = [
        f"{draft.file}: {draft.protocol}, {draft.rounds} rounds, stress {stress}, at most {draft.replies} replies",
        # Say this before the run: afterwards a waiver qualifies every verdict.
        *(f"WAIVED {what}: it will be said before every verdict" for what in draft.waived),
        *(f"CANNOT BECOME READY {why}: the run ends with its plan" for why in draft.lacks),
        *(f"SELDOM BECOMES READY {why}" for why in [draft.seldom] if why),
        *choices_lines(draft.choices, draft.protocol, width),
        f"change it as you like, then: moot run {draft.file} --seats host",
    ]
    return joined(lines)
