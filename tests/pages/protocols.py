"""Generator of the part of `docs/protocols/<name>.md` that follows from the table.

`python -m tests.pages --write | --check`

Steps in order, what their briefs show, replies, variants. Text outside the two marks is written by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ledger.events import RunOpened
from ledger.state.state import State
from roles.protocol import Column, Pick, Protocol, Step
from rounds.protocols import MEANINGS, PROTOCOLS
from rounds.setup.deliberation import checked
from rounds.setup.opening import resolve
from rounds.setup.size import played

FOLDER: Final = Path(__file__).parents[2] / "docs" / "protocols"
BEGIN: Final = "<!-- from the table -->"
END: Final = "<!-- by hand from here -->"
_WHOSE: Final = {
    "all": "all of {phase}",
    "own": "the own {phase}",
    "others": "the others' {phase}",
    "target": "{phase} of the one it is about",
    "aimed": "what {phase} put to it",
}


def written_pages() -> tuple[str, ...]:
    """Return the protocols whose pages are made from their rows; `structured` has a page of another kind."""
    return tuple(name for name, protocol in PROTOCOLS.items() if not protocol.watched)


def generated(name: str) -> str:
    """Return the generated part of a page."""
    protocol = PROTOCOLS[name]
    opened = widest_opening(protocol)
    lines = [f"# {name}", "", f"{protocol.summary[:1].upper()}{protocol.summary[1:]}.", ""]
    lines += [f"For {protocol.fits}. Replies: {protocol.calls}.", "", "## Roles", ""]
    lines += [f"- `{role.id}`: {role.question}" for role in protocol.roles]
    lines += ["", "## Steps", "", "```", *_diagram(protocol, opened), "```", "", "## What a brief shows", ""]
    lines += [
        "| step | the question | what was handed in before |",
        "| --- | --- | --- |",
        *_sights(protocol, opened),
    ]
    lines += ["", "## When a reply is lost", "", *loss_table(protocol)]
    if protocol.variants:
        lines += ["", "## Variants", ""]
        lines += [
            f"- `--rule {rule}=…`: {', '.join(f'`{value}`' for value in values)} (the first if nothing is said):"
            f" {MEANINGS[rule]}"
            for rule, values in protocol.variants.items()
        ]
    return "\n".join([BEGIN, *lines, "", END])


def loss_table(protocol: Protocol) -> Iterator[str]:
    """Yield the table of losses: what the run does without a reply, by kind of step."""
    yield "| step | the fallback's `instead` | without it | decides |"
    yield "| --- | --- | --- | --- |"
    for kind, loss in protocol.losses.items():
        yield f"| {kind} | `{loss.instead}` | {loss.means} | {'●' if loss.decides else '–'} |"
    yield ""
    yield (
        "A run that ends with a reply lost is degraded, and one without any reply that decides is unanswered:"
        " both say so first, with exit code 5 ([format](../format.md), section 13)."
    )


def widest_opening(protocol: Protocol) -> RunOpened:
    """Return an opening that has every round and phase of a protocol."""
    # Some rows apply only with options or in a second round, and a page must show them all.
    least, _ = protocol.options_wanted
    options = [f"option {n}" for n in range(1, max(2, least) + 1)] if least else []
    widest = {"rounds": "1" if protocol.widest else "2"} if "rounds" in protocol.variants else {}
    table = {
        "deliberation": {"question": "A question", "protocol": protocol.name, "options": options},
        "rules": widest,
    }
    return resolve(checked(table), {}, moot="0").event


def _diagram(protocol: Protocol, opened: RunOpened) -> Iterator[str]:
    for state, groups in played(protocol, opened):
        yield f"round {state.round}"
        for n, group in enumerate(groups):
            # A step's id without its round, which stands above.
            names = (step.id.partition(".")[2] for step in group.steps)
            yield f"{' ▼ ' if n else '   '}{' ∥ '.join(names)}"
    yield "then what follows by rule, the validation, and the end"


def _sights(protocol: Protocol, opened: RunOpened) -> Iterator[str]:
    seen: set[str] = set()
    for state, groups in played(protocol, opened):
        for group in groups:
            for step in group.steps:
                if step.task not in seen:
                    # A step that several rounds repeat has one line, with what it sees
                    # at its first occurrence.
                    seen.add(step.task)
                    yield _sight(protocol, state, step)


def _sight(protocol: Protocol, state: State, step: Step) -> str:
    view = protocol.view(state, step)
    record = view.get(Column.RECORD)
    picks = "; ".join(_pick(pick) for pick in record.picks) if record else ""
    picks = "told step by step: see below" if Column.TOLD in view else picks
    return f"| {step.task} | {'●' if Column.QUESTION in view else '–'} | {picks or '–'} |"


def _pick(pick: Pick) -> str:
    back = f", {pick.back} round{'s' if pick.back > 1 else ''} back" if pick.back else ""
    kinds = f" ({', '.join(pick.kinds)})" if pick.kinds else ""
    sections = f", section {', '.join(pick.sections)}" if pick.sections else ""
    return _WHOSE[pick.whose].format(phase=f"`{pick.phase}`") + kinds + sections + back


def page(name: str) -> str:
    """Return the whole page: the generated part, and the hand-written rest as it is."""
    place = FOLDER / f"{name}.md"
    # The rest is read back from the page itself, so writing it again never loses a hand-written line.
    rest = place.read_text("utf-8").partition(END)[2] if place.is_file() else "\n"
    return generated(name) + rest


def main(arguments: Sequence[str]) -> int:
    """Write the pages, or compare them with the files."""
    stale = [name for name in written_pages() if not _is_current(name)]
    if "--write" in arguments:
        for name in stale:
            (FOLDER / f"{name}.md").write_text(page(name), "utf-8")
        return 0
    if stale:
        sys.stderr.write(f"stale: {', '.join(stale)}; run `python -m tests.pages --write`\n")
    return 1 if stale else 0


def _is_current(name: str) -> bool:
    place = FOLDER / f"{name}.md"
    return place.is_file() and place.read_text("utf-8") == page(name)
