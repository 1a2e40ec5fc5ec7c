"""Build the task: the reply to return and every id it may name, so that a seat needs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from ledger.events import Event, Identified, Position, Statement
from ledger.events.envelope import Status
from ledger.events.ids import event_id, kind_of
from ledger.state.lifecycle import STATUSES, TESTED
from roles.brief.columns import ColumnShown
from roles.brief.context import Block, BriefContext
from roles.brief.records import KINDS, lost, picks, target_of
from roles.objections import objection_in
from roles.prompt_set import Row, Text, Values, names, template
from roles.protocol import Column, Protocol

Columns = Mapping[Column, ColumnShown]
"""Column → its content in the brief."""


def task_block(context: BriefContext, columns: Columns) -> Block:
    """Return the task block of the step."""
    path = f"tasks/{context.step.task}"
    used = names(template(context.prompt_set, path))
    task = context.rendered(path, _values(context, columns, used)).rstrip("\n")
    return Block("task", context.rendered("blocks/task", {"step": context.step.id, "task": task}), "step")


def failed_drift(context: BriefContext) -> tuple[tuple[str, int], ...]:
    """Return (id, seq) of failed drift checks that no later one addresses; empty outside the drift check phase (H)."""
    if context.step.name.phase != "H":
        return ()
    answered = {facts.addresses for facts in context.state.drift.values()}
    return tuple(
        (facts.id, facts.seq)
        for _, facts in sorted(context.state.drift.items())
        if facts.verdict == "FAIL" and facts.id not in answered
    )


def _values(context: BriefContext, columns: Columns, used: frozenset[str]) -> Values:
    if context.layout.words == "records":
        return _of_records(context, columns)
    # Most values scan every shown claim, so only those that the template uses are computed.
    variants = _variants(context.protocol, context.opened.rules)
    return variants | {name: _OF_COLUMNS[name](context, columns) for name in used if name in _OF_COLUMNS}


# ---------------------------------------------------------------- words of columns


def _ids(columns: Columns, *names: Column) -> list[str]:
    return [quoted.name for name in names for quoted in (columns[name].quotations if name in columns else ())]


def _options(context: BriefContext, columns: Columns) -> str:
    del columns
    whole = context.view.get(Column.QUESTION)
    return _line(option.id for option in context.opened.options if whole and whole.extent != "goals")


def _claims(statuses: Collection[Status]) -> Callable[[BriefContext, Columns], str]:
    """Return a function that lists the ids of shown claims with one of these statuses."""

    def line(context: BriefContext, columns: Columns) -> str:
        facts, named = context.state.claims, _ids(columns, Column.OLD_CLAIMS, Column.CLAIMS)
        return _line(claim for claim in named if facts[claim].status in statuses)

    return line


def _objections(context: BriefContext, columns: Columns) -> list[str]:
    """Return the ids of shown reviews and retrospectives of other roles that hold an objection."""
    events = (context.book.by_id[name] for name in _ids(columns, Column.FLIPS))
    others = (event for event in events if isinstance(event, Statement) and event.by != context.step.role)
    return [event.id for event in others if objection_in(event)]


def _once_if(holds: object) -> Sequence[Row]:
    return [{}] if holds else []


def _sealed(context: BriefContext, columns: Columns) -> list[str]:
    return _own_positions(context) if Column.POSITIONS in columns else []


def _line(words: Iterable[str]) -> str:
    return ", ".join(words) or "none"


def _active(context: BriefContext) -> list[str]:
    absent = context.state.rounds[context.round].absent
    return [role for role in context.protocol.role_ids() if role not in (absent, "verifier")]


_CHECKS: Final[Mapping[int, str]] = {
    1: "the critic's attack on the action's traces",
    2: "the guardian's invariant on the observer's walkthrough",
    3: "the observer's friction against the critic's attack",
    4: "all artifacts against earlier decisions",
}


def _checks(context: BriefContext) -> list[Row]:
    """Return the checks that will be requested: the applicable ones without a verdict by the controller."""
    round_, checks = context.round, context.state.checks
    applicable = context.state.rounds[round_].applicable
    return [
        {"n": check, "check": _CHECKS[check]}
        for check in applicable
        if check in _CHECKS and event_id("verification", round_, check) not in checks
    ]


def _own_positions(context: BriefContext) -> list[str]:
    own = [event for event in context.of(Position, context.round) if event.by == context.step.role]
    own.sort(key=lambda event: event.check_id or 0)
    return [f"check {event.check_id} {event.stance} ({event.id})" for event in own]


_PENDING: Final[tuple[Status, ...]] = ("pending",)
_OF_COLUMNS: Final[Mapping[str, Callable[[BriefContext, Columns], Text | Sequence[Row]]]] = {
    "round": lambda context, _: context.round,
    "role": lambda context, _: context.step.role,
    "goals": lambda context, _: _line(goal.id for goal in context.opened.goals),
    "options": _options,
    "claims": _claims(STATUSES),
    "may_move": _claims((*_PENDING, *TESTED)),
    "pending": _claims(_PENDING),
    "replaceable": _claims(TESTED),
    "decisions": lambda _, columns: _line(_ids(columns, Column.DECISIONS)),
    "statements": lambda _, columns: _line(_ids(columns, Column.PROPOSAL, Column.SUPPLEMENTS)),
    "artifacts": lambda _, columns: _line(_ids(columns, Column.ARTIFACTS)),
    "verdicts": lambda _, columns: _line(_ids(columns, Column.VERDICTS)),
    "tensions": lambda _, columns: _line(
        name for name in _ids(columns, Column.FLIPS) if kind_of(name) == "concern"
    ),
    "objections": lambda context, columns: _line(_objections(context, columns)),
    "positions": lambda context, columns: _line(_sealed(context, columns)),
    "failed_drift": lambda context, _: _line(identity for identity, _ in failed_drift(context)),
    "roles": lambda context, columns: _line(_active(context)) if Column.PLAN in columns else "none",
    "checks": lambda context, _: _checks(context) if context.step.task == "E.position" else [],
    "sealed": lambda context, columns: _once_if(_sealed(context, columns)),
    "unsealed": lambda context, columns: _once_if(not _sealed(context, columns)),
    "first_round": lambda context, _: _once_if(context.round == 1),
    "later_round": lambda context, _: _once_if(context.round > 1),
    "some_failed_drift": lambda context, _: _once_if(failed_drift(context)),
    "no_failed_drift": lambda context, _: _once_if(not failed_drift(context)),
}
"""Name in a template → function of its value."""


# ---------------------------------------------------------------- words of records


def _of_records(context: BriefContext, columns: Columns) -> Values:
    """Return ids by kind (all, own, others'), goals, options, named variants and lost steps."""
    missing: list[Row] = [{"lost": step} for pick in picks(context) for step in lost(context, pick)]
    return {
        "round": context.round,
        "role": context.step.role,
        "focus": _focus(context),
        "target": target_of(context.step.name) or "",
        "goals": _line(goal.id for goal in context.opened.goals),
        "options": _line(option.id for option in context.state.options),
        # Claims that the protocol shows to this step.
        "claims": _line(name for name in _ids(columns, Column.TOLD) if name in context.state.claims),
        "roles": _line(context.state.roles),
        "some_lost": _once_if(missing),
        "missing": missing,
        "first_round": _once_if(context.round == 1),
        "later_round": _once_if(context.round > 1),
        **dict(_ids_by_kind(context, columns)),
        **_variants(context.protocol, context.opened.rules),
    }


def _ids_by_kind(context: BriefContext, columns: Columns) -> Iterator[tuple[str, str]]:
    events: list[Event] = []
    if Column.RECORD in columns:
        events = [context.book.events[seq] for each in columns[Column.RECORD].quotations for seq in each.seqs]
    for kind in KINDS:
        of_kind = [event for event in events if event.kind == kind and isinstance(event, Identified)]
        yield f"{kind}s", _line(event.id for event in of_kind)
        yield f"own_{kind}s", _line(event.id for event in of_kind if event.by == context.step.role)
        yield f"other_{kind}s", _line(event.id for event in of_kind if event.by != context.step.role)


def _focus(context: BriefContext) -> str:
    """Return the plan's focus of the round, or `none`."""
    # The focus is the plan's own text and never comes from the question, so it needs no bars.
    rows = [row for row in context.opened.plan if row.round == context.round]
    return (rows[0].focus if rows else None) or "none"


def _variants(protocol: Protocol, rules: Mapping[str, object]) -> dict[str, str | Sequence[Row]]:
    """Return every named variant as a word, and as lists `rule_value`, of which only the one in force is not empty."""
    values: dict[str, str | Sequence[Row]] = {}
    for rule, known in protocol.variants.items():
        chosen = rules.get(rule, known[0])
        values[rule] = str(chosen)
        for value in known:
            values[f"{rule}_{value}"] = [{}] if chosen == value else []
    return values
