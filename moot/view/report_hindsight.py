"""The report's sections that look back over the whole run: failure modes, standing, contribution."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from ledger.interchange.markdown import inline, listed, table
from ledger.plain_text import shortened
from moot.view import marks, words
from moot.view.hindsight import Hindsight

Lines = Iterator[str]


def hindsight_sections(found: Hindsight) -> Iterator[tuple[str, list[str]]]:
    """Title and lines of every section that has something to say."""
    for title, section in _SECTIONS:
        lines = list(section(found))
        if lines:
            yield title, lines


def failures_section(found: Hindsight) -> Lines:
    """The eight failure modes as the calibrated detectors read them now."""
    if found.failures is None:
        yield words.NO_PARAMETERS
        return
    rows = [
        (
            f"{'[x]' if one.verdict == 'ALARM' else '[ ]'} {words.failure(one.id)}",
            marks.ALARMS[one.verdict].plain,
            one.e_value or "",
            f"R{one.onset_round}" if one.onset_round else "",
            "" if one.verdict == "CLEAR" else inline(shortened(one.detail, 45)),
        )
        for one in found.failures
    ]
    yield from table(("failure mode", "verdict", "e-value", "since", "why"), rows)
    yield ""
    yield "By the calibrated detectors; what is not told here is no all-clear. `moot signals` has the numbers."


def _standing(found: Hindsight) -> Lines:
    tested = {claim: one for claim, one in found.standings.items() if one.label != "untested"}
    if not tested:
        return
    counts = [
        f"{sum(one.label == label for one in tested.values())} {label}"
        for label in ("confirmed", "contested", "refuted")
    ]
    yield (
        f"By the arguments for and against each claim (DF-QuAD), beside its status: {', '.join(counts)},"
        f" {len(found.standings) - len(tested)} without an argument. `moot claims` shows the arguments."
    )
    contested = [claim for claim, one in tested.items() if one.label == "contested"]
    if contested:
        yield ""
        yield f"Contested: {listed(contested)}."
    if found.options:
        yield ""
        rows = [
            (
                inline(one.option),
                str(one.confirmed),
                str(one.contested),
                str(one.refuted),
                str(one.untested),
                "" if one.strength is None else f"{one.strength:.2f}",
            )
            for one in found.options
        ]
        yield from table(
            ("claims about", "confirmed", "contested", "refuted", "untested", "mean strength"), rows
        )


def _contribution(found: Hindsight) -> Lines:
    rows = [
        (
            inline(one.role),
            str(one.claims),
            str(one.unique_claims),
            str(one.changes_caused),
            ", ".join(f"R{number}" for number in one.stress_rounds),
            inline(one.verdict),
            inline(one.detail),
        )
        for one in found.contributions
    ]
    yield from table(("role", "claims", "its alone", "status changes", "absent", "verdict", "why"), rows)
    yield ""
    yield (
        "One stress round a role cannot show that it carries anything: `moot stress` plans forks that can."
        " An unchanged round does not make a role decorative."
    )


def _twice(found: Hindsight) -> Lines:
    one = found.twice
    if one is None:
        return
    bound = f", at most {one.flips_at_most:.0%} with 95 % certainty" if one.flips_at_most is not None else ""
    yield f"{one.repeats} verdicts were given twice, {one.flips} of them came out otherwise{bound}."
    yield ""
    if one.alpha is None or one.low is None or one.high is None:
        yield f"Too few to say how reliable verdicts are: {one.needed} are needed."
        return
    reading = "**unreliable**: no e-value can be trusted" if one.unreliable else "reliable enough"
    if one.warned and not one.unreliable:
        reading = "to be read with care"
    yield f"Krippendorff's alpha {one.alpha:.2f}, 90 % interval {one.low:.2f} to {one.high:.2f}: {reading}."


_SECTIONS: Final[tuple[tuple[str, Callable[[Hindsight], Lines]], ...]] = (
    ("Failure modes", failures_section),
    ("Standing of the claims", _standing),
    ("What each role contributed", _contribution),
    ("Verdicts given twice", _twice),
)
