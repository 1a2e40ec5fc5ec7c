"""Damaged files of every format, and messages: no exit 70, no traceback, no hang, bounded memory."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("mcp")

from rounds.experiments.bench import self_test
from tests.security import mutated_files, mutated_messages
from tests.security.mutated_files import CONTENTS, FORMATS, LEDGER, Cases

ROUNDS = 1
FIRST = 10


@pytest.mark.slow
def test_a_damaged_file_of_any_format_is_read_or_refused_in_words(tmp_path: Path) -> None:
    seeds = range(FIRST * len(FORMATS), (FIRST + ROUNDS) * len(FORMATS))
    counts, faults = mutated_files.tried(tmp_path, seeds, processes_every=10_000)
    assert not faults, "\n".join(faults)
    assert counts["files"] == ROUNDS * len(FORMATS)
    assert min(counts[f"exit {code}"] for code in (0, 1, 2, 3)) > 0


@pytest.mark.slow  # every call is a process
def test_a_damaged_file_is_read_by_a_process_in_bounded_time_and_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mutated_files, "CALLS_PER_FILE", 1)
    # Every second format: the test above reads all of them by the same code, and campaigns in processes, too.
    counts, faults = mutated_files.tried(tmp_path, range(0, len(FORMATS), 2), processes_every=1)
    assert not faults, "\n".join(faults)
    assert counts["processes"] >= len(FORMATS) // 2 - 4


def test_a_damaged_message_is_survived_and_the_next_one_answered(tmp_path: Path) -> None:
    counts, faults = mutated_messages.tried(tmp_path, range(60))
    assert not faults, "\n".join(faults)
    assert counts["files"] == 60


@pytest.mark.slow  # every call of every format
def test_the_same_files_undamaged_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise damage would be refused for another reason than the damage."""
    monkeypatch.setattr(mutated_files, "CALLS_PER_FILE", 100)
    cases = Cases(tmp_path)
    for kind in FORMATS:
        # What is chained anew is another ledger each time: it has no undamaged form.
        if kind.files not in ("", LEDGER, CONTENTS) and (kind.folder != "checks" or self_test().passed):
            whole = kind._replace(damage=lambda _, content: content)
            counts, faults = cases.tried(0, whole)
            assert not faults
            assert counts["calls"] == len(kind.calls)
            assert counts["exit 2"] + counts["exit 3"] == 0, kind.name
