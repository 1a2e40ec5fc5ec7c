"""Detectors: when to stop, and what has gone wrong."""
