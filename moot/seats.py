"""Seats from what a person wrote: `host`, `human`, `tape:RUN` (DESIGN 5)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from moot.errors import MootError, usage

if TYPE_CHECKING:
    from roles.seats.port import Seat

HERE: Final = ("host", "human", "tape")
"""Kinds of seat that this release fills; the others of DESIGN 5 are refused by name."""
LATER: Final = ("anthropic", "command", "local")
NO_SEAT: Final = """\
--seats host        step by step, by your agents or you: `moot next RUN` prints a brief, `moot submit` takes a reply
--seats human       moot asks you here in the terminal, in $EDITOR if it is set
--seats tape:RUN    the recorded replies of another run
Or one role at a time: --seat critic=human. Seats that call a model themselves need a later release of moot.
"""


def no_seat(roles: Iterable[str] = ()) -> MootError:
    """Nobody was named to answer, or nobody for some roles."""
    missing = ", ".join(roles)
    what = f"no seat for {missing}" if missing else "no seat: nobody was named to answer"
    mend = "add --seats host, --seats human or --seats tape:RUN"
    return MootError("no_seat", what, "moot run", mend, more=NO_SEAT)


def read_seats(everybody: str | None, one_by_one: Iterable[str]) -> tuple[str | None, dict[str, str]]:
    """`--seats` and every `--seat ROLE=SPEC`, checked as far as no run is needed for it."""
    if everybody is not None:
        _check(everybody)
    specs: dict[str, str] = {}
    for said in one_by_one:
        role, equals, spec = said.partition("=")
        if not equals or not role.strip():
            raise usage(f"--seat {said!r} names no role", "write ROLE=SPEC, such as critic=host", "--seat")
        _check(spec)
        specs[role.strip()] = spec
    return everybody, specs


def choose(
    roles: Iterable[str], everybody: str | None, specs: Mapping[str, str], written: Mapping[str, str]
) -> dict[str, str]:
    """Role → specification: `--seat` before `--seats` before the deliberation file. Raises when a role has none."""
    known = tuple(roles)
    for role in specs:
        if role not in known:
            near = get_close_matches(role, known, 1, 0.0)
            raise usage(
                f"no role {role!r}", f"did you mean {near[0]!r}? roles are {', '.join(known)}", "--seat"
            )
    found = {role: specs.get(role) or everybody or written.get(role) for role in known}
    missing = [role for role, spec in found.items() if spec is None]
    if missing:
        raise no_seat(() if len(missing) == len(known) else missing)
    return {role: spec for role, spec in found.items() if spec is not None}


def make_seats(
    specs: Mapping[str, str], *, delay_seconds: Callable[[str], float] | None = None
) -> dict[str, Seat]:
    """The seats themselves; roles with the same specification share one."""
    made: dict[str, Seat] = {}
    for spec in dict.fromkeys(specs.values()):
        made[spec] = _make(spec, delay_seconds or _delay())
    return {role: made[spec] for role, spec in specs.items()}


def _make(spec: str, delay_seconds: Callable[[str], float]) -> Seat:
    kind, _, rest = spec.partition(":")
    _check(spec)
    if kind == "tape":
        from ledger.store import Run
        from moot.locate import find_run
        from roles.seats.tape import TapeSeat

        return TapeSeat(Run(find_run(rest)).book(), delay_seconds)
    if kind == "human":
        from moot.asking import ask
        from roles.seats.human import HumanSeat

        return HumanSeat(ask)
    from roles.seats.host import HostSeat

    return HostSeat()


def _check(spec: str) -> None:
    kind, colon, rest = spec.partition(":")
    if kind in LATER:
        raise usage(
            f"seats of kind {kind!r} need a later release of moot", f"choose one of {', '.join(HERE)}", "seat"
        )
    if kind not in HERE:
        near = get_close_matches(kind, HERE, 1, 0.0)
        raise usage(f"no seat {spec!r}", f"did you mean {near[0]!r}? seats are host, human, tape:RUN", "seat")
    if kind == "tape" and not rest:
        raise usage("a tape needs a run", "write tape:RUN", "seat")
    if kind != "tape" and colon:
        raise usage(f"a {kind} seat takes nothing after the colon", f"write {kind}", "seat")


def _delay() -> Callable[[str], float]:
    """MOOT_TAPE_DELAY_SECONDS stretches a tape, for watching it and for testing what a kill leaves behind."""
    said = os.environ.get("MOOT_TAPE_DELAY_SECONDS", "")
    try:
        seconds = max(0.0, float(said)) if said else 0.0
    except ValueError:
        raise usage(
            f"MOOT_TAPE_DELAY_SECONDS={said!r} is no number", "give seconds, such as 0.1", "environment"
        ) from None
    return lambda _: seconds
