"""Decides the question by running the given program."""

from tournament import generous, majority, pavlov, tit_for_tat, tournament

OPTIONS = {
    "O-1": majority,
    "O-2": generous,
    "O-3": tit_for_tat,
    "O-4": pavlov,
}

points = tournament()
assert max(points, key=points.get) in {way.__name__ for way in OPTIONS.values()}
found = {option: points[way.__name__] for option, way in OPTIONS.items()}
for option, value in found.items():
    print(f"{option} {OPTIONS[option].__name__}: {value} points")
print("answer:", max(found, key=found.get))
