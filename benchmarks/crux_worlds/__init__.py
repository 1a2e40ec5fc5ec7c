"""Simulated worlds in which the right answer is known, and the rules of `crux` played in them.

Nothing here measures models. A seat is noise around facts. The worlds exist to compare rules on the same draws.
"""
