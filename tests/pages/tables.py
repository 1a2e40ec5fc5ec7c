"""The generated parts of the documentation: tables made from the models, put between markers in the pages.

<!-- made: kind claim -->          python -m tests.pages --write | --check
| field | type | law |
<!-- end -->
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from ledger.audit.problems import PROBLEMS_MAX
from ledger.audit.seal import NOTE_BYTES_MAX
from ledger.events import KINDS, Claim, Envelope, RoundOpened, Validation, envelope
from ledger.events.artifacts import BODIES
from ledger.events.envelope import Attempt, Call, Context
from ledger.events.ids import id_pattern
from ledger.events.kinds import Law, Paired, Total
from ledger.events.run import PlanRow
from ledger.events.verifications import CHECK_NEEDS, FINDINGS_MAX
from ledger.format.schema import meanings
from ledger.interchange.skill_import import DOCUMENTS_MAX
from ledger.interchange.skill_rows import BAD_LINES_MAX, FILE_BYTES_MAX as IMPORT_BYTES_MAX, ROW_BYTES_MAX
from ledger.plain_toml import DOTTED_NAMES_MAX
from ledger.redaction.removal import REMOVED_MAX
from ledger.redaction.words import WORDS_MIN
from ledger.state.fold import fold
from ledger.state.lifecycle import STATUS_OF_BEARING, TRANSITIONS
from ledger.store.blobs import BLOB_LINE_BYTES_MAX
from ledger.store.lock import WAIT_SECONDS
from moot.app.inputs import BYTES_MAX
from moot.app.settings import DOCUMENT_BYTES_MAX
from moot.cli.integrity import SECRET_BYTES_MAX
from roles.protocol import Column
from roles.schema import REPLY_BYTES_MAX
from rounds.protocols.plans import NORMAL, PLANS
from rounds.protocols.structured import STRUCTURED
from rounds.protocols.structured.visibility import VISIBILITY
from rounds.run.retries import REPLIES_MAX, RetryPolicy
from rounds.setup.gate import kinds
from rounds.setup.toml_file import FILE_BYTES_MAX
from tests.architecture.rooms import drawing
from tests.pages.protocols import loss_table
from tests.rounds.openings import opening

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = ("docs/architecture.md", "docs/format.md", "docs/screening.md", "docs/protocols/structured.md")
_BLOCK: Final = re.compile(r"(<!-- made: ([a-z0-9_ -]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)

STRINGS: Final = ("Name", "Short", "Prose", "Long", "Hash", "Decimal", "Role", "Id", "Ref")
MEANINGS: Final[Mapping[str, str]] = {
    "Name": "a short label",
    "Short": "a line",
    "Prose": "text",
    "Long": "a long text",
    "Hash": "SHA-256 in lower-case hex",
    "Decimal": "a number with a fraction, as a string",
    "Role": "a role of the protocol; also `controller`, `human`, `import`",
    "Id": "an id of section 3",
    "Ref": "a reference of section 3",
}
SHORT_COLUMNS: Final[Mapping[Column, str]] = {
    Column.QUESTION: "Question",
    Column.PLAN: "Plan",
    Column.DECISIONS: "Decisions",
    Column.OLD_CLAIMS: "Old claims",
    Column.PROPOSAL: "B",
    Column.SUPPLEMENTS: "C",
    Column.ARTIFACTS: "Artifacts",
    Column.CLAIMS: "Claims",
    Column.PLACES: "Places",
    Column.POSITIONS: "Positions",
    Column.VERDICTS: "Verdicts",
    Column.FLIPS: "Flips",
    Column.UNANSWERED: "Unanswered",
    Column.AMENDMENTS: "Amendments",
}


# ---------------------------------------------------------------- types in words


def spoken(annotation: Any) -> str:
    """A field's type as the page says it: `Prose?`, `[Evidence]`, `int 1–5`, `one of BROKEN ROBUST`."""
    for name in STRINGS:
        if annotation == getattr(envelope, name):
            return name
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _bounded(arguments[0], arguments[1])
    if origin is Literal:
        said = " ".join(f"`{value}`" for value in arguments)
        return said if len(arguments) == 1 else f"one of {said}"
    if origin in (Union, types.UnionType):
        parts = [spoken(part) for part in arguments if part is not type(None)]
        return " or ".join(parts) + ("?" if type(None) in arguments else "")
    if origin is tuple:
        return f"[{spoken(arguments[0])}]"
    if origin is dict:
        return "object" if arguments[1] is Any else f"object of {spoken(arguments[1])}"
    return {str: "text", int: "int", bool: "bool", msgspec.UnsetType: "absent"}.get(
        annotation
    ) or annotation.__name__


def _bounded(base: Any, meta: msgspec.Meta) -> str:
    if base is int:
        return _range(meta.ge, meta.le)
    if base is str:
        pattern = meta.pattern or (meta.extra_json_schema or {}).get("pattern")
        return f"text matching `{plain(pattern)}`" if pattern else f"text {_counted(meta)}"
    return f"{spoken(base)} {_counted(meta)}"


def _counted(meta: msgspec.Meta) -> str:
    low, high = meta.min_length or 0, meta.max_length
    return f"({low})" if low == high else f"({low}–{high})"


def _range(low: Any, high: Any) -> str:
    if high == envelope.SAFE_INTEGER:
        return "int" if low == -envelope.SAFE_INTEGER else f"int ≥{low}"
    return f"int {low}–{high}"


def plain(pattern: str) -> str:
    """A regular expression without the guard against a final line feed that Python's `$` needs."""
    return pattern.replace(r"$(?!\n)", "$").replace("|", "\\|")


def fields(model: type[Any]) -> Iterator[tuple[str, str, Any]]:
    """(attribute, name in JSON, annotation) of a model, in line order."""
    hints = get_type_hints(model, include_extras=True)
    for field in msgspec.structs.fields(model):
        yield field.name, field.encode_name, hints[field.name]


# ---------------------------------------------------------------- tables


def _rows(header: str, rows: Iterable[tuple[str, ...]]) -> str:
    columns = header.count("|") + 1
    lines = [f"| {header} |", "|" + "---|" * columns]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]) + "\n"


def kind_table(kind: str) -> str:
    """Own fields of a kind, after the envelope."""
    model = KINDS[kind].model
    own = [entry for entry in fields(model) if entry[0] not in Envelope.__struct_fields__]
    rows = [
        (f"`{name}`", spoken(annotation), _laws_of(kind, attribute), meanings(model).get(attribute, ""))
        for attribute, name, annotation in own
    ]
    table = _rows("field | type | law | meaning", rows)
    others = [_law(law) for law in KINDS[kind].laws if not isinstance(law, Paired) and "[]." in law.path]
    return table + (f"\nInside: {'; '.join(others)}.\n" if others else "")


def _laws_of(kind: str, attribute: str) -> str:
    laws = KINDS[kind].laws
    return "; ".join(
        _law(law) for law in laws if (law.field if isinstance(law, Paired) else law.path) == attribute
    )


def _law(law: Law) -> str:
    if isinstance(law, Total):
        return "points sum to 100" if "[]." not in law.path else f"`{law.path}` sum to 100"
    if isinstance(law, Paired):
        condition = f"`{law.other}` is `{law.equals}`" if law.equals else f"`{law.other}` is set"
        return f"set if and only if {condition}"
    least = f"≥{law.at_least}" if law.at_least else ""
    most = f"≤{law.at_most}" if law.at_most is not None else ""
    said = " and ".join(part for part in (least, most) if part)
    name = f"`{law.path}` " if "[]." in law.path else ""
    unless = f" unless `{law.unless[0]}` is `{law.unless[1]}`" if law.unless else ""
    when = f" when `{law.when[0]}` is `{law.when[1]}`" if law.when else ""
    return f"{name}{said}{unless}{when}"


def types_table() -> str:
    """The named string types, with their bounds."""
    rows = [(f"`{name}`", _bounds(getattr(envelope, name)), MEANINGS[name]) for name in STRINGS]
    return _rows("type | bounds | meaning", rows)


def _bounds(annotation: Any) -> str:
    _, meta = get_args(annotation)
    if meta.pattern:
        return f"`{plain(meta.pattern)}`"
    return f"{meta.min_length or 0}–{meta.max_length} characters"


def model_table(*models: type[Any]) -> str:
    """Fields of parts, one row a part."""
    rows = [
        (
            f"`{model.__name__}`",
            "; ".join(f"`{name}` {spoken(annotation)}" for _, name, annotation in fields(model)),
        )
        for model in models
    ]
    return _rows("part | fields, in this order", rows)


def parts_of(model: type[Any]) -> Iterator[type[Any]]:
    """Every struct inside a model's fields, depth first."""
    for _, _, annotation in fields(model):
        yield from _parts(annotation)


def _parts(annotation: Any) -> Iterator[type[Any]]:
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        yield annotation
        yield from parts_of(annotation)
    for argument in get_args(annotation):
        yield from _parts(argument)


def parts_table() -> str:
    """Every part that occurs in some kind, by name."""
    found = {part for row in KINDS.values() for part in parts_of(row.model)} - {Call, Attempt, Context}
    return model_table(*sorted(found, key=lambda part: part.__name__))


def bodies_table() -> str:
    """Bodies of the artifacts and their parts, in the order of the protocol's roles."""
    found = [part for body in BODIES.values() for part in (body, *parts_of(body))]
    named = "\n".join(f"- `{name}`: `{body.__name__}`" for name, body in BODIES.items())
    table = (
        model_table(*dict.fromkeys(found)).replace(" Ref", " text (1–500)").replace("[Ref]", "[text (1–500)]")
    )
    return f"{named}\n\n{table}"


def envelope_table() -> str:
    """The envelope."""
    return _rows(
        "field | type", [(f"`{name}`", spoken(annotation)) for _, name, annotation in fields(Envelope)]
    )


ID_ORDER = (
    *(
        "statement",
        "artifact",
        "claim",
        "concern",
        "assumption",
        "argument",
        "challenge",
        "response",
        "decision",
    ),
    *("position", "flip", "verification", "drift_check", "belief", "experiment_planned", "memo", "vote"),
)
"""Kinds as the page lists their ids; others follow."""


def ids_table() -> str:
    """Kind → pattern of its id."""
    kinds = sorted(KINDS, key=lambda kind: ID_ORDER.index(kind) if kind in ID_ORDER else len(ID_ORDER))
    rows = [(f"`{kind}`", f"`{plain(pattern)}`") for kind in kinds if (pattern := id_pattern(kind))]
    return _rows("kind | id", rows)


def lifecycle_table() -> str:
    """The status machine."""
    rows = [
        (f"`{status}`", " ".join(f"`{to}`" for to in after) or "nothing")
        for status, after in TRANSITIONS.items()
    ]
    bearings = [(f"`{bearing}`", f"`{status}`") for bearing, status in STATUS_OF_BEARING.items()]
    return _rows("from | to", rows) + "\n" + _rows("bearing | status it leads to", bearings)


def visibility_table() -> str:
    """What the brief of each kind of step quotes."""
    header = " | ".join(["step", *SHORT_COLUMNS.values()])
    rows = [
        (f"`{step}`", *(_sight(view.get(column)) for column in SHORT_COLUMNS))
        for step, view in VISIBILITY.items()
    ]
    return _rows(header, rows)


def _sight(sight: Any) -> str:
    if sight is None:
        return "–"
    if sight.extent == "listed":
        return ", ".join(sight.names)
    return "●" if sight.extent == "all" else sight.extent.replace("_", " ")


def checks_table() -> str:
    """Check → the roles without whose artifact it cannot be made."""
    rows = [(f"`check{check}`", ", ".join(roles) or "nobody's") for check, roles in CHECK_NEEDS.items()]
    return _rows("check | needs the artifact of", rows)


def plans_table() -> str:
    """The named plans, round by round."""
    rows = [
        (f"`{name}`", f"R{row.round}", _span(row.phases), row.absent or "", "yes" if row.drift else "")
        for name, plan in PLANS.items()
        for row in plan
        if row.absent or row.drift or "S" in row.phases
    ]
    return _rows("plan | round | phases | absent | drift check", rows)


def _span(phases: tuple[str, ...]) -> str:
    return " ".join(["A–G", *phases[len(NORMAL) :]]) if phases[: len(NORMAL)] == NORMAL else " ".join(phases)


def losses_table() -> str:
    return "\n".join(loss_table(STRUCTURED)) + "\n"


def steps_table() -> str:
    """Every group of a round that has everything: an earlier decision, a drift check and the synthesis."""
    row = PlanRow(round=2, drift=True, phases=(*NORMAL, "H", "S"))
    opened, _ = opening((row,))
    envelope: dict[str, Any] = {"round": 2, "phase": "A", "by": "controller"}
    state = fold(
        [
            opened,
            RoundOpened(**envelope, lead="guardian", focus="all", applicable=(1, 2, 3, 4), plan_row=0),
            Claim(**envelope, id="C-2-1", raised_by="critic", text="a claim", testable_as="a test"),
            Validation(**envelope, after="H", through=0, ok=True, rules=""),
        ]
    )
    rows = [
        (
            f"`{group.name}`",
            " ".join(f"`{step.id}`" for step in group.steps),
            " ".join(
                dict.fromkeys(f"`{STRUCTURED.reply_type(state, step).__name__}`" for step in group.steps)
            ),
        )
        for group in STRUCTURED.groups(state, 2)
    ]
    return _rows("group | steps, side by side | reply", rows)


def roles_table() -> str:
    """The roles and what each of them asks."""
    return _rows("role | asks", [(f"`{role.id}`", role.question) for role in STRUCTURED.roles])


def limits_table() -> str:
    """What moot refuses beyond a size, a number or a time."""
    rows = {
        "a line of a stream": f"{_size(envelope.LINE_BYTES_MAX)}, nested {envelope.DEPTH_MAX} deep",
        "a line of `blobs.jsonl`": _size(BLOB_LINE_BYTES_MAX),
        "an integer": f"2^{envelope.SAFE_INTEGER.bit_length()}−1 in absolute value",
        "a round": str(envelope.ROUND_MAX),
        "a reply": _size(REPLY_BYTES_MAX),
        "a deliberation file": f"{_size(FILE_BYTES_MAX)}; {DOTTED_NAMES_MAX} names joined by dots in one key",
        "a context document that is read from a file": f"{_size(DOCUMENT_BYTES_MAX)}; a plain file",
        "all context documents of a command line": f"{_size(BYTES_MAX)}, or as many as `--rule context-bytes=N` says",
        "a line of an import": f"{_size(ROW_BYTES_MAX)}, nested {envelope.DEPTH_MAX} deep; "
        f"{BAD_LINES_MAX} bad lines are named",
        "a file of an import": _size(IMPORT_BYTES_MAX),
        "documents of an import": str(DOCUMENTS_MAX),
        "findings in a `validation`": str(FINDINGS_MAX),
        "replies to one step that do not fit its shape, from a seat that the engine calls": str(REPLIES_MAX),
        "attempts at one step that are lost (overload, time-out, broken connection)": str(
            RetryPolicy().attempts_max
        ),
        "waiting for the lock": f"{WAIT_SECONDS:.0f} seconds, in the order of asking",
        "a secret that is removed": f"{WORDS_MIN} characters to {_size(SECRET_BYTES_MAX)}; "
        f"in {REMOVED_MAX} lines and blobs together",
        "problems that `verify` lists": f"{PROBLEMS_MAX} of a kind",
        "a checkpoint": _size(NOTE_BYTES_MAX),
    }
    return _rows("what | at most", rows.items())


def _size(count: int) -> str:
    """Bytes as people read them: `4 MiB`, or `400 000 bytes`."""
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if count % unit == 0:
            return f"{count // unit} {name}"
    return f"{count:,} bytes".replace(",", " ")


def questions_table() -> str:
    """The kinds of questions that the gate knows, with their protocols."""
    rows = [(f"`{kind.name}`: {kind.means}", f"`{kind.protocol}`") for kind in kinds().values()]
    return _rows("kind | protocol", rows)


TABLES: Final[Mapping[str, Callable[[], str]]] = {
    "rooms": drawing,
    "limits": limits_table,
    "questions": questions_table,
    "types": types_table,
    "envelope": envelope_table,
    "call": lambda: model_table(Call, Context, Attempt),
    "parts": parts_table,
    "bodies": bodies_table,
    "ids": ids_table,
    "lifecycle": lifecycle_table,
    "visibility": visibility_table,
    "checks": checks_table,
    "plans": plans_table,
    "roles": roles_table,
    "steps": steps_table,
    "losses": losses_table,
}


def made(name: str) -> str:
    """The content of a block, by its name; `kind claim` is a kind's table."""
    word, _, kind = name.partition(" ")
    return kind_table(kind) if word == "kind" else TABLES[name]()


def renewed(page: str) -> str:
    """A page with every generated block as it should be now."""
    return _BLOCK.sub(lambda block: f"{block[1]}{made(block[2])}{block[4]}", page)


def blocks(page: str) -> list[str]:
    """Names of the generated blocks of a page."""
    return [block[2] for block in _BLOCK.finditer(page)]


def main(arguments: list[str]) -> int:
    """Write the pages, or say which are stale."""
    stale = 0
    for name in PAGES:
        path = ROOT / name
        page = path.read_text("utf-8")
        new = renewed(page)
        if new != page:
            stale += 1
            if "--write" in arguments:
                path.write_text(new, "utf-8")
            else:
                print(f"{name} is stale: python -m tests.pages --write")
    return 0 if "--write" in arguments else min(stale, 1)
