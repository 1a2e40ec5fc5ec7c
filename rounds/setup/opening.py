"""Opening of a run: a deliberation with everything decided, as the first event of the ledger (FORMAT 2, 9, 10)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final, NamedTuple

from detectors.parameters import DEFAULT_PROFILE, PROFILES, params_bytes, params_hash
from ledger.events import RunOpened
from ledger.events.ids import label_id
from ledger.events.run import (
    Budgets,
    CastMember,
    ContextDocument,
    Labelled,
    Origin,
    PlanRow,
    Prediction,
    StopRule,
    Waiver,
)
from ledger.plain_json import converted
from ledger.plain_text import NotText, readable
from ledger.state.state import EXPERIMENTS, INTERPRETER, Experiments
from ledger.store.blobs import KEPT_PARAMETERS, hash_of
from roles.castings import Casting, UnknownCasting, cast_of, own_casting
from roles.prompt_set import installed_prompt_set
from roles.protocol import Protocol, Rules
from roles.seats.registry import PROVIDERS, declared_of
from rounds.protocols import DEFAULT_PROTOCOL, PROTOCOLS
from rounds.protocols.plans import (
    PlanRefused,
    WrittenRow,
    default_predictions,
    looks_every,
    obeyed_from,
    planned,
    without_stress,
)
from rounds.screening import RULES_VERSION
from rounds.setup.deliberation import (
    CastRow,
    Deliberation,
    Document,
    Predicted,
    RoundRow,
    chosen_rules,
    to_toml,
)
from rounds.setup.gate import REASONS, ROUTE, GateChoice, GateRefused, routed
from rounds.setup.toml_file import DeliberationError, nearest

NO_STRESS: Final = Waiver(
    what="stress",
    why="The deliberation file says no_stress: nobody is ever absent, so nothing shows what a role contributes.",
)
NO_POSITIONS: Final = Waiver(
    what="positions",
    why="The deliberation file says positions = off: without sealed positions, giving in cannot be told from agreeing.",
)


@dataclass(frozen=True, slots=True)
class Opening:
    """Beginning of a run: its first event, the blobs that the event names, and the resolved file's text."""

    event: RunOpened
    blobs: Mapping[str, bytes]
    toml: str


class Programs(NamedTuple):
    """A person's permission to run programs in a sandbox, `on` or `ask`, and the interpreter that runs them."""

    word: Experiments
    interpreter: str


def resolve(
    deliberation: Deliberation,
    documents: Mapping[str, bytes],
    *,
    moot: str,
    name: str = "deliberation.toml",
    casting: str | None = None,
    seats: Mapping[str, str] | None = None,
    params: bytes | None = None,
    experiments: Programs | None = None,
    changes: Collection[str] = (),
) -> Opening:
    """Decide everything that the file leaves open.

    `documents`: the bytes of every `[[context]] path`, by path. `casting` names one of the installed castings;
    `seats` gives the kind of seat by role, which overrides the file. `name` is what errors call the file. `params`
    are thresholds for the profile `gates` in the place of the installed ones. `experiments`: a person allowed that
    programs of replies run in a sandbox; a request of the file is no permission. `changes`: names of the texts
    that are diffs moot computed itself. Pure: equal arguments give equal bytes. Raises `DeliberationError`.
    """
    deliberation, choice = _routed(deliberation, name)
    subject = deliberation.deliberation
    question, protocol = subject.question, _protocol(subject.protocol, name)
    _wanted_options(protocol, subject.options, name)
    rules = chosen_rules(deliberation, protocol, name) | {"screening": RULES_VERSION}
    if choice is not None:
        rules |= {ROUTE: choice.protocol, REASONS: choice.reason}
    # Only the person who runs moot can allow programs; a deliberation file may come from somewhere else.
    if experiments is not None:
        if not protocol.raises_claims:
            able = ", ".join(other.name for other in PROTOCOLS.values() if other.raises_claims)
            what = f"{protocol.name} has no claims to test"
            raise DeliberationError(what, name, f"choose one of {able}, or leave --experiments out")
        rules |= {EXPERIMENTS: experiments.word, INTERPRETER: experiments.interpreter}
    # `crux` plans tests by this rule, so its absence must be written down and not left open.
    elif protocol.profile == "crux":
        rules[EXPERIMENTS] = "off"
    plan = _plan(deliberation, protocol, rules, name)
    context, contents = _context(deliberation.context, documents, name, changes)
    prompt_set = installed_prompt_set(protocol.prompts)
    event = RunOpened(
        round=0,
        phase="open",
        by="controller",
        protocol=protocol.name,
        question=question,
        domain=subject.domain,
        # Without goals the question is the goal, so that drift checks have something to compare with.
        goals=_labelled("G", subject.goals or (question[:8_000],)),
        options=_labelled("O", subject.options),
        context=context,
        cast=_cast(deliberation, protocol, rules, casting, seats or {}, name),
        plan=plan,
        predict=_predictions(deliberation, plan, protocol, name),
        stop=_stop_rule(deliberation, protocol, plan, name, params),
        budgets=Budgets(**dict(deliberation.budget)),
        prompt_set=hash_of(prompt_set),
        seed=subject.seed,
        rules=rules,
        origin=Origin(type="new"),
        moot=moot,
        waived=(
            *([NO_STRESS] if subject.no_stress else []),
            *([NO_POSITIONS] if rules.get("positions") == "off" else []),
        ),
    )
    # The file beside the run says everything outright: a later version may choose other defaults.
    toml = to_toml(resolved(deliberation, event, fixed_plan=protocol.fixed_plan))
    # Thresholds travel with the run, so it can be judged later by those that it was opened with.
    profile = event.stop.profile
    kept = {event.stop.params: params or params_bytes(profile)} if profile in KEPT_PARAMETERS else {}
    return Opening(event, {hash_of(prompt_set): prompt_set, **contents, **kept}, toml)


def resolved(deliberation: Deliberation, event: RunOpened, *, fixed_plan: bool = False) -> Deliberation:
    """Return the deliberation that states everything in `event`; documents are named by the run's blobs.

    That includes documents that the file never named, because an import brought them. With a `fixed_plan` the rounds
    follow from the protocol and are not written.
    """
    subject = deliberation.deliberation.model_copy(
        update={
            "domain": event.domain,
            "goals": tuple(goal.text for goal in event.goals),
            # The rows are written out, and a plan's name beside them would be a contradiction.
            "plan": None,
            "profile": event.stop.profile if event.stop.profile in PROFILES else None,
            "not_before": event.stop.not_before,
            "check_every": event.stop.check_every,
            "positions": event.rules.get("positions"),
        }
    )
    return deliberation.model_copy(
        update={
            "deliberation": subject,
            "round": ()
            if fixed_plan
            else tuple(
                RoundRow(n=row.round, absent=row.absent, drift=row.drift, phases=row.phases, focus=row.focus)
                for row in event.plan
            ),
            "predict": tuple(
                Predicted.model_validate(prediction, from_attributes=True) for prediction in event.predict
            ),
            "context": tuple(
                written
                if written is not None and written.text is not None
                else Document(name=kept.name, path=f"blobs/{kept.sha256}")
                for kept, written in zip_longest(event.context, deliberation.context[: len(event.context)])
            ),
            "cast": {
                member.role: CastRow(title=member.title, charge=member.charge, seat=_spoken(member.seat))
                for member in event.cast
            },
        }
    )


def cast_roles(deliberation: Deliberation, name: str = "deliberation.toml") -> tuple[str, ...]:
    """Return the roles that the run will have, in protocol order. Raises `DeliberationError`."""
    deliberation, _ = _routed(deliberation, name)
    protocol = _protocol(deliberation.deliberation.protocol, name)
    rules = chosen_rules(deliberation, protocol, name)
    return protocol.cast(rules) if protocol.cast else protocol.role_ids()


def with_casting(deliberation: Deliberation, casting: str | None) -> Deliberation:
    """Return the deliberation with its protocol, and every title and charge spelled out. Raises `DeliberationError`."""
    deliberation, _ = _routed(deliberation, "casting")
    protocol = _protocol(deliberation.deliberation.protocol, "casting")
    rules = chosen_rules(deliberation, protocol, "casting")
    members = _cast(deliberation, protocol, rules, casting, {}, "casting")
    cast = deliberation.cast
    rows = {
        member.role: CastRow(
            title=member.title,
            charge=member.charge,
            seat=cast[member.role].seat if member.role in cast else None,
        )
        for member in members
    }
    return deliberation.model_copy(update={"cast": rows})


def _spoken(seat: str) -> str | None:
    """Return a kind of seat that is a whole specification by itself; a tape or a command must be named again."""
    # A file beside a run may be copied to another machine; a command in it must never start by itself there.
    row = PROVIDERS.get(seat)
    is_whole = row is not None and not row.is_rest_needed and row.runs != "program"
    return seat if is_whole else None


def _routed(deliberation: Deliberation, name: str) -> tuple[Deliberation, GateChoice | None]:
    try:
        return routed(deliberation)
    except GateRefused as error:
        raise DeliberationError(str(error), name, "leave one of them out of [gate]") from None


def _protocol(named: str | None, name: str) -> Protocol:
    wanted = named or DEFAULT_PROTOCOL
    if wanted not in PROTOCOLS:
        raise DeliberationError(
            f"no protocol {wanted!r}",
            name,
            f"did you mean {nearest(wanted, PROTOCOLS)!r}? see `moot gate`",
        )
    return PROTOCOLS[wanted]


def _wanted_options(protocol: Protocol, options: Sequence[str], name: str) -> None:
    least, most = protocol.options_wanted
    if not least <= len(options) <= most:
        wanted = f"at least {least}" if len(options) < least else f"at most {most}"
        raise DeliberationError(
            f"{protocol.name} compares {wanted} options, not {len(options)}",
            name,
            "name each with --option (options = […] in a file), or choose another protocol such as crux",
        )


def _plan(deliberation: Deliberation, protocol: Protocol, rules: Rules, name: str) -> tuple[PlanRow, ...]:
    if protocol.fixed_plan:
        _refuse_plan(deliberation, protocol, name)
        return protocol.plan(rules, len(deliberation.deliberation.options))
    rows = [WrittenRow(row.n, row.absent, row.drift, row.phases, row.focus) for row in deliberation.round]
    try:
        plan = planned(deliberation.deliberation.plan, rows)
    except PlanRefused as error:
        raise DeliberationError(str(error), name, "fix the [[round]] rows, or name a plan") from None
    return without_stress(plan) if deliberation.deliberation.no_stress else plan


def _refuse_plan(deliberation: Deliberation, protocol: Protocol, name: str) -> None:
    """Refuse a plan of another protocol: a short protocol has its own rounds and no absent role."""
    subject = deliberation.deliberation
    for what, value in (
        ("plan", subject.plan),
        ("[[round]] rows", deliberation.round),
        ("[[predict]] rows", deliberation.predict),
        ("no_stress", subject.no_stress),
    ):
        if value:
            raise DeliberationError(
                f"{protocol.name} has its own rounds and takes no {what}",
                name,
                'leave it out, or choose protocol = "structured"',
            )


def _labelled(letter: str, texts: Sequence[str]) -> tuple[Labelled, ...]:
    return tuple(Labelled(id=f"{letter}-{n}", text=text) for n, text in enumerate(texts, 1))


def _context(
    written: Sequence[Document], documents: Mapping[str, bytes], name: str, changes: Collection[str]
) -> tuple[tuple[ContextDocument, ...], dict[str, bytes]]:
    entries: list[ContextDocument] = []
    blobs: dict[str, bytes] = {}
    for number, document in enumerate(written, 1):
        content = document.text.encode() if document.text is not None else documents[document.path or ""]
        try:
            # Read as text once, here: what seats see later is exactly the content that is hashed.
            content = readable(content).encode()
        except NotText as error:
            what = f"context document {document.name!r} is {error}"
            raise DeliberationError(what, document.path or name, error.fix) from None
        if not content.strip():
            what = f"context document {document.name!r} is empty"
            raise DeliberationError(what, document.path or name, "leave it out, or give text")
        sha256 = hash_of(content)
        entries.append(
            ContextDocument(
                id=label_id("document", number),
                name=document.name,
                sha256=sha256,
                bytes=len(content),
                # A path in a deliberation file is never a change: only moot's own reader makes them.
                change=document.text is not None and document.name in changes,
            )
        )
        blobs[sha256] = content
    return tuple(entries), blobs


def _cast(
    deliberation: Deliberation,
    protocol: Protocol,
    rules: Rules,
    casting: str | None,
    seats: Mapping[str, str],
    name: str,
) -> tuple[CastMember, ...]:
    roles = protocol.cast(rules) if protocol.cast else protocol.role_ids()
    for role in (*deliberation.cast, *seats):
        if role not in roles:
            raise DeliberationError(
                f"no role {role!r} in protocol {protocol.name}",
                name,
                f"did you mean {nearest(role, roles)!r}?",
            )
    chosen = _casting(protocol, casting, deliberation.deliberation.domain)
    members: list[CastMember] = []
    for role in roles:
        row = deliberation.cast.get(role, CastRow())
        # The row of the file wins over the casting, and a seat of the command line wins over both.
        title, charge = chosen[role]
        # Without any seat the host answers: nothing is called that a person did not name.
        seat = declared_of(seats.get(role) or row.seat or "host")
        kind = seat.partition(":")[0]
        if kind not in PROVIDERS:
            meant = nearest(kind, PROVIDERS)
            raise DeliberationError(f"no seat {kind!r} for {role}", name, f"did you mean {meant!r}?")
        members.append(
            CastMember(role=role, title=row.title or title, charge=row.charge or charge, seat=seat)
        )
    return tuple(members)


def _casting(protocol: Protocol, casting: str | None, domain: str | None) -> Casting:
    if not protocol.has_castings:
        if casting is not None:
            raise DeliberationError(
                f"castings are for structured; {protocol.name} has its own", "casting", "write [cast.<role>]"
            )
        return own_casting(protocol.roles)
    if casting is None and domain is None and all(role.title for role in protocol.roles):
        return own_casting(protocol.roles)  # its roles fit every question; a domain casts them closer to it
    try:
        return cast_of(casting, domain)
    except UnknownCasting as error:
        raise DeliberationError(
            str(error), "casting", "choose one of these, or write [cast.<role>]"
        ) from None


def _predictions(
    deliberation: Deliberation, plan: Sequence[PlanRow], protocol: Protocol, name: str
) -> tuple[Prediction, ...]:
    """Return default signatures of the roles that will be absent; the file's texts override and extend them."""
    roles = protocol.role_ids()
    predictions = {
        (prediction.role, prediction.code): prediction
        for prediction in default_predictions([row.absent for row in plan if row.absent])
    }
    for row in deliberation.predict:
        if row.role not in roles:
            raise DeliberationError(
                f"a prediction for {row.role!r}, which is no role",
                name,
                f"did you mean {nearest(row.role, roles)!r}?",
            )
        predictions[row.role, row.code] = converted(row, Prediction, from_attributes=True)
    return tuple(predictions.values())


def _stop_rule(
    deliberation: Deliberation, protocol: Protocol, plan: Sequence[PlanRow], name: str, params: bytes | None
) -> StopRule:
    subject = deliberation.deliberation
    if protocol.profile == "crux":
        if subject.profile or params:
            what = f"{protocol.name} stops by its own rule and takes no profile"
            raise DeliberationError(
                what, name, "leave profile and params out; `stakes` says what a test may cost"
            )
        return StopRule(profile="crux", params=params_hash("crux"), check_every=1, not_before=1)
    profile = subject.profile or DEFAULT_PROFILE
    if params is not None and profile != "gates":
        raise DeliberationError(
            f"profile {profile} has no thresholds of one's own",
            name,
            "leave params out, or say profile=gates",
        )
    named = subject.plan or ("" if deliberation.round else "standard-13")
    return StopRule(
        profile=profile,
        params=params_hash(profile) if params is None else hash_of(params),
        check_every=subject.check_every or looks_every(plan),
        not_before=subject.not_before or obeyed_from(named, plan),
    )
