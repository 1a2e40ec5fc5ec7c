"""Verbs by which a person has a say: `answer`, `override`, `ack`, `note`, `outcome` and `experiment`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Final, cast

import typer

from ledger.events import Event
from ledger.events.envelope import TestResult
from ledger.events.experiments import ExperimentRun
from ledger.store.disk import read_plain
from moot.api import open_run
from moot.app.experiment_plans import PlanWish, plan_experiment
from moot.app.experiments import SeriesRun, checks_of, find_experiment, run_experiments, write_files
from moot.app.inputs import read_text
from moot.app.runs import find_run
from moot.app.session import Session, kept_name, names, open_session
from moot.cli.command import (
    ByOption,
    JsonOption,
    QuietOption,
    RunArgument,
    TextArgument,
    VerbResult,
    among,
    confirmation,
)
from moot.environment import git_identity
from moot.errors import GOOD, NO, refuse, usage
from moot.terminal.streams import columns, show_outcome
from moot.view.event_lines import event_line
from moot.view.experiments import (
    Experiments,
    experiment_of,
    experiments_text,
)
from moot.view.outcome_text import outcome_first
from moot.view.results import Act, OutcomeSaid
from rounds.run.acceptance import FATES, fate_of

OUTPUT_BYTES_MAX: Final = 8 << 20


def answer(
    run: RunArgument,
    question: Annotated[
        str, typer.Argument(metavar="ID", help="The question's id (N-1-6), or a claim's (C-1-2).")
    ],
    text: TextArgument,
    holds: Annotated[bool, typer.Option("--holds", help="You tested the claim, and it holds.")] = False,
    fails: Annotated[bool, typer.Option("--fails", help="You tested the claim, and it fails.")] = False,
    file: Annotated[
        Path | None, typer.Option(metavar="OUTPUT", help="What your test produced; kept with the run.")
    ] = None,
    by: ByOption = None,
) -> VerbResult:
    """Answer a question, or hand in the result of a test.

    With --holds or --fails the answer settles the claim that the question tests: in crux every forecast is updated, and
    the memo is written again if the leader or the status changes. Without either it is context, which later prompts
    show.

    Example: moot answer @last N-1-6 --holds 'Restored last night: 2 h 10 min' --file restore.log
    """
    refuse(holds and fails, "--holds and --fails exclude each other", "say one of them", "moot answer")
    # Two flags instead of a value: a typo in a value would be caught only after the answer was typed.
    result: TestResult | None = "holds" if holds else "fails" if fails else None
    refuse(
        file is not None and result is None,
        "--file is the output of a test",
        "add --holds or --fails",
        "--file",
    )
    # Read before anything is written, so that a missing file leaves the ledger untouched.
    output = None if file is None else read_plain(file, OUTPUT_BYTES_MAX)
    session = open_session(run)
    return _written(session, session.answer(question, text, by=person(by), result=result, output=output))


def override(
    run: RunArgument,
    target: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            help="A decision's id (D-4-1), or @SEQ of a ruling or of a screening that holds the run up.",
        ),
    ],
    text: TextArgument,
    by: ByOption = None,
) -> VerbResult:
    """Overturn a decision in force, with what is decided instead and why. The old one stays on the ledger.

    Example: moot override @last D-4-1 'One journal, because operations must read it without us.'
    """
    session = open_session(run)
    return _written(session, session.override(target, text, by=person(by)))


def ack(
    run: RunArgument,
    alarm: Annotated[
        str,
        typer.Argument(
            metavar="ALARM", help="The failure mode (FM-1), or @SEQ of the alarm or of the error."
        ),
    ],
    text: TextArgument,
    by: ByOption = None,
) -> VerbResult:
    """Close an open alarm; what it had amended ends with it. Or let a run go on that an error of its rules holds up.

    Example: moot ack @last FM-1 'The critic was right to agree: nothing was left to attack.'
    """
    session = open_session(run)
    return _written(session, session.ack(alarm, text, by=person(by)))


def note(
    run: RunArgument,
    text: TextArgument,
    by: ByOption = None,
) -> VerbResult:
    """Put a remark on the ledger. No brief shows it.

    Example: moot note @last 'R5 was run with a new model for the critic.'
    """
    session = open_session(run)
    return _written(session, session.note(text, by=person(by)))


def person(by: str | None) -> str | None:
    """Return the name of the person on the record: --by, or else git's user.name."""
    # git's name saves typing --by every time; a run that keeps no names drops it.
    return git_identity() if by is None else kept_name(by)


def _written(session: Session, events: tuple[Event, ...]) -> VerbResult:
    result = Act(run=str(session.path), events=names(events))
    return VerbResult(
        result, lambda: "".join(f"{event_line(event, session.inner.book())}\n" for event in events)
    )


USES: Final = ("accepted", "edited", "rejected")
"""Words for whether the outcome was used; the words of `FATES` say how it turned out."""
WORDS: Final = (*USES, *FATES)


def outcome(
    run: RunArgument,
    word: Annotated[
        str | None,
        typer.Argument(
            metavar="|".join(WORDS),
            help="What became of it. Without a word, the outcome is only shown.",
            autocompletion=among(lambda: WORDS),
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE|TEXT", help="edited: the text that was used. Else: what was seen, and when."
        ),
    ] = None,
    decision: Annotated[
        str | None,
        typer.Option(metavar="D-ID", help="The decision that held or failed (the first final one)."),
    ] = None,
    by: ByOption = None,
) -> VerbResult:
    """Show the outcome of a run, or record what became of it on the ledger of the finished run.

    accepted, edited FILE and rejected say whether the outcome was used. `moot study value` counts them and measures how
    far FILE is from the outcome. held, failed, mixed and unknown say, months later, how a decision turned out. If the
    run gave a likelihood, it is scored. A later word replaces an earlier one; both stay on the ledger.

    Example: moot outcome @last failed 'Two writers lost a line in March.' --decision D-4-1 --by Ada
    """
    # These options only make sense with a word; without one the person has probably forgotten it.
    refuse(
        word is None and (decision is not None or by is not None),
        "no word says what became of it",
        f"add one of {', '.join(WORDS)}",
        "moot outcome",
    )
    written: list[str] = []
    if word is not None:
        written = _record_outcome(open_session(run), word, text, decision, person(by))
    # Opened after the writing, so that the outcome shown already contains it.
    view = open_run(find_run(run)).view
    return VerbResult(
        OutcomeSaid(run=view.name, events=written, quorum=view.quorum, outcome=view.outcome),
        lambda: outcome_first(view.outcome, view.quorum, view.name, columns()),
        write=partial(show_outcome, status=view.outcome.status),
    )


def _record_outcome(
    session: Session, word: str, text: str | None, decision: str | None, by: str | None
) -> list[str]:
    """Write what a word says and return the ids of the events.

    Raises `MootError` when an argument is missing or superfluous.
    """
    # A fate concerns a decision months later, a use concerns the whole run now: their arguments differ.
    fate = fate_of(word)
    if fate is not None:
        if text is None:
            raise usage(f"{word} needs a text", "say what was seen, in quotes", "moot outcome")
        return names(session.say_what_became(fate, text, decision, by=by))
    refuse(word not in USES, f"unknown word {word!r}", f"use one of {', '.join(WORDS)}", "moot outcome")
    refuse(decision is not None, f"{word} is about the whole run", "leave out --decision", "--decision")
    if (word == "edited") != (text is not None):
        fix = "name the file: moot outcome RUN edited FILE" if word == "edited" else "leave out the text"
        raise usage(f"{word} takes {'a file' if word == 'edited' else 'no text'}", fix, "moot outcome")
    used = read_text(Path(cast(str, text))) if word == "edited" else None
    return names(session.accept(used, rejected=word == "rejected", by=by))


ACTS: Final = ("plan", "run", "show")
Texts = list[str] | None


def experiment(
    act: Annotated[
        str,
        typer.Argument(metavar="plan|run|show", help="What to do.", autocompletion=among(lambda: ACTS)),
    ],
    run: RunArgument,
    words: Annotated[
        Texts,
        typer.Argument(metavar="E-ID", help="Which experiment; for plan, after --, the words to run."),
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
) -> VerbResult:
    """Test a claim by a program: plan it, run it in a sandbox, show it.

    A plan names a claim, a program, what counts as holding and as failing, and two controls: one that must fail and
    one that must hold. `run` is your word for running it here, three times in fresh sandboxes without a network; in a
    finished run the result is kept beside it, under checks/, and handed in as your answer. To run a program elsewhere,
    write its files with `show --out DIR`, then hand in the result with
    `moot answer RUN N-ID --holds|--fails TEXT --file OUTPUT`. docs/experiments.md has an example. Exit code 1 when a
    program ends in an error, or a file under checks/ is not what was run.

    Example: moot experiment run @last E-2-1
    """
    refuse(act not in ACTS, f"no act {act!r}", f"say one of {', '.join(ACTS)}", "moot experiment")
    session = open_session(run)
    who = person(by)
    rest = list(words or ())
    if act != "plan" and len(rest) > 1:
        raise usage(f"{rest[1]!r} is one word too many", "name one experiment", "moot experiment")
    wanted = rest[0] if rest else None
    events: Sequence[Event] = ()
    match act:
        case "plan":
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
            agreed = confirmation(silent=json or quiet)
            results = run_experiments(session, wanted, times=times, name=who, agreed=agreed)
            series = [result for result in results if isinstance(result, SeriesRun)]
            events = [event for result in results if not isinstance(result, SeriesRun) for event in result]
            of = [event.of for event in events if isinstance(event, ExperimentRun)]
            # One commit per repetition, so an experiment appears in several of them.
            ids = list(dict.fromkeys([*(result.of for result in series), *of]))
        case _:
            if out is not None:
                write_files(session, wanted, out)
            ids = [wanted] if wanted else list(session.state.experiments)
    book, path = session.inner.book(), str(session.path)
    for name in ids:
        find_experiment(book, name)
    rows = [experiment_of(path, book, name, checks_of(session.path, book, name)) for name in ids]
    listing = Experiments(run=path, events=names(events), experiments=rows)
    # A damaged check file is a finding of its own, also when only shown.
    is_damaged = any(check.problem for row in rows for check in row.checks)
    failed = act == "run" and any(row.verdict == "error" for row in rows)
    return VerbResult(
        listing, lambda: experiments_text(listing, columns()), NO if is_damaged or failed else GOOD
    )
