"""`moot gate`: the protocols, and which one a question deserves."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated

import typer

import moot
from moot.cli.options import JsonOption, OptionOption, QuietOption, among, protocol_names
from moot.errors import GOOD, usage
from moot.terminal.streams import columns, out_json, show
from moot.view.protocols import choices_lines, protocols_text
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
    single: Annotated[bool, typer.Option("--single", help="One seat, whatever else is said.")] = False,
    compete: Annotated[
        bool, typer.Option("--compete", help="Several roles, whatever the text says.")
    ] = False,
    trigger: Annotated[
        list[str] | None,
        typer.Option(metavar="WORDS", help="Words that call for several roles; may be repeated."),
    ] = None,
    option: OptionOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Choose a protocol for a question, and show the words that decided. Without a question, list the protocols.

    A protocol's NAME shows that one, with its roles and variants. Otherwise this is a rule of thumb and asks no model.
    --single beats --compete, which beats triggers; both flags together are an error. `moot run` routes a deliberation
    file with a [gate] table and no protocol in the same way, and records the route as a decision on the ledger.

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
    found = moot.gate(text, option or (), triggers=trigger or (), compete=compete, single=single)
    if json:
        out_json(found)
    elif not quiet:
        protocol = PROTOCOLS[found.route]
        lines = [f"{found.route}   for {protocol.fits}; replies: {protocol.calls}"]
        lines += [f"  {reason.name}: {reason.detail}" for reason in found.reasons]
        is_short = protocol.options_wanted[0] > len(option or ()) and not text.endswith(".toml")
        options = " --option '…' --option '…'" if is_short else ""
        lines += choices_lines(found.choices, found.route, columns())
        show("\n".join([*lines, f"run it: moot run -q '…' --protocol {found.route}{options} --seats …", ""]))
    return GOOD


def _is_protocol(text: str) -> bool:
    """Return whether a text is the name of a protocol, perhaps misspelled, and no question."""
    is_word = text.replace("-", "").isalpha() and text.islower()
    return text in PROTOCOLS or (is_word and bool(get_close_matches(text, PROTOCOLS, 1, 0.7)))
