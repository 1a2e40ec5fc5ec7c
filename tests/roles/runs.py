"""Deriving the briefs of the two-round run."""

from __future__ import annotations

from functools import cache

from ledger.state.book import Book, book
from roles.brief import Brief, derive
from roles.prompt_set import PromptSet, installed_prompt_set, read_prompt_set
from roles.protocol import Group, Step
from rounds.protocols.structured import STRUCTURED
from tests.roles.factory import two_rounds


@cache
def installed() -> PromptSet:
    """The installed prompt set, read."""
    return read_prompt_set(installed_prompt_set("structured"))


@cache
def run() -> Book:
    """Return the two-round run."""
    return two_rounds(fillers=1)


def group_of(ledger: Book, step_id: str) -> Group:
    """The group of an answered step, as the protocol named it when the step was open."""
    before = book(ledger.events[: ledger.state.answered[step_id]], ledger.blobs)
    groups = STRUCTURED.groups(before.state, before.state.round)
    return next(group for group in groups if any(step.id == step_id for step in group.steps))


def step_of(ledger: Book, step_id: str) -> Step:
    """An answered step."""
    return next(step for step in group_of(ledger, step_id).steps if step.id == step_id)


def brief_of(ledger: Book, step_id: str, prompt_set: PromptSet | None = None) -> Brief:
    """The brief of an answered step, derived from the whole ledger."""
    return derive(ledger, STRUCTURED, step_of(ledger, step_id), prompt_set or installed())


def steps_of_run() -> tuple[str, ...]:
    """Every step of the run."""
    return tuple(run().state.answered)
