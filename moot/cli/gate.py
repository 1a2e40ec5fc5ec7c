"""`moot gate`: the protocols, and which one a question deserves."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated

import typer

import moot
from moot.cli.options import JsonOption, OptionOption, QuietOption, among, protocol_names
from moot.errors import GOOD, usage
from moot.terminal.streams import columns, out_json, show
from moot.view.gate import gate_text
from moot.view.protocols import protocols_text
from rounds.protocols import PROTOCOLS


def gate(
    text: Annotated[
        str | None,
        typer.Argument(
            metavar="[TEXT|FILE|NAME]",
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
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Explain which protocol `moot run -q` gives a question. Without a question, list the protocols.

    A protocol's NAME shows that one, with its roles and variants. The question's words decide, and nobody asks a model:
    strong cues in English choose a protocol for their own kind of question, everything else is crux. --single takes one
    reply. --compete, and words of your own (--trigger), rule one reply out. --single with --compete is an error.

    Example: moot gate 'Migrate the billing database with zero downtime'
    """
    if text is None or _is_protocol(text):
        if single or compete or trigger or option:
            raise usage("no question to route", "give the question, in quotes", "moot gate")
        listing = moot.protocols(text)
        if json:
            out_json(listing)
        elif not quiet:
            show(protocols_text(listing))
        return GOOD
    gated = moot.gate(text, option or (), triggers=trigger or (), compete=compete, single=single)
    if json:
        out_json(gated)
    elif not quiet:
        show(gate_text(gated, columns()))
    return GOOD


def _is_protocol(text: str) -> bool:
    """Return whether a text is the name of a protocol, perhaps misspelled, and not a question."""
    # One lower-case word: a question of one word would be routed too, but `panle` is a typo and not a question.
    is_word = text.replace("-", "").isalpha() and text.islower()
    return text in PROTOCOLS or (is_word and bool(get_close_matches(text, PROTOCOLS, 1, 0.7)))
