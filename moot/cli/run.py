"""Verbs that put a question to the roles: `run` and `review`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer

from moot import version
from moot.api import open_run
from moot.app.inputs import write_document
from moot.app.runs import find_run
from moot.app.seat_specs import no_seat, read_seats
from moot.app.seats import SeatChoice
from moot.cli.command import OUTPUT, JsonOption, QuietOption, VerbResult, confirmation, run_names
from moot.cli.reading import show_status
from moot.cli.settings import (
    ContextOption,
    FromOption,
    MaxUsdOption,
    NoWaitOption,
    QuestionOption,
    RuleOption,
    SeatOption,
    SettingOptions,
    StakesOption,
    wanted,
)
from moot.errors import GOOD, NO, WAITING, refuse
from moot.terminal.streams import columns, err, indented, out, show, show_outcome
from moot.view.estimate import estimate_text
from moot.view.labels import finished_exit
from moot.view.results import RunEnd, run_end_text
from moot.view.review import ChangeReview, review_github, review_of, review_sarif, review_text
from moot.view.stop_checks import what_a_plan_lacks
from roles.seats.registry import PROVIDERS
from rounds.run.outcome import quorum_of
from rounds.setup.deliberation import HOW, LIMITS, WHO

if TYPE_CHECKING:
    from moot.app.session import Session
    from roles.seats.port import Seat
    from rounds.run.driver import Watch


def run(
    file: Annotated[str | None, typer.Argument(metavar="FILE", help="A deliberation file (TOML).")] = None,
    *,
    settings: SettingOptions,
    context: ContextOption = None,
    earlier: FromOption = None,
    seats: Annotated[
        str | None,
        typer.Option(
            metavar="SPEC",
            help=f"Who answers: {', '.join(row.grammar for row in PROVIDERS.values())}, "
            "or mix:SPEC,SPEC over the roles.",
            rich_help_panel=WHO,
        ),
    ] = None,
    seat: SeatOption = None,
    allow_commands: Annotated[
        bool,
        typer.Option(
            "--allow-commands",
            help="Use the seats that FILE names: start programs, send prompts to models.",
            rich_help_panel=WHO,
        ),
    ] = False,
    single: Annotated[
        bool, typer.Option("--single", help="One seat and one reply.", rich_help_panel=HOW)
    ] = False,
    stakes: StakesOption = None,
    rule: RuleOption = None,
    no_wait: NoWaitOption = False,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes",
            help="Start without asking, also with seats whose cost is unknown under --max-usd.",
            rich_help_panel=LIMITS,
        ),
    ] = False,
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="RUN",
            help="Continue this run, with the seats it names itself.",
            autocompletion=run_names,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    directory: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help="The run's directory. Default: runs/ with a date and four letters. Every seat sees its name.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Print replies, price range and time, and stop. Opens no run, costs nothing.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    no_live: Annotated[
        bool,
        typer.Option("--no-live", help="Plain lines instead of the live view.", rich_help_panel=OUTPUT),
    ] = False,
    pause: Annotated[
        Literal["round", "phase"] | None,
        typer.Option(
            metavar="WHEN",
            help="Stop after each round or phase; exit code 4, go on with --resume.",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> VerbResult:
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
    # Seats are checked before anything is read, so that a typo in one fails at once.
    everybody, specs = read_seats(seats, seat or ())
    silent = json or quiet
    options = wanted(
        settings,
        rules=rule,
        stakes=stakes,
        no_wait=no_wait,
        context=context,
        earlier=earlier,
        seated=() if resume is not None else tuple(specs),
        tell=None if silent else err,
    )
    # An empty question is refused below, before a seat is missed.
    if (
        resume is None
        and file is None
        and everybody is None
        and not specs
        and not dry_run
        and options.of("deliberation").get("question", "?").strip()
    ):
        raise no_seat()
    if single:
        options.table["gate"] = {"compete": False, "single": True}
    # Settings of the opening cannot be changed by resuming: the ledger already names them.
    refuse(
        resume is not None and (file or directory or options.is_settled_at_opening),
        "a run that goes on keeps its opening",
        "give only seats, budgets, --experiments and --no-wait beside --resume",
    )
    # Imported late: it loads the protocols, which a wrong call does not need.
    from moot.app import driving, opening

    if dry_run:
        refuse(
            resume is not None,
            "a run that goes on has no estimate",
            "leave out --resume or --dry-run",
            "--dry-run",
        )
        estimate = opening.estimated(file, options, SeatChoice(everybody, specs))
        return VerbResult(estimate, lambda: estimate_text(estimate))
    choice = SeatChoice(
        everybody,
        specs,
        commands=allow_commands,
        agreed=confirmation(silent=silent),
        tell=None if silent else show,
        yes=yes,
    )
    if resume is not None:
        session, built = opening.resumed(resume, choice, options)
    else:
        place = opening.place_of(directory)
        # The directory exists from here on, also when the first step fails.
        session, built = opening.opened(file, options, choice, place)
        # Said before the first reply is paid for, while the plan can still be changed.
        for why in () if quiet else what_a_plan_lacks(session.state.opening):
            err(f"warning: this plan cannot become ready: {why}; the run ends with its plan\n")

    def drive() -> RunEnd:
        watch = _watched(session, built, live=not no_live, silent=silent)
        return driving.driven(
            session,
            built,
            watch,
            is_new=resume is None,
            pause=pause,
            bench=opening.bench_of(session, choice.agreed),
        )

    end = drive()
    # A run that was opened with `ask` waits for the person's word when its first program is ready.
    while end.state == "waiting" and choice.agreed is not None and opening.asks_about_programs(session):
        ready = "The first program is ready to run, in a sandbox without a network.\n"
        is_allowed = choice.agreed(ready, "Run the programs of this run?")
        opening.allow_programs(session, choice.agreed, is_allowed=is_allowed)
        end = drive()

    def write(text: str) -> None:
        show_outcome(text, end.outcome.status)
        # A pause is made to look at the run, so its status follows at once.
        if end.state == "paused":
            paused = open_run(end.run)
            show_status(paused)
            # Most protocols have no stop checks, and forecasts are sealed at first.
            if paused.view.signals or paused.view.forecasts:
                show(f"stop checks: moot signals {end.run}\n")

    # A finished run with lost steps is not a clean success: scripts see it in the exit code.
    code = finished_exit(end.quorum) if end.state == "finished" else WAITING
    return VerbResult(end, lambda: run_end_text(end, columns(), pause), code, write)


def _watched(
    session: Session, seats: Mapping[str, Seat], *, live: bool, silent: bool
) -> AbstractContextManager[Watch]:
    """Return how the run is shown: live on a terminal, in plain lines elsewhere, or not at all."""
    # Host seats answer from other processes: this one only opens the steps and returns.
    if silent or all(seat.kind == "host" for seat in seats.values()):
        from rounds.run.driver import Watch

        return nullcontext(Watch())
    from moot.terminal.live import watched
    from moot.terminal.theme import console

    by_hand = any(seat.kind == "human" for seat in seats.values())  # a person types where the view would draw
    return watched(session.inner.book, console(), live=live and not by_hand)


ReviewForm = Literal["text", "markdown", "sarif", "github"]
SCALE: Final = {"adversarial": {"scale": "ready_fixes_rethink"}}
"""Protocol → rules of a review, where nothing else is said."""


def review(
    target: Annotated[
        str,
        typer.Argument(
            metavar="git:A..B|RUN", help="The change to review; or a run, whose findings are shown."
        ),
    ],
    seats: Annotated[
        str | None, typer.Option(metavar="SPEC", help="Who answers: see `moot run --help`.")
    ] = None,
    seat: SeatOption = None,
    question: QuestionOption = None,
    protocol: Annotated[
        str, typer.Option(metavar="NAME", help="adversarial (3 replies) or panel (7), or another one.")
    ] = "adversarial",
    context: ContextOption = None,
    directory: Annotated[
        str | None, typer.Option("--out", metavar="DIR", help="The run's directory, wherever it is.")
    ] = None,
    rule: RuleOption = None,
    max_usd: MaxUsdOption = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Begin without being asked, whatever it may cost.")
    ] = False,
    fail_on: Annotated[
        int | None,
        typer.Option(
            "--fail-on",
            metavar="N",
            min=1,
            max=5,
            help="Exit code 1 when a finding stands that is so grave, of 5.",
        ),
    ] = None,
    format: Annotated[
        ReviewForm, typer.Option("--format", metavar="FORM", help="text, markdown, sarif or github.")
    ] = "text",
    save: Annotated[
        str | None,
        typer.Option("--save", metavar="FILE", help="Write that form to FILE; the text is still printed."),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> VerbResult:
    """Review a change between two commits, or show what a review found.

    The roles read the diff and every file that it touches. A finding cites the words it is about, so its file and line
    are computed. It stands when the judge scores it 3 of 5 or more. Exit code 1 when one stands that is as grave as
    --fail-on says, 4 when the run waits for replies (then `moot review RUN` shows it), 5 when a reply was lost.

    Example: moot review git:main..HEAD --seats anthropic --fail-on 4
    """
    refuse(
        json and format != "text" and save is None,
        f"--json and --format {format} are two forms",
        "give one of them, or --save FILE",
        "--format",
    )
    if target.startswith("git:"):
        everybody, specs = read_seats(seats, seat or ())
        # Asked before the diff is read, which may take a while in a large repository.
        if everybody is None and not specs:
            raise no_seat()
        silent = json or quiet
        subject = question or f"Is the change {target.removeprefix('git:')} ready to be merged?"
        options = wanted(
            {"question": subject, "protocol": protocol, "max_usd": max_usd},
            rules=rule,
            # The change comes first, so that its diff is the first document a role reads.
            context=[target, *(context or ())],
            tell=None if silent else err,
        )
        options.table["deliberation"]["domain"] = "review of a change"
        # A person's own --rule wins over the scale of a review.
        options.table["rules"] = {**SCALE.get(protocol, {}), **options.of("rules")}
        choice = SeatChoice(
            everybody,
            specs,
            agreed=confirmation(silent=silent),
            tell=None if silent else err,
            yes=yes,
        )
        from moot.app import driving, opening

        session, built = opening.opened(None, options, choice, opening.place_of(directory))
        driving.driven(session, built)
        run = session.path
    else:
        refuse(
            seats or seat or question or context or directory,
            "a run that is there keeps its opening",
            "name a change, git:A..B, to review it",
            target,
        )
        run = find_run(target)
    ours = open_run(run)
    view = ours.view
    findings = review_of(view.name, view.book, view.outcome, fail_on)
    if save is not None:
        write_document(Path(save), _in_form(findings, format).encode())
    printed: ReviewForm = "text" if save is not None else format
    # A lost reply outranks the findings: with a role missing, "nothing found" would not mean much.
    ended = finished_exit(quorum_of(ours.state)) or (NO if findings.failing else GOOD)

    def write(text: str) -> None:
        # SARIF and GitHub lines are read by programs: folding at the terminal's width would break them.
        (show if printed == "text" else out)(text)
        if not ours.state.finished:
            err(f"the run waits: moot next {run}; then: moot review {run}\n")

    code = ended if ours.state.finished else WAITING
    return VerbResult(findings, lambda: _in_form(findings, printed), code, write)


def _in_form(findings: ChangeReview, form: ReviewForm) -> str:
    match form:
        case "markdown":
            from moot.documents import review_markdown  # nobody else pays for the templates

            return review_markdown(findings)
        case "sarif":
            return indented(review_sarif(findings, version()))
        case "github":
            return review_github(findings)
        case "text":
            return review_text(findings, columns())
