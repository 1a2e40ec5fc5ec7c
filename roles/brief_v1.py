"""Version 1 of the derivation of a brief: the columns that a step sees, quoted, in order (FORMAT 5 and 6).

Frozen: a change of what it makes is version 2 in a file of its own.

Laws
1. What a brief shows had happened when the step's group opened; what arrives later changes nothing.
2. Everything quoted is ordered by (round, phase, role, n), never by seq.
3. A column that the view does not name is not shown; nothing is shown but through a column, the step's own
   role and its task.
4. A status is shown with the verifications that made it, and those are in `saw`.
5. Seats, models, costs, signals, alarms, other roles' charters, predicted signatures and seqs never occur.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, get_args

from ledger.book import Book, book
from ledger.events import (
    Amendment,
    Artifact,
    Claim,
    Concern,
    Decision,
    Event,
    Fallback,
    Flip,
    Position,
    RunOpened,
    Statement,
    Verification,
)
from ledger.ids import number_of, parse_reference
from ledger.lifecycle import OPEN
from ledger.state import State
from roles import quoting
from roles.prompt_set import PromptSet, template
from roles.protocol import Column, Extent, Protocol, Sight, Step, find_group
from roles.quoting import Quoted
from roles.templates import Row, Text, Values, render

PHASES: Final = ("open", "A", "B", "C", "D", "E", "F", "G", "H", "S", "close")


class BriefUnavailable(ValueError):
    """A brief that cannot be derived here; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Block:
    """A named piece of a brief; stored as a blob of its own."""

    name: str
    text: str

    @property
    def bytes(self) -> bytes:
        """The text as its blob holds it."""
        return self.text.encode()


@dataclass(frozen=True, slots=True)
class Derived:
    """What a derivation makes: blocks, the seqs they show, and the state that they were made from."""

    blocks: tuple[Block, ...]
    saw: tuple[int, ...]
    state: State


@dataclass(frozen=True, slots=True)
class Scene:
    """What the quoting functions read: the book as it stood when the group opened, and who asks what."""

    book: Book
    opened: RunOpened
    protocol: Protocol
    step: Step
    prompt_set: PromptSet

    @property
    def round(self) -> int:
        """The round of the step."""
        return self.step.name.round

    @property
    def state(self) -> State:
        """What stood when the group opened."""
        return self.book.state

    def ordered(self, events: Iterable[Event]) -> list[Event]:
        """Law 2."""
        roles = self.protocol.role_ids()
        return sorted(events, key=lambda event: _order(event, roles))


def _order(event: Event, roles: tuple[str, ...]) -> tuple[int, int, int, int, str]:
    phase = PHASES.index(event.phase) if event.phase in PHASES else len(PHASES)
    role = roles.index(event.by) if event.by in roles else len(roles)
    numbered = event.kind in ("claim", "decision", "concern", "verification")
    identity = str(event.id)
    return (event.round, phase, 0 if numbered else role, number_of(identity) if numbered else 0, identity)


def derive(ledger: Book, protocol: Protocol, step: Step, prompt_set: PromptSet) -> Derived:
    """The blocks of a step's brief and the events that they show."""
    base = at_opening(ledger, protocol, step)
    opened = base.state.opened
    assert opened is not None, "the run was never opened"
    scene = Scene(base, opened, protocol, step, prompt_set)
    blocks, saw, shown = [_frame(scene)], {opened.seq}, dict[Column, tuple[Quoted, ...]]()
    view = protocol.view(base.state, step)
    for column, quote in QUOTES.items():
        sight = view.get(column)
        if sight is None:
            continue
        quotations = quote(scene, sight)
        shown[column] = quotations
        saw.update(seq for quoted in quotations for seq in quoted.seqs)
        blocks += _blocks(scene, column, sight, quotations)
    drift = _failed_drift(scene)
    saw.update(seq for _, seq in drift)
    blocks += [_role(scene), _task(scene, shown, tuple(identity for identity, _ in drift))]
    return Derived(tuple(blocks), tuple(sorted(saw)), base.state)


# ---------------------------------------------------------------- what had happened when the group opened


def at_opening(ledger: Book, protocol: Protocol, step: Step) -> Book:
    """The book as it stood when the step's group opened: law 1.

    That is up to the end of the last commit of an earlier group of the round, with what the controller added.
    """
    end = len(ledger.events)
    done = ledger.state.answered.get(step.id, ledger.state.given_up.get(step.id))
    base = ledger if done is None else book(ledger.events[:done], ledger.blobs)
    group = find_group(protocol, base.state, step.id)
    siblings = {sibling.id for sibling in group.steps} if group else {step.id}
    cut = _opening(base, step.name.round, siblings)
    return base if cut >= end else book(ledger.events[:cut], ledger.blobs)


def _opening(base: Book, round_: int, siblings: set[str]) -> int:
    """How many events there were when a group opened."""
    state = base.state
    opened = state.rounds[round_]
    ends = [opened.seq + opened.rest]
    prefix = f"r{round_}."
    for done in (state.answered, state.given_up):
        ends += [
            seq + base.events[seq].rest
            for step, seq in done.items()
            if step.startswith(prefix) and step not in siblings
        ]
    cut = max(ends) + 1
    while cut < len(base.events) and _is_owed(base.events[cut]):
        cut += 1
    return cut


def _is_owed(event: Event) -> bool:
    """Whether the controller wrote it by itself, between two groups."""
    return event.by == "controller" and event.step is None and not isinstance(event, Fallback)


# ---------------------------------------------------------------- the columns


def _question(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    if sight.extent == "goals":
        return (quoting.goals(scene.opened),)
    found = [quoting.question(scene.opened)]
    for document in scene.opened.context:
        content = scene.book.blobs.read(document.sha256)
        if content is None:
            raise BriefUnavailable(f"the context document {document.id} is not among the blobs")
        found.append(
            Quoted(document.id, quoting.document(document.id, document.name, content), (scene.opened.seq,))
        )
    return tuple(found)


def _plan(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    opened = scene.state.rounds[scene.round]
    return (quoting.plan(opened, absent_only=sight.extent == "absent"),)


def _decisions_in_force(scene: Scene) -> list[Decision]:
    found = (scene.book.by_id[identity] for identity in scene.state.in_force())
    return [event for event in scene.ordered(found) if isinstance(event, Decision)]


def _decisions(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    assert sight.extent == "all", sight
    return tuple(quoting.decision(event) for event in _decisions_in_force(scene))


def _cited_by_decisions(scene: Scene) -> set[str]:
    return {cite.id for event in _decisions_in_force(scene) for cite in event.cites}


def _wanted_claims(scene: Scene, sight: Sight) -> set[str]:
    claims, cited = scene.state.claims, _cited_by_decisions(scene)
    closing = scene.step.name.phase == "S"
    match sight.extent:
        case "every":
            return set(claims)
        case "pending":
            return {
                identity
                for identity, facts in claims.items()
                if facts.status == "pending" and (closing or facts.round < scene.round)
            }
        case "open_or_cited" | "may_move":
            wanted = cited | _moved_by_shown_verdicts(scene)
            return {
                identity
                for identity, facts in claims.items()
                if facts.round < scene.round
                and (facts.status in OPEN or identity in wanted)
                and not (sight.extent == "may_move" and facts.status == "superseded")
            }
        case _:
            raise AssertionError(f"old claims have no extent {sight.extent}")


def _moved_by_shown_verdicts(scene: Scene) -> set[str]:
    """Claims that the round's verdicts moved: whoever sees those verdicts whole must be able to cite them."""
    verdicts = scene.protocol.view(scene.state, scene.step).get(Column.VERDICTS)
    if verdicts is None or verdicts.extent != "all":
        return set()
    checks = scene.book.of(Verification, scene.round)
    return {change.claim_id for check in checks for change in check.claim_status_changes}


def _old_claims(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    wanted = _wanted_claims(scene, sight)
    claims = scene.state.claims
    events = scene.ordered(event for event in scene.book.of(Claim) if event.id in wanted)
    testable = sight.extent in ("may_move", "pending")
    return tuple(
        quoting.claim(event, scene.state, whole=testable or claims[str(event.id)].status in OPEN)
        for event in events
        if isinstance(event, Claim)
    )


def _claims(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    assert sight.extent == "all", sight
    events = scene.ordered(scene.book.of(Claim, scene.round))
    return tuple(quoting.claim(event, scene.state) for event in events if isinstance(event, Claim))


def _statements(scene: Scene, kind: str) -> tuple[Quoted, ...]:
    events = [event for event in scene.book.of(Statement, scene.round) if event.type == kind]
    return tuple(quoting.statement(event) for event in scene.ordered(events) if isinstance(event, Statement))


def _proposal(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    assert sight.extent == "all", sight
    return _statements(scene, "proposal")


def _supplements(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    assert sight.extent == "all", sight
    return _statements(scene, "supplement")


def _artifacts(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    match sight.extent:
        case "all":
            events = list(scene.book.of(Artifact, scene.round))
        case "listed":
            events = [event for event in scene.book.of(Artifact, scene.round) if event.role in sight.names]
        case "cited":
            wanted = _cited_artifacts(scene)
            events = [event for event in scene.book.of(Artifact) if event.id in wanted]
        case _:
            raise AssertionError(f"artifacts have no extent {sight.extent}")
    return tuple(quoting.artifact(event) for event in scene.ordered(events) if isinstance(event, Artifact))


def _cited_artifacts(scene: Scene) -> set[str]:
    """What the decisions in force name; where claims are to be resolved, what raised or touched those."""
    if Column.DECISIONS in scene.protocol.view(scene.state, scene.step):
        refs = [ref for event in _decisions_in_force(scene) for ref in event.round_artifact_refs]
        return {parse_reference(ref).id for ref in refs}
    pending = _pending(scene)
    found = {identity for claim in pending for identity in _sources(claim)}
    for check in _touching(scene):
        found |= {parse_reference(evidence.ref).id for evidence in check.evidence_refs}
    artifacts = scene.book.of(Artifact)
    named = {str(claim.id) for claim in pending}
    found |= {
        str(event.id) for event in artifacts if named & {parse_reference(ref).id for ref in event.cites}
    }
    return found


_ARTIFACT_ID: Final = re.compile(r"\bA-[0-9]+-[a-z][a-z0-9_]*")


def _sources(claim: Claim) -> set[str]:
    """Artifacts that a claim comes from: where it was raised, those its words name, else its author's."""
    raised_at = parse_reference(claim.raised_at_artifact or "").id
    named = set(_ARTIFACT_ID.findall(f"{raised_at} {claim.text} {claim.testable_as}"))
    return named or {f"A-{claim.round}-{claim.raised_by}"}


def _pending(scene: Scene) -> list[Claim]:
    claims = scene.state.claims
    return [event for event in scene.book.of(Claim) if claims[str(event.id)].status == "pending"]


def _touching(scene: Scene) -> list[Verification]:
    pending = {str(claim.id) for claim in _pending(scene)}
    return [check for check in scene.book.of(Verification) if pending.intersection(check.claims_affected)]


def _positions(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    assert sight.extent == "all", sight
    events = scene.ordered(scene.book.of(Position, scene.round))
    events.sort(key=lambda event: event.check_id or 0 if isinstance(event, Position) else 0)
    return tuple(quoting.position(event) for event in events if isinstance(event, Position))


def _verdicts(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    match sight.extent:
        case "all":
            events = list(scene.book.of(Verification, scene.round))
        case "listed":
            events = [
                event
                for event in scene.book.of(Verification, scene.round)
                if str(event.check_id) in sight.names
            ]
        case "cited":
            events = _cited_verdicts(scene)
        case _:
            raise AssertionError(f"verdicts have no extent {sight.extent}")
    return tuple(
        quoting.verification(event) for event in scene.ordered(events) if isinstance(event, Verification)
    )


def _cited_verdicts(scene: Scene) -> list[Verification]:
    if Column.DECISIONS not in scene.protocol.view(scene.state, scene.step):
        return _touching(scene)
    wanted = _cited_by_decisions(scene)
    for tension in _open_tensions(scene):
        wanted |= {*tension.between, *(parse_reference(entry.ref).id for entry in tension.evidence)}
    return [event for event in scene.book.of(Verification) if event.id in wanted]


def _open_tensions(scene: Scene) -> list[Concern]:
    resolved = scene.state.resolved
    return [event for event in scene.book.of(Concern) if event.type == "tension" and event.id not in resolved]


def _flips(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    match sight.extent:
        case "all":
            return (*_flips_of_round(scene), *_tensions(scene, scene.book.of(Concern, scene.round)))
        case "last_tensions":
            return _tensions(
                scene, [event for event in _open_tensions(scene) if event.round == scene.round - 1]
            )
        case "open_tensions":
            return _tensions(scene, _open_tensions(scene))
        case "reviews_and_open_tensions":
            return (*_statements(scene, "retrospective"), *_tensions(scene, _open_tensions(scene)))
        case _:
            raise AssertionError(f"flips have no extent {sight.extent}")


def _flips_of_round(scene: Scene) -> tuple[Quoted, ...]:
    events = scene.ordered(scene.book.of(Flip, scene.round))
    return tuple(quoting.flip(event) for event in events if isinstance(event, Flip))


def _tensions(scene: Scene, events: Iterable[Concern]) -> tuple[Quoted, ...]:
    tensions = [event for event in events if event.type == "tension"]
    return tuple(quoting.concern(event) for event in scene.ordered(tensions) if isinstance(event, Concern))


def _amendments(scene: Scene, sight: Sight) -> tuple[Quoted, ...]:
    assert sight.extent == "all", sight
    templates = scene.prompt_set["templates"]
    found: list[Quoted] = []
    for event, path, code in active_amendments(scene.state):
        target = re.split(r"[./]", path)[-1]
        others = target in scene.protocol.role_ids() and target != scene.step.role
        if not others and f"amendments/{code}" in templates:
            text = render(template(scene.prompt_set, f"amendments/{code}"), {})
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


QUOTES: Final[Mapping[Column, Callable[[Scene, Sight], tuple[Quoted, ...]]]] = {
    Column.QUESTION: _question,
    Column.DECISIONS: _decisions,
    Column.OLD_CLAIMS: _old_claims,
    Column.PLAN: _plan,
    Column.PROPOSAL: _proposal,
    Column.SUPPLEMENTS: _supplements,
    Column.ARTIFACTS: _artifacts,
    Column.CLAIMS: _claims,
    Column.POSITIONS: _positions,
    Column.VERDICTS: _verdicts,
    Column.FLIPS: _flips,
    Column.AMENDMENTS: _amendments,
}
"""Column → what quotes it, in the order of the blocks: shared and stable, then settled, then this round's."""

_ONE_BLOCK_EACH: Final = (Column.QUESTION, Column.PROPOSAL, Column.SUPPLEMENTS, Column.ARTIFACTS)
"""Columns whose quotations are blocks of their own, so that briefs that show the same ones share blobs."""


# ---------------------------------------------------------------- blocks


def _frame(scene: Scene) -> Block:
    return Block("frame", _rendered(scene, "blocks/frame", {}))


def _rendered(scene: Scene, path: str, values: Values) -> str:
    return render(template(scene.prompt_set, path), values).rstrip("\n") + "\n"


def _blocks(scene: Scene, column: Column, sight: Sight, quotations: tuple[Quoted, ...]) -> list[Block]:
    if column is Column.AMENDMENTS and not quotations:
        return []
    extents: dict[str, list[Row]] = {
        extent: [{}] if extent == sight.extent else [] for extent in get_args(Extent)
    }
    none: list[Row] = [] if quotations else [{}]
    heading = _rendered(scene, f"blocks/{column.value}", {"round": scene.round, "none": none, **extents})
    if column in _ONE_BLOCK_EACH:
        return [Block(column.value, heading), *(Block(each.name, each.text + "\n") for each in quotations)]
    text = "\n".join([heading, *(each.text + "\n" for each in quotations)])
    return [Block(column.value, text)]


def behind_bars(text: str) -> str:
    """`text` as a quotation without a label."""
    return quoting.bar("", text)


def _role(scene: Scene) -> Block:
    definition = next(role for role in scene.protocol.roles if role.id == scene.step.role)
    member = next((member for member in scene.opened.cast if member.role == definition.id), None)
    charter = _rendered(scene, definition.charter, {})
    values: Values = {
        "role": definition.id,
        "question": definition.question,
        "cast": [
            {
                "title": behind_bars(member.title),
                "charge": behind_bars(member.charge or "none beyond the charter"),
            }
        ]
        if member
        else [],
        "charter": charter.rstrip("\n"),
    }
    return Block("role", _rendered(scene, "blocks/role", values))


def _task(scene: Scene, shown: Mapping[Column, tuple[Quoted, ...]], failed_drift: tuple[str, ...]) -> Block:
    values = _task_values(scene, shown, failed_drift)
    task = _rendered(scene, f"tasks/{scene.step.task}", values).rstrip("\n")
    return Block("task", _rendered(scene, "blocks/task", {"step": scene.step.id, "task": task}))


def _task_values(
    scene: Scene, shown: Mapping[Column, tuple[Quoted, ...]], failed_drift: tuple[str, ...]
) -> Values:
    def ids(*columns: Column) -> list[str]:
        return [quoted.name for column in columns for quoted in shown.get(column, ())]

    sealed = _own_positions(scene) if Column.POSITIONS in shown else []
    claims = ids(Column.OLD_CLAIMS, Column.CLAIMS)
    statuses = {identity: scene.state.claims[identity].status for identity in claims}
    whole = scene.protocol.view(scene.state, scene.step).get(Column.QUESTION)
    options = [option.id for option in scene.opened.options] if whole and whole.extent == "all" else []
    words: dict[str, Text] = {
        "round": scene.round,
        "role": scene.step.role,
        "goals": _line(goal.id for goal in scene.opened.goals),
        "options": _line(options),
        "claims": _line(claims),
        "may_move": _line(claim for claim in claims if statuses[claim] != "superseded"),
        "pending": _line(claim for claim in claims if statuses[claim] == "pending"),
        "replaceable": _line(claim for claim in claims if statuses[claim] not in ("pending", "superseded")),
        "decisions": _line(ids(Column.DECISIONS)),
        "statements": _line(ids(Column.PROPOSAL, Column.SUPPLEMENTS)),
        "artifacts": _line(ids(Column.ARTIFACTS)),
        "verdicts": _line(ids(Column.VERDICTS)),
        "tensions": _line(name for name in ids(Column.FLIPS) if name.startswith("N-")),
        "positions": _line(sealed),
        "failed_drift": _line(failed_drift),
        "roles": _line(_active(scene)) if Column.PLAN in shown else "none",
    }
    lists: dict[str, list[Row]] = {
        "checks": _checks(scene) if scene.step.task == "E.position" else [],
        "sealed": [{}] if sealed else [],
        "unsealed": [] if sealed else [{}],
        "first_round": [{}] if scene.round == 1 else [],
        "later_round": [{}] if scene.round > 1 else [],
        "some_failed_drift": [{}] if failed_drift else [],
        "no_failed_drift": [] if failed_drift else [{}],
    }
    return {**words, **lists}


def _line(words: Iterable[str]) -> str:
    return ", ".join(words) or "none"


def _active(scene: Scene) -> list[str]:
    absent = scene.state.rounds[scene.round].absent
    return [role for role in scene.protocol.role_ids() if role not in (absent, "verifier")]


_CHECKS: Final[Mapping[int, str]] = {
    1: "the critic's attack on the action's traces",
    2: "the guardian's invariant on the observer's walkthrough",
    3: "the observer's friction against the critic's attack",
    4: "all artifacts against earlier decisions",
}


def _checks(scene: Scene) -> list[Row]:
    """The checks that will be asked: the applicable ones that the controller has not written off."""
    round_, checks = scene.round, scene.state.checks
    applicable = scene.state.rounds[round_].applicable
    return [
        {"n": check, "check": _CHECKS[check]}
        for check in applicable
        if check in _CHECKS and f"V-{round_}-{check}" not in checks
    ]


def _own_positions(scene: Scene) -> list[str]:
    own = [event for event in scene.book.of(Position, scene.round) if event.by == scene.step.role]
    own.sort(key=lambda event: event.check_id or 0)
    return [f"check {event.check_id} {event.stance} ({event.id})" for event in own]


def _failed_drift(scene: Scene) -> tuple[tuple[str, int], ...]:
    """Drift checks that failed and that no later one answers: (id, seq). Only a drift check answers them."""
    if scene.step.name.phase != "H":
        return ()
    answered = {facts.addresses for facts in scene.state.drift.values()}
    return tuple(
        (facts.id, facts.seq)
        for _, facts in sorted(scene.state.drift.items())
        if facts.verdict == "FAIL" and facts.id not in answered
    )
