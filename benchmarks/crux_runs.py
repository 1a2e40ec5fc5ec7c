"""What the recorded runs of crux took: replies, waves, words, bytes of briefs, and where they stopped.

python -m benchmarks.crux_runs [RUN …]      a row a run; without names every recorded run of crux and the long ones of
the same questions. A brief's bytes are those of its whole text; `documents once` counts the documents of the opening
once for the run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import orjson

from ledger.events import Decision, RunOpened, Signals
from ledger.state.book import Book
from ledger.store.store import RunStore
from roles.brief import BriefCache, derive
from roles.prompt_set import read_prompt_set
from roles.protocol import Protocol
from rounds.protocols import protocol_of

EXAMPLES: Final = Path(__file__).resolve().parents[1] / "runs" / "examples"
COMPARED: Final = ("storage-minimum-8", "library-minimum-8")


class Took(NamedTuple):
    """One run's figures."""

    replies: int
    waves: int
    words: int
    sent: int
    sent_documents_once: int
    reason: str
    about: tuple[str, ...]


def took(path: Path) -> Took:
    """The figures of a recorded run."""
    book = RunStore(path).book()
    opened = book.state.opening
    protocol = protocol_of(opened)
    replies = [event for event in book.events if event.call is not None]
    sizes = list(_briefs(book, opened, protocol))
    documents = sum(one.bytes for one in opened.context)
    finals = [one for one in book.of(Decision) if one.type == "final"]
    looks = list(book.of(Signals))
    return Took(
        replies=len(replies),
        waves=len(waves(book)),
        words=sum(len(book.blobs.read(event.call.reply).split()) for event in replies if event.call),
        sent=sum(sizes),
        sent_documents_once=sum(sizes) - documents * (len(sizes) - 1),
        reason=(looks[-1].reason or "") if looks else "",
        about=finals[0].about if finals else (),
    )


def _steps(book: Book, protocol: Protocol) -> dict[str, tuple[int, int]]:
    """Step → its round and the place of its group: what is asked side by side is one wave."""
    state = book.state
    return {
        step.id: (round_, place)
        for round_ in sorted(state.rounds)
        for place, group in enumerate(protocol.groups(state, round_))
        for step in group.steps
    }


def waves(book: Book) -> list[list[str]]:
    """The steps that were answered, wave by wave."""
    found: dict[tuple[int, int], list[str]] = {}
    answered = {event.step for event in book.events if event.call is not None}
    for step, place in _steps(book, protocol_of(book.state.opening)).items():
        if step in answered:
            found.setdefault(place, []).append(step)
    return list(found.values())


def _briefs(book: Book, opened: RunOpened, protocol: Protocol) -> Iterator[int]:
    """Bytes of each brief that was answered, derived again from the ledger."""
    prompt_set, cache = read_prompt_set(book.blobs.read(opened.prompt_set)), BriefCache()
    answered = {event.step for event in book.events if event.call is not None}
    for round_ in sorted(book.state.rounds):
        for group in protocol.groups(book.state, round_):
            for step in group.steps:
                if step.id in answered:
                    brief = derive(book, protocol, step, prompt_set, cache)
                    text = "".join(block.text for block in brief.blocks)
                    yield len(text.encode()) + len(orjson.dumps(brief.schema))


def main(names: list[str]) -> int:
    """Print the table."""
    chosen = names or [*sorted(path.name for path in EXAMPLES.glob("crux-*")), *COMPARED]
    print(
        f"{'run':22} {'replies':>7} {'waves':>5} {'words':>7} {'bytes sent':>11} {'documents once':>14}  stop, on"
    )
    for name in chosen:
        row = took(EXAMPLES / name)
        print(
            f"{name:22} {row.replies:7} {row.waves:5} {row.words:7,} {row.sent:11,} {row.sent_documents_once:14,}"
            f"  {row.reason} {' '.join(row.about)}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
