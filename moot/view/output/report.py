"""`moot report --json`: the document, or where it was written."""

from __future__ import annotations

from typing import Literal

from moot.view.output.base import Output


class ReportDocument(Output, frozen=True):
    """`text` is null when the document went to a file."""

    run: str
    format: Literal["markdown", "html"]
    head: str
    out: str | None
    text: str | None
