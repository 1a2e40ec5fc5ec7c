"""Programs in `structured`: a role may hand one in with its artifact, the verifier with its verdict.

Only where the run was opened for experiments. Programs of artifacts run before the checks, programs of verdicts before
the reviews: the roles that judge or review see the results and may cite them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from ledger.events import Claim, Event, ExperimentJudged, ExperimentPlanned
from ledger.events.envelope import HowTested
from ledger.state.book import Book
from ledger.state.lifecycle import OPEN
from ledger.state.state import VERIFIER, State
from roles.asof import status_at_opening
from roles.protocol import Group, Step
from roles.replies import ArtifactReply, CheckReply, ClaimDraft, Reply
from rounds.protocols.citations import Quotable, names, repeated
from rounds.protocols.programs import (
    RUN_HERE,
    experiment,
    files_of,
    how_to_write,
    plans_programs,
    ran,
    shown_program,
    wrong_program,
)
from rounds.protocols.step_table import Numbering
from rounds.protocols.structured.replies import ClaimProgram

# ---------------------------------------------------------------- what a reply brings


def offered(reply: Reply) -> tuple[ClaimProgram, ...]:
    """Return the programs of a reply; replies of other shapes have none."""
    return getattr(reply, "programs", ())


def brought(reply: Reply) -> Mapping[str, bytes]:
    """Return the files of a reply's programs, by hash."""
    return files_of(offered(reply))


def wrong_programs(known: Quotable, reply: ArtifactReply | CheckReply) -> Iterator[str]:
    """Yield what is wrong with the programs of a reply: each decides one claim that running can decide."""
    own = getattr(reply, "proposed_claims", ())
    yield from repeated((program.claim for program in offered(reply)), "programs")
    for n, entry in enumerate(offered(reply)):
        where = f"programs[{n}]"
        how = _how(known, own, entry.claim)
        if how is None:
            own_ones = names(str(k) for k in range(1, len(own) + 1)) or "none"
            yield f"{where}.claim: {entry.claim!r} is no open claim; give an id, or the number of your own: {own_ones}"
        elif how not in RUN_HERE:
            yield f"{where}.claim: {entry.claim} is decided by {how}, not by execution or calculation; leave it out"
        else:
            yield from (
                f"{where}: {problem}" for problem in wrong_program(known.step, entry, known.opened.seed)
            )


def _how(known: Quotable, own: Sequence[ClaimDraft], claim: str) -> HowTested | None:
    """Return how a claim is decided; None where it is unknown or closed."""
    # `isdecimal` alone accepts digits of other scripts, which no id and no list number has.
    if claim.isascii() and claim.isdecimal():
        return own[int(claim) - 1].how if 1 <= int(claim) <= len(own) else None
    facts = known.state.claims.get(claim) if claim in known.by_id else None
    is_open = facts is not None and status_at_opening(known.state, claim, known.step) in OPEN
    return facts.how if facts is not None and is_open else None


def planned(
    numbering: Numbering, step: Step, reply: ArtifactReply | CheckReply, own: Sequence[Claim] = ()
) -> Iterator[Event]:
    """Yield the experiments of a reply; `own` are the claims that it raises, in their order."""
    for program in offered(reply):
        claim = (
            own[int(program.claim) - 1] if program.claim.isdecimal() else numbering.book.by_id[program.claim]
        )
        assert isinstance(claim, Claim), program.claim
        number, seed = numbering.number(ExperimentPlanned), numbering.book.state.opening.seed
        yield experiment(step, claim.id, claim.testable_as, program, number, seed)


# ---------------------------------------------------------------- when it is run


def runs_first(state: State, group: Group) -> tuple[str, ...]:
    """Return experiments whose results a group waits for: the checks for those of artifacts, later phases for all."""
    # In phases B to D no program of the round exists yet, so there is nothing to wait for.
    if not state.unjudged or group.phase in ("B", "C", "D"):
        return ()
    # Positions and beliefs are sealed before results exist; a wait here would let a result leak into them.
    is_check = group.name.startswith("E.check")
    if group.phase == "E" and not is_check:
        return ()
    waiting = ((identity, state.experiments[identity]) for identity in state.unjudged)
    return tuple(
        identity
        for identity, facts in waiting
        # A check must not wait for a program of another check of its group: they run side by side.
        if facts.awaited and facts.round == state.round and not (is_check and facts.by == VERIFIER)
    )


# ---------------------------------------------------------------- what briefs say


_WRITES: Final = ("D.action", "D.guardian", "D.observer", "D.critic", *(f"E.check{n}" for n in range(1, 5)))
_OF_ROUND: Final = (*_WRITES[4:], "F", "G")
_OF_RUN: Final = ("S.resolve", "S.review", "S.close")


def shows_programs(state: State, step: Step) -> bool:
    """Return whether a step is shown blocks about programs."""
    return plans_programs(state) and step.task in (*_WRITES, *_OF_ROUND, *_OF_RUN)


def program_blocks(book: Book, step: Step) -> Iterable[tuple[str, str, tuple[int, ...]]]:
    """Yield how to write a program, the programs of the round with their results, and at the end all results."""
    if step.task in _OF_ROUND:
        # Whole, so that every role can judge whether the test is fair.
        yield from (shown_program(book, plan.id) for plan in book.of(ExperimentPlanned, step.name.round))
        yield from ran(book, book.of(ExperimentJudged, step.name.round))
    if step.task in _OF_RUN:
        yield from ran(book, book.of(ExperimentJudged))
    # A repeated step already has the instruction in the prompt that it repeats.
    if step.task in _WRITES and step.name.repeat == 1 and book.state.runs_programs:
        yield "programs", how_to_write(book.state, IN_ARTIFACT if step.name.phase == "D" else IN_VERDICT), ()


IN_ARTIFACT: Final = """\
programs can be run here: for a claim of yours, or an open earlier one, that execution or calculation decides, you may
put one into `programs` (at most 2); `claim` is the claim's id, or 1 for the first of your `proposed_claims`. It is run
before the checks are made, and its result moves the claim. Leave `programs` empty where nothing would be learnt"""
IN_VERDICT: Final = """\
programs can be run here: where you cannot tell a claim by reading and execution or calculation decides it, you may put
one into `programs` (at most 2; `claim` is the claim's id). It is run behind your verdict and moves the claim; judge by
what you see now. Leave `programs` empty where nothing would be learnt"""
