"""`moot estimate`: what a deliberation may take, before it is run."""

from __future__ import annotations

from typing import Annotated

import typer

from moot.app.running import estimated
from moot.app.seat_specs import read_seats
from moot.cli.options import JsonOption, PricesOption, QuietOption
from moot.errors import GOOD
from moot.terminal.streams import out_json, show
from moot.view.estimate import estimate_text


def estimate(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A deliberation file (TOML).")],
    seats: Annotated[
        str | None, typer.Option(metavar="SPEC", help="Who answers, as `moot run` takes it.")
    ] = None,
    seat: Annotated[
        list[str] | None, typer.Option(metavar="ROLE=SPEC", help="Who answers for one role; may be repeated.")
    ] = None,
    prices: PricesOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Say how many replies a deliberation asks for at most, and about how many tokens, dollars and minutes they take.

    Nothing is opened and nobody is asked. A model without a price costs "unknown"; prices are those of the installed
    list, and over them your own (--prices). What the numbers rest on is printed with them.

    Example: moot estimate deliberation.toml --seats anthropic --seat critic=anthropic:claude-opus-5-5
    """
    everybody, specs = read_seats(seats, seat or ())
    found = estimated(file, everybody, specs, prices)
    if json:
        out_json(found)
    elif not quiet:
        show(estimate_text(found))
    return GOOD
