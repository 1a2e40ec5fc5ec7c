"""Open steps for people: each step's brief, then its schema, clearly apart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from moot.view.words import going_on

if TYPE_CHECKING:
    from moot.view.output.next import Next, OpenStep


RULE = "─" * 78


def steps_text(found: Next) -> str:
    """What `moot next` prints."""
    if found.done:
        return f"{found.run} is finished; see `moot decisions {found.run}`\n"
    stopped = f"the run was stopped ({found.stopped_by.replace('_', ' ')})" if found.stopped_by else ""
    if stopped and not found.steps:
        return f"{stopped}: nothing is asked any more; `{going_on(found.run, found.stopped_by)}` goes on\n"
    if not found.steps:
        others = f"; others are asked: {', '.join(found.waiting_for)}" if found.waiting_for else ""
        return f"no step is open here now{others}\n"
    parts = [f"{stopped}; a reply goes on with it\n"] if stopped else []
    parts += [_step(step, found.run) for step in found.steps]
    return "\n".join(parts)


def _step(step: OpenStep, run: str) -> str:
    schema = json.dumps(step.schema, ensure_ascii=False, indent=2)
    return (
        f"{RULE}\n{step.step}   role {step.role}, seat {step.seat}\n{RULE}\n"
        f"{step.brief.rstrip()}\n\n"
        f"── schema of the reply to {step.step} (one JSON object, nothing else) ──\n{schema}\n\n"
        f"── hand it in:  moot submit {run} {step.step} reply.json ──\n"
    )
