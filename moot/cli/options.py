"""Parameters that several verbs share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple, cast

import typer

from moot.terminal.streams import err

Completed = Callable[[str], list[str]]


def run_names(incomplete: str) -> list[str]:
    """Return completions of a run's name: @last, and ids."""
    from moot.app.runs import LAST, runs_under
    from moot.environment import read_settings

    runs = read_settings().runs
    names = (LAST, *(str(path.relative_to(runs)) for path in runs_under(runs)))
    return [name for name in names if name.startswith(incomplete)]


def among(names: Callable[[], Iterable[str]]) -> Completed:
    """Return a completion over names that are looked up when it is asked for."""
    # The names are looked up only while completing: imports at start-up would slow every verb down.
    return lambda incomplete: [name for name in names() if name.startswith(incomplete)]


def protocol_names() -> Iterable[str]:
    """Return the names of the protocols."""
    from rounds.protocols import PROTOCOLS

    return PROTOCOLS


ASK: Final = "What to ask"
WHO: Final = "Who answers"
HOW: Final = "How"
LIMITS: Final = "Limits"
OUTPUT: Final = "Output"
"""Panels in which help lists the options of a verb that has many."""

RUN_HELP: Final = "A run's directory, an id under ./runs, or @last."
RunArgument = Annotated[str, typer.Argument(metavar="RUN", help=RUN_HELP, autocompletion=run_names)]
JsonOption = Annotated[
    bool,
    typer.Option("--json", help="One JSON object for machines (schemas/output/).", rich_help_panel=OUTPUT),
]
QuietOption = Annotated[
    bool,
    typer.Option("--quiet", help="Print nothing but errors; the exit code tells.", rich_help_panel=OUTPUT),
]

NoPagerOption = Annotated[
    bool, typer.Option("--no-pager", help="Print all of it at once, also when it is longer than the screen.")
]
ByOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Who you are, on the record (git's user.name if not said).")
]

QuestionOption = Annotated[
    str | None,
    typer.Option("-q", "--question", metavar="TEXT", help="What to deliberate.", rich_help_panel=ASK),
]
GoalOption = Annotated[
    list[str] | None,
    typer.Option(metavar="TEXT", help="What a good outcome serves; may be repeated.", rich_help_panel=ASK),
]
OptionOption = Annotated[
    list[str] | None,
    typer.Option(metavar="TEXT", help="An option under discussion; may be repeated.", rich_help_panel=ASK),
]
ContextOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE|DIR|git:A..B|-",
        help="What to deliberate on: a file, a directory without what git ignores, a change with its files, or "
        "standard input; may be repeated.",
        rich_help_panel=ASK,
    ),
]
FromOption = Annotated[
    list[str] | None,
    typer.Option(
        "--from",
        metavar="RUN[:D-ID]",
        help="Start from what another run decided: its decision record is a document; may be repeated.",
        autocompletion=run_names,
        rich_help_panel=ASK,
    ),
]
ProtocolOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="`moot gate` lists them. Default: by the question's words, mostly crux.",
        autocompletion=among(protocol_names),
        rich_help_panel=HOW,
    ),
]
SingleOption = Annotated[bool, typer.Option("--single", help="One seat and one reply.", rich_help_panel=HOW)]
PlanOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Rounds of `structured`: standard-13 (default), minimum-8 or short-5.",
        autocompletion=among(lambda: ("standard-13", "minimum-8", "short-5")),
        rich_help_panel=HOW,
    ),
]

RuleOption = Annotated[
    list[str] | None,
    typer.Option(
        "--rule",
        metavar="NAME=VALUE",
        help="A variant or setting, such as judges=3; may be repeated.",
        rich_help_panel=HOW,
    ),
]
StakesOption = Annotated[
    str | None,
    typer.Option(
        metavar="LEVEL",
        help="Cost of a wrong answer of crux: low, normal or high. High tests more.",
        autocompletion=among(lambda: ("low", "normal", "high")),
        rich_help_panel=HOW,
    ),
]
NoWaitOption = Annotated[
    bool,
    typer.Option(
        "--no-wait",
        help="Finish with open questions instead of waiting for a person.",
        rich_help_panel=LIMITS,
    ),
]


def experiments_of(word: str | None) -> str | None:
    """Return the word of --experiments. Raises `typer.BadParameter` for another one."""
    if word not in (None, "on", "ask", "off"):
        raise typer.BadParameter(f"--experiments is on, ask or off, not {word!r}")
    return word


def asking(*, silent: bool) -> Callable[[str, str], bool] | None:
    """Return what puts a question to the person before a run starts; None where no person is at the keyboard."""
    # Both ends must be a terminal: an answer from a pipe is no consent, and a question into a file is not seen.
    if silent or not sys.stdin.isatty() or not sys.stderr.isatty():
        return None

    def agreed(text: str, question: str) -> bool:
        err(text)
        return typer.confirm(question, default=False, err=True)

    return agreed


def documents_said(
    context: list[str] | None, earlier: list[str] | None, bytes_max: int | None, tell: Callable[[str], object]
) -> tuple[tuple[str, ...], tuple[dict[str, str], ...], tuple[str, ...]]:
    """Return the files, the texts and the names of the computed diffs among them that a person named as documents.

    `tell` receives a line on what was read and what was left out.
    """
    if not context and not earlier:
        return (), (), ()
    from moot.app.earlier import earlier_decision
    from moot.app.inputs import BYTES_MAX, inputs_of

    inputs = inputs_of(context or (), bytes_max or BYTES_MAX)
    if summary := inputs.summary():
        tell(summary)
    return inputs.files, (*inputs.rows, *map(earlier_decision, earlier or ())), inputs.changes


class RuleSettings(NamedTuple):
    """Every `--rule NAME=VALUE`: variants of the protocol in `rules`, and the settings of a run."""

    rules: dict[str, str]
    cast: str | None = None
    check_every: int | None = None
    context_bytes: int | None = None
    domain: str | None = None
    params: Path | None = None
    profile: str | None = None
    seed: int | None = None
    no_stress: bool = False


def rules_of(rule: list[str] | None, stakes: str | None = None) -> RuleSettings:
    """Return what `--rule` and `--stakes` choose. Raises `typer.BadParameter` for what cannot be read."""
    rules = {} if stakes is None else {"stakes": stakes}
    settings: dict[str, str | int | Path | bool] = {}
    for entry in rule or ():
        name, equals, value = (part.strip() for part in entry.partition("="))
        # `--rule judges` without a value would otherwise set a rule to an empty text.
        if not (name and equals and value):
            raise typer.BadParameter(f"{entry!r}: write NAME=VALUE, such as judges=3")
        if name.replace("-", "_") in _SETTINGS:
            # Settings are options of a run; all other names are passed to the protocol, which refuses unknown ones.
            key, setting = _SETTINGS[name.replace("-", "_")](name, value)
            # The same value twice is harmless; two values would leave one of them unused without a word.
            if settings.setdefault(key, setting) != setting:
                raise typer.BadParameter(f"{entry!r}: {name} has a value already")
        elif rules.setdefault(name, value) != value:
            raise typer.BadParameter(f"{entry!r}: {name} is {rules[name]} already")
    return RuleSettings(rules)._replace(**cast("dict[str, Any]", settings))


def _text(name: str, value: str) -> tuple[str, str]:
    return name, value


def _path(name: str, value: str) -> tuple[str, Path]:
    return name, Path(value)


def _number(least: int) -> Callable[[str, str], tuple[str, int]]:
    def read(name: str, value: str) -> tuple[str, int]:
        # `isdigit` alone accepts digits of other scripts.
        if not value.isascii() or not value.isdigit() or int(value) < least:
            raise typer.BadParameter(f"{name}={value}: give a whole number from {least}")
        return name.replace("-", "_"), int(value)

    return read


def _stress(name: str, value: str) -> tuple[str, bool]:
    if value not in ("on", "off"):
        raise typer.BadParameter(f"{name}={value}: say stress=on or stress=off")
    return "no_stress", value == "off"


_SETTINGS: Final[Mapping[str, Callable[[str, str], tuple[str, str | int | Path | bool]]]] = {
    "cast": _text,
    "check_every": _number(1),
    "context_bytes": _number(1),
    "domain": _text,
    "params": _path,
    "profile": _text,
    "seed": _number(0),
    "stress": _stress,
}
"""Name under `--rule` → how to read its value."""


MaxUsdOption = Annotated[
    str | None,
    typer.Option(metavar="AMOUNT", help="Stop (resumable) after spending this much.", rich_help_panel=LIMITS),
]
MaxTokensOption = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="… after this many tokens.", rich_help_panel=LIMITS)
]
MaxCallsOption = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="… after this many calls.", rich_help_panel=LIMITS)
]
MaxMinutesOption = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="… after this many minutes.", rich_help_panel=LIMITS)
]
MaxRoundsOption = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="… after this many rounds.", rich_help_panel=LIMITS)
]
ExperimentsOption = Annotated[
    str | None,
    typer.Option(
        metavar="[on|ask|off]",
        help="Run programs that seats write, inside a sandbox. Default in crux: ask, at a terminal.",
        autocompletion=among(lambda: ("on", "ask", "off")),
        rich_help_panel=HOW,
    ),
]
RUN_OR_ID_HELP: Final = "The run. Default: @last. An ID alone means that of the last run."
ID_HELP: Final = "An id of the run, such as D-2-1, or @SEQ."


def split_names(run: str, identity: str | None) -> tuple[str, str | None]:
    """Return run and id; an id alone belongs to the last run."""
    from ledger.events.ids import is_event_name
    from moot.app.runs import LAST

    return (LAST, run) if identity is None and is_event_name(run) else (run, identity)


TextArgument = Annotated[str, typer.Argument(metavar="TEXT", help="What you say.")]
