"""Decides the question by running the given program."""

from shop import first_come, most_work_left, next_queue_is_empty, play, shortest_step

OPTIONS = {
    "O-1": most_work_left,
    "O-2": shortest_step,
    "O-3": next_queue_is_empty,
    "O-4": first_come,
}

found = {option: play(way)[0] for option, way in OPTIONS.items()}
for option, value in found.items():
    print(f"{option} {OPTIONS[option].__name__}: {value} minutes")
print("answer:", min(found, key=found.get))
