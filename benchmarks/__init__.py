"""Measurements against the targets, as ratios in one run."""
