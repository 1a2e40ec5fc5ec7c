"""`moot study`: compare ways to deliberate on many questions (`new`, `run`, `status`, `report`, `value`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from ledger.plain_text import counted
from moot.api import open_run
from moot.app.inputs import write_document
from moot.app.runs import runs_at
from moot.cli import command as common
from moot.cli.command import VerbResult
from moot.errors import GOOD, NO, WAITING, refuse, usage
from moot.studies.conduct import check_plan, check_word, conduct, standing_of
from moot.studies.definition import Study, drafted, read_keys, read_study
from moot.studies.playing import ENGINES, JobEnd, check_store
from moot.studies.progress import agreed_to, price_of, status_of
from moot.studies.report import report_of
from moot.studies.units import StudyJob, check_arms
from moot.terminal.streams import err, show
from moot.view.study import StudyStatus, draft_text, report_text, status_text
from rounds.analysis.value import RunValue, ValueReport, event_lines, report, value_of

ACTS: Final = ("new", "run", "status", "report", "value")


def study(
    act: Annotated[
        str,
        typer.Argument(metavar="|".join(ACTS), help="What to do.", autocompletion=common.among(lambda: ACTS)),
    ],
    places: Annotated[
        list[str],
        typer.Argument(metavar="STUDY", help="The study's directory. value: runs, or directories of runs."),
    ],
    engine: Annotated[
        Literal["local", "ray"],
        typer.Option(metavar="local|ray", help="run: processes of this machine, or a Ray cluster."),
    ] = "local",
    address: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="run: of the Ray cluster (one is started here).")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=1_000, help="run: runs side by side (as many as cores)."),
    ] = None,
    store: Annotated[
        str,
        typer.Option(
            metavar="shared|returned|URL",
            help="run: workers see the study's directory; send runs back; or put them where fsspec reaches.",
        ),
    ] = "shared",
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="run: play so many runs, then stop.")
    ] = None,
    allow_commands: Annotated[
        bool,
        typer.Option(
            "--allow-commands", help="run: use the seats that the study names: programs and models."
        ),
    ] = False,
    experiments: Annotated[
        Literal["on", "ask", "off"] | None,
        typer.Option(metavar="[on]", help="run: run programs of replies where an arm says so, in a sandbox."),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="run: begin without being asked.")] = False,
    question: Annotated[
        str | None,
        typer.Option("-q", "--question", metavar="TEXT", help="new: what the study is to find out."),
    ] = None,
    item: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="new: a deliberation file below STUDY; may be repeated."),
    ] = None,
    keys: Annotated[
        str | None, typer.Option(metavar="FILE", help="report: the right answers, [answers] item = 'O-n'.")
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="report: write it there as Markdown.")
    ] = None,
    html: Annotated[
        str | None, typer.Option(metavar="FILE", help="report: write it as one HTML file that can be mailed.")
    ] = None,
    emit: Annotated[
        bool,
        typer.Option(
            "--emit", help="value: print each run's event lines, for other tools, and nothing else."
        ),
    ] = False,
    json: common.JsonOption = False,
    quiet: common.QuietOption = False,
) -> VerbResult:
    """Compare ways to deliberate on many questions, pairwise, with intervals, and say what they cost.

    A study is a directory with study.toml: items (questions), arms (protocol, rules, seats, budget), repetitions. Every
    run is an ordinary run below runs/; what came out is never played again, and a study that was interrupted goes on.
    Where seats are `host`, `moot next STUDY` lists the open steps of all runs. Exit code 4 when something is left.

    value RUNS counts, over any runs, disagreements, who was sided with, acceptance and edit distance. Exit code 1 when
    something is flagged: five runs of a protocol in a row without a disagreement, or a side that wins every one of five
    or more runs.

    Example: moot study run studies/votes --workers 4
    """
    if act == "value":
        return _value(places, emit=emit, as_json=json)
    refuse(len(places) > 1, "several studies", "name one directory", "STUDY")
    directory = places[0]
    match act:
        case "run":
            # Words are checked before the study is read and priced, which takes a while for many items.
            refuse(
                address is not None and engine != "ray",
                "--address is that of a Ray cluster",
                "add --engine ray",
                "--address",
            )
            check_store(store)
            programs = experiments == "on"
            study = _read(directory)
            agreed = common.confirmation(silent=json or quiet)
            before = standing_of(study)
            if len(before.ends) < len(before.jobs):
                check_word(study, agreed, seats=allow_commands, programs=programs, is_here=engine == "local")
                agreed_to(
                    price_of(before), yes=yes, tell=(lambda _: None) if json or quiet else show, agreed=agreed
                )
                check_plan(study)
                tell = _progress(len(before.ends), len(before.jobs), silent=json or quiet)
                with ENGINES[engine](workers or os.cpu_count() or 1, address) as chosen:
                    conduct(study, chosen, tell, store=store, limit=limit)
            # Read again from the disk: agents may have answered steps while the jobs were played.
            summary = status_of(standing_of(study))
            # A study that is done may still have failed jobs, which a script must notice.
            failed = any(arm.failed or arm.lost for arm in summary.arms)
            return _status(summary, done=NO if failed else GOOD)
        case "status":
            return _status(status_of(standing_of(_read(directory))), done=GOOD)
        case "report":
            return _report(_read(directory), keys, out, html)
        case "new":
            draft = drafted(Path(directory), question, tuple(item or ()))
            return VerbResult(draft, lambda: draft_text(draft))
        case _:
            raise usage(f"no act {act!r}", f"say one of {', '.join(ACTS)}", "moot study")


def _read(directory: str) -> Study:
    study = read_study(directory)
    # A rule that an arm misspells is found for every item before any run is opened.
    check_arms(study)
    return study


def _progress(done: int, total: int, *, silent: bool) -> Callable[[StudyJob, JobEnd], None]:
    """Return what prints a line for each job that ends."""

    def tell(job: StudyJob, played: JobEnd) -> None:
        nonlocal done
        # Of runs that wait, or that another process plays, nothing is done yet.
        done += played.state not in ("waiting", "busy")
        if not silent:
            err(f"{done} of {total}: {job.name} {played.state}\n")

    return tell


def _status(summary: StudyStatus, *, done: int) -> VerbResult:
    return VerbResult(summary, lambda: status_text(summary), done if summary.state == "done" else WAITING)


def _report(study: Study, keys: str | None, out: str | None, html: str | None) -> VerbResult:
    comparison = report_of(standing_of(study), read_keys(study, keys) if keys is not None else {})
    if out is not None:
        from moot.documents import study_markdown  # nobody else pays for the templates

        write_document(Path(out), study_markdown(comparison).encode())
    if html is not None:
        from moot.web.report import study_page

        write_document(Path(html), study_page(comparison).encode())
    is_printed = out is None and html is None
    code = GOOD if comparison.came_out == comparison.runs else WAITING
    return VerbResult(comparison, lambda: report_text(comparison) if is_printed else "", code)


def _value(places: Sequence[str], *, emit: bool, as_json: bool) -> VerbResult:
    """Return what the roles were worth in every run below `places`; exit code 1 when something is flagged."""
    # Both would write to stdout, and neither could be parsed.
    refuse(emit and as_json, "--emit prints lines of its own", "give one of --emit and --json", "--emit")
    paths = [path for place in places for path in runs_at(Path(place))]
    refuse(not paths, "no run there", "name a run, or a directory of runs", " ".join(places))
    comparison = report([value_of(str(path), open_run(path).book) for path in paths])

    def text() -> str:
        lines = (f"{line}\n" for run in comparison.runs for line in event_lines(run))
        return "".join(lines) if emit else _value_text(comparison)

    return VerbResult(comparison, text, NO if comparison.flags else GOOD)


def _value_text(comparison: ValueReport) -> str:
    lines = [line for run in comparison.runs for line in _run_value(run)]
    lines += [f"⚑ {flag}" for flag in comparison.flags]
    return "\n".join(
        [*lines, f"{counted(len(comparison.runs), 'run')}, {counted(len(comparison.flags), 'flag')}", ""]
    )


def _run_value(run: RunValue) -> list[str]:
    sides = ", ".join(f"{side} {count}" for side, count in run.sided_with.items()) or "nobody"
    words = {None: "acceptance not said (`moot outcome`)", True: "accepted", False: "rejected"}[run.accepted]
    edited = f", edit distance {run.edit_distance}" if run.edit_distance else ""
    return [
        f"{run.run}   ({run.protocol})",
        f"  {run.disagreements} disagreements, sided with {sides}; {words}{edited}",
    ]
