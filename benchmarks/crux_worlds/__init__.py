"""Simulated worlds with a known right answer, to compare the rules of `crux` on the same draws.

This measures no models: a seat is noise around facts.
"""
