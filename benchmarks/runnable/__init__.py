"""Questions that reading does not decide: each with a given program, a program that decides it, and its output."""
