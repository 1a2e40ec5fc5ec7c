"""Long text on a terminal: folded at words to its width, and through a pager when it is longer than the screen."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from typing import Final

from ledger.plain_text import visible
from moot.terminal import streams

PAGER: Final = "less"
LESS: Final = "FRX"
"""Options of `less` by default: leave when the text fits, keep colors, do not clear the screen."""


def page(text: str, *, ask: bool = True) -> None:
    """Show text; on a terminal, through the pager when it is longer than the screen and `ask` holds.

    PAGER names the pager; empty, or `cat`, turns paging off. A pager that cannot be started is left out.
    """
    # PAGER may have options, such as `less -S`.
    pager = shlex.split(os.environ.get("PAGER", PAGER)) if ask and streams.on_terminal() else []
    seen = streams.fitted(visible(text)) if pager else ""
    rows = shutil.get_terminal_size().lines
    if not pager or pager == ["cat"] or seen.count("\n") < rows or shutil.which(pager[0]) is None:
        streams.show(text)
        return
    # A person's own LESS wins, as it does in git.
    environment = {"LESS": LESS, **os.environ}
    try:
        subprocess.run(pager, input=seen.encode("utf-8", "replace"), env=environment, check=False)
    # The pager may vanish between the look and the start; the text must be shown all the same.
    except OSError:
        streams.out(seen)
