"""Parameters of tests, most of them slow: `make test` runs a few of the cases, `make test-all` every one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


def mostly_slow(cases: Sequence[Any], quick: int) -> list[Any]:
    """Return the cases as parameters of a test. The first `quick` of them run in `make test`.

    A tuple stands for several arguments, as in `pytest.mark.parametrize`.
    """
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)), marks=() if n < quick else pytest.mark.slow
        )
        for n, case in enumerate(cases)
    ]
