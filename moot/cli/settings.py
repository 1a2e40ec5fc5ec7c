"""Options of verbs that set a run up. Those of a setting follow from its field in `rounds/setup/deliberation.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from moot.app.inputs import BYTES_MAX, earlier_decision, inputs_of
from moot.app.settings import RunOptions, Setting, settings
from moot.cli.command import among, run_names
from moot.errors import refuse
from rounds.setup.deliberation import ASK, HOW, LIMITS, WHO

OUTSIDE: Final[Mapping[str, int | None]] = {"cast": None, "context_bytes": 1, "params": None}
"""Settings under `--rule` that no file has → the least value of a number."""


def setting_option(name: str) -> Any:
    """Return the option of a setting."""
    row = settings()[name]
    schema = row.schema
    words: tuple[str, ...] = tuple(schema["words"])
    return typer.Option(
        *schema["option"].split(),
        metavar=schema["metavar"],
        min=row.least,
        help=schema["description"],
        rich_help_panel=schema["panel"],
        autocompletion=among(lambda: words) if words else None,
    )


def setting_parameters() -> Iterator[Parameter]:
    """Yield a parameter for every setting that has an option."""
    for row in settings().values():
        if row.schema["option"]:
            annotation = Annotated[row.annotation, setting_option(row.name)]  # type: ignore[name-defined]
            yield Parameter(row.name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


SettingOptions = Annotated[Mapping[str, Any], setting_parameters]
"""All of them as one parameter (`_with_output` in `moot/cli/command.py` takes it apart)."""
QuestionOption = Annotated[str | None, setting_option("question")]
GoalOption = Annotated[list[str] | None, setting_option("goal")]
OptionOption = Annotated[list[str] | None, setting_option("option")]
PlanOption = Annotated[str | None, setting_option("plan")]
SeatOption = Annotated[
    list[str] | None,
    typer.Option(metavar="ROLE=SPEC", help="Who answers for one role; may be repeated.", rich_help_panel=WHO),
]
MaxUsdOption = Annotated[str | None, setting_option("max_usd")]
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


def wanted(
    values: Mapping[str, Any],
    *,
    rules: Sequence[str] | None = None,
    stakes: str | None = None,
    no_wait: bool = False,
    context: Sequence[str] | None = None,
    earlier: Sequence[str] | None = None,
    seated: Sequence[str] = (),
    tell: Callable[[str], object] | None = None,
) -> RunOptions:
    """Return what the options of a verb say: settings by name, and the documents to deliberate on.

    `tell` receives a line on what was read and what was left out. Raises `typer.BadParameter` and `MootError`.
    """
    table: dict[str, Any] = {}
    for name, value in values.items():
        if value not in (None, []):
            row = settings()[name]
            table.setdefault(row.table, {})[row.key] = _checked(row, value)
    chosen, outside = _under_rule(rules or (), table)
    if stakes is not None and chosen.setdefault("stakes", stakes) != stakes:
        raise typer.BadParameter(f"'stakes={chosen['stakes']}': stakes is {stakes} already")
    # Both set the same rule; guessing which was meant could leave a run waiting for days.
    refuse(
        no_wait and chosen.setdefault("wait", "off") == "on",
        "--no-wait and wait=on contradict each other",
        "give one of them",
        "moot run",
    )
    if chosen:
        table["rules"] = chosen
    changes: Sequence[str] = ()
    if context or earlier:
        inputs = inputs_of(context or (), outside.get("context_bytes", BYTES_MAX))
        if tell is not None and (summary := inputs.summary()):
            tell(summary)
        # Paths of the command line count from the working directory, those of a file from the file.
        files = [{"name": Path(path).name, "path": str(Path(path).absolute())} for path in inputs.files]
        table["context"] = [*files, *inputs.rows, *map(earlier_decision, earlier or ())]
        changes = inputs.changes
    params = outside.get("params")
    return RunOptions(table, outside.get("cast"), None if params is None else Path(params), changes, seated)


def _checked(row: Setting, value: Any) -> Any:
    """Return the value of an option. Raises `typer.BadParameter` for a word that is not one of the setting's."""
    known: Sequence[str] = row.values.get("enum", ())
    if known and value not in known:
        raise typer.BadParameter(
            f"{row.schema['option']} is {', '.join(known[:-1])} or {known[-1]}, not {value!r}"
        )
    return value


def _under_rule(entries: Sequence[str], table: dict[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """Put every `NAME=VALUE` that names a setting into `table`; return the protocol's variants and other settings.

    Raises `typer.BadParameter`.
    """
    variants: dict[str, str] = {}
    outside: dict[str, Any] = {}
    place: dict[str, Any]
    for entry in entries:
        name, equals, value = (part.strip() for part in entry.partition("="))
        # `--rule judges` without a value would otherwise set a rule to an empty text.
        if not (name and equals and value):
            raise typer.BadParameter(f"{entry!r}: write NAME=VALUE, such as judges=3")
        key = name.replace("-", "_")
        row = settings().get(key) or settings().get(f"no_{key}")
        if row is not None and not row.schema["option"]:
            place, setting = table.setdefault(row.table, {}), _read(row, name, value)
            key = row.key
        elif key in OUTSIDE:
            place, least = outside, OUTSIDE[key]
            setting = value if least is None else _number(name, value, least)
        else:
            # All other names are passed to the protocol, which refuses unknown ones.
            place, key, setting = variants, name, value
        # The same value twice is harmless; two values would leave one of them unused without a word.
        if place.setdefault(key, setting) != setting:
            there = f"is {place[key]} already" if place is variants else "has a value already"
            raise typer.BadParameter(f"{entry!r}: {name} {there}")
    return variants, outside


def _read(row: Setting, name: str, value: str) -> Any:
    match row.type:
        case "boolean":
            # `no_stress` is `stress=off`: a person says what there is, and not what is left out.
            if value not in ("on", "off"):
                raise typer.BadParameter(f"{name}={value}: say {name}=on or {name}=off")
            return value == "off"
        case "integer":
            return _number(name, value, row.least or 0)
        case _:
            return value


def _number(name: str, value: str, least: int) -> int:
    # `isdigit` alone accepts digits of other scripts.
    if not value.isascii() or not value.isdigit() or int(value) < least:
        raise typer.BadParameter(f"{name}={value}: give a whole number from {least}")
    return int(value)
