"""Beliefs for people: pool and seats over the rounds in characters, cruxes by value, and who carries it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from detectors.beliefs.report import Beliefs, CruxInRound, PoolInRound, of_table
from detectors.beliefs.table import BeliefTable
from ledger.events import Claim
from ledger.interchange.markdown import inline
from ledger.plain_text import counted
from ledger.state.book import Book
from rounds.protocols.crux import standing
from rounds.protocols.crux.sightings import unseen

NARROW: Final = 60
WIDE: Final = 200
POOL: Final = "*"
LABEL: Final = 12
"""Characters of a row before its line: the round, or an option that is cut."""
FIGURES: Final = 23
"""Characters of a row after its line: the pool, and the range over seats."""
STARTING: Final = (
    "Points of 100. What a test is worth rests on qualities that are starting values, not measurements."
)


def beliefs_of(run: str, book: Book) -> Beliefs | None:
    """Return the forecasts over the closed rounds of a run; None for a run without any yet.

    Forecasts of an open round are sealed, so they are left out. `run` is how commands name it.
    """
    state = book.state
    closed = [look.round for look in state.looks if look.profile == "crux"]
    if not closed:
        return None
    through = max(closed)
    rounds, terms = standing.rounds_of(state, through), standing.terms_now(state)
    table = BeliefTable(run, standing.option_ids(state), rounds, terms, unseen(state))
    claims = {crux.claim for one in rounds for crux in one.cruxes}
    words = {option.id: option.text for option in state.options}
    words |= {
        event.id: event.text for event in book.events if isinstance(event, Claim) and event.id in claims
    }
    return of_table(table, words)


def no_forecast_yet(run: str) -> Beliefs:
    """Return the empty report of a run whose first forecasts are still sealed."""
    return Beliefs(run=run, options=[], rounds=[], without={}, unseen=None, words={})


def beliefs_markdown(found: Beliefs) -> Iterator[str]:
    """Two tables: the pool over the rounds, and the cruxes by what a test is worth."""
    options = [
        option for option in [*found.options, "none"] if any(one.pool.get(option) for one in found.rounds)
    ]
    yield f"| round | {' | '.join(map(inline, options))} | moved | what follows |"
    yield f"| ---: |{' ---: |' * len(options)} ---: | --- |"
    for one in found.rounds:
        shares = " | ".join(_span(one, option) for option in options)
        moved = "–" if one.movement is None else f"{one.movement:g}"
        yield f"| {one.round} | {shares} | {moved} | {inline(one.stop.text)} |"
    yield ""
    yield f"The pool in points of 100, and the range over seats. {STARTING}"
    last = _last(found.rounds)
    if last:
        yield ""
        yield "| crux | settled by | held true | worth, reproduced | worth, argued | result |"
        yield "| --- | --- | ---: | ---: | ---: | --- |"
        for number, crux in last:
            q = "–" if crux.q is None else f"{crux.q:g} %"
            worth = (
                f"{value:g}" if value is not None else "–"
                for value in (crux.evsi.reproduced, crux.evsi.argued)
            )
            result = (
                f"{crux.result} ({crux.evidence or 'no class'}), round {number}" if crux.result else "open"
            )
            yield f"| {crux.claim} | {crux.how} | {q} | {' | '.join(worth)} | {result} |"
    yield ""
    yield from (f"{line}  " for line in (*_carried(found, WIDE), *_unseen(found, WIDE)))


def _span(one: PoolInRound, option: str) -> str:
    """The pool's points on an option, and the least and most over seats."""
    given = [points[option] for points in one.roles.values()]
    if not given:
        return "–"
    return f"{one.pool[option]:g} ({min(given)}–{max(given)})"


def _last(rounds: Sequence[PoolInRound]) -> list[tuple[int, CruxInRound]]:
    """Each crux as it stood last with its round, by value."""
    last = {crux.claim: (one.round, crux) for one in rounds for crux in one.cruxes}
    return sorted(last.values(), key=lambda found: -(found[1].evsi.reproduced or 0))


def beliefs_text(found: Beliefs, width: int) -> str:
    """Return forecasts and cruxes as text of at most `width` columns, which count from 60 to 200."""
    if not found.rounds:
        return "No round is closed yet. The forecasts of an open round stay sealed until it closes.\n"
    width = min(max(width, NARROW), WIDE)
    letters = letters_of(found.rounds)
    legend = [f"{POOL} the pool", *(f"{letter} {role}" for role, letter in letters.items())]
    lines = [
        *_wrapped(f"{found.run or 'Forecasts'}, {counted(len(found.rounds), 'round')}. {STARTING}", width),
        *_wrapped(f"{', '.join(legend)}; a digit: so many seats in one place.", width),
        "",
    ]
    for option in found.options:
        if words := found.words.get(option):
            lines += _wrapped(f"{option}  {words}", width, " " * (len(option) + 2))
    lines += [""] if found.words else []
    for option in [*found.options, "none"]:
        lines += [*_plot(option, found.rounds, letters, width), ""]
    for one in found.rounds:
        lines += _wrapped(_round(one), width, "  ")
    lines += ["", *_cruxes(found, width), "", *_carried(found, width), *_unseen(found, width)]
    return "\n".join(lines) + "\n"


def letters_of(rounds: Sequence[PoolInRound]) -> dict[str, str]:
    """A letter for each role, in order of appearance: the first of its name that is free, else of the alphabet."""
    found: dict[str, str] = {}
    for role in (role for one in rounds for role in one.roles):
        if role not in found:
            free = (
                letter
                for letter in f"{role.lower()}abcdefghijklmnopqrstuvwxyz"
                if letter.isascii() and letter.isalpha() and letter not in found.values()
            )
            found[role] = next(free, "?")
    return found


def _plot(
    option: str, rounds: Sequence[PoolInRound], letters: Mapping[str, str], width: int
) -> Iterator[str]:
    """One option: a scale, then a line for each round with the seats' letters, the pool, and both as figures."""
    room = width - LABEL - FIGURES - 2
    yield f"{_cut(option, LABEL):<{LABEL}} {_scale(room)} pool    over seats"
    for one in rounds:
        if option in one.pool:
            seats = {role: points[option] for role, points in one.roles.items()}
            low, high = min(seats.values()), max(seats.values())
            figures = f"{one.pool[option]:6.2f}  {low:>3}–{high}"
            row = f"{f'round {one.round}':<{LABEL}} {_line(one.pool[option], seats, letters, room)} {figures}"
            yield row.rstrip()


def _scale(room: int) -> str:
    """0, 25, 50, 75 and 100 over their places."""
    marks = list(" " * (room + 1))
    for points in (0, 25, 50, 75, 100):
        text = str(points)
        at = min(_place(points, room), room - len(text))
        marks[at : at + len(text)] = text
    return "".join(marks)[:room]


def _line(pool: float, seats: Mapping[str, int], letters: Mapping[str, str], room: int) -> str:
    """Dots from 0 to 100; seats in one place are counted, and the pool lies above them."""
    marks = ["."] * room
    by_place: dict[int, list[str]] = {}
    for role, points in seats.items():
        by_place.setdefault(_place(points, room), []).append(letters[role])
    for place, there in by_place.items():
        marks[place] = there[0] if len(there) == 1 else str(min(len(there), 9))
    marks[_place(pool, room)] = POOL
    return "".join(marks)


def _place(points: float, room: int) -> int:
    return round(points * (room - 1) / 100)


def _round(one: PoolInRound) -> str:
    """A round in a sentence or two."""
    if one.leader is None:
        return f"Round {one.round}: {one.stop.text}"
    parts = [f"{one.leader} leads by {one.margin:.2f}"]
    if one.movement is not None:
        parts.append(f"seats moved {one.movement:.2f}")
    if one.noise is not None:
        parts.append(f"noise {one.noise:.2f}")
    if one.derived:
        parts.append(f"computed from results: {', '.join(one.derived)}")
    reason = "go on" if one.stop.go_on else f"stop, {one.stop.reason}"
    return f"Round {one.round}: {'; '.join(parts)}. {reason.capitalize()}: {one.stop.text}"


def _cruxes(found: Beliefs, width: int) -> Iterator[str]:
    """Yield each crux with its last figures and the claim's words, by value."""
    last = _last(found.rounds)
    if not last:
        yield "No crux: there is nothing to test."
        return
    yield from _wrapped("Cruxes by what a test is worth (reproduced, and only argued):", width)
    for number, crux in last:
        yield from _wrapped(_crux(number, crux), width, "    ")
        if words := found.words.get(crux.claim):
            yield from textwrap.wrap(words, width, initial_indent="    ", subsequent_indent="    ")


def _crux(number: int, crux: CruxInRound) -> str:
    """A crux in one line: value, what would decide it, how likely it is held to be, what became of it."""
    worth = crux.evsi
    if worth.reproduced is None or worth.argued is None or crux.q is None:
        values = "no seat in the pool has numbers for it"
    else:
        values = f"{worth.reproduced:6.2f} {worth.argued:6.2f}  held true {crux.q:.0f} %"
    became = f"{crux.result} ({crux.evidence or 'no class'}) in round {number}" if crux.result else "open"
    return f"  {crux.claim:<8} {values}, {crux.how}, {became}"


def _carried(found: Beliefs, width: int) -> Iterator[str]:
    """On whom the end rests."""
    resting = {role: one for role, one in found.without.items() if one.changes}
    if not resting:
        yield from _wrapped("The end rests on no single role.", width)
    last = found.rounds[-1].leader
    for role, one in resting.items():
        other = f"{one.leader} would lead" if one.leader != last else "the outcome would be another"
        yield from _wrapped(
            f"It rests on {role}: without it {other if one.leader else 'nobody answers'}.", width
        )


def _unseen(found: Beliefs, width: int) -> Iterator[str]:
    """How many defeaters of the leader nobody found."""
    if found.unseen is not None:
        one = found.unseen
        more = f"{one.jackknife - one.distinct:.2f} (jackknife), {one.chao2 - one.distinct:.2f} (Chao2)"
        text = (
            f"Ways to be wrong: {one.distinct} found in {counted(one.lists, 'list')}, at least {more} more."
        )
        yield from _wrapped(text, width)


def _wrapped(text: str, width: int, indent: str = "") -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent=indent, drop_whitespace=True)


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 1]}…"
