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
from moot.errors import GOOD, WAITING, usage
from moot.terminal.streams import columns, err, out_json, show, show_outcome
from moot.view.estimate import estimate_text
from moot.view.labels import finished_exit
from moot.view.played import RunEnd, run_end_text
from moot.view.stop_checks import what_a_plan_lacks
from roles.seats.registry import PROVIDERS

if TYPE_CHECKING:
    from moot.app.session import Session
    from roles.seats.port import Seat
    from rounds.run.driver import Pause, Watch


def run(
    file: Annotated[str | None, typer.Argument(metavar="FILE", help="A deliberation file (TOML).")] = None,
    question: common.QuestionOption = None,
    context: common.ContextOption = None,
    earlier: common.FromOption = None,
    goal: common.GoalOption = None,
    option: common.OptionOption = None,
    seats: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC",
            help=f"Who answers: {', '.join(row.grammar for row in PROVIDERS.values())}, "
            "or mix:SPEC,SPEC over the roles.",
            rich_help_panel=common.WHO,
        ),
    ] = None,
    seat: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=SPEC", help="Who answers for one role; may be repeated.", rich_help_panel=common.WHO
        ),
    ] = None,
    allow_commands: Annotated[
        bool,
        typer.Option(
            "--allow-commands",
            help="Use the seats that FILE names: start programs, send prompts to models.",
            rich_help_panel=common.WHO,
        ),
    ] = False,
    protocol: common.ProtocolOption = None,
    single: common.SingleOption = False,
    plan: common.PlanOption = None,
    stakes: common.StakesOption = None,
    rule: common.RuleOption = None,
    experiments: common.ExperimentsOption = None,
    max_usd: common.MaxUsdOption = None,
    max_tokens: common.MaxTokensOption = None,
    max_calls: common.MaxCallsOption = None,
    max_minutes: common.MaxMinutesOption = None,
    max_rounds: common.MaxRoundsOption = None,
    no_wait: common.NoWaitOption = False,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            help="Start without asking, also with seats whose cost is unknown under --max-usd.",
            rich_help_panel=common.LIMITS,
        ),
    ] = False,
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="Continue this run, with the seats it names itself.",
            autocompletion=common.run_names,
            rich_help_panel=common.OUTPUT,
        ),
    ] = None,
    directory: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="The run's directory. Default: runs/ with a date and four letters. Every seat sees its name.",
            rich_help_panel=common.OUTPUT,
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Print replies, price range and time, and stop. Opens no run, costs nothing.",
            rich_help_panel=common.OUTPUT,
        ),
    ] = False,
    no_live: Annotated[
        bool,
        typer.Option(
            "--no-live", help="Plain lines instead of the live view.", rich_help_panel=common.OUTPUT
        ),
    ] = False,
    pause: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN",
            help="Stop after each round or phase; exit code 4, go on with --resume.",
            rich_help_panel=common.LIMITS,
        ),
    ] = None,
    json: common.JsonOption = False,
    quiet: common.QuietOption = False,
) -> int:
    """Run a deliberation from a file or a question until it ends or has to wait.

    Without --protocol the question's words choose one, and a line says which, with replies, price and time: crux for
    most questions, others for their own kinds (`moot gate QUESTION` explains the choice). A plan or a profile means
    rounds of structured. --single takes one reply. A protocol that was chosen for you and may cost more than 1 dollar
    needs your word: --protocol, --max-usd, --yes, or an answer on the terminal.

    Before the first call that costs something it says how many replies, dollars and minutes it may take. Above 5
    dollars (MOOT_ASK_ABOVE_USD sets another limit), or 20 replies of unknown price, it asks first on a terminal.

    With host seats the run is opened and its open steps are printed (exit code 4): answer them with `moot next` and
    `moot submit`, and whoever submits last opens what comes next. Exit code 5 when the run ended and a step of it was
    given up. --dry-run prints what a run may take: replies by role and phase, tokens, price and minutes. A role
    without a seat is then priced as `anthropic`.

    --rule takes the variants of the protocol (`moot gate NAME` lists them, such as judges, rubric, rounds, voting) and
    these settings: cast=product|software|research|launch (who the roles are), check-every=N (rounds between two looks
    at the stop checks), context-bytes=N (limit for all documents), domain=TEXT, params=FILE (thresholds),
    profile=NAME (stop checks), seed=N and stress=off (no role is ever absent).

    Example: moot run -q 'Which storage for our audit ledger?' --plan minimum-8 --seats host
    """
    pause_after(pause)
    # Seats are checked before anything is read, so that a typo in one fails at once.
    everybody, specs = read_seats(seats, seat or ())
    if resume is None and file is None and everybody is None and not specs and not dry_run:
        raise no_seat()
    limits = {
        "usd": max_usd,
        "tokens": max_tokens,
        "calls": max_calls,
        "minutes": max_minutes,
        "rounds": max_rounds,
    }
    settings = common.rules_of(rule, stakes)
    files, texts, changes = common.documents_said(
        context, earlier, settings.context_bytes, (lambda _: None) if json or quiet else err
    )
    wanted = RunOptions(
        question=question,
        domain=settings.domain,
        goals=tuple(goal or ()),
        options=tuple(option or ()),
        protocol=protocol,
        plan=plan,
        profile=settings.profile,
        params=settings.params,
        check_every=settings.check_every,
        seed=settings.seed,
        no_stress=settings.no_stress,
        single=single,
        rules=settings.rules,
        no_wait=no_wait,
        contexts=files,
        texts=texts,
        changes=changes,
        budget={name: limit for name, limit in limits.items() if limit is not None},
        seated=() if resume is not None else tuple(specs),
        experiments=common.experiments_of(experiments),
    )
    # Settings of the opening cannot be changed by resuming: the ledger already names them.
    if resume is not None and (file or directory or settings.cast or wanted.is_settled_at_opening):
        raise usage(
            "a run that goes on keeps its opening",
            "give only seats, budgets, --experiments and --no-wait beside --resume",
        )
    # Imported late: it loads the protocols, which a wrong call does not need.
    from moot.app import running

    if dry_run:
        if resume is not None:
            raise usage("a run that goes on has no estimate", "leave out --resume or --dry-run", "--dry-run")
        estimate = running.estimated(file, wanted, SeatChoice(everybody, specs), settings.cast)
        if json:
            out_json(estimate)
        elif not quiet:
            show(estimate_text(estimate))
        return GOOD
    silent = json or quiet
    choice = SeatChoice(
        everybody,
        specs,
        commands=allow_commands,
        agreed=common.asking(silent=silent),
        tell=None if silent else show,
        yes=yes,
    )
    if resume is not None:
        session, built = running.resumed(resume, choice, wanted)
    else:
        place = running.place_of(directory)
        # The directory exists from here on, also when the first step fails.
        session, built = running.opened(file, wanted, choice, casting=settings.cast, directory=place)
        # Said before the first reply is paid for, while the plan can still be changed.
        for why in () if quiet else what_a_plan_lacks(session.state.opening):
            err(f"warning: this plan cannot become ready: {why}; the run ends with its plan\n")

    def drive() -> RunEnd:
        watch = _watched(session, built, live=not no_live, silent=silent)
        return running.driven(
            session,
            built,
            watch,
            is_new=resume is None,
            pause=pause_after(pause),
            bench=running.bench_of(session, choice.agreed),
        )

    end = drive()
    # A run that was opened with `ask` waits for the person's word when its first program is ready.
    while end.state == "waiting" and choice.agreed is not None and running.asks_about_programs(session):
        ready = "The first program is ready to run, in a sandbox without a network.\n"
        is_allowed = choice.agreed(ready, "Run the programs of this run?")
        running.allow_programs(session, choice.agreed, is_allowed=is_allowed)
        end = drive()
    if json:
        out_json(end)
    elif not quiet:
        show_outcome(run_end_text(end, columns()), end.outcome.status)
        # A pause is made to look at the run, so its status follows at once.
        if end.state == "paused":
            status(end.run)
    # A finished run with lost steps is not a clean success: scripts see it in the exit code.
    return finished_exit(end.quorum) if end.state == "finished" else WAITING


def pause_after(word: str | None) -> Pause | None:
    """Return what --pause names. Raises `MootError` for another word."""
    match word:
        case None | "round" | "phase":
            return word
        case _:
            raise usage(f"no pause {word!r}", "say round or phase", "--pause")


def _watched(
    session: Session, seats: Mapping[str, Seat], *, live: bool, silent: bool
) -> AbstractContextManager[Watch]:
    """Return how the run is shown: live on a terminal, in plain lines elsewhere, or not at all."""
    # Host seats answer from other processes: this one only opens the steps and returns.
    if silent or all(seat.kind == "host" for seat in seats.values()):
        from rounds.run.driver import Watch

        return nullcontext(Watch())
    from moot.terminal.console import console
    from moot.terminal.live import watched

    by_hand = any(seat.kind == "human" for seat in seats.values())  # a person types where the view would draw
    return watched(session.inner.book, console(), live=live and not by_hand)
