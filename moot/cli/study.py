"""`moot study`: compare ways to deliberate on many questions (`new`, `run`, `status`, `report`, `value`)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from moot.app.documents import write_document
from moot.cli import options as common
from moot.errors import GOOD, NO, WAITING, usage
from moot.terminal.streams import err, out_json, show

if TYPE_CHECKING:
    from moot.studies.conduct import StudyState
    from moot.studies.definition import Study
    from moot.studies.engines import Engine

ACTS = ("new", "run", "status", "report", "value")
ENGINES = ("local", "ray")


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
        str, typer.Option(metavar="local|ray", help="run: processes of this machine, or a Ray cluster.")
    ] = "local",
    address: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="run: of the Ray cluster (one is started here).")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="run: runs side by side (as many as cores).")
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
        str | None,
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
) -> int:
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
        from moot.cli.study_value import value_of_runs

        return value_of_runs(places, emit=emit, json=json, quiet=quiet)
    if len(places) > 1:
        raise usage("several studies", "name one directory", "STUDY")
    directory = places[0]
    match act:
        case "run":
            return _run(directory, engine, address, workers, store, limit,
                        allow_commands=allow_commands, experiments=common.experiments_of(experiments), yes=yes,
                        json=json, quiet=quiet)  # fmt: skip
        case "status":
            return _status(directory, json=json, quiet=quiet)
        case "report":
            return _report(directory, keys, out, html, json=json, quiet=quiet)
        case "new":
            return _new(directory, question, tuple(item or ()), json=json, quiet=quiet)
        case _:
            raise usage(f"no act {act!r}", f"say one of {', '.join(ACTS)}", "moot study")


def _run(
    directory: str, engine: str, address: str | None, workers: int | None, store: str, limit: int | None, *,
    allow_commands: bool, experiments: str | None, yes: bool, json: bool, quiet: bool,
) -> int:  # fmt: skip
    from moot.studies.conduct import check_plan, check_word, conduct, standing_of
    from moot.studies.playing import check_store
    from moot.studies.price import agreed_to, price_of
    from moot.studies.status import status_of
    from moot.view.study import status_text

    # Words are checked before the study is read and priced, which takes a while for many items.
    if engine not in ENGINES:
        raise usage(f"no engine {engine!r}", f"say one of {', '.join(ENGINES)}", "--engine")
    if address is not None and engine != "ray":
        raise usage("--address is that of a Ray cluster", "add --engine ray", "--address")
    check_store(store)
    study = _read(directory)
    silent = json or quiet
    agreed = common.asking(silent=silent)
    before = standing_of(study)
    if len(before.ends) < len(before.jobs):
        check_word(
            study, agreed, seats=allow_commands, programs=experiments == "on", is_here=engine == "local"
        )
    if len(before.ends) < len(before.jobs):
        agreed_to(
            price_of(before),
            yes=yes,
            tell=(lambda _: None) if silent else show,
            agreed=agreed,
        )
        check_plan(study)
        done = len(before.ends)
        total = len(before.jobs)

        def tell(job: object, played: object) -> None:
            nonlocal done
            # Of runs that wait, or that another process plays, nothing is done yet.
            state = getattr(played, "state", "")
            done += state not in ("waiting", "busy")
            if not silent:
                err(f"{done} of {total}: {getattr(job, 'name', '')} {state}\n")

        with _engine(engine, workers or os.cpu_count() or 1, address) as chosen:
            after = conduct(study, chosen, tell, store=store, limit=limit)
    else:
        after = before
    # Read again from the disk: agents may have answered steps while the jobs were played.
    summary = status_of(_fresh(after))
    if json:
        out_json(summary)
    elif not quiet:
        show(status_text(summary))
    if summary.state != "done":
        return WAITING
    # A study that is done may still have failed jobs, which a script must notice.
    return NO if any(arm.failed or arm.lost for arm in summary.arms) else GOOD


def _fresh(before: StudyState) -> StudyState:
    """Return the same study as it is on the disk now."""
    from moot.studies.conduct import standing_of

    return standing_of(before.study)


def _engine(name: str, workers: int, address: str | None) -> Engine:
    from moot.studies.engines import LocalEngine, RayEngine

    return LocalEngine(workers) if name == "local" else RayEngine(workers, address)


def _status(directory: str, *, json: bool, quiet: bool) -> int:
    from moot.studies.conduct import standing_of
    from moot.studies.status import status_of
    from moot.view.study import status_text

    summary = status_of(standing_of(_read(directory)))
    if json:
        out_json(summary)
    elif not quiet:
        show(status_text(summary))
    return GOOD if summary.state == "done" else WAITING


def _report(
    directory: str, keys: str | None, out: str | None, html: str | None, *, json: bool, quiet: bool
) -> int:
    from moot.studies.conduct import standing_of
    from moot.studies.definition import read_keys
    from moot.studies.report import report_of
    from moot.view.study_report import report_markdown, report_text

    study = _read(directory)
    comparison = report_of(standing_of(study), read_keys(study, keys) if keys is not None else {})
    if out is not None:
        write_document(Path(out), report_markdown(comparison).encode())
    if html is not None:
        from moot.web.study_page import study_page  # nobody else pays for the templates

        write_document(Path(html), study_page(comparison).encode())
    if json:
        out_json(comparison)
    elif not quiet and out is None and html is None:
        show(report_text(comparison))
    return GOOD if comparison.came_out == comparison.runs else WAITING


def _new(directory: str, question: str | None, items: tuple[str, ...], *, json: bool, quiet: bool) -> int:
    from moot.studies.drafting import drafted
    from moot.view.study import draft_text

    draft = drafted(Path(directory), question, items)
    if json:
        out_json(draft)
    elif not quiet:
        show(draft_text(draft))
    return GOOD


def _read(directory: str) -> Study:
    from moot.studies.definition import read_study
    from moot.studies.units import check_arms

    study = read_study(directory)
    # A rule that an arm misspells is found for every item before any run is opened.
    check_arms(study)
    return study
