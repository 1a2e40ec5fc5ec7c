"""Plain text for people: one function an output, without colour, the same on a terminal and in a file."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from moot.view.output.outcome import headline
from moot.view.words import going_on

if TYPE_CHECKING:
    from detectors.standing import Standing
    from moot.view.output.claims import Claims
    from moot.view.output.decisions import Decisions
    from moot.view.output.new import NewFile
    from moot.view.output.protocols import Protocols
    from moot.view.output.replay import Replay
    from moot.view.output.run import RunEnd

WIDTH = 100


def folded(text: str, indent: int = 2) -> list[str]:
    """A text over several lines, indented."""
    margin = " " * indent
    return textwrap.wrap(text, WIDTH, initial_indent=margin, subsequent_indent=margin) or [margin.rstrip()]


def joined(lines: Iterable[str]) -> str:
    """Lines as a text that ends with a line feed; nothing when there are none."""
    text = "\n".join(lines)
    return f"{text}\n" if text else ""


def listed(words: Sequence[str], nothing: str = "none") -> str:
    """`a, b, c`, or what stands for nothing."""
    return ", ".join(words) or nothing


def run_end_text(end: RunEnd) -> str:
    """What `moot run` prints last: what the run rests on, then how it ended."""
    first = headline(end.outcome)
    lines = [first] if first and (end.state != "waiting" or end.outcome.lost) else []
    match end.state:
        case "finished":
            reason = (end.reason or "").replace("_", " ")
            lines += [f"{end.run} is finished ({reason})", f"decisions: moot decisions {end.run}"]
        case "waiting" if not end.waiting:
            lines += [
                f"{end.run} is held up until a person decides",
                f"why:     moot status {end.run}",
                f"go on:   moot override {end.run} @SEQ 'why it is harmless'   (the @ that status names)",
            ]
        case "waiting":
            lines += [
                f"{end.run} waits for {len(end.waiting)} {'reply' if len(end.waiting) == 1 else 'replies'}:",
                *(f"  {step}" for step in end.waiting),
                f"briefs:  moot next {end.run}",
                f"replies: moot submit {end.run} {end.waiting[0] if end.waiting else 'STEP'} reply.json",
            ]
        case _:
            reason = (end.reason or "").replace("_", " ")
            lines += [f"{end.run} is stopped ({reason})", f"go on: {going_on(end.run, end.reason)}"]
    return joined(lines)


STATUS_MARKS = {
    "pending": "… pending",
    "tested_confirmed": "✓ confirmed",
    "tested_refuted": "✗ refuted",
    "partially_refuted": "◐ partly refuted",
    "tested_unclear": "? unclear",
    "superseded": "→ superseded",
}
STANDING_MARKS = {"in_force": "in force", "at_risk": "AT RISK", "overturned": "overturned"}


def claims_text(found: Claims) -> str:
    """What `moot claims` prints: each claim, its test, and its moves."""
    lines: list[str] = []
    for claim in found.claims:
        lines.append(f"{claim.id}  {STATUS_MARKS[claim.status]}  raised by {claim.raised_by}")
        lines += folded(claim.text)
        lines += folded(f"testable as: {claim.testable_as}")
        if claim.supersedes:
            lines.append(f"  supersedes {claim.supersedes}")
        lines += [
            f"    {STATUS_MARKS[move.from_]} → {STATUS_MARKS[move.to]} by {move.by}"
            f"{f' ({move.bearing})' if move.bearing else ''} @{move.seq}"
            for move in claim.history
        ]
        lines += standing_lines(claim.standing)
    counts: Counter[str] = Counter(claim.status for claim in found.claims)
    parts = [f"{counts[status]} {mark[2:]}" for status, mark in STATUS_MARKS.items() if counts[status]]
    lines.append(f"{len(found.claims)} claims: {listed(parts)}")
    for option in found.options:
        mean = "none tested" if option.strength is None else f"mean strength {option.strength:.2f}"
        told = f"{option.confirmed} confirmed, {option.contested} contested, {option.refuted} refuted"
        lines.append(f"{option.option} by arguments: {told}, {option.untested} without an argument ({mean})")
    return joined(lines)


def standing_lines(standing: Standing) -> list[str]:
    """A claim's standing by its arguments, and the arguments; nothing while it has none."""
    if standing.label == "untested":
        return []
    lines = [
        f"    by arguments: {standing.label} {standing.strength:.2f}, grounded {standing.grounded},"
        f" probability {standing.probability:.2f}"
    ]
    for one in standing.arguments:
        attacked = f", attacked by {listed(one.attacked_by)}" if one.attacked_by else ""
        lines.append(f"      {one.by} {one.side} {one.strength:.2f}{attacked}")
    return lines


def decisions_text(found: Decisions, caveats: Sequence[str]) -> str:
    """What `moot decisions` prints: caveats, then each decision down to what it cites."""
    from ledger.events.conditions import Conditions

    marks = {**STATUS_MARKS, **STANDING_MARKS}
    lines = list(caveats)
    for decision in found.decisions:
        place = f" in place of {decision.in_place_of}" if decision.in_place_of else ""
        stands = (
            f"overturned by {decision.overturned_by}"
            if decision.overturned_by
            else STANDING_MARKS[decision.standing]
        )
        lines.append(f"{decision.id}  {decision.type}{place}, {stands}   ({decision.made_by})")
        lines += folded(decision.text)
        for one in decision.fallen if decision.standing == "at_risk" else ():
            through = f", through {listed(one.through)}" if one.through else ""
            before = ", before this was decided" if one.before else ""
            lines.append(f"    at risk: {one.id} {marks[one.status]}{through}{before}")
        for cite in decision.cites:
            stands = f" {marks.get(cite.stands, cite.stands)}" if cite.stands else ""
            lines.append(f"    {cite.relation} {cite.id}{stands}")
        told = Conditions(tuple(decision.falsifiers), tuple(decision.requirements)).told()
        lines += [f"    {word}: {text}" for word, text in told]
        lines += [f"    {one.role} had expected another verdict ({one.ref})" for one in decision.had_expected]
    lines.append("1 decision" if len(found.decisions) == 1 else f"{len(found.decisions)} decisions")
    if cited := [
        cite.id for decision in found.decisions for cite in decision.cites if cite.type == "verification"
    ]:
        lines.append(f"what a verdict saw and quotes: moot log {found.run} {cited[-1]}")
    return joined(lines)


def protocols_text(found: Protocols) -> str:
    """What `moot protocols` prints."""
    lines: list[str] = []
    for protocol in found.protocols:
        lines += [f"{protocol.name}   {protocol.summary}", f"  for {protocol.fits}; calls: {protocol.calls}"]
        lines += [f"  {role.id:<16} {role.question}" for role in protocol.roles]
        lines += [
            f"  --rule {rule}={'|'.join(values)}   {protocol.meanings[rule]}"
            for rule, values in protocol.rules.items()
        ]
    lines += ["", "plans"] if found.plans else []
    for plan in found.plans:
        stress = listed([f"R{n}" for n in plan.stress])
        lines.append(
            f"  {plan.name:<12} {plan.rounds} rounds, stress {stress}, drift {listed([f'R{n}' for n in plan.drift])}"
        )
    lines += ["", f"castings   {', '.join(found.castings)}"] if found.castings else []
    return joined(lines)


def replay_text(found: Replay) -> str:
    """What `moot replay --re-execute` prints."""
    if found.identical:
        return f"✓ identical: {found.events} events executed again, head {found.head}\n"
    lines = [f"✗ {one.kind} @{one.seq}: {one.what}" for one in found.divergences]
    rules = any(one.kind == "rules" for one in found.divergences)
    lines.append(
        f"{'diverged: rules' if rules else 'diverged'}; head {found.head}, recorded {found.expected_head}"
    )
    return joined(lines)


def new_text(found: NewFile) -> str:
    """What `moot new` prints."""
    stress = listed([f"R{n}" for n in found.stress], "no stress round")
    lines = [
        f"{found.file}: {found.protocol}, {found.rounds} rounds, stress {stress}, at most {found.replies} replies",
        *(f"WAIVED {what}: it will be said before every verdict" for what in found.waived),
        f"change it as you like, then: moot run {found.file} --seats host",
    ]
    return joined(lines)
