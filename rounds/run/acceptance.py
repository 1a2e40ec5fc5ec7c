"""A person's words on an outcome: how its text was used and how far from it (AD-6), and what became of a decision."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Final, Literal, NamedTuple, get_args

from ledger.events import Amendment, Decision
from ledger.events.ids import parse_reference
from ledger.state.book import Book
from ledger.state.decided import final_in_force

Distance = Literal["low", "medium", "high"]
DISTANCES: Final[tuple[Distance, ...]] = get_args(Distance)
DISTANCE_LOW_BELOW: Final = 0.1
DISTANCE_HIGH_FROM: Final = 0.4
ACCEPTED: Final = "acceptance"
DISTANCE: Final = "edit_distance"
"""Paths of the note that `moot outcome RUN edited FILE` puts on the ledger."""


class Acceptance(NamedTuple):
    """A person's word on an outcome; `distance` of the used text from it; `seq` of the event."""

    accepted: bool
    distance: Distance | None
    seq: int


def acceptance_of(book: Book) -> Acceptance | None:
    """Return what a person said last about using the outcome; None while no person said anything."""
    known: dict[object, Distance] = {name: name for name in DISTANCES}
    # The last note counts. A person may change their mind, and earlier notes stay as history.
    for event in reversed(book.of(Amendment)):
        values: dict[str, object] = {change.path: change.to for change in event.change}
        if event.what == "note" and event.cause == "human" and ACCEPTED in values:
            # Only `true` accepts: a note written by hand may hold a string, and "false" must
            # not count as yes.
            accepted = values[ACCEPTED] is True
            distance = known.get(values.get(DISTANCE))
            return Acceptance(accepted, distance if accepted else None, event.seq)
    return None


def current_acceptance(book: Book) -> Acceptance | None:
    """Return the last word on the final decisions in force; None where an override is newer than that word."""
    acceptance = acceptance_of(book)
    newest = max((book.state.decisions[name].seq for name in final_in_force(book.state)), default=0)
    return acceptance if acceptance is not None and acceptance.seq > newest else None


def output_of(book: Book) -> str:
    """Return the text that a run was for: what its final decisions in force point to, else the decisions themselves."""
    texts: list[str] = []
    for identity in final_in_force(book.state):
        event = book.by_id[identity]
        assert isinstance(event, Decision), f"{identity} is no decision"
        named = [text for ref in event.round_artifact_refs if (text := _passage(book, ref))]
        texts += named or [event.text]
    return "\n\n".join(texts)


def _passage(book: Book, ref: str) -> str | None:
    reference = parse_reference(ref)
    event = book.by_id.get(reference.id)
    sections = getattr(event, "sections", ())
    return next((section.text for section in sections if section.name == reference.section), None)


def edit_distance(before: str, after: str) -> tuple[float, Distance]:
    """Return the share of words that changed, from 0 to 1, and its name."""
    words, used = before.split(), after.split()
    # `autojunk` would treat frequent words of a long text as noise and overstate how much changed.
    share = 1 - SequenceMatcher(None, words, used, autojunk=False).ratio() if words or used else 0.0
    name: Distance = (
        "low" if share < DISTANCE_LOW_BELOW else "high" if share >= DISTANCE_HIGH_FROM else "medium"
    )
    return share, name


Fate = Literal["held", "failed", "mixed", "unknown"]
FATES: Final[tuple[Fate, ...]] = get_args(Fate)
PATH: Final = "became."
"""Prefix of the note's path; the decision's id follows."""


class FateSaid(NamedTuple):
    """A person's word on what became of a decision; `at` is the time of its event and `seq` its place."""

    decision: str
    fate: Fate
    text: str
    name: str | None
    at: str
    seq: int


def fate_of(word: object) -> Fate | None:
    """Return the word as a fate; None for any other."""
    return next((fate for fate in FATES if fate == word), None)


def became_of(book: Book) -> dict[str, FateSaid]:
    """Map each decision to the last word on it, in the order of the first words."""
    fates: dict[str, FateSaid] = {}
    for event in book.of(Amendment):
        for change in event.change:
            fate = fate_of(change.to)
            # The controller writes amendments too; only a person's note says what became of a decision.
            if event.cause == "human" and change.path.startswith(PATH) and fate is not None:
                decision = change.path.removeprefix(PATH)
                fates[decision] = FateSaid(decision, fate, event.reason, event.name, event.at, event.seq)
    return fates
