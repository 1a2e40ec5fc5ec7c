"""Columns of what is settled: the question, decisions in force, earlier claims, added rules."""

from __future__ import annotations

import re

from ledger.events import Amendment, Claim, Verification
from ledger.lifecycle import OPEN
from ledger.state import State
from roles import quoting
from roles.brief_v1.scene import BriefUnavailable, Scene
from roles.protocol import Column, Sight
from roles.quoting import Quoted


def question(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    """The question with goals, options and documents; or the goals alone."""
    known = scene.shared.question.get(sight)
    if known is None:
        known = scene.shared.question[sight] = _question(scene, sight)
    return known


def _question(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    if sight.extent == "goals":
        return (quoting.goals(scene.opened),)
    found = [quoting.question(scene.opened)]
    for document in scene.opened.context:
        content = scene.book.blobs.read(document.sha256)
        if content is None:
            raise BriefUnavailable(f"the context document {document.id} is not among the blobs")
        text = quoting.document(document.id, document.name, content)
        found.append(Quoted(document.id, text, (scene.opened.seq,)))
    return tuple(found)


def decisions(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    """The decisions in force."""
    assert sight.extent == "all", sight
    return tuple(scene.quoted(event) for event in scene.decisions_in_force())


def old_claims(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    """Earlier claims; those that are settled and only cited are quoted in short."""
    wanted, claims = _wanted(scene, sight), scene.state.claims
    testable = sight.extent in ("may_move", "pending")
    found: list[Quoted] = []
    for event in scene.ordered(event for event in scene.of(Claim) if event.id in wanted):
        facts = claims[str(event.id)]
        found.append(scene.quoted_claim(event, facts, whole=testable or facts.status in OPEN))
    return tuple(found)


def _wanted(scene: Scene, sight: Sight) -> set[str]:
    claims = scene.state.claims
    match sight.extent:
        case "every":
            return set(claims)
        case "pending":
            before = scene.round + (scene.step.name.phase == "S")
            return {str(claim.id) for claim in scene.pending_claims() if claim.round < before}
        case "open_or_cited" | "may_move":
            cited = scene.cited_by_decisions() | _moved_by_shown_verdicts(scene)
            final = "superseded" if sight.extent == "may_move" else None
            return {
                identity
                for identity, facts in claims.items()
                if facts.round < scene.round
                and (facts.status in OPEN or identity in cited)
                and facts.status != final
            }
        case _:
            raise AssertionError(f"old claims have no extent {sight.extent}")


def _moved_by_shown_verdicts(scene: Scene) -> set[str]:
    """Claims that the round's verdicts moved: whoever sees those verdicts whole must be able to cite them."""
    shown = scene.view.get(Column.VERDICTS)
    if shown is None or shown.extent != "all":
        return set()
    checks = scene.of(Verification, scene.round)
    return {change.claim_id for check in checks for change in check.claim_status_changes}


def amendments(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    """The fixed wording of active amendments; one that is aimed at a role is shown to that role alone."""
    assert sight.extent == "all", sight
    found: list[Quoted] = []
    for event, path, code in active_amendments(scene.state):
        target = re.split(r"[./]", path)[-1]
        others = target in scene.protocol.role_ids() and target != scene.step.role
        if not others and f"amendments/{code}" in scene.prompt_set["templates"]:
            text = scene.rendered(f"amendments/{code}", {}).rstrip("\n")
            found.append(Quoted(code, text, (event.seq,)))
    return tuple(found)


def active_amendments(state: State) -> list[tuple[Amendment, str, str]]:
    """Amendments whose cause is not closed or a person: (event, path, code), the last of each path."""
    raised = {alarm.seq for alarm in state.open_alarms()}
    latest: dict[str, tuple[Amendment, object]] = {}
    for event in state.amendments:
        for change in event.change:
            latest[change.path] = (event, change.to)
    return [
        (event, path, code)
        for path, (event, code) in sorted(latest.items())
        if isinstance(code, str) and (not isinstance(event.cause, int) or event.cause in raised)
    ]
