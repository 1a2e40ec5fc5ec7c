"""The person's consent: required before another author's program runs here, or before a file decides whom moot calls.

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
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ledger.store.disk import read_plain, write_fully
from ledger.store.store import RunStore
from moot.app.seat_specs import mixed
from moot.environment import ON, state_directory
from moot.errors import MootError

if TYPE_CHECKING:
    from rounds.experiments.bench import Bench

Agreed = Callable[[str, str], bool]
"""Shows a text to the person and asks a yes/no question; None where no person can answer."""
WATCHED: Final = "MOOT_WATCHED"
OPENED: Final = "opened-runs"
OPENED_BYTES_MAX: Final = 1 << 24
SILENT_KINDS: Final = ("host", "human", "tape")


def need_word(about: str, question: str, refusal: MootError, agreed: Agreed | None) -> None:
    """Ask the person for consent. Raise `refusal` after a no, and where no person can answer."""
    if agreed is None or not agreed(about, question):
        raise refusal


def reaches_out(spec: str) -> bool:
    """Return whether a seat starts a program or sends prompts to an address."""
    return any(part.partition(":")[0] not in SILENT_KINDS for part in mixed(spec))


def need_word_for_seats(
    file: str, specs: Mapping[str, str], agreed: Agreed | None, *, is_allowed: bool = False
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


def need_word_for_programs(where: str, agreed: Agreed | None, *, is_allowed: bool = False) -> None:
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
    return sha256(os.fsencode(run.resolve()) + b"\0" + line).hexdigest()
