"""`moot next` and `moot submit`: the steps that can run now, and the reply to one of them."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ledger.plain_text import NotText, readable, without_mark
from ledger.store.disk import plain_file
from moot.app.session import Session, open_session
from moot.cli.command import JsonOption, RunArgument, VerbResult
from moot.errors import GOOD, NO, WAITING, refuse, usage
from moot.terminal.reply_form import NotFilledIn, form, reply_of
from moot.terminal.streams import columns, err, out_json, show, show_outcome
from moot.view.labels import finished_exit
from moot.view.outcome_text import outcome_first
from moot.view.results import Submission
from moot.view.steps import step_text, steps_text
from roles.schema import REPLY_BYTES_MAX
from rounds.run.session import ReplyRefused, StepRefused

BARE = {"--wait": "600"}
"""Values of options that are given without one."""


def next(
    run: RunArgument,
    step: Annotated[
        str | None, typer.Argument(metavar="STEP", help="One open step: its prompt and schema.")
    ] = None,
    role: Annotated[str | None, typer.Option(metavar="ROLE", help="Only the steps of this role.")] = None,
    wait: Annotated[
        float | None,
        typer.Option(
            metavar="[SECONDS]", min=0, help="Wait at most this long until a step opens. Default: 600."
        ),
    ] = None,
    template: Annotated[
        bool, typer.Option("--template", help="A form of STEP's reply to fill in, for `moot submit`.")
    ] = False,
    json: JsonOption = False,
) -> VerbResult | int:
    """List the steps that can run now, or print one: the exact brief for the seat, and the schema of the reply.

    RUN may be a study's directory: then the open steps of all its runs are listed.

    With --json every listed step comes with prompt and schema. Hand a reply in with `moot submit RUN STEP FILE`. Exit
    code 4 when no step is open and the run is not finished; a stopped run is not waited for.

    Example: moot next @last r3.D.critic --template > form.toml
    """
    refuse(
        step is not None and (role is not None or wait is not None),
        "STEP names the role, and is open now",
        "leave out --role and --wait, or STEP",
        "moot next",
    )
    # A form is made from one step's schema, and its comments have no place in JSON.
    refuse(
        template and (step is None or json),
        "a form is that of one step, in TOML",
        "name STEP, and leave out --json",
        "--template",
    )
    # A run never holds such a file.
    if (Path(run) / "study.toml").is_file():
        return _next_of_study(run, step, role, wait)
    session = open_session(run)
    listing = session.next(role, wait_seconds=wait or 0.0) if step is None else session.step(step)
    code = GOOD if listing.steps or listing.done else WAITING
    if template:
        show(f"# The reply to {step}. Fill it in, then: moot submit {run} {step} FILE.toml\n")
        show(form(listing.steps[0].schema))
        return code
    return VerbResult(listing, lambda: steps_text(listing) if step is None else step_text(listing), code)


def _next_of_study(name: str, step: str | None, role: str | None, wait: float | None) -> VerbResult:
    """List the open steps of all runs of a study."""
    from moot.studies.conduct import standing_of
    from moot.studies.definition import read_study
    from moot.studies.progress import queue_of
    from moot.view.study import queue_text

    if step is not None or wait is not None:
        what = "a study has many runs"
        raise usage(what, "leave out STEP and --wait, or name one of its runs", "moot next")
    queue = queue_of(standing_of(read_study(name)), role)
    return VerbResult(queue, lambda: queue_text(queue), GOOD if queue.steps or queue.done else WAITING)


def submit(
    run: RunArgument,
    step: Annotated[str, typer.Argument(metavar="STEP", help="The step's id, as `moot next` says it.")],
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The reply: JSON, or a filled form (.toml); - is stdin.")
    ] = "-",
    model: Annotated[str | None, typer.Option(metavar="NAME", help="Which model answered.")] = None,
    context_id: Annotated[
        str | None, typer.Option(metavar="cN", help="Which conversation answered (c1, c2, …): one role each.")
    ] = None,
    give_up: Annotated[
        str | None,
        typer.Option(metavar="REASON", help="Give the step up for good instead; the run goes on without it."),
    ] = None,
    json: JsonOption = False,
) -> VerbResult | int:
    """Hand in the reply to an open step: one JSON object that satisfies the step's schema.

    A refused reply writes nothing and may be tried again; the same bytes again are accepted again. Exit code 5 when the
    run is finished and a step of it was given up.

    Example: moot submit @last r3.D.critic reply.json --model some-model-1 --context-id c4
    """
    session = open_session(run)
    if give_up is not None:
        refuse(
            file != "-" or model is not None or context_id is not None,
            "a step is answered or given up",
            "leave out the reply or --give-up",
            "moot submit",
        )
        done, result = session.give_up(step, _reason(give_up)), f"{step} is given up"
        return _accepted(session, done, result)
    # Looked up before the submission, which answers the step in either case.
    before = step in session.state.answered
    try:
        done = session.submit(step, _reply(session, step, file), model=model, context_id=context_id)
    # A refusal is an ordinary result: it is printed, and the step stays open.
    except (ReplyRefused, StepRefused) as refused:
        return _refused(session, refused, json=json)
    result = f"{step} was accepted before with these bytes" if before else f"{step} is accepted"
    return _accepted(session, done, result)


def _accepted(session: Session, done: Submission, result: str) -> VerbResult:
    state = session.state

    def text() -> str:
        written = f": {', '.join(done.events)}" if done.events else ""
        show(f"{result}{written}\n")
        # A hint and no refusal: readers without the ledger cannot resolve ids in a claim's text.
        for name, ids in session.ids_in_claims(done.events):
            show(
                f"note: {name} names {', '.join(ids)}; readers do not know ids, so say in words what is meant\n"
            )
        if state.life == "running":
            # Without an open step the run waits, and the text says for what and how to go on.
            return f"open now: {', '.join(done.next)}\n" if done.next else steps_text(session.next(None))
        first = f"{done.quorum.headline}\n" if state.finished else ""
        block = outcome_first(done.outcome, done.quorum, str(session.path), columns()) if done.outcome else ""
        return f"{block}{first}the run is {state.life}\n"

    status = done.outcome.status if done.outcome else ""
    write = show if state.life == "running" else partial(show_outcome, status=status)
    return VerbResult(done, text, finished_exit(done.quorum) if state.finished else GOOD, write)


def _refused(session: Session, refused: ReplyRefused | StepRefused, *, json: bool) -> int:
    if isinstance(refused, StepRefused):
        if not json:
            raise refused
        errors = [f"{refused}; {refused.fix}"]
    else:
        errors = list(refused.errors)
    if json:
        out_json(session.refused(errors))
    else:
        count = f" and {len(errors) - 1} more below" if len(errors) > 1 else ""
        fix = "fix the reply and submit it again; nothing was written"
        err(f"moot: the reply to {refused.step} is refused: {errors[0]}{count}; {fix}\n")
        err("".join(f"  {error}\n" for error in errors[1:]))
    return NO


def _reply(session: Session, step: str, file: str) -> bytes:
    """Return the bytes of a reply; a form becomes one JSON object. Raises `MootError` when it cannot be read."""
    # Editors on Windows put a byte order mark first, which is not JSON.
    content = without_mark(_content(file))
    # JSON goes on unchanged, since the engine checks the exact bytes that the ledger will hold.
    if not file.endswith(".toml"):
        return content
    try:
        filled = reply_of(session.step(step).steps[0].schema, readable(content))
    except NotText as error:
        raise usage(str(error), error.fix, file) from None
    except NotFilledIn as error:
        raise usage(f"no form that can be read: {error}", "fix that line and submit it again", file) from None
    if filled is None:
        raise usage("nothing is filled in", "write your reply into the form", file)
    return filled


def _content(file: str) -> bytes:
    with nullcontext(sys.stdin.buffer) if file == "-" else plain_file(Path(file)) as reply:
        # One byte more than allowed is enough for the engine to refuse it for its length.
        return reply.read(REPLY_BYTES_MAX + 1)


def _reason(text: str) -> str:
    if text.startswith("-"):  # the next option, taken for the reason that was left out
        fix = "say in a few words why the step cannot be answered"
        raise usage("giving up needs a reason", fix, "--give-up")
    return text
