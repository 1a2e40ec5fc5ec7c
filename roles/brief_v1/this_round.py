"""Columns of the round: its plan, what was written, claimed, expected and judged in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ledger.events import Artifact, Claim, Concern, Flip, Position, Statement, Verification
from ledger.ids import parse_reference
from roles import quoting
from roles.brief_v1.scene import E, Scene
from roles.protocol import Column, Sight
from roles.quoting import Quoted


def plan(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    """Lead, focus and who is absent; or the last alone."""
    opened = scene.state.rounds[scene.round]
    return (quoting.plan(opened, absent_only=sight.extent == "absent"),)


def proposal(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    """The lead's proposal."""
    assert sight.extent == "all", sight
    return _statements(scene, "proposal")


def supplements(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    """What the others added to it."""
    assert sight.extent == "all", sight
    return _statements(scene, "supplement")


def _statements(scene: Scene, kind: str) -> tuple[Quoted, ...]:
    events = [event for event in scene.of(Statement, scene.round) if event.type == kind]
    return tuple(scene.quoted(event) for event in scene.ordered(events))


def artifacts(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    """The round's artifacts, those of some roles, or those that what is quoted points to."""
    match sight.extent:
        case "all":
            events = scene.of(Artifact, scene.round)
        case "listed":
            made = scene.of(Artifact, scene.round)
            events = tuple(event for event in made if event.role in sight.names)
        case "cited":
            wanted = _cited_artifacts(scene)
            events = tuple(event for event in scene.of(Artifact) if event.id in wanted)
        case _:
            raise AssertionError(f"artifacts have no extent {sight.extent}")
    return tuple(scene.quoted(event) for event in turned(scene, scene.ordered(events)))


def turned(scene: Scene, events: list[E]) -> list[E]:
    """As they are, or the other way round for a second judgement: a judge may favour what comes first."""
    return events[::-1] if scene.step.name.repeat % 2 == 0 else events


def _cited_artifacts(scene: Scene) -> set[str]:
    """What the decisions in force name; where claims are to be resolved, what raised or touched those."""
    if Column.DECISIONS in scene.view:
        refs = [ref for event in scene.decisions_in_force() for ref in event.round_artifact_refs]
        return {parse_reference(ref).id for ref in refs}
    pending = scene.pending_claims()
    found = {identity for claim in pending for identity in _sources(claim)}
    for check in scene.checks_of_pending_claims():
        found |= {parse_reference(evidence.ref).id for evidence in check.evidence_refs}
    named = {str(claim.id) for claim in pending}
    for event in scene.of(Artifact):
        if named & {parse_reference(ref).id for ref in event.cites}:
            found.add(str(event.id))
    return found


_ARTIFACT_ID: Final = re.compile(r"\bA-[0-9]+-[a-z][a-z0-9_]*")


def _sources(claim: Claim) -> set[str]:
    """Artifacts that a claim comes from: where it was raised, those its words name, else its author's."""
    raised_at = parse_reference(claim.raised_at_artifact or "").id
    named = set(_ARTIFACT_ID.findall(f"{raised_at} {claim.text} {claim.testable_as}"))
    return named or {f"A-{claim.round}-{claim.raised_by}"}


def claims(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    """The round's claims."""
    assert sight.extent == "all", sight
    events = turned(scene, scene.ordered(scene.of(Claim, scene.round)))
    return tuple(scene.quoted_claim(event, scene.state.claims[str(event.id)]) for event in events)


def positions(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    """What every role expected of every check, check by check."""
    assert sight.extent == "all", sight
    events = scene.ordered(scene.of(Position, scene.round))
    events.sort(key=lambda event: event.check_id or 0)
    return tuple(scene.quoted(event) for event in events)


def verdicts(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    """The round's verdicts, those of some checks, or those that what is quoted rests on."""
    match sight.extent:
        case "all":
            events = scene.of(Verification, scene.round)
        case "listed":
            made = scene.of(Verification, scene.round)
            events = tuple(event for event in made if str(event.check_id) in sight.names)
        case "cited":
            events = _cited_verdicts(scene)
        case _:
            raise AssertionError(f"verdicts have no extent {sight.extent}")
    return tuple(scene.quoted(event) for event in scene.ordered(events))


def _cited_verdicts(scene: Scene) -> tuple[Verification, ...]:
    if Column.DECISIONS not in scene.view:
        return tuple(scene.checks_of_pending_claims())
    wanted = scene.cited_by_decisions()
    for tension in scene.open_tensions():
        wanted |= {*tension.between, *(parse_reference(entry.ref).id for entry in tension.evidence)}
    return tuple(event for event in scene.of(Verification) if event.id in wanted)


def flips(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    """Changed positions and tensions of the round; or open tensions; with the retrospectives where those count."""
    open_ones = scene.open_tensions()
    match sight.extent:
        case "all":
            changed = scene.ordered(scene.of(Flip, scene.round))
            made = [event for event in scene.of(Concern, scene.round) if event.type == "tension"]
            return (*(scene.quoted(event) for event in changed), *_tensions(scene, made))
        case "last_tensions":
            return _tensions(scene, [event for event in open_ones if event.round == scene.round - 1])
        case "open_tensions":
            return _tensions(scene, open_ones)
        case "reviews_and_open_tensions":
            return (*_statements(scene, "retrospective"), *_tensions(scene, open_ones))
        case _:
            raise AssertionError(f"flips have no extent {sight.extent}")


def _tensions(scene: Scene, events: Iterable[Concern]) -> tuple[Quoted, ...]:
    return tuple(scene.quoted(event) for event in scene.ordered(events))
