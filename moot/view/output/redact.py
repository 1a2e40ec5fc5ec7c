"""`--json` of redact: what was removed, and where the redacted copy is if one was asked for."""

from __future__ import annotations

from moot.view.output.base import Output


class Redacted(Output, frozen=True):
    """`events`: ids (or `@seq`) written to the run or its copy. `blobs`: hashes that are gone. `changed`: events of the
    copy (as `@seq`) in which words were replaced. `copy`: the new run's directory, null when blobs alone were removed.
    `left`: places where words of a blob that was named by its hash still stand (`@seq`, `blobs/<hash>`, other files).
    `unsearched`: lines that were not looked for, because they are too short or moot's own words.
    """

    run: str
    copy: str | None
    events: list[str]
    blobs: list[str]
    changed: list[str]
    left: list[str]
    unsearched: int
