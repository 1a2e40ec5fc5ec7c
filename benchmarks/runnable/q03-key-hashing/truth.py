"""Decides the question by running the given program."""

from hashing import fold, multiply, probes, remainder, shift_and_add

OPTIONS = {
    "O-1": remainder,
    "O-2": fold,
    "O-3": multiply,
    "O-4": shift_and_add,
}

found = {option: probes(way) for option, way in OPTIONS.items()}
for option, value in found.items():
    print(f"{option} {OPTIONS[option].__name__}: {value} comparisons")
print("answer:", max(found, key=found.get))
