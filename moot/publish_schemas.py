"""The schemas of the verbs' `--json` outputs, in `schemas/output/`: `python -m moot.publish_schemas [--check]`.

JSON Schema, draft 2020-12, one file a verb and one for errors. They are frozen: a change shows in the diff.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Final, cast

import schemas
from moot.terminal import err, out

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
DIRECTORY: Final = schemas.DIRECTORY / "output"
OUTPUTS: Final[Mapping[str, tuple[str, str]]] = {
    "ack": ("moot.output.act", "Act"),
    "answer": ("moot.output.act", "Act"),
    "check": ("validators.reading.report", "CheckReport"),
    "claims": ("moot.output.claims", "Claims"),
    "decisions": ("moot.output.decisions", "Decisions"),
    "demo": ("moot.output.demo", "Demo"),
    "diff": ("rounds.compare", "RunDiff"),
    "doctor": ("moot.output.doctor", "Doctor"),
    "error": ("moot.output.error", "Error"),
    "export": ("ledger.interchange.report", "ExportReport"),
    "import": ("ledger.interchange.report", "ImportReport"),
    "log": ("moot.output.log", "Log"),
    "new": ("moot.output.new", "NewFile"),
    "next": ("moot.output.next", "Next"),
    "note": ("moot.output.act", "Act"),
    "override": ("moot.output.act", "Act"),
    "protocols": ("moot.output.protocols", "Protocols"),
    "replay": ("moot.output.replay", "Replay"),
    "report": ("moot.output.report", "ReportDocument"),
    "run": ("moot.output.run", "RunEnd"),
    "signals": ("detectors.report", "SignalReport"),
    "status": ("moot.output.status", "Status"),
    "submit": ("moot.output.submit", "Submission"),
    "verify": ("ledger.verify", "VerifyReport"),
}
"""Verb → module and name of the model that it prints."""


def model_of(verb: str) -> Any:
    """The model that a verb prints."""
    module, name = OUTPUTS[verb]
    return getattr(import_module(module), name)


def schema_of(verb: str) -> dict[str, Any]:
    """The published schema of a verb's output: what the verb prints always satisfies it, and nothing more is in it."""
    made = cast("dict[str, Any]", model_of(verb).model_json_schema(mode="serialization"))
    title = "moot: error" if verb == "error" else f"moot {verb} --json"
    return {"$schema": DIALECT, **_closed(made), "title": title}


def _closed(schema: Any) -> Any:
    """Every object of known keys has all of them and no others, whatever its model says about reading."""
    if isinstance(schema, list):
        return [_closed(one) for one in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    closed = {key: _closed(value) for key, value in cast("dict[str, Any]", schema).items()}
    if closed.get("type") == "object" and "properties" in closed:
        closed["additionalProperties"] = False
        closed["required"] = list(closed["properties"])
    return closed


def main(arguments: Sequence[str]) -> int:
    """Write the schemas; with --check compare them with what is there, and say what differs."""
    wanted = {DIRECTORY / f"{verb}.json": schemas.text_of(schema_of(verb)) for verb in OUTPUTS}
    if "--check" not in arguments:
        DIRECTORY.mkdir(exist_ok=True)
        for path, content in wanted.items():
            path.write_bytes(content)
        out(f"{len(wanted)} schemas in {DIRECTORY}\n")
        return 0
    found = {path: path.read_bytes() for path in DIRECTORY.glob("*.json")}
    stale = sorted(path.name for path in found.keys() | wanted.keys() if found.get(path) != wanted.get(path))
    if stale:
        err(
            f"schemas/output is not what the models say: {', '.join(stale)}; run `python -m moot.publish_schemas`\n"
        )
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
