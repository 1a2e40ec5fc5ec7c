"""Counterfactual stress tests: forks that would show what a role carries, and losses of the existing forks.

A fork without a role is held against its parent over the same rounds, from the same beginning. Forks in which nothing
was changed show how far two runs differ by chance. Several forks per role are needed before anything follows
(SD-74 … SD-77).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from detectors.contribution import LEVEL, POWER_ENOUGH, SHARES, Power, Verdict, drop, power
from detectors.observations import deliberating_roles
from ledger.compare.diff import align, alignable
from ledger.events import Claim
from ledger.format.canonical import encode, line_hash
from ledger.result import Result
from ledger.state.book import Book
from ledger.state.decided import deliberated
from ledger.state.state import State


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


def planned_forks(state: State, per_role: int) -> list[Planned]:
    """Return rounds in which no role was absent, spread over the run, each role as often; round 1 only if needed."""
    held = [number for number in sorted(state.rounds) if _is_normal(state, number)]
    # Round 1 has no earlier decisions, so an absence there shows less than a later one.
    rounds = [number for number in held if number > 1] or held
    chosen = _spread(rounds, per_role)
    return [Planned(role=role, round=number) for role in deliberating_roles(state) for number in chosen]


def is_fork_of(fork: State, parent: Book) -> bool:
    """Return whether a run really shares its claimed beginning with `parent`.

    The last shared line tells, by its number and hash.
    """
    origin = fork.opening.origin
    if origin.type != "fork" or origin.seq is None or origin.seq >= len(parent.events):
        return False
    # The hash chain covers everything before the line, so one comparison proves the whole prefix.
    return line_hash(encode(parent.events[origin.seq])) == origin.head


def changed_rounds(fork: State, parent: State) -> tuple[str | None, tuple[int, ...]]:
    """Return the role that a fork left out and the rounds; without a change None and all its own rounds."""
    before = {row.round: row.absent for row in parent.opening.plan}
    changed = [
        row for row in fork.opening.plan if row.absent is not None and row.absent != before.get(row.round)
    ]
    if changed:
        role = changed[0].absent
        return role, tuple(row.round for row in changed if row.absent == role)
    # Rounds before the second opening are the parent's own lines and would show no difference.
    first = min((n for n, opened in fork.rounds.items() if opened.seq > fork.opening.seq), default=0)
    return None, tuple(n for n in sorted(fork.rounds) if first and n >= first)


def lost(name: str, fork: Book, parent: Book, *, ready: tuple[bool, bool]) -> ForkLosses:
    """Return what a fork lost against its parent; `ready`: whether parent and fork could stop now."""
    role, changed = changed_rounds(fork.state, parent.state)
    # Only rounds that both have finished: a round in progress has fewer claims for another reason.
    both = [n for n in changed if _is_through(fork.state, n) and _is_through(parent.state, n)]
    theirs, ours = _claims(parent, both), _claims(fork, both)
    aligned = align(map(alignable, theirs), map(alignable, ours))
    similar = {pair.a for pair in aligned.similar}
    # A claim that the fork raised in similar words is not lost, although its id differs.
    gone = [identity for identity in aligned.only_a if identity not in similar]
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
        new=[identity for identity in aligned.only_b if identity not in {pair.b for pair in aligned.similar}],
        ready_parent=ready[0],
        ready_fork=ready[1],
    )


def role_losses(roles: Sequence[str], forks: Iterable[ForkLosses]) -> list[RoleLoss]:
    """Return the forks gathered by role; every role has a row, also without forks."""
    by_role: dict[str, list[ForkLosses]] = {role: [] for role in roles}
    for fork in forks:
        if fork.without in by_role and fork.rounds:
            by_role[fork.without].append(fork)
    return [_role_loss(role, losses) for role, losses in by_role.items()]


def _role_loss(role: str, forks: Sequence[ForkLosses]) -> RoleLoss:
    rounds = sum(len(fork.rounds) for fork in forks)
    before, after = sum(fork.parent.claims for fork in forks), sum(fork.fork.claims for fork in forks)
    p_value = drop(after, rounds, before, rounds) if rounds else None
    rate = before / rounds if rounds else 0.0
    # Without claims in the parent no drop is possible, so power would be meaningless.
    powers = [Power(share=s, power=round(power(s, rounds, rounds, rate), 2)) for s in SHARES] if rate else []
    verdict, detail = _verdict(role, p_value, powers, len(forks))
    return RoleLoss(
        role=role,
        forks=len(forks),
        rounds=rounds,
        claims_parent=before,
        claims_fork=after,
        lost=sum(len(fork.lost) for fork in forks),
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
    power_text = ", ".join(f"{row.power:.0%} if it carried {row.share:.0%}" for row in powers)
    if powers and powers[0].power >= POWER_ENOUGH:
        return "NO_DROP", f"claims did not fall without {role}; a drop would have shown: {power_text}"
    count = f"{forks} fork{'' if forks == 1 else 's'}"
    return (
        "INSUFFICIENT",
        f"{count}, no clear drop (p = {p_value:.3f}); it would have shown: {power_text or 'never'}",
    )


def _is_normal(state: State, number: int) -> bool:
    plan, row = state.opening.plan, state.rounds[number].plan_row
    deliberates = row < len(plan) and "G" in plan[row].phases
    return deliberates and state.rounds[number].absent is None and _is_through(state, number)


def _is_through(state: State, number: int) -> bool:
    return any(phase != "S" for phase in state.validated.get(number, ()))


def _spread(rounds: Sequence[int], count: int) -> list[int]:
    """Return `count` of the rounds, evenly spread, the last one included."""
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
        # Repeated judgments of the same check would count it twice.
        if check.round in rounds and check.phase == "E" and check.repeats is None
    ]
    return Counted(
        claims=sum(claim.round in rounds for claim in state.claims.values()),
        tested=sum(check.moved for check in checks),
        broken=sum(check.result == "BROKEN" for check in checks),
        disagreement=sum(check.result in ("BROKEN", "UNCLEAR") for check in checks),
        tensions=sum(
            concern.type == "tension" and concern.round in rounds for concern in state.concerns.values()
        ),
        decisions=sum(state.decisions[identity].round in rounds for identity in deliberated(state, "round")),
    )


def report_order(losses: Sequence[ForkLosses]) -> list[ForkLosses]:
    """Return forks by role, round and name; unchanged ones first, because they show what chance does."""
    return sorted(losses, key=lambda fork: (fork.without or "", fork.rounds, fork.run))


def missing(planned: Sequence[Planned], forks: Iterable[tuple[str | None, Sequence[int]]]) -> list[Planned]:
    """Return planned forks that do not exist yet; `forks` holds (role, rounds) of the existing ones."""
    existing = {(role, number) for role, rounds in forks for number in rounds}
    return [fork for fork in planned if (fork.role, fork.round) not in existing]
