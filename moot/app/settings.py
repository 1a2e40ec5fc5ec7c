"""Settings of a run, as a person gives them over a deliberation file, and the documents that it names.

The fields of `rounds/setup/deliberation.py` are the declaration. What a person gives elsewhere is a table in the form
of the file: `{"deliberation": {"plan": "minimum-8"}, "budget": {"usd": "2"}}`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from ledger.state.state import WAIT
from ledger.store.blobs import BlobStore
from ledger.store.disk import read_plain, real
from moot.errors import usage
from rounds.protocols import DEFAULT_PROTOCOL
from rounds.setup.deliberation import FORM, Deliberation, checked
from rounds.setup.toml_file import FILE_BYTES_MAX, Table, read_toml

if TYPE_CHECKING:
    from detectors.parameters import GateParameters

COMMAND_LINE: Final = "command line"
DOCUMENT_BYTES_MAX: Final = 1 << 22
PARAMETER_BYTES_MAX: Final = 1 << 20


class Setting(NamedTuple):
    """A setting that can be given outside of a file: its table and key, and its field's JSON Schema."""

    table: str
    key: str
    schema: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Return its name in Python: that of its option (`max_usd`), or its key under `--rule`."""
        long = str(self.schema["option"]).rpartition(" ")[2]
        return long.removeprefix("--").replace("-", "_") or self.key

    @property
    def values(self) -> Mapping[str, Any]:
        """Return the schema of its values, without the None that leaves it to the file."""
        values: Mapping[str, Any] = self.schema.get("anyOf", [self.schema])[0]
        return values

    @property
    def type(self) -> str:
        """Return its JSON type: string, integer, boolean or array."""
        return str(self.values["type"])

    @property
    def annotation(self) -> Any:
        """Return its type in a signature, where None or False leaves it to the file."""
        return {"string": str | None, "integer": int | None, "boolean": bool}.get(self.type, list[str] | None)

    @property
    def least(self) -> int | None:
        """Return the least value of a number."""
        least: int | None = self.values.get("minimum")
        return least


@cache
def settings() -> Mapping[str, Setting]:
    """Return every setting that can be given outside of a file, by name."""
    rows = (row for table in FORM.tables for row in settings_in(table) if "option" in row.schema)
    return {row.name: row for row in rows}


def settings_in(table: str) -> list[Setting]:
    """Return every key of a table, in the order of the file."""
    schema = FORM.tables[table].model_json_schema()
    return [Setting(table, key, row) for key, row in schema["properties"].items()]


def keyed(act: Callable[..., Any]) -> Callable[..., Any]:
    """Give a tool of agent hosts, which takes `**settings`, a parameter for every key of `[deliberation]`."""
    declared = signature(act, eval_str=True)
    own = [row for row in declared.parameters.values() if row.kind is not Parameter.VAR_KEYWORD]
    keys = [
        Parameter(
            row.key,
            Parameter.KEYWORD_ONLY,
            default=False if row.type == "boolean" else None,
            annotation=row.annotation,
        )
        for row in settings_in("deliberation")
        if row.key not in declared.parameters
    ]
    act.__signature__ = declared.replace(parameters=[*own, *keys])  # type: ignore[attr-defined]
    return act


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What a person wants of a run, over what its file says."""

    table: Table = field(default_factory=dict[str, Any])
    """Settings in the form of a deliberation file. Paths of documents are absolute."""
    casting: str | None = None
    params: Path | None = None
    """File with thresholds."""
    changes: Sequence[str] = ()
    """Names of the documents that are diffs moot computed from a repository."""
    seated: Sequence[str] = ()
    """Roles that `--seat` names: the gate chooses only among protocols that have them."""

    def of(self, table: str) -> Mapping[str, Any]:
        """Return the settings of one table."""
        settings: Mapping[str, Any] = self.table.get(table, {})
        return settings

    @property
    def files(self) -> set[str]:
        """Return the paths of the documents that the person named."""
        return {row["path"] for row in self.table.get("context", ()) if "path" in row}

    def thresholds(self) -> bytes | None:
        """Return the content of the file with thresholds. Raises `MootError` when it is not one, and `OSError`."""
        return None if self.params is None else read_params(self.params)[1]

    @property
    def ends_waiting(self) -> bool:
        """Return whether the run finishes with open questions instead of waiting for a person."""
        return self.of("rules").get(WAIT) == "off"

    @property
    def is_settled_at_opening(self) -> bool:
        """Return whether anything is set that only the opening of a run can use."""
        later = {"budget", "experiments", *(["rules"] if self.of("rules") == {WAIT: "off"} else [])}
        return bool(set(self.table) - later or self.casting or self.params)

    def over(self, table: Table) -> Table:
        """Return `table` with these settings over it. Raises `MootError` for settings that exclude each other."""
        # Copies: the caller's table may be used for another opening, as a study does.
        laid: Table = {"deliberation": {}, **table}
        for name, value in self.table.items():
            below = laid.get(name, type(value)())
            # A value of the file that is no table is left: it is refused by its key when all is checked.
            if isinstance(below, type(value)):
                laid[name] = [*below, *value] if name == "context" else {**below, **value}
        subject_table: Any = laid["deliberation"]
        if not isinstance(subject_table, dict):
            return laid
        subject = cast("Table", subject_table)
        if self.params is not None:  # thresholds belong to stop checks, which only its rounds have
            laid["deliberation"] = subject = {"protocol": DEFAULT_PROTOCOL, **subject}
        if "plan" in self.of("deliberation"):
            # A named plan replaces the rounds that a file spells out: with both, the opening would be refused.
            laid.pop("round", None)
        if self.of("gate"):
            _refuse_settled(laid)
        # The gate may only choose a protocol that has the roles the person gave seats to.
        elif self.seated and "protocol" not in subject and isinstance(laid.get("cast", {}), dict):
            laid["cast"] = {**{role: {} for role in self.seated}, **laid.get("cast", {})}
        return laid


def _refuse_settled(laid: Table) -> None:
    """Raise `MootError` where the gate is to choose a protocol (AD-2) that something else has settled."""
    settled = [key for key in ("protocol", "plan", "no_stress") if laid["deliberation"].get(key)]
    settled += [f"[{key}]" for key in ("round", "predict", "cast") if laid.get(key)]
    if settled:
        what = f"--single asks the gate for a protocol, and {settled[0]} has settled it"
        raise usage(what, f"leave out --single or {settled[0]}", "moot run")


def deliberation_of(file: str | None, options: RunOptions) -> Deliberation:
    """Return the deliberation of a file with the flags over it.

    Raises `DeliberationError`, `OSError` or `MootError`.
    """
    if file is None:
        if "question" not in options.of("deliberation"):
            raise usage("nothing to deliberate", "give a deliberation FILE, or -q QUESTION")
        return checked(options.over({}), name=COMMAND_LINE)
    table, text = read_toml(read_plain(Path(file), FILE_BYTES_MAX), file)
    return checked(options.over(table), text, file)


def documents_of(deliberation: Deliberation, file: str | None, named: Iterable[str] = ()) -> dict[str, bytes]:
    """Return the bytes of every document named by path, relative to the deliberation file's directory.

    A file reaches no further than its own directory: a document outside is read only when the person who runs it
    `named` it with --context. Raises `MootError` and `OSError`.
    """
    base = Path(file).parent if file is not None else Path()
    trusted = set(named)
    documents: dict[str, bytes] = {}
    for document in deliberation.context:
        if document.path is not None:
            place = base / document.path
            # Links are followed first, because one could lead out of the directory.
            is_inside = real(place).is_relative_to(real(base))
            if file is not None and document.path not in trusted and not is_inside:
                raise usage(
                    "a document outside the file's directory", "add --context if you mean it", str(place)
                )
            # The resolved file of a run names its documents as blobs, which lie beside it in one file.
            blob = BlobStore(base).read(document.path.removeprefix("blobs/")) if file is not None else None
            documents[document.path] = read_plain(place, DOCUMENT_BYTES_MAX) if blob is None else blob
    return documents


def read_params(path: Path) -> tuple[GateParameters, bytes]:
    """Return a parameter file and its bytes. Raises `MootError` when it is not one, and `OSError`."""
    from detectors.parameters import read_parameters

    content = read_plain(path, PARAMETER_BYTES_MAX)
    try:
        return read_parameters(content), content
    except ValueError as error:
        fix = "edit a copy of detectors/parameters.toml"
        raise usage(f"thresholds that cannot be used: {error}", fix, str(path)) from None
