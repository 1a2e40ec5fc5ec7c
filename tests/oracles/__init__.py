"""Slow, obvious restatements of what the fast code computes; they share no code with it."""
