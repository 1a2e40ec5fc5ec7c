"""The campaigns: name, slices, what each tries, and the count that it must reach."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Final, NamedTuple, cast

from tests.campaign.slices import Counts


class Campaign(NamedTuple):
    """One row. `path` is `module:function`, called with a slice's index and the number of slices.

    `goals` says which counts must reach what over all slices; `tries` and `promise` are words for the page.
    """

    name: str
    path: str
    slices: int
    goals: dict[str, int]
    tries: str
    promise: str

    def run(self, index: int) -> Counts:
        """One slice. Raises `Broken`."""
        module, _, name = self.path.partition(":")
        function = getattr(import_module(f"tests.campaign.{module}"), name)
        return cast("Callable[[int, int], Counts]", function)(index, self.slices)


CAMPAIGNS: Final[tuple[Campaign, ...]] = (
    Campaign(
        "kills",
        "kills:commits",
        38,
        {"kills": 9_500},
        "SIGKILL at random instants of processes that commit and recover, one slice in ten on a disk"
        " instead of in memory",
        "what was acknowledged is read, the ledger is intact for readers, who change nothing, and the next"
        " writer goes on",
    ),
    Campaign(
        "creations",
        "kills:creations",
        4,
        {"kills": 1_000},
        "SIGKILL at random instants of processes that make a run, in a new directory or in one that is there",
        "the run is there whole, or it is no run and its place can be used",
    ),
    Campaign(
        "runs",
        "runs:killed",
        20,
        {"kills": 500},
        "SIGKILL at random instants of `moot run --resume` on a tape, started again until the run has ended",
        "no answered step is asked again, a living driver keeps a second one out and a dead one does not,"
        " and the run ends"
        " with the same events as without kills, none of its rules broken",
    ),
    Campaign(
        "faults",
        "faults:every_call",
        4,
        {"faults": 3_000},
        "every call to the operating system of two commits, of recovery, of creation, of reading and of a"
        " driver's lease, and of a redaction:"
        "  I/O errors, ENOSPC once and for ever, EDQUOT, EROFS, EMFILE, EACCES, ENOLCK, short writes, and"
        " SIGKILL before it,"
        " after it and in the middle of a write",
        "the act is refused in words or done; nothing acknowledged is lost, nothing stays open or locked,"
        " the run goes on",
    ),
    Campaign(
        "processes",
        "traced:processes",
        12,
        {"faults": 200},
        "`moot note` and `moot submit` as processes under strace, where every system call on the run's"
        " files fails once"
        " with every error of a table",
        "the process says one line and exits with 2 or 3, or does what it was asked; the run is intact",
    ),
    Campaign(
        "power",
        "power:failures",
        20,
        {"states": 100_000},
        "power failures at every call of recorded traces of commits, recoveries and creations, some with a"
        " failed sync: every"
        "  combination of unsynced writes there, not there, torn at every sector and at a dozen other"
        " bytes, or zero-filled,"
        "  and of unsynced names there or not; bytes overwritten inside one sector old or new;"
        " above 4 000 combinations at one instant all of there or not,"
        " and 4 000 drawn",
        "nothing acknowledged is lost, the ledger is intact for readers, and the next writer goes on",
    ),
    Campaign(
        "writers",
        "writers:commits",
        60,
        {"rounds": 6_000},
        "rounds of 2–8 processes that commit to one run at the same instant",
        "the chain is whole, and what each was told is there exactly once",
    ),
    Campaign(
        "steps",
        "writers:steps",
        25,
        {"rounds": 2_500},
        "rounds in which 2–8 processes hand in replies to the open steps of a deliberation, the same or"
        " different ones",
        "exactly one reply wins each step, the others are told so, and no step is answered twice",
    ),
    Campaign(
        "flips",
        "tampering:flips",
        150,
        {"bits flipped, each detected": 430_000},
        "three random bits of every byte of the streams and the head of a ledger of 300 events",
        "the reader that every verb goes through calls it damage, and so does `verify`, asked for one bit"
        " of each"
        " byte, with exit code 3 and a problem named",
    ),
    Campaign(
        "lines",
        "tampering:lines",
        16,
        {"lines changed, each detected": 3_000, "streams cut short, each detected": 20_000},
        "every line deleted, duplicated, swapped, spliced, moved into another stream, replaced by,"
        " inserted from and"
        " continued with another run; streams cut at every line and every seventh byte",
        "`verify` exits 3 and names a problem",
    ),
    Campaign(
        "blobs",
        "tampering:blobs",
        16,
        {
            "bits of blobs flipped, each detected": 1_000,
            "lines of blobs changed, doubled, cut or moved, each detected": 500,
        },
        "three random bits per KiB of every line of `blobs.jsonl` of a played run; every line removed, doubled,"
        " cut, moved, exchanged, emptied, marked as redacted; the file and its acknowledged length cut before"
        " every line",
        "`verify` exits 3 and names a problem",
    ),
    Campaign(
        "rewrites",
        "tampering:rewrites",
        4,
        {"rollbacks, each seen with a checkpoint": 70, "rewritings, each seen with a checkpoint": 300},
        "a ledger of 300 events rolled back to every commit, and written anew with a fitting chain and"
        " head from every"
        " event on",
        "every checkpoint behind the change exits 1, every one before it holds",
    ),
    Campaign(
        "fuzzed-lines",
        "lines:fuzzed",
        25,
        {"lines": 1_000_000},
        "lawful lines of every kind, three in twenty as they are, the others with bytes or values damaged",
        "moot and a second reader, which was written from the documentation with the standard library alone"
        "  (`tests/oracles/second_reader.py`), say the same of every line: valid, invalid or newer; no"
        " traceback, no line"
        " takes a second, and 40 000 of them add less than 128 MiB of memory",
    ),
    Campaign(
        "inputs",
        "inputs:fuzzed",
        26,
        {"inputs": 26_000},
        "damaged replies to open steps, damaged directories to import, damaged deliberation files",
        "each is taken, or refused in words within a second, with nothing written; what is taken verifies;"
        " a slice adds less"
        " than 256 MiB of memory",
    ),
    Campaign(
        "files",
        "files:mutated",
        15,
        {"files": 3_000},
        "one damaged file of every format that moot reads, at the verbs that read it, one in ten in processes of"
        " their own: ledgers, blobs, series of programs, deliberation files, replies, standard input, imports,"
        " studies, parameters, tables, prices, keys, seals, repositories of git; and damaged messages to the MCP"
        " server",
        "every call ends with one of the exit codes 0 to 5 and no traceback, takes at most 5 seconds of a"
        " processor and 300 MiB of memory; the server answers the next message",
    ),
)


def campaign(name: str) -> Campaign:
    """The campaign of that name. Raises `KeyError`."""
    return {one.name: one for one in CAMPAIGNS}[name]
