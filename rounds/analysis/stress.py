"""Counterfactual stress tests: which forks would show what a role carries, and what the forks that exist have lost.

A fork without a role is held against its parent over the same rounds, from the same beginning. Forks in which nothing
was changed show how far two runs differ by chance. Several forks a role are needed before anything follows
(SD-74 … SD-77).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from detectors.contribution import LEVEL, POWER_ENOUGH, SHARES, Power, Verdict, drop, power
from detectors.observations import deliberating_roles
from ledger.compare.align import align, alignable
from ledger.events import Claim
from ledger.format.canonical import encode, line_hash
from ledger.result import Result
from ledger.state.book import Book
from ledger.state.decided import deliberated
from ledger.state.state import State

FORKS_A_ROLE: Final = 3


class Planned(Result, frozen=True):
    """A fork worth making: this role absent from this round."""

    role: str
    round: int


class Counted(Result, frozen=True):
    """What some rounds brought."""

    claims: int
    tested: int
    broken: int
    disagreement: int
    tensions: int
    decisions: int


class ForkLosses(Result, frozen=True):
    """A fork beside its parent over `rounds`, those that both have gone through.

    `without` is null where nothing was changed. `lost` are the parent's claims of these rounds that the fork does not
    have, not even in similar words; `own` those of them that the absent role had raised; `new` is what only the fork
    has. `ready_parent` and `ready_fork` say whether each could stop where it stands.
    """

    run: str
    without: str | None
    rounds: list[int]
    parent: Counted
    fork: Counted
    lost: list[str]
    own: list[str]
    again: int
    new: list[str]
    ready_parent: bool
    ready_fork: bool


class RoleLoss(Result, frozen=True):
    """All forks without one role: claims of the forks against those of the parent over as many rounds."""

    role: str
    forks: int
    rounds: int
    claims_parent: int
    claims_fork: int
    lost: int
    p_value: float | None
    power: list[Power]
    verdict: Verdict
    detail: str


def planned_forks(state: State, per_role: int = FORKS_A_ROLE) -> list[Planned]:
    """Rounds in which nobody was absent, spread over the run, every role as often; the first round only if need be."""
    held = [number for number in sorted(state.rounds) if _is_normal(state, number)]
    rounds = [number for number in held if number > 1] or held
    chosen = _spread(rounds, per_role)
    return [Planned(role=role, round=number) for role in deliberating_roles(state) for number in chosen]


def is_fork_of(fork: State, parent: Book) -> bool:
    """Whether a run truly shares what it says it shares with `parent`: by number and hash of the last shared line."""
    origin = fork.opened.origin if fork.opened else None
    if origin is None or origin.type != "fork" or origin.seq is None or origin.seq >= len(parent.events):
        return False
    return line_hash(encode(parent.events[origin.seq])) == origin.head


def changed_rounds(fork: State, parent: State) -> tuple[str | None, tuple[int, ...]]:
    """Whom a fork left out that the parent had, and in which rounds; without a change None and all its own rounds."""
    before = {row.round: row.absent for row in parent.opened.plan} if parent.opened else {}
    changed = [
        row for row in fork.opening.plan if row.absent is not None and row.absent != before.get(row.round)
    ]
    if changed:
        role = changed[0].absent
        return role, tuple(row.round for row in changed if row.absent == role)
    first = min((n for n, opened in fork.rounds.items() if opened.seq > fork.opening.seq), default=0)
    return None, tuple(n for n in sorted(fork.rounds) if first and n >= first)


def lost(name: str, fork: Book, parent: Book, *, ready: tuple[bool, bool]) -> ForkLosses:
    """What a fork lost against its parent; `ready` says whether each of the two could stop now, parent first."""
    role, changed = changed_rounds(fork.state, parent.state)
    both = [n for n in changed if _is_through(fork.state, n) and _is_through(parent.state, n)]
    theirs, ours = _claims(parent, both), _claims(fork, both)
    found = align(map(alignable, theirs), map(alignable, ours))
    similar = {pair.a for pair in found.similar}
    gone = [identity for identity in found.only_a if identity not in similar]
    raised = {claim.id: claim.raised_by for claim in theirs}
    return ForkLosses(
        run=name,
        without=role,
        rounds=both,
        parent=_counted(parent.state, both),
        fork=_counted(fork.state, both),
        lost=gone,
        own=[identity for identity in gone if raised.get(identity) == role],
        again=len(theirs) - len(gone),
        new=[identity for identity in found.only_b if identity not in {pair.b for pair in found.similar}],
        ready_parent=ready[0],
        ready_fork=ready[1],
    )


def role_losses(roles: Sequence[str], forks: Iterable[ForkLosses]) -> list[RoleLoss]:
    """The forks gathered by role; every role has a line, also one without forks."""
    by_role: dict[str, list[ForkLosses]] = {role: [] for role in roles}
    for one in forks:
        if one.without in by_role and one.rounds:
            by_role[one.without].append(one)
    return [_role_loss(role, found) for role, found in by_role.items()]


def _role_loss(role: str, forks: Sequence[ForkLosses]) -> RoleLoss:
    rounds = sum(len(one.rounds) for one in forks)
    before, after = sum(one.parent.claims for one in forks), sum(one.fork.claims for one in forks)
    p_value = drop(after, rounds, before, rounds) if rounds else None
    rate = before / rounds if rounds else 0.0
    powers = [Power(share=s, power=round(power(s, rounds, rounds, rate), 2)) for s in SHARES] if rate else []
    verdict, detail = _verdict(role, p_value, powers, len(forks))
    return RoleLoss(
        role=role,
        forks=len(forks),
        rounds=rounds,
        claims_parent=before,
        claims_fork=after,
        lost=sum(len(one.lost) for one in forks),
        p_value=None if p_value is None else round(p_value, 4),
        power=powers,
        verdict=verdict,
        detail=detail,
    )


def _verdict(role: str, p_value: float | None, powers: Sequence[Power], forks: int) -> tuple[Verdict, str]:
    if p_value is None:
        return "INSUFFICIENT", f"no fork without {role} has gone through its round"
    if p_value <= LEVEL:
        return "CARRIES", f"without {role} fewer claims were raised than chance explains (p = {p_value:.3f})"
    told = ", ".join(f"{one.power:.0%} if it carried {one.share:.0%}" for one in powers)
    if powers and powers[0].power >= POWER_ENOUGH:
        return "NO_DROP", f"claims did not fall without {role}; a drop would have shown: {told}"
    count = f"{forks} fork{'' if forks == 1 else 's'}"
    return (
        "INSUFFICIENT",
        f"{count}, no clear drop (p = {p_value:.3f}); it would have shown: {told or 'never'}",
    )


def _is_normal(state: State, number: int) -> bool:
    opened = state.opened
    row = state.rounds[number].plan_row
    deliberates = opened is not None and row < len(opened.plan) and "G" in opened.plan[row].phases
    return deliberates and state.rounds[number].absent is None and _is_through(state, number)


def _is_through(state: State, number: int) -> bool:
    return any(phase != "S" for phase in state.validated.get(number, ()))


def _spread(rounds: Sequence[int], count: int) -> list[int]:
    """`count` of these, evenly, the last one among them."""
    if count >= len(rounds):
        return list(rounds)
    step = len(rounds) / count
    return [rounds[round((k + 1) * step) - 1] for k in range(count)]


def _claims(book: Book, rounds: Sequence[int]) -> list[Claim]:
    return [claim for claim in book.of(Claim) if claim.round in rounds]


def _counted(state: State, rounds: Sequence[int]) -> Counted:
    checks = [
        check
        for check in state.checks.values()
        if check.round in rounds and check.phase == "E" and check.repeats is None
    ]
    return Counted(
        claims=sum(claim.round in rounds for claim in state.claims.values()),
        tested=sum(check.moved for check in checks),
        broken=sum(check.result == "BROKEN" for check in checks),
        disagreement=sum(check.result in ("BROKEN", "UNCLEAR") for check in checks),
        tensions=sum(one.type == "tension" and one.round in rounds for one in state.concerns.values()),
        decisions=sum(state.decisions[one].round in rounds for one in deliberated(state, "round")),
    )


def told_order(found: Sequence[ForkLosses]) -> list[ForkLosses]:
    """Forks by role, round and name; unchanged ones first, because they say what chance does."""
    return sorted(found, key=lambda one: (one.without or "", one.rounds, one.run))


def missing(planned: Sequence[Planned], forks: Iterable[tuple[str | None, Sequence[int]]]) -> list[Planned]:
    """Planned forks that nobody has made yet; `forks` holds (role, rounds) of those that exist."""
    made = {(role, number) for role, rounds in forks for number in rounds}
    return [one for one in planned if (one.role, one.round) not in made]
