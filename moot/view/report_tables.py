"""The tables of the report: rounds, stress, signals, claims, concerns, alarms, retrospective, cast, cost."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from detectors.report import SignalReport
from ledger.interchange.markdown import code, inline, listed, quoted, table
from ledger.language.words import word_count
from ledger.plain_text import shortened
from ledger.state.book import Book
from moot.view import marks, words
from moot.view.annex_parts import Annex
from moot.view.annexes import annexes_of
from moot.view.claims import ClaimTold
from moot.view.evidence import told_status
from moot.view.marks import mark_of
from moot.view.round import READINGS, RoundTold
from moot.view.scene import spent
from moot.view.seats import contexts_told, dollars_cell, filled_by
from moot.view.stop_checks import alarms_first
from moot.view.story import Story

ANNEX_ROWS, ANNEX_LINES, ANNEX_WORDS = 40, 90, 1300
"""Maximum rows of a protocol's table, and lines and words of its final text; the rest is counted with a pointer."""
SHOWN, TEXT = 6, 70
"""Maximum rows of a long table, and characters of a text in it; the rest is counted with a pointer."""


def _cut(text: str) -> str:
    return inline(shortened(text, TEXT))


def annex_sections(book: Book) -> Iterator[tuple[str, Iterator[str]]]:
    """Yield the protocol's annexes, each with its title."""
    for annex in annexes_of(book):
        yield annex.title, _annex(annex)


def _annex(annex: Annex) -> Iterator[str]:
    for note in annex.notes:
        yield inline(note)
        yield ""
    rows = annex.rows[:ANNEX_ROWS]
    yield from table([inline(head) for head in annex.heads], [[inline(cell) for cell in row] for row in rows])
    if len(annex.rows) > len(rows):
        yield ""
        yield f"And {len(annex.rows) - len(rows)} more: `moot report RUN --full`."
    listed_ = len(annex.paragraphs) > 1 and annex.ref is not None and "#" not in annex.ref
    # Final texts run to thousands of words, and the report has a limit of 250 lines.
    kept, left = _within(annex.paragraphs, ANNEX_WORDS)
    if listed_:
        yield from (f"- {inline(text)}" for text in kept)
    elif kept:
        # Quoting keeps headings of a final text out of the outline of the report.
        yield quoted("\n\n".join(kept))
    if left:
        yield ""
        yield f"And {left} words more: `moot show RUN {annex.ref}`."


def _within(paragraphs: Sequence[str], words_most: int) -> tuple[list[str], int]:
    """Return the paragraphs that fit, and how many words are left."""
    kept: list[str] = []
    counts = [word_count(text) for text in paragraphs]
    for text in paragraphs:
        if sum(counts[: len(kept) + 1]) > words_most or len(kept) == ANNEX_LINES:
            break
        kept.append(text)
    return kept, sum(counts[len(kept) :])


def rounds_section(story: Story) -> Iterator[str]:
    """Yield one row per round."""
    yield from table(
        (
            "round",
            "lead",
            "absent",
            "checks 1–4",
            "disagreement",
            "claims",
            "decisions",
            "drift",
            "rules",
            "look",
        ),
        [_round(round_) for round_ in story.rounds],
    )
    yield ""
    yield "Disagreement: checks that came out BROKEN or UNCLEAR, of those that applied."


def _round(round_: RoundTold) -> tuple[str, ...]:
    results = {n: check.result for n, check in round_.cross_checks.items()}
    # A dot marks a check that the round did not have, so that columns line up.
    checks = " ".join(mark_of(marks.RESULTS, results[n]).shape if n in results else "·" for n in (1, 2, 3, 4))
    drift = inline(mark_of(marks.DRIFT, round_.drift.verdict).plain) if round_.drift else ""
    rules = f"{round_.findings[0]} errors, {round_.findings[1]} warnings" if round_.findings else ""
    look = f"{round_.look.satisfied} of {round_.look.of}" if round_.look else ""
    decisions = listed(decision.id for decision in round_.decisions)
    share = f"{round_.disagreement} of {round_.applied}" if results else ""
    return (
        f"R{round_.n}", inline(round_.lead or ""), inline(round_.absent or ""), checks if results else "", share,
        str(len(round_.claims)), decisions, drift, rules, look,
    )  # fmt: skip


def stress_section(story: Story) -> Iterator[str]:
    """Yield the predicted effects of absences next to the observed ones."""
    rows = [
        (
            f"R{round_.n}",
            inline(round_.absent or ""),
            inline(seen.predicted),
            inline(seen.observed),
            READINGS[seen.agrees],
        )
        for round_ in story.rounds
        for seen in round_.signature
    ]
    lines = table(("round", "absent", "predicted", "observed", "reading"), rows)
    to_come = [
        row
        for row in story.opening.plan
        if row.absent and row.round > (story.rounds[-1].n if story.rounds else 0)
    ]
    if lines:
        yield from lines
        yield ""
        yield "Predictions were on the ledger before the round. These are observations of one round each, not proof."
    # Before the end a planned absence may still take place.
    if to_come and story.closing is not None:
        yield ""
        yield f"Never stress-tested, though planned: {listed(row.absent or '' for row in to_come)}."


def signals_section(story: Story, report: SignalReport | None) -> Iterator[str]:
    """Yield the recorded looks, and the signals as they read now."""
    looks = [round_.look for round_ in story.rounds if round_.look is not None]
    rows = [
        (
            f"R{look.round}",
            *(f"{'✓' if signal.satisfied else '✗'} {signal.value or ''}" for signal in look.signals),
            f"{look.satisfied} of {look.of}",
            mark_of(marks.ADVICE, look.advice).plain,
        )
        for look in looks
    ]
    yield from table(("look", *(f"S{n}" for n in range(1, 7)), "hold", "advice"), rows)
    if rows:
        yield ""
    # The thresholds of the run were lost or redacted, and defaults would be another run's.
    if report is None:
        yield words.NO_PARAMETERS
        return
    advice = mark_of(marks.ADVICE, report.advice).plain
    first = f"{alarms_first(report)} " if alarms_first(report) else ""
    yield f"{first}At the end (profile {inline(report.profile)}): {report.satisfied} of {report.of} hold, {advice}."
    yield ""
    for signal in report.signals:
        numbers = f" ({signal.value} against {signal.threshold})" if signal.value and signal.threshold else ""
        seen = f" [{listed(signal.evidence[:6])}]" if signal.evidence else ""
        mark = marks.HOLDS if signal.satisfied else marks.FAILS
        yield f"- {mark.shape} **{signal.id} {inline(signal.name)}**{numbers}: {_cut(signal.detail)}{seen}"


def claims_section(story: Story) -> Iterator[str]:
    """Yield every claim with its whole lifecycle."""
    counts = [(status, sum(claim.status == status for claim in story.claims)) for status in marks.STATUSES]
    yield (
        ", ".join(f"{marks.STATUSES[status].plain} {number}" for status, number in counts if number)
        or "No claims."
    )
    yield ""
    # A long list is cut to the claims under the decision, which readers look for.
    cited = {ground.id for decision in story.outcome for ground in decision.rests_on}
    whole = len(story.claims) <= SHOWN
    claims = story.claims if whole else [claim for claim in story.claims if claim.id in cited][:SHOWN]
    rows = [
        (
            inline(claim.id),
            inline(claim.raised_by),
            _cut(claim.text),
            *([_cut(claim.testable_as)] if whole else []),
            lifecycle(claim),
        )
        for claim in claims
    ]
    yield from table(("id", "by", "claim", *(["what would test it"] if whole else []), _life(claims)), rows)
    if not whole:
        yield ""
        yield f"These are cited by what was decided; all {len(story.claims)}: `moot claims RUN`."


def _life(claims: Sequence[ClaimTold]) -> str:
    """Return the head of the lifecycle column, with the readers where the ledger keeps no evidence levels."""
    readers = dict.fromkeys(how for claim in claims for how in claim.tested if how.startswith("read by "))
    return f"lifecycle ({listed(readers)})" if readers else "lifecycle"


def lifecycle(claim: ClaimTold) -> str:
    """Return the moves of a claim: `○ pending → ● quoted (V-3-1) → ⇢ superseded (C-5-2)`."""
    steps = [marks.STATUSES["pending"].plain]
    for entry, how in zip(claim.history, claim.tested, strict=True):
        # A re-test with the same result is recorded as a move of its own (SD-44).
        again = " again" if entry.from_ == entry.to else ""
        illegal = ", not allowed" if not entry.legal else ", outweighed" if entry.outweighed else ""
        status = told_status(entry.to, entry.class_, how)
        steps.append(f"{inline(status)}{again} ({inline(entry.by)}{illegal})")
    return " → ".join(steps)


def concerns_section(story: Story, elsewhere: Container[str] = ()) -> Iterator[str]:
    """Yield open and closed concerns, tensions and questions, without those shown `elsewhere`."""
    ordered = sorted(
        (concern for concern in story.concerns if concern.id not in elsewhere),
        # Open ones first, then those for a person, then the newest.
        key=lambda concern: (concern.resolved_by is not None, not concern.for_human, -concern.round),
    )
    rows = [
        (
            inline(concern.id),
            concern.type + (", for a person" if concern.for_human else ""),
            listed(concern.between) or inline(concern.by),
            _cut(concern.text),
            str(concern.severity or ""),
            f"✓ {inline(concern.resolved_by)}" if concern.resolved_by else "○ open",
        )
        for concern in ordered[:SHOWN]
    ]
    yield from table(("id", "type", "who", "what", "severity", "standing"), rows)
    if len(ordered) > SHOWN:
        yield ""
        yield f"And {len(ordered) - SHOWN} more: `moot log RUN --kind concern`."


def alarms_section(story: Story) -> Iterator[str]:
    """Yield alarms with evidence, answers to them, people's notes, and steps that were given up."""
    lines = list(_alarms(story))
    yield from lines[:SHOWN]
    if len(lines) > SHOWN:
        yield f"- and {len(lines) - SHOWN} more: `moot log RUN --kind alarm`, `amendment`, `fallback`"


def _alarms(story: Story) -> Iterator[str]:
    for round_ in story.rounds:
        for alarm in round_.alarms:
            raised = alarm.action == "raised"
            mark = marks.ALARMS[alarm.verdict].plain if raised else "✓ closed"
            seen = f" (see {listed(alarm.evidence[:6])})" if alarm.evidence else ""
            yield f"- R{round_.n} {mark} **{words.failure(alarm.fm)}**: {_cut(alarm.because or '')}{seen}"
        for amendment in round_.amendments:
            what = f"amendment of {inline(amendment.what)} by {inline(amendment.by)}"
            yield f"- R{round_.n} {what}: {_cut(amendment.reason)}"
        for fallback in round_.fallbacks:
            yield (
                f"- R{round_.n} {marks.DEGRADED.shape} {code(fallback.step_failed)} was given up"
                f" ({inline(fallback.reason)}, {inline(fallback.instead)}): {_cut(fallback.detail)}"
            )
    # Notes written after the end belong to no round.
    late = [note for note in story.notes if note.phase == "close"]
    yield from (f"- after the end, a person's {inline(note.what)}: {_cut(note.reason)}" for note in late)


def retrospective_section(story: Story) -> Iterator[str]:
    """Yield the roles' retrospective as a checklist of failure modes by role."""
    if not story.reviews:
        return
    roles = [inline(review.role) for review in story.reviews]
    rows: list[tuple[str, ...]] = []
    # Runs differ in the failure modes that they ask about; show those that were asked.
    asked = [mode for mode in words.FAILURE_MODES if any(mode in review.modes for review in story.reviews)]
    for mode in asked or words.FAILURE_MODES:
        answers = [review.modes.get(mode, "") for review in story.reviews]
        box = "[x]" if "yes" in answers else "[ ]"
        cells = (inline(mark_of(marks.SEEN, answer).plain) if answer else "" for answer in answers)
        rows.append((f"{box} {words.failure(mode)}", *cells))
    yield from table(("failure mode", *roles), rows)
    yield ""
    yield "What each role says of it: `moot log RUN --kind statement`."


def cast_section(story: Story) -> Iterator[str]:
    """Yield the cast, what really answered for each role, and how isolated each seat was."""
    rows = [
        (
            inline(seat.role),
            inline(seat.title),
            inline(
                "; ".join(filled_by(filling) for filling in seat.fillings) or f"{seat.declared}, never asked"
            ),
            "; ".join(
                contexts_told(filling, f"replies {filling.calls}, contexts ") for filling in seat.fillings
            ),
        )
        for seat in story.seats
    ]
    yield from table(("role", "who", "answered by", "contexts"), rows)


def cost_section(story: Story) -> Iterator[str]:
    """Yield what the calls took by seat, or one sentence where no seat reported figures."""
    # A table full of "unknown" is worth less than one sentence.
    if not any(filling.tokens_in or filling.latency_ms for seat in story.seats for filling in seat.fillings):
        if story.seats:
            yield f"{inline(spent(story.spend))}: neither tokens nor time are recorded."
        return
    rows = [
        (
            inline(seat.role),
            str(filling.calls),
            str(filling.repairs),
            f"{filling.tokens_in:,}" if filling.tokens_in else "unknown",
            f"{filling.tokens_out:,}" if filling.tokens_out else "unknown",
            f"{filling.latency_ms / 1000:.0f} s" if filling.latency_ms else "unknown",
            dollars_cell(filling),
        )
        for seat in story.seats
        for filling in seat.fillings
    ]
    yield from table(("role", "replies", "repairs", "tokens in", "tokens out", "time", "USD"), rows)
    if rows:
        yield ""
        yield f"Together: {inline(spent(story.spend))}."
