"""Decides the question by running the given program."""

from rotation import worst_gaps

gap, kept = worst_gaps()
print(f"largest gap: {gap} days; {kept} backups at the end")
print("answer:", "O-1" if gap <= 45 else "O-2" if gap <= 75 else "O-3" if gap <= 105 else "O-4")
