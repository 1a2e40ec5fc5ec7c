"""Openings that are not opened yet: what a protocol or a plan would take for a question, in replies and dollars."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from moot import version
from moot.app.run_options import COMMAND_LINE
from moot.app.seat_specs import choose, model_of
from moot.app.seats import prices_in_force
from roles.seats.registry import DEFAULT, declared_of
from rounds.protocols import PROTOCOLS
from rounds.protocols.plans import PLANS
from rounds.setup.deliberation import checked
from rounds.setup.opening import Opening, Programs, cast_roles, resolve

if TYPE_CHECKING:
    from moot.view.estimate import Estimate
    from moot.view.protocols import Choice
    from rounds.setup.deliberation import Deliberation


def opening_of(
    deliberation: Deliberation,
    documents: Mapping[str, bytes],
    seats: Mapping[str, str],
    *,
    casting: str | None = None,
    name: str = "deliberation.toml",
    params: bytes | None = None,
    experiments: Programs | None = None,
    changes: Collection[str] = (),
) -> Opening:
    """Return the opening of a new run.

    `seats` maps each role to its specification. `params` is the content of the person's own parameter file.
    """
    return resolve(
        deliberation,
        documents,
        moot=version(),
        name=name,
        casting=casting,
        seats={role: declared_of(spec) for role, spec in seats.items()},
        params=params,
        experiments=experiments,
        changes=changes,
    )


def estimate_for(opening: Opening, specs: Mapping[str, str], name: str) -> Estimate:
    """Return what a run may take in replies, tokens, dollars and time. `specs` maps each role to its seat."""
    from moot.view.estimate import estimate_of

    # Commands, people and hosts name no model, so they have no price and stay out of the table.
    models = {spec: model for spec in specs.values() if (model := model_of(spec)) is not None}
    return estimate_of(name, opening.event, specs, models, prices_in_force())


def choices_for(options: int) -> list[Choice]:
    """Return every protocol and plan that a question with this many options could be given to, the shortest first."""
    choices = [
        choice_for(protocol.name, options, plan=plan)
        for protocol in PROTOCOLS.values()
        # A protocol with a fixed plan is one choice; every other one can be run with each of the plans.
        for plan in ((None,) if protocol.fixed_plan else PLANS)
    ]
    # By name among equals, so that the list is the same in every process.
    return sorted(choices, key=lambda choice: (choice.replies, choice.protocol))


def choice_for(protocol: str, options: int, spec: str = DEFAULT, *, plan: str | None = None) -> Choice:
    """Return what a protocol takes for a question with this many options and `spec` in every seat."""
    from moot.view.protocols import choice_of

    # Some protocols need at least two options or take a limited number: an estimate outside of that would fail.
    least, most = PROTOCOLS[protocol].options_wanted
    # Placeholder options: replies and prices depend on how many options there are, never on their words.
    named = [f"option {n}" for n in range(1, min(max(options, least), most) + 1)]
    subject = {"question": "Which?", "protocol": protocol, "options": named}
    deliberation = checked(
        {"deliberation": subject | ({} if plan is None else {"plan": plan})}, name=COMMAND_LINE
    )
    specs = choose(cast_roles(deliberation, COMMAND_LINE), spec, {}, {})
    estimate = estimate_for(opening_of(deliberation, {}, specs), specs, COMMAND_LINE)
    return choice_of(estimate, plan, model_of(spec) or spec)
