"""Ledgers whose lines are all lawful, in an order or with values that no moot would write: seeded and rechained."""

from __future__ import annotations

import random
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import orjson

from ledger.events import KINDS, STREAMS, Event
from ledger.events.envelope import GENESIS
from ledger.format.canonical import Head, NotCanonical, decode, line_hash
from ledger.store.blobs import BlobStore, all_named_blobs, read_blob_line
from ledger.store.store import RunStore
from ledger.store.streams import BLOBS, head_bytes, stream_path
from rounds.protocols import PROTOCOLS
from tests.protocols import playing
from tests.rounds.openings import begin, play, rows

ROOT: Final = Path(__file__).parents[2]
SHORT: Final = tuple(name for name in PROTOCOLS if name != "structured")
TRIES: Final = 40

Line = dict[str, Any]
Lines = list[Line]


@dataclass(frozen=True)
class Source:
    """A run to damage: its lines without their links, and its path."""

    name: str
    lines: tuple[Line, ...]
    path: Path

    def copied(self) -> Lines:
        """The lines to be changed; each remembers its number."""
        return [{**deepcopy(line), "_was": line["seq"]} for line in self.lines]


def read(path: Path) -> Source:
    """The run at a path."""
    lines = tuple(orjson.loads(line) for _, _, line in RunStore(path).lines())
    return Source(path.name, lines, path)


def sources(folder: Path) -> tuple[Source, ...]:
    """Scripted runs: one of every short protocol, a structured one that counts twice, and two that are open."""
    structured = folder / "structured"
    play(begin(structured, rows(2, absent={2: "critic"}, drift=[2])))
    begin(folder / "opened", rows(2))
    playing.begin(folder / "waiting", "tribunal")
    for name in SHORT:
        shutil.copytree(playing.played(name), folder / name)
    names = (*SHORT, "structured", "structured", "opened", "waiting")
    return tuple(read(folder / name) for name in names)


@cache
def _pool(donors: tuple[Source, ...]) -> Mapping[str, tuple[Any, ...]]:
    """Key → what the runs say under it, anywhere."""
    found: dict[str, dict[bytes, Any]] = defaultdict(dict)

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                found[key].setdefault(orjson.dumps(inner), inner)
                walk(inner)
        elif isinstance(value, list):
            for inner in value:
                walk(inner)

    for donor in donors:
        walk(list(donor.lines))
    return {key: tuple(values.values()) for key, values in found.items()}


class Donors(tuple[Source, ...]):
    """Sources by identity, so that their pool is made once."""

    __slots__ = ()
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other


WORDS: Final = (
    "",
    "nobody",
    "Z",
    "verifier",
    "critic",
    "@0",
    "C-9-9",
    "O-9",
    "G-9",
    "K-9",
    "D-1-1",
    "human",
    "banana",
)
NUMBERS: Final = (0, 1, 2, 5, 7, 99, -1, 2**53 - 1)

Change = Callable[[random.Random, Lines, "Donors"], None]


def _drop(rng: random.Random, lines: Lines, _: Donors) -> None:
    begin = rng.randrange(len(lines))
    del lines[begin : begin + rng.choice((1, 1, 1, 2, 5))]


def _drop_the_first(rng: random.Random, lines: Lines, _: Donors) -> None:
    del lines[: rng.choice((1, 1, 2, 3))]


def _drop_a_kind(rng: random.Random, lines: Lines, _: Donors) -> None:
    kind = rng.choice(sorted({line["kind"] for line in lines}))
    lines[:] = [line for line in lines if line["kind"] != kind]


def _drop_a_round(rng: random.Random, lines: Lines, _: Donors) -> None:
    number = rng.choice(sorted({line["round"] for line in lines}))
    lines[:] = [line for line in lines if line["round"] != number]


def _double(rng: random.Random, lines: Lines, _: Donors) -> None:
    place = rng.randrange(len(lines))
    lines.insert(rng.randrange(len(lines) + 1), deepcopy(lines[place]))


def _move(rng: random.Random, lines: Lines, _: Donors) -> None:
    line = lines.pop(rng.randrange(len(lines)))
    lines.insert(rng.randrange(len(lines) + 1), line)


def _swap(rng: random.Random, lines: Lines, _: Donors) -> None:
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]


def _cut(rng: random.Random, lines: Lines, _: Donors) -> None:
    del lines[rng.randrange(1, len(lines) + 1) :]


def _foreign(rng: random.Random, lines: Lines, donors: Donors) -> None:
    """An event of another run, as it stands or in the name of this place's round."""
    donor = rng.choice(donors)
    line = deepcopy(rng.choice(donor.lines))
    place = rng.randrange(len(lines) + 1)
    if rng.random() < 0.5 and place:
        line["round"] = lines[place - 1]["round"]
    lines.insert(place, line)


def _foreign_opening(rng: random.Random, lines: Lines, donors: Donors) -> None:
    lines[0] = deepcopy(rng.choice(donors).lines[0])


def _foreign_end(rng: random.Random, lines: Lines, donors: Donors) -> None:
    donor = rng.choice(donors)
    lines[rng.randrange(1, len(lines) + 1) :] = deepcopy(list(donor.lines[rng.randrange(len(donor.lines)) :]))


def _protocol(rng: random.Random, lines: Lines, _: Donors) -> None:
    for line in lines:
        if line["kind"] == "run_opened":
            line["protocol"] = rng.choice((*PROTOCOLS, "banana", ""))


def _rules(rng: random.Random, lines: Lines, _: Donors) -> None:
    for line in lines:
        if line["kind"] == "run_opened":
            rules = line["rules"]
            names = [*rules, *(name for one in PROTOCOLS.values() for name in one.variants), "banana"]
            for name in rng.sample(names, min(len(names), rng.randint(1, 3))):
                rules[name] = rng.choice((*WORDS, *NUMBERS, None, True, False, "1", "99", "-1"))
            if rng.random() < 0.3 and rules:
                del rules[rng.choice(list(rules))]


def _cast(rng: random.Random, lines: Lines, donors: Donors) -> None:
    for line in lines:
        if line["kind"] == "run_opened":
            match rng.randrange(5):
                case 0 if line["cast"]:
                    del line["cast"][rng.randrange(len(line["cast"]))]
                case 1 if line["cast"]:
                    line["cast"].append(deepcopy(rng.choice(line["cast"])))
                case 2:
                    line["cast"] = []
                case 3:
                    rng.shuffle(line["cast"])
                case _:
                    line["cast"] = deepcopy(rng.choice(donors).lines[0].get("cast", []))


def _plan(rng: random.Random, lines: Lines, donors: Donors) -> None:
    for line in lines:
        if line["kind"] == "run_opened":
            plan = line["plan"]
            match rng.randrange(5):
                case 0 if plan:
                    del plan[rng.randrange(len(plan))]
                case 1:
                    line["plan"] = []
                case 2 if plan:
                    rng.choice(plan)["phases"] = rng.choice(([], ["Z"], ["S"], ["A", "A"], ["close", "open"]))
                case 3 if plan:
                    rng.choice(plan)["round"] = rng.choice(NUMBERS)
                case _:
                    line["plan"] = deepcopy(rng.choice(donors).lines[0].get("plan", []))


def _renumber(rng: random.Random, lines: Lines, _: Donors) -> None:
    old, new = rng.choice(lines)["round"], rng.choice((*NUMBERS, 3))
    for line in lines:
        if line["round"] == old and rng.random() < 0.9:
            line["round"] = new


def _role(rng: random.Random, lines: Lines, _: Donors) -> None:
    names = sorted({line["by"] for line in lines})
    old, new = rng.choice(names), rng.choice((*names, "nobody", "human", "import", "controller"))
    for line in lines:
        if line["by"] == old:
            line["by"] = new


def _value(rng: random.Random, lines: Lines, donors: Donors) -> None:
    """Another value somewhere: one that the runs know under that key, or a word, a number, nothing."""
    container: Any = rng.choice(lines)
    for _ in range(rng.randint(0, 3)):
        inner = [one for one in (container.values() if isinstance(container, dict) else container)
                 if isinstance(one, dict | list) and one]  # fmt: skip
        if not inner:
            break
        container = rng.choice(inner)
    key: Any = rng.choice(list(container)) if isinstance(container, dict) else rng.randrange(len(container))
    known = _pool(donors).get(key, ()) if isinstance(key, str) else ()
    choices: list[Any] = [
        *rng.sample(known, min(4, len(known))),
        rng.choice(WORDS),
        rng.choice(NUMBERS),
        None,
        [],
    ]
    if isinstance(container, list) and rng.random() < 0.4:
        del container[key]
    else:
        container[key] = deepcopy(rng.choice(choices))


def _opening_twice(rng: random.Random, lines: Lines, _: Donors) -> None:
    again = deepcopy(lines[0])
    if again["kind"] == "run_opened":
        again["origin"] = {"type": rng.choice(("new", "fork", "import", "redaction")), "of": "other", "head": "0" * 64,
                           "seq": rng.choice((0, 1, 99)), "tool": "moot"}  # fmt: skip
    lines[rng.choice((0, rng.randrange(len(lines)))) : 0] = [again]


def _origin(rng: random.Random, lines: Lines, _: Donors) -> None:
    for line in lines:
        if line["kind"] == "run_opened":
            line["origin"]["type"] = rng.choice(("new", "fork", "import", "redaction"))


def _closing(rng: random.Random, lines: Lines, donors: Donors) -> None:
    closings = [line for donor in donors for line in donor.lines if line["kind"] == "run_closed"]
    lines.insert(rng.randrange(len(lines) + 1), deepcopy(rng.choice(closings)))


CHANGES: Final[tuple[tuple[Change, int], ...]] = (
    (_drop, 3), (_drop_the_first, 1), (_drop_a_kind, 3), (_drop_a_round, 2), (_double, 3), (_move, 3), (_swap, 3),
    (_cut, 2), (_foreign, 4), (_foreign_opening, 1), (_foreign_end, 2), (_protocol, 2), (_rules, 4), (_cast, 3),
    (_plan, 3), (_renumber, 3), (_role, 3), (_value, 12), (_opening_twice, 2), (_origin, 1), (_closing, 2),
)  # fmt: skip


def strange(seed: int, donors: Donors, path: Path) -> str:
    """Write the strange ledger of a seed at `path`; what was done to which run, in words."""
    rng = random.Random(seed)
    while True:
        source = rng.choice(donors)
        lines, done = _changed(rng, source, donors)
        if rng.random() < 0.7:
            _carried(lines)
        if done and written(lines, path, donors):
            return f"{source.name}: {', '.join(done)}"


def _changed(rng: random.Random, source: Source, donors: Donors) -> tuple[Lines, list[str]]:
    """A lawful change or three of a run's lines."""
    lines = source.copied()
    done: list[str] = []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        for _ in range(TRIES):
            (change,) = rng.choices([one for one, _ in CHANGES], [weight for _, weight in CHANGES])
            tried = deepcopy(lines)
            change(rng, tried, donors)
            if tried and tried != lines and all(_lawful(line) for line in tried):
                lines = tried
                done.append(change.__name__.strip("_"))
                break
    return lines, done


def _lawful(line: Line) -> bool:
    try:
        decode(orjson.dumps({**_linked(line, GENESIS, 0, 0)}))
    except (NotCanonical, TypeError):
        return False
    return True


def _linked(line: Line, prev: str, seq: int, rest: int) -> Line:
    body = {key: value for key, value in line.items() if key not in ("prev", "seq", "rest", "_was")}
    return {"prev": prev, "seq": seq, "rest": rest, **body}


_SEQS: Final = ("via", "through", "closes", "cause")


def _carried(lines: Lines) -> None:
    """What names an event by its number goes on naming it."""
    now = {line["_was"]: place for place, line in enumerate(lines) if isinstance(line.get("_was"), int)}
    for line in lines:
        for key in _SEQS:
            if isinstance(line.get(key), int):
                line[key] = now.get(line[key], line[key])
        line["saw"] = sorted({now.get(seq, seq) for seq in line["saw"]})


def written(lines: Lines, path: Path, donors: Donors) -> bool:
    """Chain the lines anew, and put them on the disk with the blobs that they name; False when a line is not lawful."""
    ends = [line.get("rest") == 0 or place + 1 == len(lines) for place, line in enumerate(lines)]
    streams: dict[str, list[bytes]] = {stream: [] for stream in STREAMS}
    events: list[Event] = []
    prev = GENESIS
    for place, line in enumerate(lines):
        written = orjson.dumps(_linked(line, prev, place, ends.index(True, place) - place))
        try:
            event = decode(written)
        except NotCanonical:
            return False
        events.append(event)
        streams[KINDS[event.kind].stream].append(written)
        prev = line_hash(written)
    path.mkdir(parents=True)
    for stream in STREAMS:
        stream_path(path, stream).write_bytes(b"".join(line + b"\n" for line in streams[stream]))
    blobs = b"".join(_blob_lines(events, donors))
    (path / BLOBS).write_bytes(blobs)
    (path / "head").write_bytes(head_bytes(Head(len(lines) - 1, prev), len(blobs)))
    return True


def _blob_lines(events: Iterable[Event], donors: Donors) -> Iterator[bytes]:
    """Yield the lines of the blobs that are named, in the order of their names."""
    lines = _lines(donors)

    def read(sha256: str) -> bytes | None:
        line = lines.get(sha256.encode())
        return None if line is None else read_blob_line(line)[1]

    names = dict.fromkeys(named.sha256 for event in events for named in all_named_blobs(event, read))
    return (lines[name.encode()] for name in names if name.encode() in lines)


@cache
def _lines(donors: Donors) -> Mapping[bytes, bytes]:
    """Return the line of every blob of the donors."""
    return {line[11:75]: line for donor in donors for _, line in BlobStore(donor.path).lines()}


def donors(folder: Path) -> Donors:
    """The runs that are damaged."""
    return Donors(sources(folder))
