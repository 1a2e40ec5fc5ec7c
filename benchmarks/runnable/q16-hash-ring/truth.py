"""Decides the question by running the given program."""

from ring import fnv, mixed, most

found = most(10, 160, fnv)
print(f"fullest server: {found:.3f} of the mean (with better mixing: {most(10, 160, mixed):.3f})")
print("answer:", "O-1" if found < 1.2 else "O-2" if found < 1.5 else "O-3" if found <= 1.8 else "O-4")
