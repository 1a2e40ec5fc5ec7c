"""Decides the question by searching the whole game."""

from game import START, moves, wins

OPTIONS = {"O-1": (12, 13, 6), "O-2": (12, 12, 12), "O-3": (11, 13, 12), "O-4": (12, 11, 12)}

assert set(OPTIONS.values()) <= set(moves(START))
for after in moves(START):
    print(f"{after}: who moves next {'wins' if wins(after) else 'loses'}")
(answer,) = [option for option, after in OPTIONS.items() if not wins(after)]
print("answer:", answer)
