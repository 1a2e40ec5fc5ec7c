"""`moot new`: write a deliberation file, by questions or flags."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from moot import version
from moot.app.choices import choices_for
from moot.app.documents import write_document
from moot.app.run_options import RunOptions, deliberation_of, documents_of
from moot.cli import options as common
from moot.cli.new_questions import ask_for
from moot.errors import GOOD, MootError, usage
from moot.terminal.streams import columns, err, out_json, show
from moot.view.protocols import new_of, new_text
from rounds.protocols import DEFAULT_PROTOCOL, PROTOCOLS
from rounds.setup.deliberation import Deliberation, Document
from rounds.setup.deliberation_toml import to_toml
from rounds.setup.opening import resolve, with_casting
from rounds.setup.toml_file import FILE_BYTES_MAX


def new(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Where to write it.")] = "deliberation.toml",
    question: common.QuestionOption = None,
    protocol: common.ProtocolOption = None,
    plan: common.PlanOption = None,
    context: common.ContextOption = None,
    earlier: common.FromOption = None,
    goal: common.GoalOption = None,
    option: common.OptionOption = None,
    rule: common.RuleOption = None,
    stakes: common.StakesOption = None,
    no_wait: common.NoWaitOption = False,
    max_usd: common.MaxUsdOption = None,
    max_tokens: common.MaxTokensOption = None,
    max_calls: common.MaxCallsOption = None,
    max_minutes: common.MaxMinutesOption = None,
    max_rounds: common.MaxRoundsOption = None,
    experiments: common.ExperimentsOption = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    json: common.JsonOption = False,
    quiet: common.QuietOption = False,
) -> int:
    """Set a deliberation up: domain, question, goals, casting, plan and budget; then change the file as you like.

    Without -q it asks, in the terminal. Run the file with `moot run FILE --seats …`.

    Example: moot new storage.toml -q 'Which storage for our audit ledger?' --plan minimum-8 --rule cast=software
    """
    path = Path(file)
    # Asked before the questions: a person must not answer them all for nothing.
    if path.exists() and not force:
        raise MootError("exists", "there is a file already", file, "name another one, or add --force")
    limits = {
        "usd": max_usd,
        "tokens": max_tokens,
        "calls": max_calls,
        "minutes": max_minutes,
        "rounds": max_rounds,
    }
    settings = common.rules_of(rule, stakes)
    files, texts, _ = common.documents_said(
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
        check_every=settings.check_every,
        seed=settings.seed,
        no_stress=settings.no_stress,
        rules=settings.rules,
        no_wait=no_wait,
        contexts=files,
        texts=texts,
        budget={name: limit for name, limit in limits.items() if limit is not None},
        experiments=common.experiments_of(experiments),
    )
    cast = settings.cast
    if question is None:
        # Without a terminal a question would wait for ever, so it is an error.
        if json or not sys.stdin.isatty():
            raise usage("no question", "give -q TEXT, or call it from a terminal to be asked", "moot new")
        wanted, cast = ask_for(wanted, cast)
    deliberation = _written(wanted, cast)
    documents = documents_of(deliberation, None)
    # Resolved before anything is written: a file that cannot be opened as a run is not worth keeping.
    opening = resolve(deliberation, documents, moot=version())
    written = to_toml(_beside(deliberation, path, documents)).encode()
    # `moot run` refuses a larger file, so writing it would only move the error.
    if len(written) > FILE_BYTES_MAX:
        raise usage(
            "documents from elsewhere make the file too large", f"put them beside {file}", "--context"
        )
    write_document(path, written)
    summary = new_of(file, opening.event, choices_for(len(opening.event.options)))
    if json:
        out_json(summary)
    elif not quiet:
        show(new_text(summary, columns()))
    return GOOD


def _written(wanted: RunOptions, cast: str | None) -> Deliberation:
    """Return the deliberation with plan and cast written out, so that there is something to edit."""
    deliberation = with_casting(deliberation_of(None, wanted), cast)
    subject = deliberation.deliberation
    # Written out, because the default plan of a later version could be another one.
    if subject.plan is None and not PROTOCOLS[subject.protocol or DEFAULT_PROTOCOL].fixed_plan:
        deliberation = deliberation.model_copy(
            update={"deliberation": subject.model_copy(update={"plan": "standard-13"})}
        )
    return deliberation


def _beside(deliberation: Deliberation, path: Path, documents: Mapping[str, bytes]) -> Deliberation:
    """Return the deliberation with document paths relative to the file; documents outside its directory become text."""
    base = path.absolute().parent
    return deliberation.model_copy(
        update={"context": tuple(_placed(document, base, documents) for document in deliberation.context)}
    )


def _placed(document: Document, base: Path, documents: Mapping[str, bytes]) -> Document:
    if document.path is None:
        return document
    # `moot run` reads no file outside the deliberation file's directory, so such a document must travel inside it.
    if Path(document.path).resolve().is_relative_to(base.resolve()):
        place = Path(document.path)
        return document.model_copy(
            update={"path": str(place.relative_to(base) if place.is_relative_to(base) else place)}
        )
    return Document(name=document.name, text=documents[document.path].decode("utf-8"))
