"""The deliberation file: what a person writes to set a run up, in TOML (FORMAT 10).

    [deliberation]
    question = "Which storage for an append-only audit ledger?"
    goals = ["No acknowledged record is ever lost"]
    plan = "minimum-8"

Every key is checked: an unknown one is an error that names the nearest known key and the line.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from difflib import SequenceMatcher
from typing import Annotated, Any, ClassVar, Final, Literal, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from ledger.events.run import SignatureCode
from ledger.events.values import ROUND_MAX
from ledger.format.canonical import NotCanonical, refuse_control_characters
from rounds.protocols import DEFAULT_PROTOCOL
from rounds.protocols.plans import PLANS, phases_of
from rounds.protocols.variants import RULES


class DeliberationError(Exception):
    """A deliberation that cannot be run: `what` is wrong, `where`, and the one line that says how to fix it."""

    exit_code: ClassVar[int] = 2
    code: ClassVar[str] = "deliberation"

    def __init__(self, what: str, where: str, fix: str) -> None:
        super().__init__(f"{what} ({where}); {fix}")
        self.what = what
        self.where = where
        self.fix = fix


def _decimal(value: Any) -> Any:
    """Dollars from TOML: an integer, a number or a string; kept as a decimal string."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("write an amount in dollars, such as 5 or 2.50")
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        raise ValueError("write an amount in dollars, such as 5 or 2.50") from None
    if not amount.is_finite() or amount < 0 or amount.as_tuple().exponent < -9:  # type: ignore[operator]  # finite
        raise ValueError("an amount is not negative and has at most nine decimals")
    return f"{amount:f}"


def _listed(value: Any) -> Any:
    return tuple(cast("list[Any]", value)) if isinstance(value, list) else value


Line = Annotated[str, Field(min_length=1, max_length=8_000)]
Word = Annotated[str, Field(min_length=1, max_length=200)]
RoleId = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
Count = Annotated[int, Field(ge=1, le=2**53 - 1)]
RoundNumber = Annotated[int, Field(ge=1, le=ROUND_MAX)]
Lines = Annotated[tuple[Line, ...], BeforeValidator(_listed)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Subject(_Table):
    """`[deliberation]`: the question and how it is deliberated. What is None is decided when the run is opened."""

    question: Annotated[str, Field(min_length=1, max_length=60_000)]
    domain: Line | None = None
    goals: Lines = ()
    options: Lines = ()
    protocol: str = DEFAULT_PROTOCOL
    plan: str | None = None
    profile: Literal["script", "text", "calibrated"] | None = None
    check_every: Annotated[int, Field(ge=1, le=ROUND_MAX)] | None = None
    not_before: RoundNumber | None = None
    no_stress: bool = False
    positions: Literal["beliefs", "sealed", "off"] | None = None
    seed: Annotated[int, Field(ge=0, lt=1 << 53)] = 0
    """Of every choice by chance: in crux, which role answers first (`seed` mod 4) and how answers are shuffled."""

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


class RoundRow(_Table):
    """`[[round]]`: one row of a plan; with a named plan it changes that plan's round `n`."""

    n: RoundNumber
    absent: RoleId | None = None
    drift: bool | None = None
    phases: tuple[str, ...] | None = None
    focus: Line | None = None

    @field_validator("phases", mode="before")
    @classmethod
    def _phases(cls, value: Any) -> tuple[str, ...]:
        return phases_of(value)


class Predicted(_Table):
    """`[[predict]]`: what is expected to be missing while a role is absent (SD-75)."""

    role: RoleId
    code: SignatureCode
    text: Line


class Document(_Table):
    """`[[context]]`: a document under discussion, as a file beside the deliberation file or as text."""

    name: Word
    path: str | None = None
    text: str | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Document:
        if (self.path is None) == (self.text is None):
            raise ValueError("give either path or text")
        return self


class CastRow(_Table):
    """`[cast.<role>]`: who fills a role here; what is None comes from the casting."""

    title: Word | None = None
    charge: Line | None = None
    seat: Word | None = None


class Budget(_Table):
    """`[budget]`: limits of the run; dollars are a decimal string."""

    usd: Annotated[str | None, BeforeValidator(_decimal)] = None
    tokens: Count | None = None
    calls: Count | None = None
    minutes: Count | None = None
    rounds: Count | None = None


class GateRow(_Table):
    """`[gate]`: what decides whether a question deserves several roles (AD-2); kept with the run."""

    compete: bool = False
    single: bool = False
    triggers: Lines = ()


class ExperimentsRow(_Table):
    """`[experiments]`: what the file asks for; programs are run only when the person who runs it says so too."""

    run: Literal["off", "sandbox"] = "off"


class Deliberation(_Table):
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

    @field_validator("round", "predict", "context", mode="before")
    @classmethod
    def _rows(cls, value: Any) -> Any:
        return _listed(value)

    @field_validator("rules")
    @classmethod
    def _rules_are_known(cls, rules: dict[str, str]) -> dict[str, str]:
        for name, value in rules.items():
            if name not in RULES:
                raise ValueError(f"no rule {name!r}: did you mean {nearest(name, RULES)!r}?")
            if value not in RULES[name]:
                raise ValueError(f"rule {name} is one of {', '.join(RULES[name])}, not {value!r}")
        return rules


Table = dict[str, Any]
"""A deliberation file as TOML gives it, before it is checked."""


FILE_BYTES_MAX: Final = 1 << 18
DOTTED_NAMES_MAX: Final = 16
"""Names joined by dots in one key: TOML's reader needs the square of them."""
_DOTTED: Final = re.compile(rf"""(?<![\w"'-])(?:[\w"'-]++[ \t]*+\.[ \t]*+){{{DOTTED_NAMES_MAX}}}""")


def read_toml(content: bytes, name: str) -> tuple[Table, str]:
    """The table in a file's bytes, and its text. `name` is what errors call the file. Raises `DeliberationError`."""
    if len(content) > FILE_BYTES_MAX:
        raise DeliberationError(
            f"{len(content)} bytes, more than {FILE_BYTES_MAX}", name, "name long documents by path"
        )
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DeliberationError(
            f"the file is not UTF-8 (byte {error.start})",
            name,
            "save it as UTF-8, or name a deliberation file",
        ) from None
    if _DOTTED.search(text):
        raise DeliberationError(
            f"more than {DOTTED_NAMES_MAX} names joined by dots", name, "no key has more than two"
        )
    try:
        return tomllib.loads(text), text
    except RecursionError:
        raise DeliberationError("nested too deeply", name, "no value is a list of lists of lists") from None
    except ValueError as error:  # TOMLDecodeError, and what Python says to a number of too many digits
        raise DeliberationError(
            f"not TOML: {error}", name, "fix that line; `moot new` writes a file to start from"
        ) from None


def checked(table: Table, text: str = "", name: str = "the command line") -> Deliberation:
    """The deliberation in a table; `text` is what it was read from, for line numbers. Raises `DeliberationError`."""
    if "deliberation" not in table:
        raise DeliberationError(
            "there is no [deliberation] table", name, 'begin with [deliberation] and question = "…"'
        )
    _refuse_unkept(table, name)
    try:
        return Deliberation.model_validate(table)
    except ValidationError as error:
        raise _explained(error, text, name) from None


def _refuse_unkept(table: Table, name: str) -> None:
    """Complain about characters that no string of a ledger holds (FORMAT 1)."""
    try:
        refuse_control_characters(table)
        json.dumps(table, ensure_ascii=False, default=str).encode()
    except NotCanonical as error:
        raise DeliberationError(str(error), name, "take it out; line feeds and tabs are allowed") from None
    except UnicodeEncodeError:
        raise DeliberationError("a text that is not UTF-8", name, "write it in UTF-8") from None


def parse(content: bytes, name: str = "deliberation.toml") -> Deliberation:
    """The deliberation in a file's bytes. Raises `DeliberationError` with line and fix."""
    table, text = read_toml(content, name)
    return checked(table, text, name)


def checked_budget(limits: Mapping[str, Any], name: str = "the command line") -> dict[str, int | str]:
    """Limits as `[budget]` would hold them. Raises `DeliberationError`."""
    try:
        budget = Budget.model_validate(dict(limits))
    except ValidationError as error:
        raise _explained(error, "", name) from None
    return {key: value for key, value in budget if value is not None}


def nearest(word: str, known: Sequence[str] | Mapping[str, Any]) -> str:
    """The known word that looks most like `word`."""
    return max(known, key=lambda one: SequenceMatcher(None, word.lower(), one.lower()).ratio())


# ---------------------------------------------------------------- errors in words


_KNOWN: Final[dict[str, type[BaseModel]]] = {
    "deliberation": Subject,
    "round": RoundRow,
    "predict": Predicted,
    "context": Document,
    "cast": CastRow,
    "budget": Budget,
    "gate": GateRow,
    "experiments": ExperimentsRow,
}


def _explained(error: ValidationError, text: str, name: str) -> DeliberationError:
    problems = error.errors(include_url=False)
    # An unknown key is the usual slip and explains a missing one, so it is named first.
    first = min(problems, key=lambda problem: problem["type"] != "extra_forbidden")
    location = tuple(first["loc"])
    line = line_of(text, location)
    where = f"{name}:{line}" if line else name
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    what, fix = _words(first["type"], location, str(first["msg"]))
    return DeliberationError(what + more, where, fix)


def _words(kind: str, location: tuple[int | str, ...], message: str) -> tuple[str, str]:
    key = str(location[-1])
    if kind == "extra_forbidden":
        known = _known_keys(location)
        return (
            f"unknown key {key!r} in {_table_name(location[:-1])}",
            f"did you mean {nearest(key, known)!r}?",
        )
    if kind == "missing":
        return f"{_table_name(location[:-1])} has no {key!r}", f"add {key} = …"
    said = message.removeprefix("Value error, ")
    said = said[:1].lower() + said[1:]
    return f"{_path(location)}: {said}", "see `moot new --help` for what a deliberation file holds"


def _known_keys(location: tuple[int | str, ...]) -> tuple[str, ...]:
    if len(location) == 1:
        return tuple(Deliberation.model_fields)
    model = _KNOWN.get(str(location[0]))
    return tuple(model.model_fields) if model else tuple(RULES)


def _table_name(location: tuple[int | str, ...]) -> str:
    if not location:
        return "the file"
    if len(location) > 1 and isinstance(location[1], int):
        return f"[[{location[0]}]] number {location[1] + 1}"
    return f"[{'.'.join(str(part) for part in location)}]"


def _path(location: tuple[int | str, ...]) -> str:
    names = [str(part) for part in location if isinstance(part, str)]
    return ".".join(names) or "the file"


_HEADER: Final = re.compile(r"\s*(\[{1,2})\s*([A-Za-z0-9_.\"' -]+?)\s*\]{1,2}\s*(?:#.*)?$")
_KEY: Final = re.compile(r"\s*([A-Za-z0-9_.\"'-]+)\s*=")


def line_of(text: str, location: Sequence[int | str]) -> int | None:
    """The line, from 1, of what stands at `location` in a TOML text; its table's header when the key is nowhere."""
    table: tuple[int | str, ...] = ()
    seen: dict[str, int] = {}
    header: int | None = None
    for number, line in enumerate(text.splitlines(), 1):
        opened = _HEADER.match(line)
        if opened:
            names = tuple(part.strip().strip("\"'") for part in opened[2].split("."))
            if opened[1] == "[[":
                seen[names[0]] = seen.get(names[0], -1) + 1
                table = (names[0], seen[names[0]])
            else:
                table = names
            if table == tuple(location[: len(table)]):
                header = number
            continue
        key = _KEY.match(line)
        if key:
            names = tuple(part.strip().strip("\"'") for part in key[1].split("."))
            path = (*table, *names)
            if path == tuple(location[: len(path)]):
                return number
    return header
