"""Parameters that several verbs share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Final

import typer

from moot.terminal.streams import err

Completed = Callable[[str], list[str]]


def run_names(incomplete: str) -> list[str]:
    """What can be completed to a run: @last, and ids."""
    from moot.app.runs import LAST, runs_under
    from moot.environment import read_settings

    runs = read_settings().runs
    names = (LAST, *(str(path.relative_to(runs)) for path in runs_under(runs)))
    return [name for name in names if name.startswith(incomplete)]


def among(names: Callable[[], Iterable[str]]) -> Completed:
    """Completion among names that are known when it is asked for."""
    return lambda incomplete: [name for name in names() if name.startswith(incomplete)]


def protocol_names() -> Iterable[str]:
    """The names of the protocols."""
    from rounds.protocols import PROTOCOLS

    return PROTOCOLS


RUN_HELP: Final = "A run's directory, an id under ./runs, or @last."
RunArgument = Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP, autocompletion=run_names)]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON object for machines (schemas/output/).")]
QuietOption = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors; the exit code tells.")]

NoPagerOption = Annotated[
    bool, typer.Option("--no-pager", help="Print all of it at once, also when it is longer than the screen.")
]
ByOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Who you are, on the record (git's user.name if not said).")
]

QuestionOption = Annotated[
    str | None, typer.Option("-q", "--question", metavar="TEXT", help="What to deliberate.")
]
GoalOption = Annotated[
    list[str] | None, typer.Option(metavar="TEXT", help="What a good outcome serves; may be repeated.")
]
OptionOption = Annotated[
    list[str] | None, typer.Option(metavar="TEXT", help="An option under discussion; may be repeated.")
]
ContextOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE|DIR|git:A..B|-",
        help="What to deliberate on: a file, a directory without what git ignores, a change with its files, or "
        "standard input; may be repeated.",
    ),
]
ContextBytesOption = Annotated[
    int | None,
    typer.Option(
        "--context-bytes",
        metavar="N",
        min=1,
        help="What all documents may have together (400,000); more is refused.",
    ),
]
FromOption = Annotated[
    list[str] | None,
    typer.Option(
        "--from",
        metavar="RUN[:D-ID]",
        help="Start from what another run decided: its decision record is a document; may be repeated.",
        autocompletion=run_names,
    ),
]
DomainOption = Annotated[
    str | None, typer.Option(metavar="TEXT", help="The field that the question belongs to.")
]
CastOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Who the roles are: product, software, research or launch.",
        autocompletion=among(lambda: ("product", "software", "research", "launch")),
    ),
]
ProtocolOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="See `moot protocols`; for -q crux if not said, for a file structured.",
        autocompletion=among(protocol_names),
    ),
]
CompeteOption = Annotated[
    bool, typer.Option("--compete", help="Several roles: the gate says which protocol.")
]
SingleOption = Annotated[
    bool, typer.Option("--single", help="One seat and one reply, whatever else is said.")
]
PlanOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="standard-13 (if not said) or minimum-8.",
        autocompletion=among(lambda: ("standard-13", "minimum-8", "short-5")),
    ),
]
ProfileOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="What decides a stop: gates or published.",
        autocompletion=among(lambda: ("gates", "published")),
    ),
]
ParamsOption = Annotated[
    Path | None,
    typer.Option("--params", metavar="FILE", help="A parameter file for the gates."),
]
CheckEveryOption = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Look at the stop signals every N rounds (3).")
]
SeedOption = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=0, help="Of every choice by chance, such as who of crux answers first (0)."
    ),
]
NoStressOption = Annotated[
    bool, typer.Option("--no-stress", help="Nobody is ever absent. Recorded, and said before every verdict.")
]
RuleOption = Annotated[
    list[str] | None,
    typer.Option("--rule", metavar="NAME=VALUE", help="A variant of the protocol; see `moot protocols`."),
]
RoundsOption = Annotated[
    int | None,
    typer.Option(
        "--rounds",
        metavar="N",
        min=0,
        max=3,
        help="Rounds of tests of crux: 0 to 3 (3); rounds of jugalbandi: 1 or 2.",
    ),
]
StakesOption = Annotated[
    str | None,
    typer.Option(
        metavar="LEVEL",
        help="What a wrong answer of crux costs: low, normal or high; high tests more.",
        autocompletion=among(lambda: ("low", "normal", "high")),
    ),
]
NoWaitOption = Annotated[
    bool,
    typer.Option("--no-wait", help="Close with what only a person can say left open, not wait for it."),
]
JudgesOption = Annotated[
    int | None, typer.Option("--judges", metavar="N", min=1, max=5, help="Judges of a debate: 1 to 5.")
]
RubricOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="How a debate is scored: logic30 or evidence40.")
]
VotingOption = Annotated[
    str | None,
    typer.Option("--rules", metavar="NAME", help="How a tribunal's votes count: documented or shipped."),
]


def experiments_of(said: str | None) -> str | None:
    """What --experiments says. Raises `typer.BadParameter` for another word."""
    if said not in (None, "off", "sandbox"):
        raise typer.BadParameter(f"--experiments is off or sandbox, not {said!r}")
    return said


def asking(*, silent: bool) -> Callable[[str, str], bool] | None:
    """What puts a question to the person before something is begun; None where nobody is at the keyboard."""
    if silent or not sys.stdin.isatty() or not sys.stderr.isatty():
        return None

    def agreed(text: str, question: str) -> bool:
        err(text)
        return typer.confirm(question, default=False, err=True)

    return agreed


def documents_said(
    context: list[str] | None, earlier: list[str] | None, bytes_max: int | None, tell: Callable[[str], object]
) -> tuple[tuple[str, ...], tuple[dict[str, str], ...]]:
    """The files and the texts that a person named as documents; `tell` is told what went in and what did not."""
    if not context and not earlier:
        return (), ()
    from moot.app.earlier import earlier_decision
    from moot.app.inputs import BYTES_MAX, inputs_of

    given = inputs_of(context or (), bytes_max or BYTES_MAX)
    if given.told():
        tell(given.told())
    return given.files, (*given.rows, *map(earlier_decision, earlier or ()))


def rules_of(
    rule: list[str] | None,
    rounds: int | None,
    judges: int | None,
    rubric: str | None,
    voting: str | None,
    stakes: str | None = None,
) -> dict[str, str]:
    """The named variants that the command line chooses."""
    named: dict[str, int | str | None] = {
        "rounds": rounds,
        "judges": judges,
        "rubric": rubric,
        "voting": voting,
        "stakes": stakes,
    }
    found = {name: str(value) for name, value in named.items() if value is not None}
    for entry in rule or ():
        name, equals, value = entry.partition("=")
        if not (name and equals and value):
            raise typer.BadParameter(f"{entry!r}: write NAME=VALUE, such as judges=3")
        if found.setdefault(name.strip(), value.strip()) != value.strip():
            raise typer.BadParameter(f"{entry!r}: {name.strip()} is {found[name.strip()]} already")
    return found


MaxUsdOption = Annotated[
    str | None, typer.Option(metavar="AMOUNT", help="Stop, resumably, at so many dollars.")
]
MaxTokensOption = Annotated[int | None, typer.Option(metavar="N", min=1, help="… at so many tokens.")]
MaxCallsOption = Annotated[int | None, typer.Option(metavar="N", min=1, help="… at so many calls.")]
MaxMinutesOption = Annotated[int | None, typer.Option(metavar="N", min=1, help="… after so many minutes.")]
MaxRoundsOption = Annotated[int | None, typer.Option(metavar="N", min=1, help="… after so many rounds.")]
PricesOption = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Prices of your own over the installed ones (MOOT_PRICES, else prices.toml in ~/.config/moot).",
    ),
]
OnWaitOption = Annotated[
    str | None,
    typer.Option(
        "--on-wait",
        metavar="PROGRAM|URL",
        help="Who is told when the run waits, stops or fails: a program (the object of --json on its stdin) "
        "or an address (posted).",
    ),
]
OnEndOption = Annotated[
    str | None,
    typer.Option("--on-end", metavar="PROGRAM|URL", help="Who is told when the run is finished, likewise."),
]
ExperimentsOption = Annotated[
    str | None,
    typer.Option(
        metavar="off|sandbox",
        help="Whether programs that replies bring are run here, shut in (off; see docs/experiments.md).",
        autocompletion=among(lambda: ("off", "sandbox")),
    ),
]
TextArgument = Annotated[str, typer.Argument(metavar="TEXT", help="What you say.")]
