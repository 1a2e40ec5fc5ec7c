"""The schemas of the verbs' `--json` outputs, in `schemas/output/`: `python -m moot.output_schemas [--check]`.

JSON Schema, draft 2020-12, one file per verb and one for errors. They are frozen: a change shows in the diff.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import cache, reduce
from importlib import import_module
from types import UnionType
from typing import Any, Final, Literal, cast, get_args, get_origin, get_type_hints

import msgspec
from pydantic import BaseModel, ConfigDict, Field, create_model

import schemas
from ledger.result import Result

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
DIRECTORY: Final = schemas.DIRECTORY / "output"
OUTPUTS: Final[Mapping[str, tuple[str, str]]] = {
    "ack": ("moot.view.results", "Act"),
    "answer": ("moot.view.results", "Act"),
    "signals-crux": ("detectors.forecasts.report", "ForecastReport"),
    "check": ("validators.rulebook", "CheckReport"),
    "claims": ("moot.view.claims", "Claims"),
    "decisions": ("moot.view.claims", "Decisions"),
    "demo": ("moot.view.results", "Demo"),
    "diff": ("rounds.analysis.compare", "RunDiff"),
    "doctor": ("moot.view.results", "Doctor"),
    "error": ("moot.view.results", "Error"),
    "dry-run": ("moot.view.estimate", "Estimate"),
    "experiment": ("moot.view.experiments", "Experiments"),
    "export": ("ledger.interchange.report", "ExportReport"),
    "gate": ("moot.view.protocols", "Gated"),
    "explain": ("moot.view.explain", "Explanation"),
    "fork": ("moot.view.results", "Fork"),
    "import": ("ledger.interchange.report", "ImportReport"),
    "list": ("moot.view.status", "RunList"),
    "log": ("moot.view.results", "Log"),
    "new": ("moot.view.protocols", "NewFile"),
    "next": ("moot.view.steps", "Next"),
    "note": ("moot.view.results", "Act"),
    "outcome": ("moot.view.results", "OutcomeSaid"),
    "override": ("moot.view.results", "Act"),
    "protocols": ("moot.view.protocols", "Protocols"),
    "redact": ("moot.view.results", "Redacted"),
    "replay": ("moot.view.results", "Replay"),
    "report": ("moot.view.results", "ReportDocument"),
    "review": ("moot.view.review", "ChangeReview"),
    "run": ("moot.view.results", "RunEnd"),
    "serve": ("moot.view.results", "Serving"),
    "signals": ("detectors.report", "SignalReport"),
    "status": ("moot.view.status", "Status"),
    "show": ("moot.view.show", "Shown"),
    "why": ("moot.view.show", "Why"),
    "study": ("moot.view.study", "StudyStatus"),
    "study-new": ("moot.view.study", "StudyDraft"),
    "study-report": ("moot.view.study", "StudyReport"),
    "study-queue": ("moot.view.study", "StudyQueue"),
    "fork-stress": ("moot.view.comparison", "Stress"),
    "submit": ("moot.view.results", "Submission"),
    "seal-key": ("moot.view.results", "KeyMade"),
    "rm": ("moot.view.results", "RemovedRun"),
    "seal": ("moot.view.results", "HeadSigned"),
    "study-value": ("rounds.analysis.value", "ValueReport"),
    "mcp-tokens": ("moot.view.results", "SeatTokens"),
    "mcp-skill": ("moot.view.results", "SkillFiles"),
    "verify": ("ledger.audit.verify", "VerifyReport"),
}
"""Verb → module and name of the result that it prints."""


def result_of(verb: str) -> type[Result]:
    """Return the result type that a verb prints."""
    module, name = OUTPUTS[verb]
    result: type[Result] = getattr(import_module(module), name)
    return result


@cache
def model_of(result: type[Result]) -> type[BaseModel]:
    """Return a pydantic model with the fields of a result, because pydantic writes the fuller schemas."""
    # Annotations are strings in these modules, so they are resolved first.
    hints = get_type_hints(result)
    fields: dict[str, Any] = {
        # The underscore keeps field names such as `copy` or `json` from shadowing methods of pydantic's model.
        f"{field.name}_": (_with_models(hints[field.name]), Field(alias=field.encode_name))
        for field in msgspec.structs.fields(result)
    }
    settings = ConfigDict(extra="forbid")
    return create_model(result.__name__, __config__=settings, __doc__=result.__doc__, **fields)


def _with_models(hint: Any) -> Any:
    """Return a type with every result in it replaced by its model."""
    origin: Any = get_origin(hint)
    if Result in getattr(hint, "__mro__", ()):
        return model_of(hint)
    if origin is None or origin is Literal:
        return hint
    inside: list[Any] = [_with_models(part) for part in get_args(hint)]
    # `X | None` has no class that could be subscripted, so it is put together again with the operator.
    if origin is UnionType:
        return reduce(lambda part, rest: part | rest, inside)
    return origin[tuple(inside)]


def schema_of(verb: str) -> dict[str, Any]:
    """Return the published schema of a verb's output, which allows exactly what the verb prints."""
    schema = model_of(result_of(verb)).model_json_schema(mode="serialization")
    title = "moot: error" if verb == "error" else f"moot {verb} --json"
    return {"$schema": DIALECT, **_closed(schema), "title": title}


def _closed(schema: Any) -> Any:
    """Return a schema in which every object of known keys has all of them and no others."""
    if isinstance(schema, list):
        return [_closed(entry) for entry in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    closed = {key: _closed(value) for key, value in cast("dict[str, Any]", schema).items()}
    if closed.get("type") == "object" and "properties" in closed:
        closed["additionalProperties"] = False
        # Results print every field, also null ones, so a reader may rely on each of them.
        closed["required"] = list(closed["properties"])
    return closed


def main(arguments: Sequence[str]) -> int:
    """Write the schemas; with --check compare them with the files, and report differences."""
    wanted = {f"output/{verb}.json": schemas.text_of(schema_of(verb)) for verb in OUTPUTS}
    return schemas.main(arguments, "moot.output_schemas", wanted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
