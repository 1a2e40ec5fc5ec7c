"""Openings that are not opened yet: what a protocol or a plan would take for a question, in replies and dollars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from moot import version
from moot.app.seat_specs import choose, model_of
from moot.app.seats import prices_in_force
from moot.app.settings import COMMAND_LINE, RunOptions, deliberation_of
from moot.errors import usage
from moot.view.estimate import Estimate, estimate_of
from moot.view.protocols import Choice, Gated, Protocols, choice_of, gated_of, protocols as protocols_of
from roles.seats.registry import DEFAULT
from rounds.protocols import PROTOCOLS
from rounds.protocols.plans import PLANS
from rounds.setup import gate as rules
from rounds.setup.deliberation import checked
from rounds.setup.opening import Opening, cast_roles, resolve
from rounds.setup.toml_file import nearest


def estimate_for(opening: Opening, specs: Mapping[str, str], name: str) -> Estimate:
    """Return what a run may take in replies, tokens, dollars and time. `specs` maps each role to its seat."""
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
    # Some protocols need at least two options or take a limited number: an estimate outside of that would fail.
    least, most = PROTOCOLS[protocol].options_wanted
    # Placeholder options: replies and prices depend on how many options there are, never on their words.
    named = [f"option {n}" for n in range(1, min(max(options, least), most) + 1)]
    subject = {"question": "Which?", "protocol": protocol, "options": named}
    deliberation = checked(
        {"deliberation": subject | ({} if plan is None else {"plan": plan})}, name=COMMAND_LINE
    )
    specs = choose(cast_roles(deliberation, COMMAND_LINE), spec, {}, {})
    estimate = estimate_for(resolve(deliberation, {}, moot=version(), seats=specs), specs, COMMAND_LINE)
    return choice_of(estimate, plan, model_of(spec) or spec)


def gate(
    text: str,
    options: Sequence[str] = (),
    *,
    triggers: Sequence[str] = (),
    compete: bool = False,
    single: bool = False,
) -> Gated:
    """Return the protocol that `moot run` would give a question, and why. No model is asked.

    `text` may name a deliberation file (.toml). `single` is one reply; `compete`, or one of the words in `triggers`,
    rules one reply out. Raises `errors.MootError`.
    """
    if not text.strip():
        what = "there is no question"
        raise usage(what, "say what is to be decided, or name a deliberation file", "moot gate")
    # A question may end in a file name; a space tells that it is a sentence.
    is_file = text.endswith(".toml") and " " not in text
    written = rules.question_of(deliberation_of(text, RunOptions())) if is_file else None
    question = written or rules.GateQuestion(text, len(options))
    question = question._replace(
        triggers=(*question.triggers, *triggers),
        single=question.single or single,
        compete=question.compete or compete,
    )
    try:
        choice = rules.gate(question)
    except rules.GateRefused as error:
        raise usage(str(error), "give one of --single and --compete", "moot gate") from None
    count = question.options or len(choice.items)
    chosen, *also = (choice_for(protocol, count) for protocol in (choice.protocol, *choice.also))
    return gated_of(choice, chosen, also, choices_for(count))


def protocols(name: str | None = None) -> Protocols:
    """Return the protocols with roles, variants and number of replies, the plans and the castings; or one protocol."""
    if name is not None and name not in PROTOCOLS:
        raise usage(f"no protocol {name!r}", f"did you mean {nearest(name, PROTOCOLS)!r}?", "moot gate")
    return protocols_of(name)
