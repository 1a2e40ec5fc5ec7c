"""`moot review`: several roles look at a change; what they found, with file and line."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated, Final

import typer

from moot import version
from moot.api import open_run
from moot.app.documents import write_document
from moot.app.run_options import RunOptions
from moot.app.runs import find_run
from moot.app.seat_specs import no_seat, read_seats
from moot.app.seats import SeatChoice
from moot.cli import options as common
from moot.errors import GOOD, NO, WAITING, usage
from moot.terminal.streams import columns, err, out, out_json, show
from moot.view.labels import finished_exit, quorum_told
from moot.view.review import ChangeReview, review_of
from moot.view.review_forms import review_github, review_markdown, review_sarif, review_text

FORMATS: Final = ("text", "markdown", "sarif", "github")
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
    seat: Annotated[
        list[str] | None, typer.Option(metavar="ROLE=SPEC", help="Who answers for one role; may be repeated.")
    ] = None,
    question: common.QuestionOption = None,
    protocol: Annotated[
        str, typer.Option(metavar="NAME", help="adversarial (3 replies) or panel (7), or another one.")
    ] = "adversarial",
    context: common.ContextOption = None,
    directory: Annotated[
        str | None, typer.Option("--out", metavar="DIR", help="The run's directory, wherever it is.")
    ] = None,
    rule: common.RuleOption = None,
    max_usd: common.MaxUsdOption = None,
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
        str, typer.Option("--format", metavar="FORM", help="text, markdown, sarif or github.")
    ] = "text",
    save: Annotated[
        str | None,
        typer.Option("--save", metavar="FILE", help="Write that form to FILE; the text is still printed."),
    ] = None,
    json: common.JsonOption = False,
    quiet: common.QuietOption = False,
) -> int:
    """Review a change between two commits, or show what a review found.

    The roles read the diff and every file that it touches. A finding cites the words it is about, so its file and line
    are computed. It stands when the judge scores it 3 of 5 or more. Exit code 1 when one stands that is as grave as
    --fail-on says, 4 when the run waits for replies (then `moot review RUN` shows it), 5 when a reply was lost.

    Example: moot review git:main..HEAD --seats anthropic --fail-on 4
    """
    if format not in FORMATS:
        raise usage(f"no format {format!r}", f"choose one of {', '.join(FORMATS)}", "--format")
    if json and format != "text" and save is None:
        raise usage(
            f"--json and --format {format} are two forms", "give one of them, or --save FILE", "--format"
        )
    if target.startswith("git:"):
        everybody, specs = read_seats(seats, seat or ())
        # Asked before the diff is read, which may take a while in a large repository.
        if everybody is None and not specs:
            raise no_seat()
        settings = common.rules_of(rule)
        files, texts, changes = common.documents_said(
            # The change comes first, so that its diff is the first document a role reads.
            [target, *(context or ())],
            None,
            settings.context_bytes,
            (lambda _: None) if json or quiet else err,
        )
        options = RunOptions(
            question=question or f"Is the change {target.removeprefix('git:')} ready to be merged?",
            domain="review of a change",
            protocol=protocol,
            # A person's own --rule wins over the scale of a review.
            rules={**SCALE.get(protocol, {}), **settings.rules},
            contexts=files,
            texts=texts,
            changes=changes,
            budget={} if max_usd is None else {"usd": max_usd},
        )
        silent = json or quiet
        choice = SeatChoice(
            everybody,
            specs,
            agreed=common.asking(silent=silent),
            tell=None if silent else err,
            yes=yes,
        )
        run = _played(options, choice, directory)
    else:
        if seats or seat or question or context or directory:
            raise usage(
                "a run that is there keeps its opening", "name a change, git:A..B, to review it", target
            )
        run = find_run(target)
    ours = open_run(run)
    findings = review_of(str(run), ours.book, fail_on)
    if save is not None:
        write_document(Path(save), _in_form(findings, format).encode())
    if json:
        out_json(findings)
    elif not quiet:
        text = _in_form(findings, "text" if save is not None else format)
        # SARIF and GitHub lines are read by programs: folding at the terminal's width would break them.
        (show if format == "text" or save is not None else out)(text)
    if not ours.state.finished:
        if not quiet and not json:
            err(f"the run waits: moot next {run}; then: moot review {run}\n")
        return WAITING
    # A lost reply outranks the findings: with a role missing, "nothing found" would not mean much.
    lost = finished_exit(quorum_told(ours.state))
    return lost if lost != GOOD else NO if findings.failing else GOOD


def _played(options: RunOptions, choice: SeatChoice, directory: str | None) -> Path:
    """Open the run, drive it until it ends or waits, and return its directory."""
    from moot.app import running
    from moot.app.runs import new_directory
    from moot.environment import read_settings

    place = Path(directory) if directory is not None else new_directory(read_settings().runs, date.today())
    session, built = running.opened(None, options, choice, casting=None, directory=place)
    running.driven(session, built)
    return session.path


def _in_form(findings: ChangeReview, form: str) -> str:
    match form:
        case "markdown":
            return review_markdown(findings)
        case "sarif":
            import orjson

            return orjson.dumps(review_sarif(findings, version()), option=orjson.OPT_INDENT_2).decode() + "\n"
        case "github":
            return review_github(findings)
        case _:
            return review_text(findings, columns())
