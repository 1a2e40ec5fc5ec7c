"""Plain text for people: one function an output, without colour, the same on a terminal and in a file."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

from moot.output.run import RunEnd
from moot.output.status import Status

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


def status_text(status: Status, caveats: Sequence[str], waiting: Sequence[str]) -> str:
    """What `moot status` prints: caveats first."""
    spend = status.spend
    tokens = f"{spend.tokens_in} tokens in, {spend.tokens_out} out" if spend.tokens_in or spend.tokens_out else ""
    unpriced = f"{spend.unpriced} of unknown cost" if spend.unpriced else ""
    usd = f"{float(spend.usd):.2f} USD" if spend.unpriced < spend.calls else ""
    lines = [
        *caveats,
        f"{status.run}: {status.state}, round {status.round} of {status.rounds_planned}, phase {status.phase}"
        f"   ({status.protocol})",
        *folded(status.question.strip().splitlines()[0] if status.question.strip() else ""),
        "",
        f"leads   {listed([f'R{one.round} {one.lead}' for one in status.leads if one.lead])}",
        f"stress  {listed([_stress(one.round, one.absent, one.done) for one in status.stress])}",
        f"drift   {listed([f'R{one.round} {one.verdict} ({one.deviation_score}/5)' for one in status.drift])}",
        f"calls   {listed([part for part in (str(spend.calls), tokens, usd, unpriced) if part])}",
        f"stop    {_stop(status)}",
    ]
    if waiting:
        lines.append(f"open    {', '.join(waiting)}")
    return joined(lines)


def _stress(round_: int, absent: str, done: bool) -> str:
    return f"R{round_} without {absent}{'' if done else ' (to come)'}"


def _stop(status: Status) -> str:
    stop = status.stop
    if stop is None:
        return "no look at the signals yet"
    said = f"R{stop.round}: {stop.satisfied} of {stop.of} signals ({stop.profile}), {stop.advice.replace('_', ' ')}"
    if stop.stop and not stop.obeyed:
        said += f"; says stop, obeyed from round {stop.not_before} on"
    return said


def run_end_text(end: RunEnd) -> str:
    """What `moot run` prints last."""
    match end.state:
        case "finished":
            reason = (end.reason or "").replace("_", " ")
            lines = [f"{end.run} is finished ({reason})", f"decisions: moot decisions {end.run}"]
        case "waiting":
            lines = [
                f"{end.run} waits for {len(end.waiting)} replies:",
                *(f"  {step}" for step in end.waiting),
                f"briefs:  moot next {end.run}",
                f"replies: moot submit {end.run} {end.waiting[0] if end.waiting else 'STEP'} reply.json",
            ]
        case _:
            reason = (end.reason or "").replace("_", " ")
            lines = [f"{end.run} is stopped ({reason})", f"go on: moot run --resume {end.run}"]
    return joined(lines)
