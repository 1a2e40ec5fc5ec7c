"""Citations: what a brief has shown and a reply may therefore name (FORMAT 5, law 4), and what events cite of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Any, Final, cast

import msgspec
from msgspec import Meta

from ledger.events import Argument, Challenge, Event, ExperimentPlanned, RunOpened
from ledger.events.decisions import Cite
from ledger.events.envelope import Evidence
from ledger.events.ids import kind_of, parse_reference
from ledger.state.book import Book, contains_quote, passages, sections_of, written
from ledger.state.state import State
from roles.protocol import Step
from roles.replies import Cited, Part


class Quotable(msgspec.Struct, frozen=True):
    """Content of a step's brief: the only things its reply may name."""

    book: Book
    step: Step
    by_id: Mapping[str, Event]
    documents: bool

    @property
    def state(self) -> State:
        """Return the state at the reply."""
        return self.book.state

    @property
    def opened(self) -> RunOpened:
        """Return the opening of the run."""
        return self.book.state.opening

    def ids_of(self, kind: type[Event], but_by: str | None = None) -> list[str]:
        """Return the ids of the events of a kind that were quoted, except those that a role wrote."""
        return [
            identity
            for identity, event in self.by_id.items()
            if isinstance(event, kind) and event.by != but_by
        ]

    def goal_problem(self, goal: str | None, where: str) -> Iterator[str]:
        """Yield a problem for a goal that does not exist."""
        if goal is not None and goal not in {entry.id for entry in self.opened.goals}:
            yield f"{where}: goal {goal!r} is unknown; goals are {names(entry.id for entry in self.opened.goals)}"

    def option_problems(self, options: Iterable[str], where: str) -> Iterator[str]:
        """Yield a problem for each option that does not exist."""
        known = {entry.id for entry in self.state.options}
        for option in options:
            if option not in known:
                yield f"{where}: option {option!r} is unknown; options are {names(known) or 'none'}"

    def reference_problems(self, text: str, where: str, quote: str | None = None) -> Iterator[str]:
        """Yield problems of a ref that was not quoted or does not resolve, and of a quote that is not there."""
        reference = parse_reference(text)
        # A text that the brief did not show is unknown, even where it exists: a reply must not
        # rest on a guess.
        is_shown = self.documents if kind_of(reference.id) == "document" else reference.id in self.by_id
        values = passages(reference, self.by_id, self.opened, self.book.blobs) if is_shown else None
        if values is None:
            yield f"{where}: {text!r} is unknown{self._sections_hint(reference.id)}"
        elif quote is not None and not contains_quote((*values, *self._written(reference.id)), quote):
            yield f"{where}: the quote does not stand word for word at {text}"

    def _written(self, identity: str) -> tuple[str, ...]:
        """Return a program's output, which belongs to its plan."""
        if not isinstance(self.by_id.get(identity), ExperimentPlanned):
            return ()
        return tuple(text for text in written(self.book, identity) if text)

    def cited_problems(self, part: object, where: str = "") -> Iterator[str]:
        """Yield problems of all citations in a reply: each quote stands where the reply says, in what was shown."""
        if isinstance(part, Cited):
            yield from self.reference_problems(part.ref, where, part.quote)
        elif isinstance(part, msgspec.Struct):
            for name in part.__struct_fields__:
                yield from self.cited_problems(getattr(part, name), f"{where}.{name}".lstrip("."))
        elif isinstance(part, tuple):
            for n, entry in enumerate(cast("tuple[object, ...]", part)):
                yield from self.cited_problems(entry, f"{where}[{n}]")

    def _sections_hint(self, identity: str) -> str:
        event = self.by_id.get(identity)
        if event is None or not sections_of(event):
            return ""
        return f"; sections of {identity} are {names(sections_of(event))}"


def names(values: Iterable[str]) -> str:
    """Join words with commas."""
    return ", ".join(values)


def repeated(values: Iterable[str | int], where: str) -> Iterator[str]:
    """Yield a problem for each value that is given twice."""
    seen: set[str | int] = set()
    for value in values:
        if value in seen:
            yield f"{where}: {value!r} is given twice"
        seen.add(value)


def out_of_order(severities: Sequence[int], where: str) -> Iterator[str]:
    """Yield a problem for the first entry that is heavier than the one before: a rank claims a weight (AD-4)."""
    for n, (before, here) in enumerate(pairwise(severities), 1):
        if here > before:
            yield f"{where}[{n}].severity: heavier than the one before it; put the heaviest first"
            # One complaint is enough: after one swap the later entries may be right.
            return


def ids_problems(known: Quotable, ids: Iterable[str], where: str) -> Iterator[str]:
    """Yield a problem for each id that was not quoted."""
    yield from (f"{where}: {identity!r} is unknown" for identity in ids if identity not in known.by_id)


def exactly_one(named: Iterable[str], wanted: Iterable[str], where: str, what: str) -> Iterator[str]:
    """Yield a problem unless each wanted name is named exactly once."""
    wanted = sorted(wanted)
    if sorted(named) != wanted:
        yield f"{where}: exactly one for each {what} is wanted: {names(wanted) or 'none'}"


def defended_anew(known: Quotable, reply: Any) -> Iterator[str]:
    """Yield problems of answers: one for each challenge, and no defense without new evidence (AD-20, AD-21)."""
    yield from one_for_each("answers", "to", Challenge, "challenge")(known, reply)
    for n, answer in enumerate(reply.answers):
        event = known.by_id.get(answer.to)
        # A challenge that was not quoted is reported above, as an unknown id.
        if answer.outcome == "defend" and isinstance(event, Challenge):
            old = {entry.ref for entry in event.evidence}
            if all(entry.ref in old for entry in answer.evidence):
                yield (
                    f"answers[{n}].evidence: a defence brings at least one reference that the challenge has not cited"
                )


def one_for_each(
    part: str, field: str, kind: type[Event], what: str
) -> Callable[[Quotable, Any], Iterator[str]]:
    """Build the check of a reply that answers every quoted event of a kind exactly once."""
    return lambda known, reply: exactly_one(
        (getattr(entry, field) for entry in getattr(reply, part)), known.ids_of(kind), part, what
    )


def challenges_problems(known: Quotable, drafts: Sequence[Any]) -> Iterator[str]:
    """Yield problems of challenges: a claim that is given twice, a target that was not shown."""
    yield from repeated((draft.claim for draft in drafts), "challenges")
    for n, draft in enumerate(drafts):
        yield from known.reference_problems(draft.target, f"challenges[{n}].target")


# ---------------------------------------------------------------- what events cite


def evidence_of(cited: Iterable[Cited]) -> tuple[Evidence, ...]:
    """Return the citations of a reply, as events keep them."""
    return tuple(Evidence(ref=entry.ref, quote=entry.quote) for entry in cited)


def cites(kind: Any, relations: Iterable[tuple[str, Any]]) -> tuple[Cite, ...]:
    """Return what a decision cites: ids of one kind, each with its relation."""
    return tuple(Cite(type=kind, id=identity, relation=relation) for identity, relation in relations)


def named_once(named: Sequence[str], known: Sequence[str], where: str) -> Iterator[str]:
    """Yield a problem for each id in a list that is unknown or listed twice."""
    yield from repeated(named, where)
    yield from (
        f"{where}[{n}]: {identity!r} is unknown" for n, identity in enumerate(named) if identity not in known
    )


UPHELD: Final = frozenset({"UPHELD", "SURVIVE"})
STANDS: Final = UPHELD | {"PARTIALLY_UPHELD"}
"""Standings with which an argument carries a decision."""


def most_say(standings: Sequence[str], wanted: Collection[str]) -> bool:
    """Return whether more than half of the standings are among those that are wanted."""
    return 2 * sum(standing in wanted for standing in standings) > len(standings)


def cites_of_winner(
    arguments: Iterable[Argument], winner: str | None, standings: Mapping[str, Sequence[str]]
) -> tuple[Cite, ...]:
    """Return the arguments that a judged decision rests on: the winner's that stand, or both sides' without a winner.

    `standings` maps each argument to its standings by all judges; an unjudged argument stands, and more than half of
    the judges decide. Where nothing stands the decision rests on no argument, and settles them all.
    """

    def most(identity: str, wanted: frozenset[str]) -> bool:
        named = standings.get(identity, ())
        # An argument that no judge mentions was not attacked, so it stands.
        return not named or most_say(named, wanted)

    sides = {event.id: event.side for event in arguments}
    carry = [
        identity for identity, side in sides.items() if winner in (None, side) and most(identity, STANDS)
    ]
    # A decision needs at least one cite (SD-47), even where no argument of the winner survived.
    return cites(
        "argument",
        [(identity, "supported-by" if most(identity, UPHELD) else "builds-on") for identity in carry]
        or [(identity, "resolves") for identity in sides],
    )


def something(*texts: str) -> tuple[str, ...]:
    """Return the texts without those that are "nothing", as a task asks for where there is nothing."""
    return tuple(text for text in texts if text.strip(" .").casefold() != "nothing")


# ---------------------------------------------------------------- points

WHOLE = 100


class OptionPoints(Part, frozen=True, kw_only=True):
    """Points on one option; a protocol says which options there are."""

    option: str
    points: Annotated[int, Meta(ge=0, le=100)]


def as_points(entries: Iterable[OptionPoints]) -> dict[str, int]:
    """Return a belief as events keep it: options without points left out."""
    return {entry.option: entry.points for entry in entries if entry.points}


def points_problems(entries: Sequence[OptionPoints], options: Sequence[str], where: str) -> Iterator[str]:
    """Yield problems with unknown options, and with points that do not sum to 100."""
    yield from repeated((entry.option for entry in entries), where)
    for entry in entries:
        if entry.option not in options:
            yield f"{where}: {entry.option!r} is no option here; use {names(options)}"
    total = sum(entry.points for entry in entries)
    if total != WHOLE:
        yield f"{where}: {total} points in all; give {WHOLE}"
