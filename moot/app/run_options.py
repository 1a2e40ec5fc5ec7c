"""Flags of `run` and `new`, merged over a deliberation file, and the documents that it names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from ledger.state.state import WAIT
from ledger.store.blob_file import BlobStore
from ledger.store.disk import read_plain
from moot.errors import usage
from rounds.protocols import DEFAULT_PROTOCOL

if TYPE_CHECKING:
    from detectors.parameters import GateParameters
    from rounds.setup.deliberation import Deliberation
    from rounds.setup.toml_file import Table

COMMAND_LINE: Final = "command line"
DOCUMENT_BYTES_MAX: Final = 1 << 22
PARAMETER_BYTES_MAX: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The flags of the command line; None or empty where a flag was left out."""

    question: str | None = None
    domain: str | None = None
    goals: Sequence[str] = ()
    options: Sequence[str] = ()
    protocol: str | None = None
    plan: str | None = None
    profile: str | None = None
    check_every: int | None = None
    seed: int | None = None
    no_stress: bool = False
    rules: dict[str, str] = field(default_factory=dict[str, str])
    single: bool = False
    contexts: Sequence[str] = ()
    texts: Sequence[dict[str, str]] = ()
    """Documents by their text: rows of `[[context]]`, after the files."""
    changes: Sequence[str] = ()
    """Names of the texts that are diffs moot computed from a repository."""
    params: Path | None = None
    budget: dict[str, Any] = field(default_factory=dict[str, Any])
    no_wait: bool = False
    seated: Sequence[str] = ()
    """Roles that `--seat` names: the gate chooses only among protocols that have them."""
    experiments: str | None = None
    """off or sandbox: the person's consent; in a file it is only a request."""

    @property
    def is_settled_at_opening(self) -> bool:
        """Return whether any flag is set that only the opening of a run can use."""
        return self != RunOptions(budget=self.budget, experiments=self.experiments, no_wait=self.no_wait)

    def over(self, table: Table) -> Table:
        """Return `table` with the flags merged over it."""
        # A copy: the caller's table may be used for another opening, as a study does.
        subject = dict(cast("dict[str, Any]", table.get("deliberation", {})))
        flags = {
            "question": self.question,
            "domain": self.domain,
            "goals": list(self.goals) or None,
            "options": list(self.options) or None,
            "protocol": self.protocol,
            "plan": self.plan,
            "profile": self.profile,
            "check_every": self.check_every,
            "seed": self.seed,
            "no_stress": True if self.no_stress else None,
        }
        subject |= {key: value for key, value in flags.items() if value is not None}
        if self.params is not None:  # thresholds belong to stop checks, which only its rounds have
            subject.setdefault("protocol", DEFAULT_PROTOCOL)
        laid: Table = {**table, "deliberation": subject}
        if self.plan is not None:
            # A named plan replaces the rounds that a file spells out: with both, the opening would be refused.
            laid.pop("round", None)
        if self.contexts:
            # Paths of the command line count from the working directory, those of a file from the file.
            added = [{"name": Path(path).name, "path": str(Path(path).absolute())} for path in self.contexts]
            laid["context"] = [*cast("list[Any]", table.get("context", [])), *added]
        if self.texts:
            laid["context"] = [*cast("list[Any]", laid.get("context", [])), *self.texts]
        # Both set the same rule; guessing which was meant could leave a run waiting for days.
        if self.no_wait and self.rules.get(WAIT) == "on":
            raise usage("--no-wait and wait=on contradict each other", "give one of them", "moot run")
        if rules := {**self.rules, **({WAIT: "off"} if self.no_wait else {})}:
            laid["rules"] = {**cast("dict[str, Any]", table.get("rules", {})), **rules}
        if self.single:
            laid["gate"] = {**cast("dict[str, Any]", table.get("gate", {})), **self._gate(laid)}
        # The gate may only choose a protocol that has the roles the person gave seats to.
        if self.seated and "protocol" not in subject and not self.single:
            rows = cast("dict[str, Any]", laid.get("cast", {}))
            laid["cast"] = {**{role: {} for role in self.seated}, **rows}
        if self.experiments is not None:
            laid["experiments"] = {"run": self.experiments}
        if self.budget:
            laid["budget"] = {**cast("dict[str, Any]", table.get("budget", {})), **self.budget}
        return laid

    def _gate(self, laid: Table) -> dict[str, bool]:
        """Return what --single asks of the gate (AD-2). Raises `MootError` when the protocol is settled already."""
        subject = cast("dict[str, Any]", laid["deliberation"])
        settled = [key for key in ("protocol", "plan", "no_stress") if subject.get(key)]
        settled += [f"[{key}]" for key in ("round", "predict", "cast") if laid.get(key)]
        if settled:
            raise usage(
                f"--single asks the gate for a protocol, and {settled[0]} has settled it",
                f"leave out --single or {settled[0]}",
                "moot run",
            )
        return {"compete": False, "single": True}


def deliberation_of(file: str | None, options: RunOptions) -> Deliberation:
    """Return the deliberation of a file with the flags over it.

    Raises `DeliberationError`, `OSError` or `MootError`.
    """
    from rounds.setup.deliberation import checked
    from rounds.setup.toml_file import FILE_BYTES_MAX, read_toml

    if file is None:
        if options.question is None:
            raise usage("nothing to deliberate", "give a deliberation FILE, or -q QUESTION")
        return checked(options.over({"deliberation": {}}), name=COMMAND_LINE)
    path = Path(file)
    table, text = read_toml(read_plain(path, FILE_BYTES_MAX), file)
    return checked(options.over(table), text, file)


def documents_of(deliberation: Deliberation, file: str | None, named: Iterable[str] = ()) -> dict[str, bytes]:
    """Return the bytes of every document named by path, relative to the deliberation file's directory.

    A file reaches no further than its own directory: a document outside is read only when the person who runs it
    `named` it with --context. Raises `MootError` and `OSError`.
    """
    base = Path(file).parent if file is not None else Path()
    # Compared as absolute paths, in the form that `over` wrote them.
    trusted = {str(Path(path).absolute()) for path in named}
    documents: dict[str, bytes] = {}
    for document in deliberation.context:
        if document.path is not None:
            place = base / document.path
            if file is not None and document.path not in trusted and not _is_below(base, place):
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


def _is_below(base: Path, place: Path) -> bool:
    """Return whether a path stays in a directory, links followed."""
    return place.resolve().is_relative_to(base.resolve())
