"""`moot calibrate --json`: tolerated rates re-estimated, and what they rest on."""

from __future__ import annotations

from detectors.calibrated.estimation import Estimate
from moot.view.output.base import Output


class Calibration(Output, frozen=True):
    """`params` is the hash that verdicts with this file carry; `alarmed` runs are so by the installed thresholds."""

    out: str
    params: str
    runs: list[str]
    alarmed: list[str]
    warnings: list[str]
    rates: list[Estimate]
