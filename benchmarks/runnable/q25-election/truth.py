"""Decides the question by running the given program with each pair of bounds."""

from statistics import fmean

from election import simulate

OPTIONS = {"O-1": (60, 120), "O-2": (100, 200), "O-3": (150, 300), "O-4": (250, 500)}

found = {
    option: fmean(simulate(*bounds, seed=seed)[0] for seed in range(4, 7))
    for option, bounds in OPTIONS.items()
}
for option, value in found.items():
    print(f"{option} {OPTIONS[option]}: {value:.2%} of the time without a leader")
print("answer:", min(found, key=found.get))
