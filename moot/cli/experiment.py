"""`moot experiment`: test claims by running programs: `plan`, `run`, `show`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from ledger.events import Event
from ledger.events.experiments import ExperimentRun
from moot.app.consent import Agreed
from moot.app.session import Session, kept_name, names, open_session
from moot.cli.options import ByOption, JsonOption, QuietOption, RunArgument, among, asking
from moot.environment import git_identity
from moot.errors import GOOD, NO, usage
from moot.terminal.streams import columns, out_json, show
from moot.view.experiments import (
    Experiments,
    experiment_of,
    experiments_text,
)

ACTS = ("plan", "run", "show")
Texts = list[str] | None


def experiment(
    act: Annotated[
        str,
        typer.Argument(metavar="plan|run|show", help="What to do.", autocompletion=among(lambda: ACTS)),
    ],
    run: RunArgument,
    words: Annotated[
        Texts,
        typer.Argument(metavar="[E-ID]", help="Which experiment; for plan, after --, the words to run."),
    ] = None,
    claim: Annotated[
        Texts, typer.Option(metavar="C-ID", help="plan: a claim that it decides; repeatable.")
    ] = None,
    program: Annotated[
        Texts, typer.Option(metavar="FILE", help="plan: a file of the program; repeatable.")
    ] = None,
    input: Annotated[
        Texts, typer.Option(metavar="FILE", help="plan: a file that it reads; may be repeated.")
    ] = None,
    question: Annotated[
        str | None, typer.Option(metavar="TEXT", help="plan: what it asks (the claim's test).")
    ] = None,
    pass_if: Annotated[
        Texts,
        typer.Option(metavar="TEST", help="plan: the claim holds if, such as 'exit = 0'; may be repeated."),
    ] = None,
    fail_if: Annotated[
        Texts, typer.Option(metavar="TEST", help="plan: it fails if, such as 'exit = 1'; may be repeated.")
    ] = None,
    must_fail: Annotated[
        Texts,
        typer.Option(
            metavar="NAME=FILE", help="plan: the control that must fail: another file, or other words."
        ),
    ] = None,
    must_hold: Annotated[
        Texts, typer.Option(metavar="NAME=FILE", help="plan: the control that must hold.")
    ] = None,
    times: Annotated[
        int | None, typer.Option(metavar="K", min=1, max=20, help="Repetitions (plan: 3); run: so many more.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="plan: MOOT_SEED of the program.")] = 0,
    seconds: Annotated[int, typer.Option(metavar="N", min=1, help="plan: time of one repetition.")] = 60,
    memory: Annotated[int, typer.Option(metavar="MIB", min=1, help="plan: memory of one repetition.")] = 512,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="show: write the files of E-ID there, to run it elsewhere."),
    ] = None,
    by: ByOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Test a claim by a program: plan it, run it in a sandbox, show it.

    A plan names a claim, a program, what counts as holding and as failing, and two controls: one that must fail and
    one that must hold. `run` is your word for running it here, three times in fresh sandboxes without a network; in a
    finished run the result is kept beside it, under checks/. To run a program elsewhere, write its files with
    `show --out DIR`, then hand in the result with `moot answer RUN N-ID --holds|--fails TEXT --file OUTPUT`.
    docs/experiments.md has an example. Exit code 1 when a program ends in an error, or a file under checks/ is not what
    was run.

    Example: moot experiment run @last E-2-1
    """
    if act not in ACTS:
        raise usage(f"no act {act!r}", f"say one of {', '.join(ACTS)}", "moot experiment")
    session = open_session(run)
    who = git_identity() if by is None else kept_name(by)
    rest = list(words or ())
    match act:
        case "plan":
            from moot.app.experiment_plans import PlanWish, plan_experiment

            wish = PlanWish(
                claims=claim or (),
                programs=program or (),
                argv=rest,
                inputs=input or (),
                question=question,
                pass_if=pass_if or (),
                fail_if=fail_if or (),
                must_fail=must_fail or (),
                must_hold=must_hold or (),
                times=times or 3,
                seed=seed,
                seconds=seconds,
                memory_mib=memory,
            )
            events = plan_experiment(session, wish, who)
            # A plan writes one event with an id: the experiment, which is then shown.
            ids = [event.id for event in events if event.id]
        case "run":
            ids, events = _run(session, _only(rest, 1), times, who, asking(silent=json or quiet))
        case _:
            wanted, events = _only(rest, 1), ()
            if out is not None:
                from moot.app.experiments import write_files

                write_files(session, wanted, out)
            ids = [wanted] if wanted else list(session.state.experiments)
    listing = _listing(session, ids, events)
    if json:
        out_json(listing)
    elif not quiet:
        show(experiments_text(listing, columns()))
    # A damaged check file is a finding of its own, also when only shown.
    if any(check.problem for row in listing.experiments for check in row.checks):
        return NO
    return NO if act == "run" and any(row.verdict == "error" for row in listing.experiments) else GOOD


def _only(arguments: list[str], most: int) -> str | None:
    if len(arguments) > most:
        raise usage(f"{arguments[most]!r} is one word too many", "name one experiment", "moot experiment")
    return arguments[0] if arguments else None


def _run(
    session: Session, wanted: str | None, times: int | None, who: str | None, agreed: Agreed | None
) -> tuple[list[str], tuple[Event, ...]]:
    # Imported late: the sandbox is not needed to plan or to show.
    from moot.app.experiments import SeriesRun, run_experiments

    events: list[Event] = []
    ids: list[str] = []
    for result in run_experiments(session, wanted, times=times, name=who, agreed=agreed):
        if isinstance(result, SeriesRun):
            ids.append(result.of)
        else:
            events += result
            ids += [event.of for event in result if isinstance(event, ExperimentRun)]
    # One commit per repetition, so an experiment appears in several of them.
    return list(dict.fromkeys(ids)), tuple(events)


def _listing(session: Session, wanted: Iterable[str], events: tuple[Event, ...]) -> Experiments:
    from moot.app.checks import checks_of

    book, path = session.inner.book(), str(session.path)
    # Refused as a whole, before anything is printed, so that a typo is not lost in a long list.
    unknown = [name for name in wanted if name not in book.state.experiments]
    if unknown:
        planned = ", ".join(book.state.experiments) or "none"
        raise usage(f"no experiment {unknown[0]!r} in this run", f"planned are: {planned}", "E-ID")
    rows = [experiment_of(path, book, name, checks_of(session.path, book, name)) for name in wanted]
    return Experiments(run=path, events=names(events), experiments=rows)
