"""Decides the question by running the given program."""

from cuckoo import fill, load

stored, moves = fill()
print(f"{stored} keys stored with {moves} moves; load {load():.3f}")
print("answer:", "O-1" if load() < 0.6 else "O-2" if load() < 0.75 else "O-3" if load() <= 0.88 else "O-4")
