"""`moot gate`: which protocol a question deserves."""

from __future__ import annotations

from typing import Annotated

import typer

from moot.cli.options import GoalOption, JsonOption, OptionOption, QuietOption
from moot.errors import GOOD, usage
from moot.output.gate import gated_of
from moot.terminal import out_json, show
from moot.wishes import Wishes, wished
from rounds import gate as rules
from rounds.gated import asked_of

EPILOG = "Example: moot gate 'Migrate the billing database with zero downtime'"


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
    goal: GoalOption = None,
    option: OptionOption = None,
    json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Say which protocol a question deserves (single-pass, jugalbandi or structured), with the reasons.

    A rule of thumb over words, no model is asked. --single beats --compete beats triggers; both flags are an error.
    A deliberation file with a [gate] table and no protocol is routed in the same way by `moot run`, and the route is a
    decision on the ledger.
    """
    if not text.strip():
        raise usage(
            "there is no question", "say what is to be decided, or name a deliberation file", "moot gate"
        )
    if text.endswith(".toml") and " " not in text:
        asked = asked_of(wished(text, Wishes()))
    else:
        asked = rules.Asked(text, tuple(goal or ()), tuple(option or ()))
    asked = asked._replace(
        triggers=(*asked.triggers, *(trigger or ())),
        single=asked.single or single,
        compete=asked.compete or compete,
    )
    try:
        found = gated_of(rules.gate(asked))
    except rules.GateRefused as error:
        raise usage(str(error), "give one of --single and --compete", "moot gate") from None
    if json:
        out_json(found)
    elif not quiet:
        lines = [f"{found.route}   ({found.points} points)"]
        lines += [f"  {reason.points:+d}  {reason.name}: {reason.detail}" for reason in found.reasons]
        show("\n".join([*lines, f"run it: moot run -q '…' --protocol {found.route} --seats …", ""]))
    return GOOD
