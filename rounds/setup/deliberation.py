"""The deliberation file: what a person writes to set a run up, in TOML (FORMAT 10).

    [deliberation]
    question = "Which storage for an append-only audit ledger?"
    goals = ["No acknowledged record is ever lost"]
    plan = "minimum-8"

Every key is checked: an unknown one is an error that names the nearest known key and the line.
"""

from __future__ import annotations

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

from ledger.events.run import SignatureCode
from ledger.events.values import ROUND_MAX
from rounds.protocols.plans import PLANS, phases_of
from rounds.protocols.variants import RULES
from rounds.setup.toml_file import (
    DeliberationError,
    FileForm,
    Table,
    nearest,
    read_toml,
    refuse_unkept,
    validated,
)


def _decimal(value: Any) -> Any:
    """Return dollars from TOML as a decimal string; an integer, a number or a string is accepted."""
    # A bool is an int in Python, and `usd = true` must not mean one dollar.
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("write an amount in dollars, such as 5 or 2.50")
    try:
        # Through `str`, so that 2.50 stays 2.50 and does not become its binary neighbor.
        amount = Decimal(str(value))
    except InvalidOperation:
        raise ValueError("write an amount in dollars, such as 5 or 2.50") from None
    if not amount.is_finite() or amount < 0 or amount.as_tuple().exponent < -9:  # type: ignore[operator]  # finite
        raise ValueError("an amount is not negative and has at most nine decimals")
    return f"{amount:f}"


def listed(value: Any) -> Any:
    """Return a list as the tuple that a strict model wants."""
    return tuple(cast("list[Any]", value)) if isinstance(value, list) else value


Line = Annotated[str, Field(min_length=1, max_length=8_000)]
Word = Annotated[str, Field(min_length=1, max_length=200)]
RoleId = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")]
Count = Annotated[int, Field(ge=1, le=2**53 - 1)]
RoundNumber = Annotated[int, Field(ge=1, le=ROUND_MAX)]
Lines = Annotated[tuple[Line, ...], BeforeValidator(listed)]


class FileTable(BaseModel):
    """A table of a file, strict: nothing is converted, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Subject(FileTable):
    """`[deliberation]`: the question and how it is deliberated. A value of None is decided when the run is opened."""

    question: Annotated[str, Field(min_length=1, max_length=60_000)]
    domain: Line | None = None
    goals: Lines = ()
    options: Lines = ()
    protocol: str | None = None
    """If None, the gate chooses, unless other keys need the rounds of a plan."""
    plan: str | None = None
    profile: Literal["gates", "published"] | None = None
    check_every: Annotated[int, Field(ge=1, le=ROUND_MAX)] | None = None
    not_before: RoundNumber | None = None
    no_stress: bool = False
    positions: Literal["beliefs", "sealed", "off"] | None = None
    seed: Annotated[int, Field(ge=0, lt=1 << 53)] = 0
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

    @field_validator("phases", mode="before")
    @classmethod
    def _phases(cls, value: Any) -> tuple[str, ...]:
        return phases_of(value)


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

    usd: Annotated[str | None, BeforeValidator(_decimal)] = None
    tokens: Count | None = None
    calls: Count | None = None
    minutes: Count | None = None
    rounds: Count | None = None


class GateRow(FileTable):
    """`[gate]`: settings that decide whether a question deserves several roles (AD-2); kept with the run."""

    compete: bool = False
    single: bool = False
    triggers: Lines = ()


class ExperimentsRow(FileTable):
    """`[experiments]`: a request of the file; programs run only when the person who runs it agrees."""

    run: Literal["on", "ask", "off"] = "off"


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

    @field_validator("round", "predict", "context", mode="before")
    @classmethod
    def _rows(cls, value: Any) -> Any:
        return listed(value)

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


def checked_budget(limits: Mapping[str, Any], name: str = "the command line") -> dict[str, int | str]:
    """Return limits as `[budget]` would hold them. Raises `DeliberationError`."""
    budget = validated(Budget, FORM, dict(limits), "", name)
    return {key: value for key, value in budget if value is not None}
