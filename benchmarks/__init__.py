"""Benchmarks that compare measurements with targets, mostly as ratios within one run."""
