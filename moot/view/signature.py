"""Stress rounds: what was predicted to be missing while a role is absent, beside what the ledger shows (SD-75, SD-76).

An observation is no proof: one round without a role is one sample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from ledger.events import Artifact, RoundOpened, Verification
from ledger.events.anchors import strings
from ledger.events.ids import parse_reference, round_of
from ledger.state.book import Book
from ledger.state.state import State
from moot.view.story import Observation

READINGS: Final[Mapping[bool | None, str]] = {
    True: "as predicted",
    False: "not as predicted",
    None: "cannot be read from the ledger",
}


def observations(book: Book, opened: RoundOpened) -> tuple[Observation, ...]:
    """Each predicted effect of a stress round with what was observed; empty before the round has a validation."""
    predicted = opened.predicted_signature
    if not predicted or opened.round not in book.state.validated:
        return ()
    return tuple(
        Observation(entry.code, entry.text, *_observed(book, entry.code, opened)) for entry in predicted
    )


def _observed(book: Book, code: str, opened: RoundOpened) -> tuple[str, bool | None]:
    match code:
        case "no_broken":
            return _broken(book.state, opened.round)
        case "fewer_claims":
            return _claims(book.state, opened.round)
        case "no_cross_round_trace":
            return _references(book, opened.round, to_kind="D", what="earlier decisions")
        case "no_invariant":
            return _references(
                book, opened.round, to_kind="A", what="an earlier invariant", section="invariant"
            )
        case "no_goal_verdict":
            return _references(book, opened.round, to_kind="A", what="an earlier walkthrough", of="observer")
        case _:
            return "", None


def _broken(state: State, round_: int) -> tuple[str, bool | None]:
    made = [
        (identity, check.result)
        for identity, check in state.checks.items()
        if check.round == round_ and check.phase == "E" and check.result != "NOT_APPLICABLE"
    ]
    broken = [identity for identity, result in made if result == "BROKEN"]
    if not made:
        return "no check was made", None
    names = f" ({', '.join(broken)})" if broken else ""
    return f"{len(broken)} of {len(made)} checks BROKEN{names}", not broken


def _claims(state: State, round_: int) -> tuple[str, bool | None]:
    """Against the nearest normal rounds before and after."""
    raised = _raised(state, round_)
    normal = [n for n, row in state.rounds.items() if row.absent is None and row.applicable]
    around = [*[n for n in normal if n < round_][-1:], *[n for n in normal if n > round_][:1]]
    if not around:
        return f"{raised} claims, and no normal round to hold them against", None
    beside = ", ".join(f"R{n} {_raised(state, n)}" for n in around)
    mean = sum(_raised(state, n) for n in around) / len(around)
    return f"{raised} claims; around it {beside}", raised < mean


def _raised(state: State, round_: int) -> int:
    return sum(claim.round == round_ for claim in state.claims.values())


def _references(
    book: Book, round_: int, *, to_kind: str, what: str, section: str = "", of: str = ""
) -> tuple[str, bool | None]:
    """How often the artifacts and checks of a round refer to something of the absent role's kind."""
    found = sorted(
        {
            ref
            for ref in _refs(book, round_)
            if ref.startswith(f"{to_kind}-")
            and (round_of(parse_reference(ref).id) or 0) < round_
            and (parse_reference(ref).section or "").startswith(section)
            and parse_reference(ref).id.endswith(of)
        }
    )
    if not found:
        return f"no reference to {what}", True
    shown = ", ".join(found[:3]) + (" …" if len(found) > 3 else "")
    return f"{len(found)} references to {what} ({shown})", False


def _refs(book: Book, round_: int) -> Iterator[str]:
    for artifact in book.of(Artifact, round_):
        yield from artifact.cites
        yield from (text for text in strings(artifact.body) if _is_reference(text))
    for check in book.of(Verification, round_):
        if check.phase == "E":
            yield from (evidence.ref for evidence in check.evidence_refs)


def _is_reference(text: str) -> bool:
    identity = parse_reference(text).id
    return len(text) < 80 and " " not in text and round_of(identity) is not None
