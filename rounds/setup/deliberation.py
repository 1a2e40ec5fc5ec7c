"""The deliberation file: what a person writes to set a run up, in TOML (FORMAT 10).

    [deliberation]
    question = "Which storage for an append-only audit ledger?"
    goals = ["No acknowledged record is ever lost"]
    plan = "minimum-8"

Every key is checked: an unknown one is an error that names the nearest known key and the line.

The fields below are the one declaration of a run's settings. `option` adds how a person gives a setting on the command
line; `moot run`, `moot new`, their help, `--rule` and the tool `new` of agent hosts follow from it
(`moot/app/settings.py`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any, Final, Literal, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from ledger.events.envelope import ROUND_MAX
from ledger.events.run import SignatureCode
from roles.protocol import Protocol
from rounds.protocols import PROTOCOLS, RULES
from rounds.protocols.plans import PLANS, phases_of
from rounds.setup.toml_file import (
    DeliberationError,
    FileForm,
    Table,
    nearest,
    read_toml,
    refuse_unkept,
    validated,
)

USD_MAX: Final = 10**12
"""Most dollars of a budget. `1e9999999` would be a line of ten million digits."""


def _decimal(value: Any) -> Any:
    """Return dollars from TOML as a decimal string; an integer, a number or a string is accepted."""
    try:
        # Through `str`, so that 2.50 stays 2.50 and does not become its binary neighbor, and `true` is no dollar.
        amount = Decimal(str(value))
    except InvalidOperation:
        raise ValueError("write an amount in dollars, such as 5 or 2.50") from None
    if not amount.is_finite() or not 0 <= amount <= USD_MAX or amount.as_tuple().exponent < -9:  # type: ignore[operator]  # finite
        raise ValueError(f"an amount is 0 to {USD_MAX:,} and has at most nine decimals")
    # A ledger keeps no `-0`, which is not less than 0.
    return f"{abs(amount):f}"


def listed(value: Any) -> Any:
    """Return a list as the tuple that a strict model wants."""
    return tuple(cast("list[Any]", value)) if isinstance(value, list) else value


Line = Annotated[str, Field(min_length=1, max_length=8_000)]
Word = Annotated[str, Field(min_length=1, max_length=200)]
RoleId = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
Count = Annotated[int, Field(ge=1, le=2**53 - 1)]
RoundNumber = Annotated[int, Field(ge=1, le=ROUND_MAX)]
Lines = Annotated[tuple[Line, ...], BeforeValidator(listed)]


ASK: Final = "What to ask"
WHO: Final = "Who answers"
HOW: Final = "How"
LIMITS: Final = "Limits"
PANELS: Final = (ASK, WHO, HOW, LIMITS)
"""Panels of the help in which options are listed, in order."""


def option(names: str, metavar: str, help: str, panel: str, words: tuple[str, ...] = ()) -> Any:
    """Return the field of a setting that has an option of its own; `words` complete its value in a shell.

    Without `names`, the setting is given as `--rule NAME=VALUE`.
    """
    extra: Any = {"option": names, "metavar": metavar, "panel": panel, "words": list(words)}
    return Field(description=help, json_schema_extra=extra)


UNDER_RULE: Final = option("", "", "", HOW)


class FileTable(BaseModel):
    """A table of a file, strict: nothing is converted, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Subject(FileTable):
    """`[deliberation]`: the question and how it is deliberated. What is left out is decided at the opening."""

    question: Annotated[
        str,
        Field(min_length=1, max_length=60_000),
        option("-q --question", "TEXT", "What to deliberate.", ASK),
    ]
    domain: Annotated[Line | None, UNDER_RULE] = None
    goals: Annotated[
        Lines, option("--goal", "TEXT", "What a good outcome serves; may be repeated.", ASK)
    ] = ()
    options: Annotated[
        Lines, option("--option", "TEXT", "An option under discussion; may be repeated.", ASK)
    ] = ()
    protocol: Annotated[
        str | None,
        option(
            "--protocol",
            "NAME",
            "`moot gate` lists them. Default: by the question's words, mostly crux.",
            HOW,
            tuple(PROTOCOLS),
        ),
    ] = None
    """If None, the gate chooses, unless other keys need the rounds of a plan."""
    plan: Annotated[
        str | None,
        option(
            "--plan",
            "NAME",
            "Rounds of `structured`: standard-13 (default), minimum-8 or short-5.",
            HOW,
            tuple(PLANS),
        ),
    ] = None
    profile: Annotated[Literal["gates", "published"] | None, UNDER_RULE] = None
    check_every: Annotated[RoundNumber | None, UNDER_RULE] = None
    not_before: RoundNumber | None = None
    no_stress: Annotated[bool, UNDER_RULE] = False
    positions: Literal["beliefs", "sealed", "off"] | None = None
    seed: Annotated[int, Field(ge=0, lt=1 << 53), UNDER_RULE] = 0
    """Seed of every random choice: in crux, which role answers first (`seed` mod 4) and how answers are shuffled."""

    @field_validator("question")
    @classmethod
    def _asks_something(cls, question: str) -> str:
        if not question.strip():
            raise ValueError("a question has words")
        return question

    @field_validator("plan")
    @classmethod
    def _plan_is_known(cls, plan: str | None) -> str | None:
        if plan is not None and plan not in PLANS:
            raise ValueError(f"no plan {plan!r}: plans are {', '.join(PLANS)}, or write [[round]] rows")
        return plan


class RoundRow(FileTable):
    """`[[round]]`: one row of a plan; with a named plan it changes that plan's round `n`."""

    n: RoundNumber
    absent: RoleId | None = None
    drift: bool | None = None
    phases: tuple[str, ...] | None = None
    focus: Line | None = None

    _phases = field_validator("phases", mode="before")(phases_of)


class Predicted(FileTable):
    """`[[predict]]`: a signature that is expected to be missing while a role is absent (SD-75)."""

    role: RoleId
    code: SignatureCode
    text: Line


class Document(FileTable):
    """`[[context]]`: a document under discussion, as a file beside the deliberation file or as text."""

    name: Word
    path: str | None = None
    text: str | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Document:
        # Both would leave open which one is hashed into the opening; neither is no document.
        if (self.path is None) == (self.text is None):
            raise ValueError("give either path or text")
        return self


class CastRow(FileTable):
    """`[cast.<role>]`: title, charge and seat of a role; None leaves it to the casting."""

    title: Word | None = None
    charge: Line | None = None
    seat: Word | None = None


class Budget(FileTable):
    """`[budget]`: limits of the run; dollars are a decimal string."""

    usd: Annotated[
        str | None,
        BeforeValidator(_decimal),
        option("--max-usd", "AMOUNT", "Stop (resumable) after spending this much.", LIMITS),
    ] = None
    tokens: Annotated[Count | None, option("--max-tokens", "N", "… after this many tokens.", LIMITS)] = None
    calls: Annotated[Count | None, option("--max-calls", "N", "… after this many calls.", LIMITS)] = None
    minutes: Annotated[Count | None, option("--max-minutes", "N", "… after this many minutes.", LIMITS)] = (
        None
    )
    rounds: Annotated[Count | None, option("--max-rounds", "N", "… after this many rounds.", LIMITS)] = None


class GateRow(FileTable):
    """`[gate]`: settings that decide whether a question deserves several roles (AD-2); kept with the run."""

    compete: bool = False
    single: bool = False
    triggers: Lines = ()


class ExperimentsRow(FileTable):
    """`[experiments]`: a request of the file; programs run only when the person who runs it agrees."""

    run: Annotated[
        Literal["on", "ask", "off"],
        option(
            "--experiments",
            "[on|ask|off]",
            "Run programs that seats write, inside a sandbox. Default in crux: ask, at a terminal.",
            HOW,
            ("on", "ask", "off"),
        ),
    ] = "off"


class Deliberation(FileTable):
    """A whole deliberation file."""

    deliberation: Subject
    round: tuple[RoundRow, ...] = ()
    predict: tuple[Predicted, ...] = ()
    context: tuple[Document, ...] = ()
    cast: dict[str, CastRow] = Field(default_factory=dict[str, CastRow])
    budget: Budget = Budget()
    gate: GateRow | None = None
    experiments: ExperimentsRow | None = None
    rules: dict[str, str] = Field(default_factory=dict[str, str])

    _rows = field_validator("round", "predict", "context", mode="before")(listed)

    @field_validator("rules")
    @classmethod
    def _rules_are_known(cls, rules: dict[str, str]) -> dict[str, str]:
        # The rules of the chosen protocol are checked when the run is opened; the gate may
        # still choose it here.
        for name, value in rules.items():
            if name not in RULES:
                raise ValueError(f"no rule {name!r}: did you mean {nearest(name, RULES)!r}?")
            if value not in RULES[name]:
                raise ValueError(f"rule {name} is one of {', '.join(RULES[name])}, not {value!r}")
        return rules


FORM: Final = FileForm(
    tables={
        "deliberation": Subject,
        "round": RoundRow,
        "predict": Predicted,
        "context": Document,
        "cast": CastRow,
        "budget": Budget,
        "gate": GateRow,
        "experiments": ExperimentsRow,
    },
    words=tuple(RULES),
    help="see `moot new --help` for what a deliberation file holds",
)


def checked(table: Table, text: str = "", name: str = "the command line") -> Deliberation:
    """Return the deliberation in a table; `text` is its source, for line numbers. Raises `DeliberationError`."""
    if "deliberation" not in table:
        raise DeliberationError(
            "there is no [deliberation] table", name, 'begin with [deliberation] and question = "…"'
        )
    refuse_unkept(table, name)
    return validated(Deliberation, FORM, table, text, name)


def parse(content: bytes, name: str = "deliberation.toml") -> Deliberation:
    """Return the deliberation in a file's bytes. Raises `DeliberationError` with line and fix."""
    table, text = read_toml(content, name)
    return checked(table, text, name)


def checked_budget(limits: Mapping[str, Any]) -> dict[str, int | str]:
    """Return limits as `[budget]` would hold them. Raises `DeliberationError`."""
    budget = validated(Budget, FORM, dict(limits), "", "the command line")
    return {key: value for key, value in budget if value is not None}


# ---------------------------------------------------------------- rules


def chosen_rules(
    deliberation: Deliberation, protocol: Protocol, name: str
) -> dict[str, str | int | bool | None]:
    """Return every named variant outright; `positions` can be set in two places, and `off` in either is off."""
    chosen: dict[str, str | int | bool | None] = {}
    for rule in deliberation.rules:
        if rule not in protocol.variants:
            known = ", ".join(protocol.variants) or "none"
            raise DeliberationError(
                f"no rule {rule!r} in protocol {protocol.name}", name, f"its rules are: {known}"
            )
    # Defaults are written out: a later version may change one, and this run must keep what
    # it was opened with.
    for rule, values in protocol.variants.items():
        if rule == "positions":
            continue
        value = deliberation.rules.get(rule, values[0])
        if value not in values:
            raise DeliberationError(
                f"rule {rule} of {protocol.name} is not {value!r}", name, f"choose one of {', '.join(values)}"
            )
        chosen[rule] = value
    return chosen | _positions(deliberation, protocol, name)


def _positions(deliberation: Deliberation, protocol: Protocol, name: str) -> dict[str, str]:
    """Return `positions` from either of two places, `off` in one of them being off."""
    values = protocol.variants.get("positions")
    if values is None:
        return {}
    settings = deliberation.rules.get("positions"), deliberation.deliberation.positions
    # Turning positions off loses evidence, and the waiver of the opening must then be true in every case.
    wanted = "off" if "off" in settings else settings[0] or settings[1] or values[0]
    if wanted not in values:
        raise DeliberationError(
            f"positions = {wanted} is not known to {protocol.name}",
            name,
            f"choose {' or '.join(values)}",
        )
    return {"positions": wanted}


# ---------------------------------------------------------------- the file, written

# Characters of a list on one line; longer lists get a line for each value, which a person edits more easily.
SMALL = 80


def to_toml(deliberation: Deliberation) -> str:
    """Return the file: tables in the order of FORMAT 10, keys that are None or empty left out."""
    blocks = [_block("[deliberation]", _set_keys(deliberation.deliberation))]
    for name in ("round", "predict", "context"):
        blocks += [_block(f"[[{name}]]", _set_keys(row)) for row in getattr(deliberation, name)]
    blocks += [_block(f"[cast.{role}]", _set_keys(row)) for role, row in deliberation.cast.items()]
    tables = (
        ("budget", deliberation.budget),
        ("gate", deliberation.gate),
        ("experiments", deliberation.experiments),
    )
    for name, table in tables:
        if table is not None and _set_keys(table):
            blocks.append(_block(f"[{name}]", _set_keys(table)))
    if deliberation.rules:
        blocks.append(_block("[rules]", deliberation.rules))
    return "\n".join(blocks)


def _set_keys(table: BaseModel) -> dict[str, Any]:
    """Return the keys that differ from their default: no None, no empty list, no switch that is off."""
    # Compared with `is`: a seed of 0 equals False and must still be written.
    return {key: value for key, value in table if value is not None and value != () and value is not False}


def _block(header: str, values: Mapping[str, Any]) -> str:
    return "\n".join([header, *(f"{key} = {toml_value(value)}" for key, value in values.items()), ""])


def toml_value(value: Any) -> str:
    """Return a TOML value: a string, an integer, a boolean, or a list of them."""
    match value:
        # Booleans come first, because a bool is an int in Python as well.
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case str():
            return _toml_string(value)
        case list() | tuple():
            return _list([toml_value(item) for item in cast("tuple[Any, ...]", value)])
        case _:
            raise TypeError(f"no TOML for {type(value).__name__}")


def _list(parts: list[str]) -> str:
    line = f"[{', '.join(parts)}]"
    return line if len(line) <= SMALL else "[\n" + "".join(f"  {part},\n" for part in parts) + "]"


def _toml_string(value: str) -> str:
    """Return a TOML string: long texts over several lines, else one line as in JSON.

    A text is written over several lines when nothing in it needs escaping but line feeds.
    """
    # A quote at the end would run into the closing quotes, and a carriage return is
    # normalized by some readers.
    plain = (
        "\n" in value and not any(mark in value for mark in ('"""', "\\", "\r")) and not value.endswith('"')
    )
    if plain and all(character >= " " or character in "\n\t" for character in value) and "\x7f" not in value:
        return f'"""\n{value}"""'
    # JSON strings are valid TOML strings except for DEL, which TOML forbids unescaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
