"""Decides the question by running the given program at each interval."""

import balance

OPTIONS = {"O-1": 1.0, "O-2": 5.0, "O-3": 12.0, "O-4": 30.0}

limit = balance.simulate(balance.in_turn)[1]
print(f"in turn: 99th percentile {limit:.0f} ms")
better = []
for option, balance.REPORT_S in OPTIONS.items():
    slowest = balance.simulate(balance.better_of_two)[1]
    print(f"{option} {balance.REPORT_S:.0f} s: better of two {slowest:.0f} ms")
    better += [option] if slowest < limit else []
print("answer:", better[-1])
