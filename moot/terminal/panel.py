"""The stop panel: what decides whether the run stops. With all: inputs, failure modes, what is open, what comes next.

console.print(panel(run.book, signals(run)))
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from detectors.course import course
from detectors.parameters import GateParameters
from detectors.report import AlarmReading, Signal, SignalReport
from detectors.stopping.questions import deciding_questions
from ledger.events import Claim, Concern, Decision
from ledger.plain_text import counted, one_line, shortened
from ledger.state.book import Book
from ledger.state.decided import fallen_under, outcome
from ledger.state.lifecycle import OPEN
from ledger.state.state import State
from moot.terminal import theme
from moot.terminal.theme import labels_text
from moot.view import marks, words
from moot.view.labels import labels_of_run
from moot.view.marks import mark_of
from moot.view.seats import one_family_warning, seats_of
from moot.view.stop_checks import alarm_line, because, ended, gate_sentence, gates_held, next_round
from moot.view.text import numbers

TEXT: Final = 140
LISTED: Final = 6
"""Most claims and decisions that are named; the others are counted."""
EVIDENCE: Final = 6
QUESTIONS: Final = 3
"""Most open questions that are quoted."""
ALARMS: Final = 4
"""Most open alarms that are listed."""
OPTION: Final = 40
TOLD_BELOW: Final = frozenset({"ALARM", "UNFINISHED"})
"""Labels that the verdict and the alarms say already."""
E_ALARM: Final = 20
"""The e-value that raises an alarm."""
BY_CHANCE: Final = "by chance at most 1 run in 20 for each mode"
"""Holds for any number of looks and any length of run, if the true rates are the tolerated ones (Ville)."""


def panel(book: Book, report: SignalReport) -> RenderableType:
    """Return the stop checks in at most 20 lines of 80 columns: only what decides.

    `book` and `report` are of the same moment.
    """
    state = book.state
    # The verdict line says these already, and the panel has 20 lines.
    labels = [label for label in labels_of_run(book) if label.kind not in TOLD_BELOW]
    lines = [Text(report.headline, theme.HEADER), *labels_text(labels)]
    if report.profile == "gates":
        lines += [_checked(gate.ok, gate_sentence(gate)) for gate in report.gates if gate.decides]
        deciding = [item.id for item in deciding_questions(state)]
        lines += [Text("  ").append_text(_named(item, book)) for item in deciding[:QUESTIONS]]
    else:
        lines += [_checked(signal.satisfied, f"{signal.name} ({signal.id})") for signal in report.signals]
    open_ones = [alarm for alarm in report.alarms if alarm.is_open]
    lines += [Text(alarm_line(alarm), theme.style_of(marks.ALARMS["ALARM"])) for alarm in open_ones[:ALARMS]]
    if len(open_ones) > ALARMS:
        lines.append(Text(f"and {counted(len(open_ones) - ALARMS, 'more alarm')}: --all"))
    if state.options:
        lines.append(
            Text(
                ", ".join(f"{item.id} {shortened(item.text, OPTION)}" for item in state.options), theme.FAINT
            )
        )
    # The headline may wrap; a long line below it must not push the panel over its 20 lines.
    for line in lines[1:]:
        line.no_wrap, line.overflow = True, "ellipsis"
    return Group(*lines)


def _checked(ok: bool, text: str) -> Text:
    mark = marks.HOLDS if ok else marks.FAILS
    return Text(f"{mark.shape} ", theme.style_of(mark)).append(one_line(text), "default")


def whole_panel(book: Book, report: SignalReport, parameters: GateParameters | None = None) -> RenderableType:
    """Return the panel with what does not decide; `parameters` are the thresholds of the report."""
    state = book.state
    parts: list[RenderableType] = [
        *labels_text(labels_of_run(book)),
        *_head(state, report),
        *_gates(report),
        *_course(state, parameters),
        *_signals(report),
        *_alarms(report),
    ]
    for title, lines in _sections(book):
        parts.append(Text(title, theme.HEADER))
        parts += [Padding(line, (0, 0, 0, 2)) for line in lines]
    return Group(*parts)


def _head(state: State, report: SignalReport) -> Iterator[RenderableType]:
    planned = len(state.opening.plan)
    where = f"round {report.round} of {planned}, after event {report.at}, profile {report.profile}"
    yield Text(f"{report.run}  " if report.run else "", theme.HEADER).append(where, theme.FAINT)
    line = Text(f"{report.headline}  ", theme.HEADER)
    yield line.append(f"({gates_held(report)} hold)").append(_obeyed(state, report), theme.FAINT)
    yield Text(because(report), theme.HEADER)
    if state.closing is not None:
        yield Text(ended(state))


def _obeyed(state: State, report: SignalReport) -> str:
    # An import was stopped or not by its own system, and a finished run has nothing left to obey.
    if not report.stop or state.is_import or state.finished:
        return ""
    first = state.opening.stop.not_before
    if report.round < first:
        return f"  says stop; a run obeys that from round {first} on"
    return "  says stop: synthesis follows at the next look"


def _signals(report: SignalReport) -> Iterator[RenderableType]:
    # Aligned by the longest name, so that the values form a column.
    width = max((len(signal.name) for signal in report.signals), default=0)
    for signal in report.signals:
        mark = marks.HOLDS if signal.satisfied else marks.FAILS
        line = Text(f"{mark.shape} {signal.id} {signal.name:<{width}} ", theme.style_of(mark)).append_text(
            _value(signal)
        )
        yield Padding(line, (0, 0, 0, 2))
        detail = Text(one_line(signal.detail))
        if signal.evidence:
            detail.append(f"  {_evidence(signal.evidence)}", theme.FAINT)
        yield Padding(detail, (0, 0, 0, 7))


def _value(signal: Signal) -> Text:
    """Return the number and its threshold."""
    if signal.value is None:
        return Text("no value yet", theme.FAINT)
    text = Text(_number(signal.value), theme.HEADER)
    return text.append(
        f" against {_number(signal.threshold)}" if signal.threshold is not None else "", theme.FAINT
    )


def _number(value: str) -> str:
    """Return a decimal string without trailing zeros."""
    return f"{float(value):.3f}".rstrip("0").rstrip(".")


def _evidence(ids: list[str]) -> str:
    more = f" +{len(ids) - EVIDENCE}" if len(ids) > EVIDENCE else ""
    return f"[{', '.join(one_line(identity) for identity in ids[:EVIDENCE])}{more}]"


def _course(state: State, parameters: GateParameters | None) -> Iterator[RenderableType]:
    """Yield a number for each round, R1 first."""
    series = course(state, parameters)
    if not series:
        return
    yield Text(f"R1 to R{len(series[0].values)}, round by round", theme.HEADER)
    width = max(len(row.name) for row in series)
    for row in series:
        line = Text(f"  {row.name:<{width}}  {numbers(row.values, row.share)}")
        yield line.append(f"   {row.feeds}", theme.FAINT)


def _alarms(report: SignalReport) -> Iterator[RenderableType]:
    """Failure modes: all of them with their e-values in the profile `gates`, else those that are not clear."""
    if report.profile == "gates":
        yield Text(f"Failure modes by e-value, an alarm from {E_ALARM} on: {BY_CHANCE}", theme.HEADER)
    for alarm in report.alarms:
        # In `gates` every mode has an e-value, which is worth seeing before it alarms.
        if alarm.verdict != "CLEAR" or report.profile == "gates":
            yield _alarm(alarm)


def _alarm(alarm: AlarmReading) -> Text:
    """Return a failure mode: one without an alarm in one short line, where it has an e-value."""
    mark, style = marks.ALARMS[alarm.verdict], theme.style_of(marks.ALARMS[alarm.verdict])
    # How often chance alone would ever produce such a value, where that is known.
    chance = f" (p {alarm.p_anytime})" if alarm.p_anytime not in (None, "1") else ""
    if alarm.e_value is not None and alarm.verdict in ("CLEAR", "INSUFFICIENT"):
        line = Text(f"{mark.shape} ", style).append(
            f"{words.failure(alarm.id)}, {alarm.e_value}{chance}", "default"
        )
        return line.append(f"  {mark.word}" if alarm.verdict == "INSUFFICIENT" else "", theme.FAINT)
    since = f" since round {alarm.onset_round}" if alarm.onset_round is not None else ""
    e_value = f", e-value {alarm.e_value}{chance}" if alarm.e_value is not None else ""
    line = Text(f"{mark.plain} {words.failure(alarm.id)}{since}{e_value}: ", style)
    line.append(one_line(alarm.detail), "default")
    return line.append(f"  {_evidence(alarm.evidence)}" if alarm.evidence else "", theme.FAINT)


def _gates(report: SignalReport) -> Iterator[RenderableType]:
    for gate in report.gates:
        mark = marks.HOLDS if gate.ok else marks.FAILS
        held = words.failures_in(f"{gate.value}") + (f" | {gate.limit}" if gate.limit is not None else "")
        held += "" if gate.decides else " | shown, decides nothing"
        yield Text(f"  {mark.shape} {gate.name:<15} {held}", theme.style_of(mark))


def _sections(book: Book) -> Iterator[tuple[str, list[Text]]]:
    state, quorum = book.state, book.state.quorum
    if quorum.declared:
        yield f"Quorum: {quorum.text}", []
    if alike := one_family_warning(seats_of(book)):
        yield f"Warning: {one_line(alike)}", []
    # Open means that a later check may still change the status.
    waiting = [identity for identity, claim in state.claims.items() if claim.status in OPEN]
    # The newest claims first: the next checks are about them.
    lines = [_open_claim(identity, book) for identity in reversed(waiting[-LISTED:])]
    if len(waiting) > LISTED:
        lines.append(Text(f"and {len(waiting) - LISTED} older ones: `moot claims`", theme.FAINT))
    yield f"Open claims: {len(waiting)} of {len(state.claims)}", lines
    unanswered = [
        identity
        for identity, concern in state.concerns.items()
        if identity not in state.resolved and concern.for_human
    ]
    if unanswered:
        questions = _last(unanswered, "moot log RUN --kind concern", book)
        yield f"Questions to you: {len(unanswered)} (`moot answer`)", questions
    yield "Next", [Text(line) for line in next_round(state)]
    title = "Decisions in force" if state.finished else "If it stopped now, these decisions would stand"
    decided = outcome(state)
    yield f"{title}: {len(decided) or 'none'}", _last(decided, "moot decisions", book)


def _last(ids: list[str], command: str, book: Book) -> list[Text]:
    """Return the last of some things, after the number of older ones and the command that lists them."""
    older = len(ids) - LISTED
    lines = [Text(f"{older} older ones: `{command}`", theme.FAINT)] if older > 0 else []
    return [*lines, *(_named(identity, book) for identity in ids[-LISTED:])]


def _open_claim(identity: str, book: Book) -> Text:
    mark = mark_of(marks.STATUSES, book.state.claims[identity].status)
    return Text(f"{mark.shape} ", theme.style_of(mark)).append_text(_named(identity, book, mark.word))


def _named(identity: str, book: Book, word: str = "") -> Text:
    """Return an id with its words; a decision whose ground has fallen keeps its place, with the risk before it."""
    fallen = (
        [claim.id for claim in fallen_under(book.state, identity)] if identity in book.state.decisions else []
    )
    risk = f"{marks.AT_RISK.plain} ({', '.join(fallen)} fell) " if fallen else ""
    line = Text(risk, theme.style_of(marks.AT_RISK)).append(one_line(identity), theme.HEADER)
    event = book.by_id.get(identity)
    text = shortened(event.text, TEXT) if isinstance(event, Claim | Decision | Concern) else ""
    return line.append(f" {word}" if word else "", theme.FAINT).append(f"  {text}", "default")
