"""Decides the question by running the given program."""

from estimate import mean, middle, midhinge, squared_error, trimmed

OPTIONS = {
    "O-1": midhinge,
    "O-2": mean,
    "O-3": middle,
    "O-4": trimmed,
}

found = {option: squared_error(way) for option, way in OPTIONS.items()}
for option, value in found.items():
    print(f"{option} {OPTIONS[option].__name__}: {value:.4f} squared error")
print("answer:", min(found, key=found.get))
