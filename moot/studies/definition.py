"""The study file: questions (items), ways to answer them (arms), how often, and what was planned beforehand.

    [study]
    question = "Does crux answer more of these questions right than one reply?"
    baseline = "single"

    [[item]]
    id = "eviction"
    file = "eviction.toml"           # a deliberation file

    [[arm]]
    id = "single"
    protocol = "single-pass"

The right answers are in a separate file, which no run reads: the study holds only its SHA-256. `drafted` writes a file
with the usual arms, and the smallest difference that its items can show.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from pydantic import BeforeValidator, Field, field_validator, model_validator

from ledger.events.ids import label_id
from ledger.plain_json import converted
from ledger.plain_text import readable
from ledger.plain_toml import toml_table
from ledger.store.disk import read_plain, real
from moot.app.settings import documents_of
from moot.errors import MootError, usage
from moot.studies import statistics
from moot.view.study import StudyDraft
from rounds.protocols import PROTOCOLS
from rounds.setup.deliberation import (
    FORM as DELIBERATION_FORM,
    Budget,
    Document,
    FileTable,
    Line,
    Lines,
    Word,
    checked,
    listed,
    toml_value,
)
from rounds.setup.toml_file import (
    FILE_BYTES_MAX,
    DeliberationError,
    FileForm,
    Table,
    read_toml,
    refuse_unkept,
    validated,
)

FILE: Final = "study.toml"
KEYS_BYTES_MAX: Final = 1 << 22
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,39}$")]
Times = Annotated[int, Field(ge=1, le=1_000)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Instant = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")]
BEST_OF_MAX: Final = 20


class StudyRow(FileTable):
    """`[study]`: what is asked of the study, and what holds for every run.

    `instant` is the clock of runs that only play recordings; `equal_cost`: whether the arms spend alike by their
    budgets, or the difference is only stated.
    """

    question: Line
    baseline: Name
    planned: Line | None = None
    repetitions: Times = 1
    seed: Annotated[int, Field(ge=0, lt=1 << 52)] = 0
    equal_cost: Literal["stated", "tokens", "usd", "calls"] = "stated"
    keys_sha256: Sha256 | None = None
    instant: Instant | None = None


class ItemRow(FileTable):
    """`[[item]]`: a question, in a deliberation file of its own or here. `repetitions` over those of the study."""

    id: Name
    file: str | None = None
    question: Line | None = None
    options: Lines = ()
    goals: Lines = ()
    context: Annotated[tuple[Document, ...], BeforeValidator(listed)] = ()
    repetitions: Times | None = None

    @model_validator(mode="after")
    def _one_source(self) -> ItemRow:
        # With both, it would be unclear which question was asked; the report could not say.
        if (self.file is None) == (self.question is None):
            raise ValueError("give either file or question")
        return self


class ArmRow(FileTable):
    """`[[arm]]`: a way to answer.

    `best_of`: so many answers, and one more reply that chooses among them. A seat may be `tape:…/{item}`:
    recordings that are played again.
    """

    id: Name
    what: Line | None = None
    protocol: str
    plan: str | None = None
    seats: Word = "host"
    best_of: Annotated[int, Field(ge=2, le=BEST_OF_MAX)] | None = None
    experiments: Literal["on", "off"] = "off"
    rules: dict[str, str] = Field(default_factory=dict[str, str])
    budget: Budget = Budget()

    @field_validator("protocol")
    @classmethod
    def _protocol_is_known(cls, protocol: str) -> str:
        if protocol not in PROTOCOLS:
            raise ValueError(f"no protocol {protocol!r}: protocols are {', '.join(PROTOCOLS)}")
        return protocol


class JudgingRow(FileTable):
    """`[judging]`: a seat compares each arm's output with the baseline's, both ways round, not knowing the arms."""

    seats: Word = "host"
    question: Line = "Which of the two answers serves the person who asked better?"


class StudyFile(FileTable):
    """A whole study file."""

    study: StudyRow
    item: Annotated[tuple[ItemRow, ...], BeforeValidator(listed)]
    arm: Annotated[tuple[ArmRow, ...], BeforeValidator(listed)]
    judging: JudgingRow | None = None

    @model_validator(mode="after")
    def _is_a_comparison(self) -> StudyFile:
        for kind, ids in (("item", [row.id for row in self.item]), ("arm", [row.id for row in self.arm])):
            if not ids:
                raise ValueError(f"there is no [[{kind}]]")
            if twice := [name for name, number in Counter(ids).items() if number > 1]:
                raise ValueError(f"two [[{kind}]] rows are called {twice[0]!r}")
        if self.study.baseline not in [row.id for row in self.arm]:
            raise ValueError(f"the baseline {self.study.baseline!r} is no arm")
        if self.study.equal_cost != "stated":
            _check_equal(self.study.equal_cost, self.arm)
        return self


def _check_equal(limit: str, arms: tuple[ArmRow, ...]) -> None:
    """Refuse arms whose budgets, over all parts of a unit, differ by more than 1%."""
    totals: dict[str, float] = {}
    for arm in arms:
        amount = getattr(arm.budget, limit)
        if amount is None:
            raise ValueError(f'equal_cost = "{limit}", and arm {arm.id!r} has no budget.{limit}')
        # Best-of-n spends one budget per draw and one for the choice.
        totals[arm.id] = float(amount) * (1 if arm.best_of is None else arm.best_of + 1)
    # 1%, because a budget that is split over best-of draws cannot always be divided exactly.
    if max(totals.values()) > 1.01 * min(totals.values()):
        amounts = ", ".join(f"{name} {total:g}" for name, total in totals.items())
        raise ValueError(f'equal_cost = "{limit}", and the arms may spend {amounts} for one answer')


FORM: Final = FileForm(
    tables={"study": StudyRow, "item": ItemRow, "arm": ArmRow, "judging": JudgingRow},
    words=tuple(DELIBERATION_FORM.words),
    help="see `moot study new --help`, or docs/studies.md, for what a study file holds",
)


@dataclass(frozen=True)
class Study:
    """A study on the disk: its file, and for every item the table of its deliberation and its documents by path."""

    folder: Path
    file: StudyFile
    sha256: str
    tables: dict[str, Table]
    documents: dict[str, dict[str, bytes]]

    def arm(self, name: str) -> ArmRow:
        """Return the arm of that name."""
        return next(row for row in self.file.arm if row.id == name)

    def seats(self, arm: str, *, is_judging: bool) -> str:
        """Return the seats that answer in an arm, or those that judge its answers."""
        judging = self.file.judging
        return judging.seats if judging is not None and is_judging else self.arm(arm).seats

    def repetitions(self, item: str) -> int:
        """Return how often an item is asked in each arm."""
        row = next(row for row in self.file.item if row.id == item)
        return row.repetitions or self.file.study.repetitions


def read_study(name: str) -> Study:
    """Return the study in a directory, or in its file.

    Raises `MootError` and `DeliberationError`, with line and fix.
    """
    path = Path(name)
    folder = path if path.is_dir() else path.parent
    place = path / FILE if path.is_dir() else path
    if not place.is_file():
        raise usage(f"no study at {name!r}", "write one with `moot study new`", name)
    content = read_plain(place, FILE_BYTES_MAX)
    table, text = read_toml(content, str(place))
    # Checked before the schema: a deliberation file given by mistake gets a helpful error instead of a list of keys.
    if "study" not in table:
        raise DeliberationError(
            "there is no [study] table", str(place), 'begin with [study] and question = "…"'
        )
    refuse_unkept(table, str(place))
    file = validated(StudyFile, FORM, table, text, str(place))
    tables: dict[str, Table] = {}
    documents: dict[str, dict[str, bytes]] = {}
    for row in file.item:
        tables[row.id], documents[row.id] = _item(folder, row, str(place))
    return Study(folder, file, sha256(content).hexdigest(), tables, documents)


def _item(folder: Path, row: ItemRow, name: str) -> tuple[Table, dict[str, bytes]]:
    """Return an item's deliberation as a table, and the documents that it names."""
    if row.file is None:
        subject = {"question": row.question, "options": list(row.options), "goals": list(row.goals)}
        rows = [document.model_dump(exclude_none=True) for document in row.context]
        table: Table = {"deliberation": subject, **({"context": rows} if rows else {})}
        where = str(folder / FILE)
        # Checked while reading: an item that cannot be run is found before the first reply is paid for.
        return table, documents_of(checked(table, name=name), where)
    place = folder / row.file
    # A study may come from another person: no file outside of it is read, also not through a link.
    if not real(place).is_relative_to(real(folder)):
        raise usage(f"item {row.id}: {row.file} lies outside the study", "copy it below the study", name)
    if not place.is_file():
        raise usage(f"item {row.id}: no file {row.file}", "paths count from the study's directory", name)
    table, text = read_toml(read_plain(place, FILE_BYTES_MAX), str(place))
    return table, documents_of(checked(table, text, str(place)), str(place))


class KeyFile(msgspec.Struct):
    """Content of a file of right answers: item → option."""

    answers: dict[str, str] = {}


def read_keys(study: Study, file: str) -> dict[str, str]:
    """Return item → right option, from a file of `item = "O-n"` rows under `[answers]`.

    Raises `MootError` when its hash is not the one in the study: keys that were written later prove nothing.
    """
    content = read_plain(Path(file), KEYS_BYTES_MAX)
    digest = sha256(content).hexdigest()
    # The hash was fixed in the plan: answers that are fitted to the results afterwards have another one.
    if study.file.study.keys_sha256 not in (None, digest):
        what = f"these are not the keys of the study: their SHA-256 is {digest}"
        raise MootError("not_the_keys", what, file, "give the file whose hash study.toml has as keys_sha256")
    try:
        answers = converted(toml_table(readable(content)), KeyFile).answers
    except ValueError as error:
        raise usage(f"no keys: {error}", 'write [answers] and rows such as eviction = "O-2"', file) from None
    if unknown := sorted(set(answers) - set(study.tables)):
        raise usage(f"a key for {unknown[0]!r}, which is no item", "name items of the study", file)
    for item, option in answers.items():
        count = len(study.tables[item]["deliberation"].get("options", ()))
        # A mistyped key would silently make every arm wrong on its item.
        if count and option not in {label_id("option", n) for n in range(1, count + 1)}:
            raise usage(
                f"{item} has no option {option!r}",
                f"name one of {label_id('option', 1)} to {label_id('option', count)}",
                file,
            )
    return answers


DRAWS: Final = 4
SIZES: Final = (12, 30, 100)
"""Numbers of items for which a draft lists the smallest difference that they can show."""
ARMS: Final = f'''
[[arm]]
id = "single"
what = "one reply"
protocol = "single-pass"

[[arm]]
id = "best-of-{DRAWS}"
what = "{DRAWS} independent replies, and one more that chooses among them"
protocol = "single-pass"
best_of = {DRAWS}

[[arm]]
id = "council"
what = "three independent replies side by side; nothing is tested"
protocol = "council"

[[arm]]
id = "crux"
what = "sealed forecasts, then tests of what could change the answer"
protocol = "crux"
# experiments = "on"   # run programs that seats write, inside a sandbox (docs/experiments.md)
'''
EXAMPLE: Final = """[[item]]
id = "example"
question = "Which of two boxes holds more: one of 3 x 4 x 5, or one of 2 x 5 x 6?"
options = ["the first", "the second", "both the same"]
"""


def drafted(folder: Path, question: str | None, items: tuple[str, ...]) -> StudyDraft:
    """Write study.toml; `items` are deliberation files below the folder. Raises `MootError` if it exists already."""
    place = folder / FILE
    if place.exists():
        raise usage("there is a study already", "name another directory", str(place))
    rows = [_row(folder, Path(item)) for item in items]
    subject = question or "Does crux answer more of these questions right than one reply?"
    head = "\n".join(
        (
            "[study]",
            f"question = {toml_value(subject)}",
            'planned = "Right answers of every arm against single, paired by item: 95 % interval, McNemar with Holm."',
            'baseline = "single"',
            "repetitions = 1",
            "seed = 1",
            'equal_cost = "stated"        # or "tokens", "usd", "calls": then every arm needs [arm.budget]',
            '# keys_sha256 = "…"          # of the file with the right answers, so that nobody can fit them later',
        )
    )
    folder.mkdir(parents=True, exist_ok=True)
    place.write_text(f"{head}\n\n{''.join(rows) or EXAMPLE}{ARMS}", encoding="utf-8")
    try:
        study = read_study(str(folder))
    # A draft that cannot be read, or was interrupted, must not block the next attempt.
    except BaseException:
        place.unlink()
        raise
    number = len(study.tables)
    # The draft's own number stands among round ones, so that a reader sees what more items would bring.
    sizes = sorted({number, *SIZES})
    return StudyDraft(
        study=str(folder), items=number, shows={str(n): statistics.smallest_difference(n) for n in sizes}
    )


def _row(folder: Path, item: Path) -> str:
    """Return a row for a deliberation file, with its path relative to the study."""
    try:
        inside = real(item).relative_to(real(folder))
    except ValueError:
        raise usage(f"{item} lies outside the study", f"copy it below {folder}", str(item)) from None
    # Files called deliberation.toml are told apart by their directories.
    name = inside.parent.name if inside.stem == "deliberation" and inside.parent.name else inside.stem
    return f'[[item]]\nid = "{name.lower()}"\nfile = {toml_value(inside.as_posix())}\n\n'
