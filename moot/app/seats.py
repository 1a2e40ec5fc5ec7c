"""Seats from specifications, the person's consent, and the prices in force.

Consent is required before another author's program runs here, or before a file decides whom moot calls:

    door                          needs the word                                  the option that gives it
    run FILE                      seats that FILE names                           --allow-commands, --seats, --seat
    run --resume RUN              seats and programs of a run that another        --allow-commands, --seats,
                                  person opened, or another machine               --experiments on
    study run                     seats that study.toml names                     --allow-commands
    study run                     programs of replies, recorded ones too          --experiments on
    run, review, experiments      programs, where a limit is watched only         MOOT_WATCHED=1
    experiment run                nothing else: the command is the word for these programs
    replay --re-run               the same
    new, next, submit, fork, MCP  nothing: they ask host seats and start no program

`host`, `human` and `tape:RUN` seats contact no program and no address. A seat or option on the command line, or in a
library call, is consent already. At a terminal moot asks; elsewhere it refuses and names the option.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ledger.store.disk import read_plain, real, write_fully
from ledger.store.store import RunStore
from moot.app.seat_specs import (
    check_spec,
    choose,
    mixed,
    read_spec,
    stays_here,
)
from moot.environment import ON, configuration, read_settings, state_directory
from moot.errors import SEAT_FAILED, MootError, usage
from roles.seats.registry import PROVIDERS, Wanted, declared_of

if TYPE_CHECKING:
    from ledger.state.book import Book
    from moot.view.estimate import Estimate
    from roles.seats.port import Ask, Seat
    from roles.seats.prices import Prices
    from rounds.experiments.bench import Bench
    from rounds.setup.deliberation import Deliberation
    from rounds.setup.opening import Programs

Agreed = Callable[[str, str], bool]
"""Shows a text to the person and asks a yes/no question; None where no person can answer."""
WATCHED: Final = "MOOT_WATCHED"
OPENED: Final = "opened-runs"
OPENED_BYTES_MAX: Final = 1 << 24


def need_word(about: str, question: str, refusal: MootError, agreed: Agreed | None) -> None:
    """Ask the person for consent. Raise `refusal` after a no, and where no person can answer."""
    if agreed is None or not agreed(about, question):
        raise refusal


def reaches_out(spec: str) -> bool:
    """Return whether a seat starts a program or sends prompts to an address."""
    rows = [PROVIDERS.get(part.partition(":")[0]) for part in mixed(spec)]
    # Of an unknown kind nothing better may be assumed.
    return any(row is None or row.runs in ("api", "program") for row in rows)


def need_word_for_seats(
    file: str, specs: Mapping[str, str], agreed: Agreed | None, *, is_allowed: bool
) -> None:
    """Ask before using seats that only a file names, because the file's author is not at the keyboard.

    `specs` maps a role or an arm to its seat. Raises `MootError`.
    """
    # Host, human and tape seats start nothing, so a file that names only those needs no consent.
    named = {name: spec for name, spec in specs.items() if reaches_out(spec)}
    if is_allowed or not named:
        return
    listed = "".join(f"  {name}: {spec}\n" for name, spec in named.items())
    about = f"{file} names programs to start on this machine, or models to send prompts to:\n{listed}"
    # The error is one line: it quotes the first seat, and `more` lists all of them.
    first = next(iter(named.values()))
    what = f"the file names a program to start, or a model to send prompts to: {first}"
    fix = "read it, and add --allow-commands if you mean it, or name the seat yourself with --seats or --seat"
    refusal = MootError("command_refused", what, file, fix, more=listed if len(named) > 1 else "")
    need_word(about, "Start them?", refusal, agreed)


def need_word_for_programs(where: str, agreed: Agreed | None, *, is_allowed: bool) -> None:
    """Ask before running programs of replies that only a file allows. Raises `MootError`."""
    if is_allowed:
        return
    what = "programs that replies bring would be run here, and only a file says so"
    fix = "read them, and add --experiments on if you mean it"
    about = f"{where} says that programs of replies are run here, in a sandbox without a network.\n"
    need_word(about, "Run them?", MootError("command_refused", what, where, fix), agreed)


def bench_for(agreed: Agreed | None) -> Bench:
    """Return the sandbox, after consent where this machine can watch a limit but not enforce it.

    Raises `NoSandbox` and `MootError`.
    """
    from rounds.experiments.bench import bench_here

    bench = bench_here()
    if not bench.test.watched or os.environ.get(WATCHED, "").strip().lower() in ON:
        return bench
    limits = " and ".join(bench.test.watched)
    what = f"this machine watches a limit of programs but cannot enforce it: {limits}"
    fix = f"set {WATCHED}=1 if a short excess is acceptable; `moot doctor` and SECURITY.md say more"
    about = f"{what}.\nA program can exceed it for some 10 ms before it is killed.\n"
    need_word(about, "Run programs here?", MootError("command_refused", what, "experiments", fix), agreed)
    # The word holds for this process, and for the processes of a study that it starts.
    os.environ[WATCHED] = "1"
    return bench


# A ledger is a file like any other: if another person sent it, its `on` is not this person's consent. So moot keeps
# a list, outside of all runs, of the runs that this person opened here.


def note_opened(run: Path) -> None:
    """Remember that this person opened a run here. If that cannot be written, a resumed run asks again."""
    place = state_directory() / OPENED
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        # O_APPEND keeps the lines of processes that open runs at once apart. O_NOFOLLOW refuses a link that another
        # user planted, and 0600 keeps the list private: it says which runs skip the question.
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
        try:
            write_fully(descriptor, f"{_mark(run)}\n".encode())
        finally:
            os.close(descriptor)
    except OSError:
        return


def was_opened_here(run: Path) -> bool:
    """Return whether this person opened this run, at this path."""
    try:
        return _mark(run).encode() in read_plain(state_directory() / OPENED, OPENED_BYTES_MAX).split()
    except OSError:
        return False


def _mark(run: Path) -> str:
    """Return what identifies a run: its path and its first line, which holds the question and the time."""
    # The path alone would let another run in the same place inherit the consent; the line alone would let a copy.
    _, _, line = next(RunStore(run).lines())
    return sha256(os.fsencode(real(run)) + b"\0" + line).hexdigest()


GATE_LIMIT_USD: Final = Decimal(1)
"""Cost up to which a run starts without asking when the gate chose its protocol."""
SMALL: Final = 20
"""Number of replies up to which a run of unknown price starts without asking."""


@dataclass(frozen=True, slots=True)
class SeatChoice:
    """Seats of the command line (`--seats`, `--seat ROLE=SPEC`) and what the person allowed."""

    everybody: str | None
    specs: Mapping[str, str]
    commands: bool = False
    """Seats that only a file names may be used."""
    agreed: Agreed | None = None
    tell: Callable[[str], object] | None = None
    """Shows a line to the person; None where no person reads it."""
    yes: bool = False
    """The person has accepted what the run may cost, also where that is not known."""

    def seats(self, roles: Sequence[str], written: Mapping[str, str]) -> dict[str, str]:
        """Return role → specification, with `written` filling the gaps. Raises `MootError`."""
        return choose(roles, self.everybody, self.specs, written)

    def check_file_seats(self, file: str, specs: Mapping[str, str]) -> None:
        """Ask the person before using seats that only a file names. Raises `MootError`."""
        # --seats is the person's own word for every role, so the file decides nothing.
        if self.everybody is None:
            only_there = {role: spec for role, spec in specs.items() if role not in self.specs}
            need_word_for_seats(file, only_there, self.agreed, is_allowed=self.commands)

    def programs_run_by(self, deliberation: Deliberation, word: str | None) -> Programs | None:
        """Resolve `--experiments` to on, ask or off (None): the person's word, else the file's request.

        Without either, `crux` asks when the first program is ready, where a person is at a terminal and the sandbox
        works. Raises `NoSandbox` when the person said `on` and no sandbox works here: then the run does not start.
        """
        from rounds.experiments.bench import NoSandbox, bench_here
        from rounds.setup.opening import Programs

        # `experiments.run` of the file: on, ask, off, or None where it does not say.
        wanted = deliberation.experiments.run if deliberation.experiments else None
        # A file is not the person: its `on` becomes a question when a program is ready.
        by_file = "ask" if wanted in ("on", "ask") else wanted
        default = "ask" if deliberation.deliberation.protocol == "crux" else "off"
        resolved = word or by_file or default
        if resolved == "on":
            # The interpreter is recorded, because a result may depend on its version.
            return Programs("on", bench_for(self.agreed).environment.interpreter)
        if resolved == "ask" and self.agreed is not None:
            try:
                return Programs("ask", bench_here().environment.interpreter)
            except NoSandbox:
                if word is not None:
                    raise
        if resolved == "ask" and (word or wanted) and self.tell is not None:
            # Silence is right only for the default: a person or a file that asked for programs must learn that none
            # will run.
            self.tell("experiments are off: nobody can be asked here; --experiments on allows them\n")
        return None

    def check_costs(self, seats: Mapping[str, Seat], usd: str | None) -> None:
        """Refuse a budget in dollars for seats of unknown cost, which it cannot stop, unless that was allowed."""
        # Without a budget there is no promise to break.
        if usd is None or self.yes:
            return
        unknown = unknown_costs(seats)
        if unknown:
            raise usage(
                f"what the seat of {', '.join(unknown)} costs is unknown, and --max-usd could not hold it",
                "name a model with a price, put its price in a file that MOOT_PRICES names, or add --yes",
                "--max-usd",
            )

    def check_size(
        self,
        estimate: Callable[[], Estimate],
        seats: Mapping[str, Seat],
        gated: Callable[[Estimate], str] | None = None,
    ) -> None:
        """Show what a run may take before the first call that costs money, and ask above the limit.

        `gated` words the gate's choice, where the gate chose the protocol: then the limit is $1 unless the person set a
        cap, and a run without a person to ask is refused. Where a person named the protocol, such a run starts. Raises
        `MootError`.
        """
        may_cost = any(_costly(seats))
        # Estimating takes a moment, and here the result would neither be shown nor needed.
        if gated is None and (self.tell is None or not may_cost):
            return
        from moot.view.estimate import estimate_line

        estimated, limit = estimate(), read_settings().ask_above_usd
        cap = estimated.limits.get("usd")
        if self.tell is not None:
            line = (gated or estimate_line)(estimated)
            self.tell(f"{line}{'; `moot run --dry-run` shows the details' if may_cost else ''}\n")
        if self.yes or not may_cost:
            return
        # A person who named the protocol, or a cap, has already decided what a run may cost.
        needs_word = gated is not None and cap is None
        if needs_word:
            limit = min(limit, GATE_LIMIT_USD)
        most = None if estimated.usd is None else Decimal(estimated.usd.high)
        if most is not None and cap is not None:  # a seat of unknown cost is not bound by dollars
            most = min(most, Decimal(cap))
        is_small = estimated.replies_at_most <= SMALL if most is None else most <= limit
        if is_small or (self.agreed is None and (most is None or not needs_word)):
            return
        costs = f"{estimated.protocol} may cost up to ${most:.2f}" if most is not None else ""
        if self.agreed is None:
            what = f"{costs}, and nobody named it: above ${limit:.2f} it needs your word"
            fix = f"add --protocol {estimated.protocol}, --max-usd AMOUNT or --yes"
            raise MootError("not_begun", what, "moot run", fix)
        if not self.agreed("", f"{costs}. Begin?" if needs_word and costs else "Begin?"):
            fix = "choose a shorter --plan or --protocol, or set --max-usd; --yes begins without being asked"
            raise MootError("not_begun", "nothing was begun", "moot run", fix)


def check_ready(seats: Mapping[str, Seat]) -> None:
    """Refuse a start that must fail: a key, a program or a server is missing. Raises `MootError`."""
    from roles.seats.port import Checkable

    # Roles may share a seat, and asking a server whether it is ready takes time.
    for seat in dict.fromkeys(seats.values()):
        missing = seat.unready() if isinstance(seat, Checkable) else None
        if missing is not None:
            roles = ", ".join(role for role, theirs in seats.items() if theirs is seat)
            fix = "nothing was begun: put that right, or name another seat with --seats"
            raise MootError("seat_not_ready", missing, f"seat of {roles}", fix, SEAT_FAILED)


def seated(roles: Iterable[str], seats: str | Mapping[str, Seat | str]) -> dict[str, Seat]:
    """Return a seat for every role from one specification for all, or a specification or a seat by role.

    Raises `MootError` when a role has no seat, or a name is not a role.
    """
    everybody = seats if isinstance(seats, str) else None
    by_role: Mapping[str, Seat | str] = {} if isinstance(seats, str) else seats
    specs = {role: seat for role, seat in by_role.items() if isinstance(seat, str)}
    ready = {role: seat for role, seat in by_role.items() if not isinstance(seat, str)}
    # `host` only fills the roles that bring a finished seat, so that `choose` checks the names and finds no gap.
    wanted = choose(roles, everybody, {**specs, **dict.fromkeys(ready, "host")}, {})
    # Only the roles that were named by a specification; a finished seat is used as it is.
    built = make_seats({role: spec for role, spec in wanted.items() if role not in ready})
    # In the order of the protocol, which the cast of the opening keeps.
    return {role: ready.get(role) or built[role] for role in wanted}


def make_seats(specs: Mapping[str, str]) -> dict[str, Seat]:
    """Build the seats; roles with the same specification share one.

    Raises `MootError` when MOOT_OFFLINE is set and one may leave the machine.
    """
    is_offline = read_settings().offline
    by_spec: dict[str, Seat] = {}
    for spec in dict.fromkeys(specs.values()):
        check_spec(spec)
        if is_offline:
            stays_here(spec)
        by_spec[spec] = _make(spec)
    return {role: by_spec[spec] for role, spec in specs.items()}


def _make(spec: str) -> Seat:
    row, rest, url = read_spec(spec)
    # The error names the extra to install, which an ImportError from the adapter would not.
    if row.sdk is not None and find_spec(row.sdk.package) is None:
        what = f"the {row.sdk.package} SDK is not installed"
        raise MootError("sdk_missing", what, "seat", row.sdk.fix)
    # Imported late: an SDK takes up to a second to load, and most commands need none.
    adapter = import_module(row.adapter)
    wanted = Wanted(row, rest or "", url, prices_in_force, _book_of, _person, _delay())
    try:
        seat: Seat = adapter.seat_of(wanted)
    except ValueError as error:
        raise usage(str(error), f"name one that it serves: {row.example}", "seat") from None
    return seat


def _book_of(run: str) -> Book:
    from moot.app.runs import find_run

    return RunStore(find_run(run)).book()


def _person() -> Ask:
    from moot.terminal.asking import Person

    return Person().ask


def declared_seats(seats: Mapping[str, Seat]) -> dict[str, str]:
    """Return role → what the opening records about its seat."""
    from roles.seats.port import Declared

    return {
        role: seat.declared if isinstance(seat, Declared) else declared_of(seat.kind)
        for role, seat in seats.items()
    }


def prices_in_force() -> Prices:
    """Return the installed prices, and over them the person's own (`prices_file`)."""
    from roles.seats.prices import PricesError, prices_over, read_prices

    own = prices_file()
    try:
        # Only the models that the person lists change; all others keep the installed price.
        return prices_over(read_prices(), read_prices(own)) if own is not None else read_prices()
    except PricesError as error:
        raise usage(str(error), "fix the price list, or leave it out", str(own or "prices")) from None


def prices_file() -> Path | None:
    """Return the person's own price list: MOOT_PRICES, else `prices.toml` in the configuration directory."""
    if named := os.environ.get("MOOT_PRICES"):
        return Path(named)
    own = configuration() / "prices.toml"
    return own if own.exists() else None


def unknown_costs(seats: Mapping[str, Seat]) -> tuple[str, ...]:
    """Return the roles whose seat has a cost that is not known beforehand."""
    from roles.seats.api import ApiSeat

    return tuple(role for role, seat in _costly(seats) if not (isinstance(seat, ApiSeat) and seat.priced))


def _costly(seats: Mapping[str, Seat]) -> Iterator[tuple[str, Seat]]:
    """Yield the roles whose replies may cost money, with their seats."""
    from roles.seats.api import ApiSeat
    from roles.seats.port import WITHIN

    for role, seat in seats.items():
        if seat.kind not in WITHIN and not (isinstance(seat, ApiSeat) and seat.is_free):
            yield role, seat


def _delay() -> float:
    """Return the delay in MOOT_TAPE_DELAY_SECONDS, which slows a tape down to watch it or to test a kill."""
    value = os.environ.get("MOOT_TAPE_DELAY_SECONDS", "")
    try:
        return max(0.0, float(value)) if value else 0.0
    except ValueError:
        raise usage(
            f"MOOT_TAPE_DELAY_SECONDS={value!r} is no number", "give seconds, such as 0.1", "environment"
        ) from None
