"""Decides the question by running the given program."""

from summation import amounts, as_they_come, by_sign, error, large_first, small_first

OPTIONS = {
    "O-1": large_first,
    "O-2": as_they_come,
    "O-3": by_sign,
    "O-4": small_first,
}

values = amounts()
found = {option: error(way(values), values) for option, way in OPTIONS.items()}
for option, value in found.items():
    print(f"{option} {OPTIONS[option].__name__}: {value:.3g} off")
print("answer:", max(found, key=found.get))
