"""`moot run`: run a deliberation, or go on with one."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from moot.app.run_options import RunOptions
from moot.app.seat_specs import no_seat, read_seats
from moot.app.seats import SeatChoice
from moot.cli import options as common
from moot.cli.status import status
from moot.errors import GOOD, SEAT_FAILED, WAITING, usage
from moot.terminal.streams import columns, err, out_json, show
from moot.view.played import run_end_text
from moot.view.quorum import finished_exit
from moot.view.readiness import what_a_plan_lacks

if TYPE_CHECKING:
    from pathlib import Path

    from moot.app.notices import Notices
    from moot.app.session import Session
    from roles.seats.port import Seat
    from rounds.run.driver import Pause, Watch


def run(
    file: Annotated[str | None, typer.Argument(metavar="FILE", help="A deliberation file (TOML).")] = None,
    question: common.QuestionOption = None,
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="Go on with this run, with the seats that it names itself.",
            autocompletion=common.run_names,
        ),
    ] = None,
    seats: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC",
            help="Who answers: anthropic[:MODEL], openai[:MODEL], ollama:MODEL, openrouter:MODEL, claude, codex, "
            "gemini, llm, local[:GGUF], command:PROGRAM, host, human, tape:RUN, or mix:SPEC,SPEC over the roles.",
        ),
    ] = None,
    seat: Annotated[
        list[str] | None, typer.Option(metavar="ROLE=SPEC", help="Who answers for one role; may be repeated.")
    ] = None,
    directory: Annotated[
        str | None, typer.Option("--out", metavar="DIR", help="The run's directory, wherever it is.")
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The run's name under ./runs, which every seat sees (a date and four letters).",
        ),
    ] = None,
    protocol: common.ProtocolOption = None,
    compete: common.CompeteOption = False,
    single: common.SingleOption = False,
    plan: common.PlanOption = None,
    context: common.ContextOption = None,
    context_bytes: common.ContextBytesOption = None,
    earlier: common.FromOption = None,
    goal: common.GoalOption = None,
    option: common.OptionOption = None,
    domain: common.DomainOption = None,
    cast: common.CastOption = None,
    profile: common.ProfileOption = None,
    params: common.ParamsOption = None,
    check_every: common.CheckEveryOption = None,
    seed: common.SeedOption = None,
    no_stress: common.NoStressOption = False,
    rule: common.RuleOption = None,
    rounds: common.RoundsOption = None,
    stakes: common.StakesOption = None,
    no_wait: common.NoWaitOption = False,
    judges: common.JudgesOption = None,
    rubric: common.RubricOption = None,
    voting: common.VotingOption = None,
    max_usd: common.MaxUsdOption = None,
    max_tokens: common.MaxTokensOption = None,
    max_calls: common.MaxCallsOption = None,
    max_minutes: common.MaxMinutesOption = None,
    max_rounds: common.MaxRoundsOption = None,
    prices: common.PricesOption = None,
    experiments: common.ExperimentsOption = None,
    repeat: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=2,
            max=100,
            help="The same question N times, in DIR/1, DIR/2 …; how far answers agree.",
        ),
    ] = None,
    on_wait: common.OnWaitOption = None,
    on_end: common.OnEndOption = None,
    allow_unknown_cost: Annotated[
        bool, typer.Option("--allow-unknown-cost", help="Let a seat without a price sit under --max-usd.")
    ] = False,
    allow_commands: Annotated[
        bool,
        typer.Option("--allow-commands", help="Start programs, and ask addresses, that FILE names as seats."),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Begin without being asked, whatever it may cost.")
    ] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Refuse seats that leave this machine.")] = False,
    pause: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN", help="Stop after each round or phase; exit code 4, go on with --resume."
        ),
    ] = None,
    no_live: Annotated[bool, typer.Option("--no-live", help="Plain lines instead of the live view.")] = False,
    json: common.JsonOption = False,
    quiet: common.QuietOption = False,
) -> int:
    """Run a deliberation from a file or a question until it ends or has to wait.

    A question (-q) is given to the protocol crux: sealed beliefs of four roles, then tests of what could change the
    answer, 4 to 40 replies. --protocol names another one; a plan, a profile or a file means rounds of the structured
    deliberation. --single takes one seat, --compete lets the gate choose. `moot gate` says the route beforehand.

    Before the first call that costs something it says how many replies, dollars and minutes it may take. Above 5
    dollars (MOOT_ASK_ABOVE_USD sets another limit), or 20 replies of unknown price, it asks first on a terminal.

    With host seats the run is opened and its open steps are printed (exit code 4): answer them with `moot next` and
    `moot submit`, and whoever submits last opens what comes next. Exit code 5 when the run
    ended and a step of it was given up. --repeat N asks the same question N times and says how far the answers agree;
    said again it goes on. --on-wait and --on-end tell a program or an address that you name; no file can.

    Example: moot run -q 'Which storage for our audit ledger?' --plan minimum-8 --seats host
    """
    pause_after(pause)
    everybody, specs = read_seats(seats, seat or ())
    if resume is None and file is None and everybody is None and not specs:
        raise no_seat()
    limits = {
        "usd": max_usd,
        "tokens": max_tokens,
        "calls": max_calls,
        "minutes": max_minutes,
        "rounds": max_rounds,
    }
    files, texts = common.documents_said(
        context, earlier, context_bytes, (lambda _: None) if json or quiet else err
    )
    wanted = RunOptions(
        question=question,
        domain=domain,
        goals=tuple(goal or ()),
        options=tuple(option or ()),
        protocol=protocol,
        plan=plan,
        profile=profile,
        params=params,
        check_every=check_every,
        seed=seed,
        no_stress=no_stress,
        compete=compete,
        single=single,
        rules=common.rules_of(rule, rounds, judges, rubric, voting, stakes),
        no_wait=no_wait,
        contexts=files,
        texts=texts,
        budget={name: limit for name, limit in limits.items() if limit is not None},
        experiments=common.experiments_of(experiments),
    )
    if resume is not None and (file or directory or name or cast or wanted.is_settled_at_opening):
        raise usage(
            "a run that goes on keeps its opening",
            "give only seats, budgets, --experiments and --no-wait beside --resume",
        )
    from moot.app import running
    from moot.app.notices import Notices

    notices = Notices(on_wait, on_end, err, offline=offline)
    silent = json or quiet
    choice = SeatChoice(
        everybody,
        specs,
        offline=offline,
        unknown_cost=allow_unknown_cost,
        commands=allow_commands,
        agreed=common.asking(silent=silent),
        told=None if silent else show,
        yes=yes,
        prices=prices,
    )
    if repeat is not None:
        if resume is not None:
            raise usage(
                "a run that goes on is one run", "say the same --repeat again to go on with all", "--repeat"
            )
        return _repeated(
            repeat, file, wanted, choice, cast, running.place_of(directory, name), notices,
            live=not no_live, json=json, quiet=quiet,
        )  # fmt: skip
    if resume is not None:
        session, made = running.resumed(resume, choice, wanted)
    else:
        place = running.place_of(directory, name)
        session, made = running.opened(file, wanted, choice, casting=cast, directory=place)
        for why in () if quiet else what_a_plan_lacks(session.state.opening):
            err(f"warning: this plan cannot become ready: {why}; the run ends with its plan\n")
    end = running.driven(
        session,
        made,
        _watched(session, made, live=not no_live, silent=silent),
        notices.tell,
        pause_after(pause),
    )
    if json:
        out_json(end)
    elif not quiet:
        show(run_end_text(end, columns()))
        if end.state == "paused":
            status(end.run)
    return finished_exit(end.quorum) if end.state == "finished" else WAITING


def pause_after(word: str | None) -> Pause | None:
    """Return what --pause names. Raises `MootError` for another word."""
    match word:
        case None | "round" | "phase":
            return word
        case _:
            raise usage(f"no pause {word!r}", "say round or phase", "--pause")


def _repeated(
    times: int, file: str | None, wanted: RunOptions, choice: SeatChoice, cast: str | None, place: Path,
    notices: Notices, *, live: bool, json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Run it several times and say how far the answers agree."""
    from moot.app.repeats import repeated
    from moot.view.repeats import repeats_text

    silent = json or quiet
    found = repeated(
        times, place, file, wanted, choice, casting=cast,
        watched=lambda session, made: _watched(session, made, live=live, silent=silent), tell=notices.tell,
    )  # fmt: skip
    if json:
        out_json(found)
    elif not quiet:
        show(repeats_text(found))
    if found.finished < times:
        return WAITING
    return SEAT_FAILED if any(one.lost for one in found.runs) else GOOD


def _watched(
    session: Session, seats: Mapping[str, Seat], *, live: bool, silent: bool
) -> AbstractContextManager[Watch]:
    """How the run is shown: live on a terminal, in plain lines elsewhere, or not at all."""
    if silent or all(seat.kind == "host" for seat in seats.values()):
        from rounds.run.driver import Watch

        return nullcontext(Watch())
    from moot.terminal.console import console
    from moot.terminal.live import watched

    by_hand = any(seat.kind == "human" for seat in seats.values())  # a person types where the view would draw
    return watched(session.inner.book, console(), live=live and not by_hand)
