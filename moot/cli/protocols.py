"""`moot protocols` and `moot gate`: the protocols that there are, and which one a question deserves."""

from __future__ import annotations

from typing import Annotated

import typer

import moot
from moot.cli.options import JsonOption, OptionOption, QuietOption, among, protocol_names
from moot.errors import GOOD
from moot.terminal.streams import columns, out_json, show
from moot.view.protocols import choices_lines, protocols_text
from rounds.protocols import PROTOCOLS


def protocols(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", help="One protocol; all if not said.", autocompletion=among(protocol_names)
        ),
    ] = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """List the protocols with their roles and variants, the plans, and the castings.

    Example: moot protocols debate
    """
    found = moot.protocols(name)
    if json:
        out_json(found)
    elif not quiet:
        show(protocols_text(found))
    return GOOD


def gate(
    text: Annotated[
        str, typer.Argument(metavar="TEXT|FILE", help="The question, or a deliberation file (.toml).")
    ],
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
    """Say which of the protocols a question deserves, with the words that were read.

    A rule of thumb, no model is asked: `moot protocols` says what each is for. --single beats --compete beats triggers;
    both flags are an error. A deliberation file with a [gate] table and no protocol is routed in the same way by
    `moot run`, as are `run --compete` and `run --single`, and the route is a decision on the ledger.

    Example: moot gate 'Migrate the billing database with zero downtime'
    """
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
