"""Seats from what a person wrote: `anthropic:MODEL`, `command:PROGRAM …`, `local:GGUF`, `tape:RUN` … (DESIGN 5)."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from ledger.state.state import SANDBOX
from moot.environment import read_settings
from moot.errors import MootError, usage

if TYPE_CHECKING:
    from moot.view.estimate import Estimate
    from roles.seats.port import Seat
    from roles.seats.prices import Prices
    from rounds.setup.deliberation import Deliberation

KINDS: Final = ("anthropic", "command", "host", "human", "local", "tape")
PAID: Final = ("anthropic", "command")
"""Kinds whose calls may cost something."""
SMALL: Final = 20
"""Replies that are begun without asking where their price is not known."""
LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
NO_SEAT: Final = """\
--seats anthropic             a model by the Messages API: export ANTHROPIC_API_KEY=…; anthropic:MODEL names another one
  ANTHROPIC_BASE_URL=…        the same with any compatible server
--seats 'command:PROGRAM …'   a program that reads a brief and writes a reply, such as an agent's command line
--seats local:FILE.gguf       a model file on this machine, without a network: pip install 'moot[local]'
--seats host                  step by step: `moot next` prints a brief, `moot submit` takes your agents' or your reply
--seats human                 moot asks you here in the terminal, in $EDITOR if it is set
--seats tape:RUN              the recorded replies of another run; `moot demo` shows a whole one
Or one role at a time: --seat critic=human.
"""


@dataclass(frozen=True, slots=True)
class SeatChoice:
    """Who answers: `--seats` and every `--seat ROLE=SPEC`, and what of that was allowed."""

    everybody: str | None
    specs: Mapping[str, str]
    offline: bool = False
    unknown_cost: bool = False
    """Seats whose cost is not known may sit under a budget of dollars."""
    commands: bool = False
    """Programs that a deliberation file names may be started."""
    agreed: Callable[[str, str], bool] | None = None
    """Shows a text to the person and asks a question; None where nobody can be asked."""
    told: Callable[[str], object] | None = None
    """Shows a line to the person; None where nobody looks."""
    yes: bool = False
    """The person has said yes to what the run may cost."""

    def seats(self, roles: Sequence[str], written: Mapping[str, str]) -> dict[str, str]:
        """Role → specification, `written` standing in where nothing was said. Raises `MootError`."""
        return choose(roles, self.everybody, self.specs, written)

    def made(self, specs: Mapping[str, str]) -> dict[str, Seat]:
        """The seats. Raises `MootError` when one may not leave the machine, and offline was said."""
        return make_seats(specs, offline=self.offline or read_settings().offline)

    def check_programs(self, file: str, specs: Mapping[str, str]) -> None:
        """A program that only the file names needs the person's word: who wrote the file is not at the keyboard."""
        if self.commands or self.everybody is not None:
            return
        named = {role: spec for role, spec in specs.items() if is_program(spec) and role not in self.specs}
        if not named:
            return
        listed = "".join(f"  {role}: {spec}\n" for role, spec in named.items())
        about = f"{file} names programs to start on this machine:\n{listed}"
        if self.agreed is not None and self.agreed(about, "Start them?"):
            return
        what = f"the file names a program to start: {next(iter(named.values()))}"
        fix = "read it, and add --allow-commands if you mean it, or name the seat yourself with --seat"
        raise MootError("command_refused", what, file, fix, more=listed if len(named) > 1 else "")

    def programs_run_by(self, deliberation: Deliberation, said: str | None, file: str) -> str | None:
        """What runs the programs of this run's replies, if they are run: as was said, or as the file asks and the
        person agrees.

        Raises `NoSandbox` when they are and nothing holds them here: then nothing is begun.
        """
        from rounds.experiments.bench import bench_here

        wanted = said == SANDBOX
        if said is None and deliberation.experiments and deliberation.experiments.run == SANDBOX:
            about = f"{file} asks that programs which replies bring are run here, in a sandbox without a network.\n"
            wanted = self.agreed is not None and self.agreed(about, "Run them?")
            if not wanted and self.told is not None:
                self.told("experiments are off: the file asks for them, --experiments sandbox allows them\n")
        return bench_here().environment.interpreter if wanted else None

    def check_costs(self, made: Mapping[str, Seat], usd: str | None) -> None:
        """A budget of dollars binds nobody whose cost is unknown: refuse that unless it was allowed."""
        if usd is None or self.unknown_cost:
            return
        unknown = unknown_costs(made)
        if unknown:
            raise usage(
                f"what the seat of {', '.join(unknown)} costs is unknown, and --max-usd could not hold it",
                "name a model with a price (MOOT_PRICES), or add --allow-unknown-cost",
                "--max-usd",
            )

    def check_size(self, estimate: Callable[[], Estimate], made: Mapping[str, Seat]) -> None:
        """Say what a run may take before the first call that costs something, and ask above the limit.

        Where nobody can be asked the run begins: its budget is what binds it. Raises `MootError` after a no.
        """
        if self.told is None or not any(seat.kind in PAID for seat in made.values()):
            return
        from moot.view.estimate import estimate_line

        found, limit = estimate(), read_settings().ask_above_usd
        self.told(f"{estimate_line(found)}; `moot estimate` says what that rests on\n")
        is_small = found.replies_at_most <= SMALL if found.usd is None else Decimal(found.usd.high) <= limit
        if self.yes or self.agreed is None or is_small or self.agreed("", "Begin?"):
            return
        fix = "choose a shorter --plan or --protocol, or set --max-usd; --yes begins without being asked"
        raise MootError("not_begun", "nothing was begun", "moot run", fix)


def no_seat(roles: Iterable[str] = ()) -> MootError:
    """Nobody was named to answer, or nobody for some roles."""
    missing = ", ".join(roles)
    what = f"no seat for {missing}" if missing else "no seat: nobody was named to answer"
    fix = "add --seats anthropic, local, host, human, tape:RUN or command:PROGRAM"
    return MootError("no_seat", what, "moot run", fix, more=NO_SEAT)


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


def seated(
    roles: Iterable[str], seats: str | Mapping[str, Seat | str], *, offline: bool = False
) -> dict[str, Seat]:
    """A seat for every role: one specification for all, or a specification or a seat by role.

    Raises `MootError` when a role has none, or one is no role.
    """
    everybody = seats if isinstance(seats, str) else None
    by_role: Mapping[str, Seat | str] = {} if isinstance(seats, str) else seats
    specs = {role: seat for role, seat in by_role.items() if isinstance(seat, str)}
    ready = {role: seat for role, seat in by_role.items() if not isinstance(seat, str)}
    wanted = choose(roles, everybody, {**specs, **dict.fromkeys(ready, "host")}, {})
    made = make_seats({role: spec for role, spec in wanted.items() if role not in ready}, offline=offline)
    return {role: ready.get(role) or made[role] for role in wanted}


def make_seats(
    specs: Mapping[str, str],
    *,
    delay_seconds: Callable[[str], float] | None = None,
    offline: bool = False,
) -> dict[str, Seat]:
    """The seats themselves; roles with the same specification share one."""
    made: dict[str, Seat] = {}
    for spec in dict.fromkeys(specs.values()):
        if offline:
            stays_here(spec)
        made[spec] = _make(spec, delay_seconds or _delay())
    return {role: made[spec] for role, spec in specs.items()}


def _make(spec: str, delay_seconds: Callable[[str], float]) -> Seat:
    kind, _, rest = spec.partition(":")
    _check(spec)
    if kind == "tape":
        from ledger.store.store import RunStore
        from moot.app.runs import find_run
        from roles.seats.tape import TapeSeat

        return TapeSeat(RunStore(find_run(rest)).book(), delay_seconds)
    if kind == "anthropic":
        return _anthropic(rest)
    if kind == "command":
        from roles.seats.command import CommandSeat

        return CommandSeat(_words(rest))
    if kind == "human":
        from moot.terminal.asking import Person
        from roles.seats.human import HumanSeat

        return HumanSeat(Person().ask)
    if kind == "local":
        return _local(rest)
    from roles.seats.host import HostSeat

    return HostSeat()


def _anthropic(rest: str) -> Seat:
    """`MODEL@EFFORT`, each of them or neither; prices by MOOT_PRICES when it is set."""
    from roles.seats.anthropic import WORDS, AnthropicSeat

    if find_spec("anthropic") is None:
        what, _, fix = WORDS.install.partition(": ")
        raise MootError("sdk_missing", what, "seat", fix)
    model, effort = _model_and_effort(rest)
    return AnthropicSeat(model, prices=prices_in_force(), effort=effort)


def _local(rest: str) -> Seat:
    """A gguf by its path, or the one that an installed model package brings."""
    from roles.seats.local import INSTALL, LocalSeat, found_model

    if find_spec("xllamacpp") is None:
        what, _, fix = INSTALL.partition(": ")
        raise MootError("sdk_missing", what, "seat", fix)
    model = Path(rest).expanduser() if rest else found_model()
    if model is None:
        raise usage(
            "no local model was named, and none is installed", "write local:PATH/TO/MODEL.gguf", "seat"
        )
    _check_model(model)
    return LocalSeat(model)


def _check_model(model: Path) -> None:
    from roles.seats.local import is_gguf

    try:
        if is_gguf(model):
            return
        fault = "it is no gguf model"
    except OSError as error:
        fault = (error.strerror or str(error)).lower()
    raise usage(f"{model} cannot be used: {fault}", "name a gguf file: local:PATH/TO/MODEL.gguf", "seat")


def model_of(spec: str) -> str | None:
    """The model that a specification asks for; None where it names none, as commands and people do."""
    kind, _, rest = spec.partition(":")
    return _model_and_effort(rest)[0] if kind == "anthropic" else None


def _model_and_effort(rest: str) -> tuple[str, str | None]:
    from roles.seats.anthropic import EFFORTS, MODEL

    model, _, effort = rest.partition("@")
    if effort and effort not in EFFORTS:
        raise usage(f"no effort {effort!r}", f"choose one of {', '.join(EFFORTS)}", "seat")
    return model or MODEL, effort or None


def prices_in_force() -> Prices:
    """The list that MOOT_PRICES names, or the installed one."""
    from roles.seats.prices import INSTALLED, PricesError, read_prices

    said = os.environ.get("MOOT_PRICES")
    try:
        return read_prices(Path(said) if said else INSTALLED)
    except PricesError as error:
        raise usage(str(error), "fix the price list, or unset MOOT_PRICES", said or "prices") from None


def stays_here(spec: str) -> None:
    """Refuse a seat that could leave this machine, unless MOOT_OFFLINE_ALLOWS says that this kind of it does not."""
    allowed = {word.strip() for word in os.environ.get("MOOT_OFFLINE_ALLOWS", "").split(",")}
    kind = spec.partition(":")[0]
    if kind == "anthropic":
        host = urlsplit(os.environ.get("ANTHROPIC_BASE_URL", "")).hostname
        if "loopback" in allowed and host in LOOPBACK:
            return
        fix = "leave out --offline and MOOT_OFFLINE, or choose local, host, human or tape:RUN"
        raise usage("offline: an anthropic seat leaves this machine", fix, "seat")
    if kind == "command" and "command" not in allowed:
        fix = "leave out --offline, or say that it does not: MOOT_OFFLINE_ALLOWS=command"
        raise usage("offline: a program may leave this machine", fix, "seat")


def is_program(spec: str) -> bool:
    """Whether a specification names a program that would be started on this machine."""
    return spec.partition(":")[0] == "command"


def unknown_costs(seats: Mapping[str, Seat]) -> tuple[str, ...]:
    """Roles whose seat costs something that is not known beforehand."""
    from roles.seats.anthropic import AnthropicSeat

    return tuple(
        role
        for role, seat in seats.items()
        if seat.kind == "command" or (isinstance(seat, AnthropicSeat) and not seat.priced)
    )


def _words(rest: str) -> list[str]:
    try:
        return shlex.split(rest)
    except ValueError as error:
        raise usage(f"command:{rest} cannot be read: {error}", "quote it as for a shell", "seat") from None


def _check(spec: str) -> None:
    kind, colon, rest = spec.partition(":")
    if kind not in KINDS:
        near = get_close_matches(kind, KINDS, 1, 0.0)
        raise usage(f"no seat {spec!r}", f"did you mean {near[0]!r}? seats are {', '.join(KINDS)}", "seat")
    if kind == "tape" and not rest:
        raise usage("a tape needs a run", "write tape:RUN", "seat")
    if kind == "command" and not rest.strip():
        raise usage("a command needs a program", "write 'command:PROGRAM ARGUMENTS'", "seat")
    if kind in ("host", "human") and colon:
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
