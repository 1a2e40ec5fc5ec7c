"""Decides the question by running the given program."""

from sorts import comparisons, insert_by_bisection, merge_bottom_up, merge_natural, quick_three_way

OPTIONS = {
    "O-1": merge_natural,
    "O-2": merge_bottom_up,
    "O-3": quick_three_way,
    "O-4": insert_by_bisection,
}

found = {option: comparisons(way) for option, way in OPTIONS.items()}
for option, value in found.items():
    print(f"{option} {OPTIONS[option].__name__}: {value} comparisons")
print("answer:", min(found, key=found.get))
