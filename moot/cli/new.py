"""Verbs that set a deliberation up: `new`, by questions or options, and `gate`."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

import moot
from ledger.store.disk import real
from moot import version
from moot.app.inputs import write_document
from moot.app.opening import choices_for
from moot.app.settings import RunOptions, deliberation_of, documents_of
from moot.cli.command import JsonOption, QuietOption, VerbResult, among, protocol_names
from moot.cli.settings import (
    ContextOption,
    FromOption,
    NoWaitOption,
    OptionOption,
    RuleOption,
    SettingOptions,
    StakesOption,
    wanted,
)
from moot.errors import MootError, refuse
from moot.terminal.streams import columns, err, out
from moot.view.protocols import gate_text, new_of, new_text, protocols_text
from roles.castings import CASTINGS, DEFAULT_CASTING
from rounds.protocols import DEFAULT_PROTOCOL, PROTOCOLS
from rounds.protocols.plans import PLANS
from rounds.setup.deliberation import Deliberation, Document, checked, to_toml
from rounds.setup.opening import resolve, with_casting
from rounds.setup.size import replies_of
from rounds.setup.toml_file import FILE_BYTES_MAX


def new(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Where to write it.")] = "deliberation.toml",
    *,
    settings: SettingOptions,
    context: ContextOption = None,
    earlier: FromOption = None,
    stakes: StakesOption = None,
    rule: RuleOption = None,
    no_wait: NoWaitOption = False,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> VerbResult:
    """Set a deliberation up: domain, question, goals, casting, plan and budget; then change the file as you like.

    Without -q it asks, in the terminal. Run the file with `moot run FILE --seats …`.

    Example: moot new storage.toml -q 'Which storage for our audit ledger?' --plan minimum-8 --rule cast=software
    """
    path = Path(file)
    # Asked before the questions: a person must not answer them all for nothing.
    if path.exists() and not force:
        raise MootError("exists", "there is a file already", file, "name another one, or add --force")
    options = wanted(
        settings,
        rules=rule,
        stakes=stakes,
        no_wait=no_wait,
        context=context,
        earlier=earlier,
        tell=None if json or quiet else err,
    )
    if "question" not in options.of("deliberation"):
        # Without a terminal a question would wait for ever, so it is an error.
        refuse(
            json or not sys.stdin.isatty(),
            "no question",
            "give -q TEXT, or call it from a terminal to be asked",
            "moot new",
        )
        options = ask_for(options)
    deliberation = _written(options)
    documents = documents_of(deliberation, None)
    # Resolved before anything is written: a file that cannot be opened as a run is not worth keeping.
    opening = resolve(deliberation, documents, moot=version())
    written = to_toml(_beside(deliberation, path, documents)).encode()
    # `moot run` refuses a larger file, so writing it would only move the error.
    refuse(
        len(written) > FILE_BYTES_MAX,
        "documents from elsewhere make the file too large",
        f"put them beside {file}",
        "--context",
    )
    write_document(path, written)
    summary = new_of(file, opening.event, choices_for(len(opening.event.options)))
    return VerbResult(summary, lambda: new_text(summary, columns()))


def _written(options: RunOptions) -> Deliberation:
    """Return the deliberation with plan and cast written out, so that there is something to edit."""
    deliberation = with_casting(deliberation_of(None, options), options.casting)
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
    if real(Path(document.path)).is_relative_to(real(base)):
        place = Path(document.path)
        return document.model_copy(
            update={"path": str(place.relative_to(base) if place.is_relative_to(base) else place)}
        )
    return Document(name=document.name, text=documents[document.path].decode("utf-8"))


WITHOUT_STRESS = """\
Stress rounds send each role away once. Without them nothing shows what a role contributes, the fourth stop signal
cannot hold, and agreement looks stronger than it is. It would be recorded, and said before every verdict.
"""


def ask_for(options: RunOptions) -> RunOptions:
    """Ask for what the options left open, question by question."""
    settings: dict[str, Any] = dict(options.of("deliberation"))
    out("1  The question\n")
    if "domain" not in settings and (domain := _line("   Field it belongs to (software, research, …)", "")):
        settings["domain"] = domain
    while not (question := _line("   What is to be deliberated", "")):
        out("   It needs a question.\n")
    settings["question"] = question
    settings["goals"] = settings.get("goals") or _several("   A goal that a good outcome serves")
    settings["options"] = settings.get("options") or _several("   An option under discussion")
    out("2  The roles\n")
    casting = options.casting or _one_of("   Casting", tuple(CASTINGS), DEFAULT_CASTING)
    out("3  The rounds\n")
    # The price of each plan is shown before the choice: rounds are what a run costs.
    for name, rows in PLANS.items():
        stress = ", ".join(f"R{row.round} without {row.absent}" for row in rows if row.absent)
        out(f"   {name}: {len(rows)} rounds, at most {_replies_of_plan(name)} replies; {stress}\n")
    settings["plan"] = settings.get("plan") or _one_of("   Plan", tuple(PLANS), "standard-13")
    settings["no_stress"] = settings.get("no_stress") or _skips_stress()
    return replace(options, table={**options.table, "deliberation": settings}, casting=casting)


def _replies_of_plan(name: str) -> int:
    """Return the most replies that a run with a named plan asks for."""
    table = {"deliberation": {"question": "Which?", "protocol": DEFAULT_PROTOCOL, "plan": name}}
    return replies_of(resolve(checked(table), {}, moot=version()).event).total()


def _skips_stress() -> bool:
    if typer.confirm("   Keep the stress rounds", default=True):
        return False
    out(WITHOUT_STRESS)
    # Asked twice, with the price in between: skipping stress rounds is what a hurried person would do first.
    return typer.confirm("   Skip them all the same", default=False)


def _line(prompt: str, default: str) -> str:
    return str(typer.prompt(prompt, default=default, show_default=bool(default))).strip()


def _several(prompt: str) -> list[str]:
    answers: list[str] = []
    while answer := _line(f"{prompt} (empty: no more)", ""):
        answers.append(answer)
    return answers


def _one_of(prompt: str, choices: tuple[str, ...], default: str) -> str:
    while (answer := _line(f"{prompt} ({', '.join(choices)})", default)) not in choices:
        out(f"   One of {', '.join(choices)}.\n")
    return answer


def gate(
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="TEXT|FILE|NAME",
            help="A question, a deliberation file (.toml), or a protocol's name.",
            autocompletion=among(protocol_names),
        ),
    ] = None,
    single: Annotated[bool, typer.Option("--single", help="One reply, whatever the question says.")] = False,
    compete: Annotated[bool, typer.Option("--compete", help="Several roles, never one reply.")] = False,
    trigger: Annotated[
        list[str] | None,
        typer.Option(metavar="WORDS", help="Words that rule one reply out; may be repeated."),
    ] = None,
    option: OptionOption = None,
) -> VerbResult:
    """Explain which protocol `moot run -q` gives a question. Without a question, list the protocols.

    A protocol's NAME shows that one, with its roles and variants. The question's words decide, and nobody asks a model:
    a learned table of English cues tells the likeliest kind of question, and each kind has its protocol. --single takes
    one reply. --compete, and words of your own (--trigger), rule one reply out. --single with --compete is an error.

    Example: moot gate 'Plan the move to the new data center'
    """
    if text is None or _is_protocol(text):
        refuse(
            single or compete or trigger or option,
            "no question to route",
            "give the question, in quotes",
            "moot gate",
        )
        listing = moot.protocols(text)
        return VerbResult(listing, lambda: protocols_text(listing))
    gated = moot.gate(text, option or (), triggers=trigger or (), compete=compete, single=single)
    return VerbResult(gated, lambda: gate_text(gated, columns()))


def _is_protocol(text: str) -> bool:
    """Return whether a text is the name of a protocol, perhaps misspelled, and not a question."""
    # One lower-case word: a question of one word would be routed too, but `panle` is a typo and not a question.
    is_word = text.replace("-", "").isalpha() and text.islower()
    return text in PROTOCOLS or (is_word and bool(get_close_matches(text, PROTOCOLS, 1, 0.7)))
